#include "runtime/inbound/trap_listener.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>

#include "config/network_text.hpp"

namespace pollux::runtime {
namespace {

constexpr std::size_t kBufferBytes = 4U << 20U;
constexpr int kRounds = 4;  // batches per socket and turn
constexpr int kMostPassed = 64;

}  // namespace

std::vector<int> passed_sockets(const std::string& listen_pid, const std::string& listen_fds,
                                int first) {
    std::vector<int> found;
    int count = 0;
    const auto read =
        std::from_chars(listen_fds.data(), listen_fds.data() + listen_fds.size(), count);
    if (listen_pid != std::to_string(getpid()) || read.ec != std::errc()) return found;
    for (int fd = first; fd < first + std::min(count, kMostPassed); ++fd) {
        int type = 0;
        socklen_t length = sizeof type;
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_DGRAM) {
            found.push_back(fd);
        }
    }
    return found;
}

TrapListener::~TrapListener() { close(); }

base::Status TrapListener::open(const std::vector<std::string>& addresses,
                                const std::vector<int>& passed) {
    for (const std::string& text : addresses) {
        if (text == "systemd") {
            if (passed.empty()) {
                return base::config_error(
                    "inbound.systemd",
                    "POLLUX_TRAP_LISTEN says systemd, which handed over no datagram socket: write "
                    "a socket unit with ListenDatagram= and start that");
            }
            for (const int fd : passed) {
                auto socket = protocol::snmp::UdpSocket::adopt(fd, kBufferBytes);
                if (!socket) return std::unexpected(socket.error());
                sockets_.push_back(std::move(*socket));
            }
            continue;
        }
        const auto split = config::split_host_port(text);
        const auto at = split ? protocol::snmp::parse_literal(std::string(split->host), split->port)
                              : std::nullopt;
        if (!at) {
            return base::config_error("inbound.address",
                                      fmt::format("cannot listen for traps on {}: it is no address "
                                                  "with a port",
                                                  text));
        }
        auto socket = protocol::snmp::UdpSocket::listen(*at, kBufferBytes);
        if (!socket) return std::unexpected(socket.error());
        sockets_.push_back(std::move(*socket));
    }
    return {};
}

void TrapListener::start(OnDatagram on_datagram) {
    on_datagram_ = std::move(on_datagram);
    for (const auto& socket : sockets_) {
        // Fails only for a descriptor that is none.
        [[maybe_unused]] const auto status = loop_.watch(socket.fd(), EPOLLIN, *this);
    }
}

void TrapListener::close() {
    for (const auto& socket : sockets_) {
        if (on_datagram_) loop_.unwatch(socket.fd());
    }
    sockets_.clear();
}

void TrapListener::on_ready(int fd, std::uint32_t /*events*/) {
    const auto found = std::ranges::find(sockets_, fd, &protocol::snmp::UdpSocket::fd);
    if (found == sockets_.end()) return;
    const auto index = static_cast<std::size_t>(found - sockets_.begin());
    for (int round = 0; round < kRounds && found->receive(batch_); ++round) {
        for (std::size_t i = 0; i < batch_.count; ++i) {
            const auto from = protocol::snmp::from_sockaddr(batch_.from(i));
            if (!from) continue;
            on_datagram_({*from, batch_.destination(i), batch_.datagram(i), index});
        }
        if (batch_.count < protocol::snmp::kBatchDatagrams) return;
    }
}

void TrapListener::answer(const Datagram& asked, protocol::snmp::Bytes bytes) {
    // What cannot be sent is asked for again.
    if (asked.socket < sockets_.size()) sockets_[asked.socket].answer(asked.to, asked.from, bytes);
}

std::uint64_t TrapListener::dropped() const {
    std::uint64_t all = 0;
    for (const auto& socket : sockets_) all += socket.dropped();
    return all;
}

std::vector<std::string> TrapListener::addresses() const {
    std::vector<std::string> all;
    for (const auto& socket : sockets_) all.push_back(to_string(socket.local()));
    return all;
}

}  // namespace pollux::runtime
