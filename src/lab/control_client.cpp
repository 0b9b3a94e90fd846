#include "lab/control_client.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "net/socket_address.hpp"

namespace pollux::lab {
namespace {

constexpr std::size_t kMaxAnswer = 64 << 20;

class Socket {
  public:
    Socket() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const timeval patience{.tv_sec = 10, .tv_usec = 0};
        setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    }
    ~Socket() {
        if (fd_ >= 0) close(fd_);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    int fd() const { return fd_; }

  private:
    int fd_;
};

std::unexpected<base::Error> failed(std::uint16_t port, std::string_view what) {
    return base::make_error(
        base::ErrorClass::kTransient, "lab.control",
        fmt::format("no answer from the fleet at 127.0.0.1:{}: {}; is `pollux fleet` running with "
                    "--control {}?",
                    port, what, port));
}

}  // namespace

base::Result<std::string> ask_control(std::uint16_t port, std::string_view method,
                                      std::string_view path, std::string_view body) {
    const Socket connection;
    const net::SocketAddress at = net::SocketAddress::loopback(port);
    if (connect(connection.fd(), at.data(), at.length()) != 0) {
        return failed(port, std::strerror(errno));
    }
    const std::string request = fmt::format(
        "{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
        method, path, body.size(), body);
    std::size_t sent = 0;
    while (sent < request.size()) {
        const ssize_t count =
            send(connection.fd(), request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) return failed(port, std::strerror(errno));
        sent += static_cast<std::size_t>(count);
    }
    std::string answer;
    std::array<char, 16 * 1024> buffer{};
    while (answer.size() < kMaxAnswer) {
        const ssize_t count = recv(connection.fd(), buffer.data(), buffer.size(), 0);
        if (count < 0) return failed(port, std::strerror(errno));
        if (count == 0) break;
        answer.append(buffer.data(), static_cast<std::size_t>(count));
    }
    constexpr std::string_view kVersion = "HTTP/1.1 ";
    const std::size_t head = answer.find("\r\n\r\n");
    int status = 0;
    if (answer.starts_with(kVersion) && head != std::string::npos) {
        std::from_chars(answer.data() + kVersion.size(), answer.data() + answer.size(), status);
    }
    if (status == 0) return failed(port, "what came is not HTTP");
    const std::string text = answer.substr(head + 4);
    if (status < 200 || status > 299) {
        return base::config_error("lab.control", fmt::format("the fleet refused: {}", text));
    }
    return text;
}

}  // namespace pollux::lab
