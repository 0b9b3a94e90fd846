#include "net/tcp_stream.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pollux::net {

TcpStream::~TcpStream() {
    unwatch();
    if (fd_ >= 0) close(fd_);
}

void TcpStream::unwatch() {
    if (watched_) loop_.unwatch(fd_);
    watched_ = false;
    events_ = 0;
}

void TcpStream::want(bool to_read, bool to_write) {
    if (fd_ < 0) return;
    const std::uint32_t events =
        (to_read ? std::uint32_t{EPOLLIN} : 0U) | (to_write ? std::uint32_t{EPOLLOUT} : 0U);
    if (events == events_) return;
    // The kernel reports errors and hang-ups unasked: a socket nobody waits for must not be
    // watched, or its dead peer would wake the loop in every turn.
    if (events == 0) return unwatch();
    const base::Status done =
        watched_ ? loop_.change(fd_, events) : loop_.watch(fd_, events, *this);
    if (!done) {
        error_ = ENOMEM;  // the kernel's table of watches is full; the next read or write says so
        return;
    }
    watched_ = true;
    events_ = events;
}

void TcpStream::on_ready(int /*fd*/, std::uint32_t /*events*/) {
    if (handler_ != nullptr) handler_->on_stream_ready();
}

IoResult TcpStream::failed(int number) {
    if (number == EAGAIN || number == EWOULDBLOCK || number == EINTR) {
        return {.state = IoState::kWouldBlock};
    }
    error_ = number;
    return {.state = IoState::kFailed};
}

IoResult TcpStream::read(std::span<char> into) {
    if (fd_ < 0 || error_ != 0) return {.state = IoState::kFailed};
    const ssize_t got = recv(fd_, into.data(), into.size(), 0);
    if (got > 0) return {.state = IoState::kOk, .bytes = static_cast<std::size_t>(got)};
    if (got == 0 && !into.empty()) return {.state = IoState::kClosed};
    return got == 0 ? IoResult{.state = IoState::kWouldBlock} : failed(errno);
}

IoResult TcpStream::write(std::span<const char> from) {
    if (fd_ < 0 || error_ != 0) return {.state = IoState::kFailed};
    // A peer that went away is an error value here, never a signal.
    const ssize_t sent = send(fd_, from.data(), from.size(), MSG_NOSIGNAL);
    if (sent > 0) return {.state = IoState::kOk, .bytes = static_cast<std::size_t>(sent)};
    return sent == 0 ? IoResult{.state = IoState::kWouldBlock} : failed(errno);
}

void TcpStream::shutdown_write() {
    if (fd_ >= 0) shutdown(fd_, SHUT_WR);
}

void TcpStream::abort() {
    if (fd_ < 0) return;
    const linger reset{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    unwatch();
    close(fd_);
    fd_ = -1;
    error_ = ECONNABORTED;
}

std::string TcpStream::failure() const { return error_ == 0 ? "" : std::strerror(error_); }

}  // namespace pollux::net
