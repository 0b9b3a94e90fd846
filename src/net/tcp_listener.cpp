#include "net/tcp_listener.hpp"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pollux::net {
namespace {

constexpr base::Duration kPauseWithoutDescriptors = std::chrono::milliseconds(100);

std::unexpected<base::Error> listen_error(const SocketAddress& at, int number) {
    const char* advice = "";
    if (number == EADDRINUSE)
        advice =
            "; another process listens there (`ss -tlpn` shows it): stop it or choose another "
            "port";
    if (number == EACCES)
        advice =
            "; ports below 1024 need the right CAP_NET_BIND_SERVICE: grant it or choose a "
            "higher one";
    if (number == EADDRNOTAVAIL) advice = "; this machine has no such address";
    return base::config_error("net.listen", fmt::format("cannot listen on {}: {}{}", at.to_string(),
                                                        std::strerror(number), advice));
}

void set_flag(int fd, int level, int option) {
    const int on = 1;
    setsockopt(fd, level, option, &on, sizeof on);
}

}  // namespace

base::Result<std::unique_ptr<TcpListener>> TcpListener::listen(EventLoop& loop, SocketAddress at,
                                                               TcpListenerOptions options,
                                                               OnAccept on_accept) {
    if (!at.valid()) {
        return base::internal_error("net.listen", "no address to listen on was given");
    }
    if (!at.is_loopback() && !options.allow_non_loopback && !options.loopback_interface) {
        return base::config_error(
            "net.listen",
            fmt::format("refuse to listen on {}: it is reachable from outside of this "
                        "machine; choose a loopback address or allow it in the settings",
                        at.to_string()));
    }
    const int family = at.is_ipv6() ? AF_INET6 : AF_INET;
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return listen_error(at, errno);
    set_flag(fd, SOL_SOCKET, SO_REUSEADDR);
    if (options.reuse_port) set_flag(fd, SOL_SOCKET, SO_REUSEPORT);
    if (options.loopback_interface) setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2);
    if (at.is_ipv6()) set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY);
    if (bind(fd, at.data(), at.length()) != 0 || ::listen(fd, options.backlog) != 0) {
        const int number = errno;
        close(fd);
        return listen_error(at, number);
    }
    std::unique_ptr<TcpListener> listener(new TcpListener(loop, fd, options, std::move(on_accept)));
    if (auto watched = loop.watch(fd, EPOLLIN, *listener); !watched) {
        return std::unexpected(watched.error());
    }
    return listener;
}

TcpListener::TcpListener(EventLoop& loop, int fd, TcpListenerOptions options, OnAccept on_accept)
    : loop_(loop),
      fd_(fd),
      address_(SocketAddress::local_of(fd)),
      options_(options),
      on_accept_(std::move(on_accept)),
      resume_(loop, [this] {
          if (!loop_.watch(fd_, EPOLLIN, *this)) pause();
      }) {}

TcpListener::~TcpListener() {
    loop_.unwatch(fd_);
    close(fd_);
    if (gone_ != nullptr) *gone_ = true;
}

void TcpListener::pause() {
    loop_.unwatch(fd_);
    resume_.arm_in(kPauseWithoutDescriptors);
}

void TcpListener::on_ready(int /*fd*/, std::uint32_t /*events*/) {
    bool gone = false;
    gone_ = &gone;
    OnAccept on_accept = std::move(on_accept_);  // lives on if the call destroys the listener
    for (int i = 0; i < options_.accepts_per_turn; ++i) {
        sockaddr_storage from{};
        socklen_t length = sizeof from;
        auto* address = reinterpret_cast<sockaddr*>(&from);
        const int fd = accept4(fd_, address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            // The connection stays in the backlog and would wake the loop in every turn.
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) pause();
            if (errno == ECONNABORTED || errno == EINTR) continue;
            break;
        }
        set_flag(fd, IPPROTO_TCP, TCP_NODELAY);
        on_accept(std::make_unique<TcpStream>(loop_, fd, SocketAddress::local_of(fd),
                                              SocketAddress::from(address, length)));
        if (gone) return;
    }
    gone_ = nullptr;
    on_accept_ = std::move(on_accept);
}

}  // namespace pollux::net
