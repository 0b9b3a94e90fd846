#include "protocol/snmp/udp_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/errqueue.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.hpp"

namespace pollux::protocol::snmp {
namespace {

// Large buffers are a wish: without the right to force them the system's limit holds.
void want_buffer(int fd, int force, int plain, std::size_t bytes) {
    const int size = static_cast<int>(bytes);
    if (setsockopt(fd, SOL_SOCKET, force, &size, sizeof size) == 0) return;
    setsockopt(fd, SOL_SOCKET, plain, &size, sizeof size);
}

std::unexpected<base::Error> socket_error(std::string_view what, sa_family_t family) {
    const int number = errno;
    return base::internal_error(
        "snmp.socket", fmt::format("{} for {}: {}", what, family == AF_INET ? "IPv4" : "IPv6",
                                   std::strerror(number)));
}

}  // namespace

ReceiveBatch::ReceiveBatch(Destinations destinations)
    : memory_(std::make_unique_for_overwrite<std::uint8_t[]>(kBatchDatagrams * kStride)) {
    for (std::size_t i = 0; i < kBatchDatagrams; ++i) {
        parts_[i] = {.iov_base = buffer(i), .iov_len = 65'536};
        headers_[i].msg_hdr.msg_iov = &parts_[i];
        headers_[i].msg_hdr.msg_iovlen = 1;
        headers_[i].msg_hdr.msg_name = &from_[i];
    }
    if (destinations == Destinations::kKnown) {
        control_ = std::make_unique<std::uint8_t[]>(kBatchDatagrams * kControlBytes);
    }
}

Endpoint ReceiveBatch::destination(std::size_t i) const {
    Endpoint found;
    if (!control_) return found;
    // The macros take a pointer to a header that they do not change.
    auto* header = const_cast<msghdr*>(&headers_[i].msg_hdr);
    for (cmsghdr* item = CMSG_FIRSTHDR(header); item != nullptr; item = CMSG_NXTHDR(header, item)) {
        if (item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_PKTINFO) {
            in_pktinfo info{};
            std::memcpy(&info, CMSG_DATA(item), sizeof info);
            found.family = AF_INET;
            std::memcpy(found.address.data(), &info.ipi_addr, 4);
        } else if (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_PKTINFO) {
            in6_pktinfo info{};
            std::memcpy(&info, CMSG_DATA(item), sizeof info);
            found.family = AF_INET6;
            std::memcpy(found.address.data(), &info.ipi6_addr, 16);
            if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr)) found.scope = info.ipi6_ifindex;
        }
    }
    return found;
}

SendBatch::SendBatch()
    : memory_(std::make_unique_for_overwrite<std::uint8_t[]>(kBatchDatagrams * kRequestBytes)) {
    for (std::size_t i = 0; i < kBatchDatagrams; ++i) {
        headers_[i].msg_hdr.msg_iov = &parts_[i];
        headers_[i].msg_hdr.msg_iovlen = 1;
        headers_[i].msg_hdr.msg_name = &to_[i];
    }
}

void SendBatch::add(const Endpoint& to, Bytes bytes) {
    POLLUX_CHECK(!full());
    // sendmmsg takes a pointer to bytes that it does not change.
    parts_[size_] = {.iov_base = const_cast<std::uint8_t*>(bytes.data()), .iov_len = bytes.size()};
    headers_[size_].msg_hdr.msg_namelen = to_sockaddr(to, to_[size_]);
    ++size_;
}

base::Result<UdpSocket> UdpSocket::open(sa_family_t family, std::size_t buffer_bytes) {
    const int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return socket_error("cannot make a UDP socket", family);
    UdpSocket opened(fd);
    const int on = 1;
    int failed = 0;
    if (family == AF_INET) {
        failed |= setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
    } else {
        failed |= setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
        failed |= setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
    }
    if (failed != 0) return socket_error("cannot set the options of a UDP socket", family);
    want_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, buffer_bytes);
    want_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, buffer_bytes);
    Endpoint any;
    any.family = family;
    sockaddr_storage address{};
    const socklen_t length = to_sockaddr(any, address);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
        return socket_error("cannot get a UDP port", family);
    }
    return opened;
}

base::Result<UdpSocket> UdpSocket::listen(const Endpoint& at, std::size_t buffer_bytes) {
    const int fd = socket(at.family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return socket_error("cannot make a UDP socket", at.family);
    UdpSocket opened(fd);
    const int on = 1;
    if (at.family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    sockaddr_storage address{};
    const socklen_t length = to_sockaddr(at, address);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
        const int number = errno;
        const char* advice =
            number == EACCES ? "ports below 1024 need the right to bind them: `setcap "
                               "cap_net_bind_service+ep` on the binary, AmbientCapabilities="
                               "CAP_NET_BIND_SERVICE in the unit, or a systemd socket unit with "
                               "POLLUX_TRAP_LISTEN=systemd"
            : number == EADDRINUSE
                ? "another program holds the port; find it with `ss -ulpn`, or choose "
                  "another port with POLLUX_TRAP_LISTEN"
                : "is the address one of this machine? See POLLUX_TRAP_LISTEN";
        return base::config_error(
            "snmp.listen", fmt::format("cannot listen for traps on {}: {}: {}", to_string(at),
                                       std::strerror(number), advice));
    }
    auto ready = opened.hear(buffer_bytes);
    if (!ready) return std::unexpected(ready.error());
    return opened;
}

base::Result<UdpSocket> UdpSocket::adopt(int fd, std::size_t buffer_bytes) {
    UdpSocket adopted(fd);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) {
        return base::config_error(
            "snmp.listen",
            fmt::format("a socket that was handed over is of no use: {}", std::strerror(errno)));
    }
    auto ready = adopted.hear(buffer_bytes);
    if (!ready) return std::unexpected(ready.error());
    return adopted;
}

