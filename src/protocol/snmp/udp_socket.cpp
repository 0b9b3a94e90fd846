#include "protocol/snmp/udp_socket.hpp"

#include <fmt/format.h>
#include <linux/errqueue.h>
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

ReceiveBatch::ReceiveBatch()
    : memory_(std::make_unique_for_overwrite<std::uint8_t[]>(kBatchDatagrams * kStride)) {
    for (std::size_t i = 0; i < kBatchDatagrams; ++i) {
        parts_[i] = {.iov_base = buffer(i), .iov_len = 65'536};
        headers_[i].msg_hdr.msg_iov = &parts_[i];
        headers_[i].msg_hdr.msg_iovlen = 1;
        headers_[i].msg_hdr.msg_name = &from_[i];
    }
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
