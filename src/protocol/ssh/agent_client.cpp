#include "protocol/ssh/agent_client.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pollux::protocol::ssh {
namespace {

std::unexpected<base::Error> problem_of(std::string text) {
    return base::make_error(base::ErrorClass::kTransient, "ssh.agent", std::move(text));
}

}  // namespace

std::string agent_frame(std::string_view message) {
    std::string frame;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
        frame += static_cast<char>(message.size() >> shift & 0xffU);
    }
    frame += message;
    return frame;
}

std::uint32_t agent_number(std::string_view four_bytes) {
    std::uint32_t number = 0;
    for (const char byte : four_bytes.substr(0, 4)) {
        number = number << 8U | static_cast<unsigned char>(byte);
    }
    return number;
}

AgentClient::AgentClient(net::EventLoop& loop)
    : loop_(loop), timer_(loop, [this] { finish(problem_of(std::exchange(problem_, {}))); }) {}

AgentClient::~AgentClient() {
    if (watched_) loop_.unwatch(fd_);
    if (fd_ >= 0) close(fd_);
}

void AgentClient::ask(const std::string& path, std::string_view message, Done done) {
    done_ = std::move(done);
    received_.clear();
    problem_ = send_question(path, message);
    if (!problem_.empty()) {
        timer_.arm(loop_.now());
        return;
    }
    problem_ = fmt::format("it did not answer within {} s",
                           std::chrono::duration_cast<std::chrono::seconds>(kPatience).count());
    timer_.arm_in(kPatience);
}

// Why it cannot be asked; empty: it was.
std::string AgentClient::send_question(const std::string& path, std::string_view message) {
    if (path.empty()) return "SSH_AUTH_SOCK is not set for the server";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return "the path in SSH_AUTH_SOCK is too long";
    std::memcpy(address.sun_path, path.data(), path.size());
    const std::string frame = agent_frame(message);
    fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0 || connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        send(fd_, frame.data(), frame.size(), MSG_NOSIGNAL) != std::ssize(frame)) {
        return fmt::format("{}: {}", path, std::strerror(errno));
    }
    if (auto status = loop_.watch(fd_, EPOLLIN, *this); !status) return status.error().message;
    watched_ = true;
    return {};
}

void AgentClient::on_ready(int /*fd*/, std::uint32_t /*events*/) {
    std::array<char, 16'384> buffer{};
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return finish(problem_of("what answers there is no SSH agent"));
    received_.append(buffer.data(), static_cast<std::size_t>(got));
    if (received_.size() < 4) return;
    const std::size_t length = agent_number(received_);
    if (length == 0 || length > kMaxAgentMessage) {
        return finish(problem_of("what answers there is no SSH agent"));
    }
    if (received_.size() < 4 + length) return;
    finish(received_.substr(4, length));
}

void AgentClient::finish(base::Result<std::string> answer) {
    timer_.cancel();
    if (std::exchange(watched_, false)) loop_.unwatch(fd_);
    if (fd_ >= 0) close(std::exchange(fd_, -1));
    const Done done = std::exchange(done_, {});
    done(std::move(answer));
}

}  // namespace pollux::protocol::ssh