base::Status UdpSocket::hear(std::size_t buffer_bytes) {
    const int on = 1;
    const sa_family_t family = local().family;
    const int failed = family == AF_INET6
                           ? setsockopt(fd_, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on)
                           : setsockopt(fd_, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    if (failed != 0) return socket_error("cannot set the options of a UDP socket", family);
    want_buffer(fd_, SO_RCVBUFFORCE, SO_RCVBUF, buffer_bytes);
    return {};
}

Endpoint UdpSocket::local() const {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length) != 0) return {};
    return from_sockaddr(address).value_or(Endpoint{});
}

std::uint64_t UdpSocket::dropped() const {
    std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
    socklen_t length = sizeof memory;
    if (getsockopt(fd_, SOL_SOCKET, SO_MEMINFO, memory.data(), &length) != 0) return 0;
    return memory[SK_MEMINFO_DROPS];
}

int UdpSocket::answer(const Endpoint& from, const Endpoint& to, Bytes bytes) {
    sockaddr_storage address{};
    // sendmsg takes a pointer to bytes that it does not change.
    iovec part{.iov_base = const_cast<std::uint8_t*>(bytes.data()), .iov_len = bytes.size()};
    alignas(cmsghdr) std::array<std::uint8_t, CMSG_SPACE(sizeof(in6_pktinfo))> control{};
    msghdr header{};
    header.msg_name = &address;
    header.msg_namelen = to_sockaddr(to, address);
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    const auto say_from = [&](int level, int type, const auto& info) {
        header.msg_control = control.data();
        header.msg_controllen = CMSG_SPACE(sizeof info);
        cmsghdr* item = CMSG_FIRSTHDR(&header);
        item->cmsg_level = level;
        item->cmsg_type = type;
        item->cmsg_len = CMSG_LEN(sizeof info);
        std::memcpy(CMSG_DATA(item), &info, sizeof info);
    };
    if (from.family == AF_INET && to.family == AF_INET) {
        in_pktinfo info{};
        std::memcpy(&info.ipi_spec_dst, from.address.data(), 4);
        say_from(IPPROTO_IP, IP_PKTINFO, info);
    } else if (from.family == AF_INET6 && to.family == AF_INET6) {
        in6_pktinfo info{};
        std::memcpy(&info.ipi6_addr, from.address.data(), 16);
        info.ipi6_ifindex = from.scope;
        say_from(IPPROTO_IPV6, IPV6_PKTINFO, info);
    }
    while (sendmsg(fd_, &header, MSG_DONTWAIT) < 0) {
        if (errno != EINTR) return -errno;
    }
    return 0;
}

UdpSocket::~UdpSocket() {
    if (fd_ >= 0) close(fd_);
}

UdpSocket::UdpSocket(UdpSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

UdpSocket& UdpSocket::operator=(UdpSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}

int UdpSocket::send(SendBatch& batch, std::size_t first) {
    while (true) {
        const int sent = sendmmsg(fd_, &batch.headers_[first],
                                  static_cast<unsigned>(batch.size() - first), MSG_DONTWAIT);
        if (sent >= 0) return sent;
        if (errno != EINTR) return -errno;
    }
}

bool UdpSocket::receive(ReceiveBatch& batch) {
    for (mmsghdr& header : batch.headers_) {
        header.msg_hdr.msg_namelen = sizeof(sockaddr_storage);
    }
    for (std::size_t i = 0; batch.control_ && i < kBatchDatagrams; ++i) {
        batch.headers_[i].msg_hdr.msg_control =
            batch.control_.get() + i * ReceiveBatch::kControlBytes;
        batch.headers_[i].msg_hdr.msg_controllen = ReceiveBatch::kControlBytes;
    }
    batch.count = 0;
    // A pending error of an earlier datagram is reported by any call, once; it is also in the
    // error queue, where it says more.
    constexpr int kAttempts = 16;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const int got =
            recvmmsg(fd_, batch.headers_.data(), kBatchDatagrams, MSG_DONTWAIT, nullptr);
        if (got > 0) {
            batch.count = static_cast<std::size_t>(got);
            return true;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
    }
    return false;
}

bool UdpSocket::next_error(IcmpError& error) {
    sockaddr_storage to{};
    std::array<std::uint8_t, 512> quoted;
    alignas(cmsghdr) std::array<char, 512> control;
    iovec part{.iov_base = quoted.data(), .iov_len = quoted.size()};
    msghdr header{};
    header.msg_name = &to;
    header.msg_namelen = sizeof to;
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t length = recvmsg(fd_, &header, MSG_ERRQUEUE | MSG_DONTWAIT);
    if (length < 0) return false;
    error.error_number = 0;
    for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr;
         item = CMSG_NXTHDR(&header, item)) {
        const bool is_error = (item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_RECVERR) ||
                              (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_RECVERR);
        if (!is_error) continue;
        sock_extended_err extended{};
        std::memcpy(&extended, CMSG_DATA(item), sizeof extended);
        error.error_number = static_cast<int>(extended.ee_errno);
    }
    error.to = from_sockaddr(to).value_or(Endpoint{});
    error.quoted.assign(quoted.begin(), quoted.begin() + length);
    return true;
}

}  // namespace pollux::protocol::snmp
