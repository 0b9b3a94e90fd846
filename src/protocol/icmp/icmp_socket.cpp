#include "protocol/icmp/icmp_socket.hpp"

#include <fmt/format.h>
#include <linux/errqueue.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pollux::protocol::icmp {
namespace {

constexpr std::uint8_t kEchoRequest4 = 8;
constexpr std::uint8_t kEchoReply4 = 0;
constexpr std::uint8_t kEchoRequest6 = 128;
constexpr std::uint8_t kEchoReply6 = 129;
constexpr std::size_t kHeader = 8;
constexpr int kRawFilter4 = 1;  // ICMP_FILTER of linux/icmp.h

std::uint16_t checksum(std::string_view bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        sum += i % 2 == 0 ? std::uint32_t{byte} << 8U : byte;
    }
    while (sum >> 16U != 0) sum = (sum & 0xFFFFU) + (sum >> 16U);
    return static_cast<std::uint16_t>(~sum & 0xFFFFU);
}

void set16(std::string& bytes, std::size_t at, std::uint16_t value) {
    bytes[at] = static_cast<char>(value >> 8U);
    bytes[at + 1] = static_cast<char>(value & 0xFFU);
}

std::uint16_t get16(std::string_view bytes, std::size_t at) {
    return static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[at]) << 8U |
                                      static_cast<unsigned char>(bytes[at + 1]));
}

}  // namespace

base::Result<EchoSocket> EchoSocket::open(bool v6, std::uint16_t identity) {
    EchoSocket out;
    out.v6_ = v6;
    out.identity_ = identity;
    const int family = v6 ? AF_INET6 : AF_INET;
    const int protocol = v6 ? static_cast<int>(IPPROTO_ICMPV6) : static_cast<int>(IPPROTO_ICMP);
    constexpr int kFlags = SOCK_NONBLOCK | SOCK_CLOEXEC;
    out.fd_ = socket(family, SOCK_DGRAM | kFlags, protocol);
    if (out.fd_ < 0) {
        out.fd_ = socket(family, SOCK_RAW | kFlags, protocol);
        out.raw_ = true;
    }
    if (out.fd_ < 0) {
        if (errno == EPERM || errno == EACCES) {
            return base::config_error(
                "icmp.not_permitted",
                "this server may not send ICMP echo requests; either allow its group "
                "(sysctl net.ipv4.ping_group_range=\"0 2147483647\"), or give the program the "
                "capability (setcap cap_net_raw+ep, or AmbientCapabilities=CAP_NET_RAW)");
        }
        return base::internal_error(
            "icmp.socket", fmt::format("cannot open a socket for ICMP{}: {}", v6 ? "v6" : "",
                                       std::strerror(errno)));
    }
    const int on = 1;
    if (v6) {
        setsockopt(out.fd_, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
        if (out.raw_) {
            icmp6_filter filter{};
            ICMP6_FILTER_SETBLOCKALL(&filter);
            ICMP6_FILTER_SETPASS(kEchoReply6, &filter);
            setsockopt(out.fd_, IPPROTO_ICMPV6, ICMP6_FILTER, &filter, sizeof filter);
        }
    } else {
        setsockopt(out.fd_, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
        if (out.raw_) {
            const std::uint32_t all_but_replies = ~(1U << kEchoReply4);
            setsockopt(out.fd_, SOL_RAW, kRawFilter4, &all_but_replies, sizeof all_but_replies);
        }
    }
    const int room = 1 << 20;
    setsockopt(out.fd_, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    return out;
}

EchoSocket::~EchoSocket() {
    if (fd_ >= 0) close(fd_);
}

EchoSocket::EchoSocket(EchoSocket&& other) noexcept { *this = std::move(other); }

EchoSocket& EchoSocket::operator=(EchoSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    raw_ = other.raw_;
    v6_ = other.v6_;
    identity_ = other.identity_;
    return *this;
}

int EchoSocket::send(const net::IpAddress& to, std::uint16_t sequence, std::string_view payload) {
    std::string packet(kHeader, '\0');
    packet[0] = static_cast<char>(v6_ ? kEchoRequest6 : kEchoRequest4);
    // Without privileges the kernel writes an identity of its own; for IPv6 also the checksum.
    set16(packet, 4, identity_);
    set16(packet, 6, sequence);
    packet += payload;
    if (!v6_) set16(packet, 2, checksum(packet));
    sockaddr_storage address{};
    const socklen_t length = to.to_sockaddr(0, address);
    const ssize_t sent = sendto(fd_, packet.data(), packet.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), length);
    return sent < 0 ? errno : 0;
}

std::optional<Echo> EchoSocket::parse(std::string_view packet, bool request) const {
    const std::uint8_t wanted =
        v6_ ? (request ? kEchoRequest6 : kEchoReply6) : (request ? kEchoRequest4 : kEchoReply4);
    if (packet.size() < kHeader || static_cast<unsigned char>(packet[0]) != wanted) {
        return std::nullopt;
    }
    if (raw_ && get16(packet, 4) != identity_) return std::nullopt;
    return Echo{{}, get16(packet, 6), packet.substr(kHeader), 0};
}

std::optional<Echo> EchoSocket::receive(std::string& buffer, bool& more) {
    buffer.resize(66'000);
    sockaddr_storage from{};
    socklen_t length = sizeof from;
    const ssize_t got =
        recvfrom(fd_, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    more = got >= 0;
    if (got < 0) return std::nullopt;
    std::string_view packet(buffer.data(), static_cast<std::size_t>(got));
    if (raw_ && !v6_) {
        // The header of IPv4 comes along.
        const std::size_t header =
            packet.empty() ? 0 : (static_cast<unsigned char>(packet[0]) & 0xFU) * 4U;
        if (header < 20 || packet.size() < header) return std::nullopt;
        packet.remove_prefix(header);
    }
    auto echo = parse(packet, false);
    const auto address = net::IpAddress::from_sockaddr(reinterpret_cast<sockaddr*>(&from), length);
    if (!echo || !address) return std::nullopt;
    echo->from = *address;
    return echo;
}

std::optional<Echo> EchoSocket::next_error(std::string& buffer, bool& more) {
    buffer.resize(66'000);
    alignas(cmsghdr) std::array<char, 512> control{};
    iovec part{.iov_base = buffer.data(), .iov_len = buffer.size()};
    msghdr header{};
    sockaddr_storage to{};
    header.msg_name = &to;
    header.msg_namelen = sizeof to;
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t got = recvmsg(fd_, &header, MSG_ERRQUEUE);
    more = got >= 0;
    if (got < 0) return std::nullopt;
    auto echo = parse({buffer.data(), static_cast<std::size_t>(got)}, true);
    if (!echo) return std::nullopt;
    for (cmsghdr* part_of = CMSG_FIRSTHDR(&header); part_of != nullptr;
         part_of = CMSG_NXTHDR(&header, part_of)) {
        const bool error =
            (part_of->cmsg_level == IPPROTO_IP && part_of->cmsg_type == IP_RECVERR) ||
            (part_of->cmsg_level == IPPROTO_IPV6 && part_of->cmsg_type == IPV6_RECVERR);
        if (!error) continue;
        sock_extended_err facts{};
        std::memcpy(&facts, CMSG_DATA(part_of), sizeof facts);
        echo->error_number = static_cast<int>(facts.ee_errno);
    }
    return echo;
}

}  // namespace pollux::protocol::icmp
