#include "lab/udp_agents.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace pollux::lab {
namespace {

constexpr int kBatchesPerTurn = 8;  // then timers and other sockets get their turn
constexpr int kSocketBuffer = 16 << 20;
constexpr std::size_t kControlBytes = 64;

std::unexpected<base::Error> socket_error(std::uint16_t port, int number) {
    return base::config_error(
        "lab.listen",
        fmt::format(
            "cannot open UDP port {} for the SNMP devices: {}{}", port, std::strerror(number),
            number == EADDRINUSE ? "; another process has it: choose another --port-snmp" : ""));
}

std::uint32_t destination(msghdr& header) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr;
         part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != IPPROTO_IP || part->cmsg_type != IP_PKTINFO) continue;
        in_pktinfo info{};
        std::memcpy(&info, CMSG_DATA(part), sizeof info);
        return ntohl(info.ipi_addr.s_addr);
    }
    return 0;
}

// Makes the packet leave from `address`.
void set_source(msghdr& header, char* control, std::uint32_t address) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(sizeof(in_pktinfo));
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = IPPROTO_IP;
    part->cmsg_type = IP_PKTINFO;
    part->cmsg_len = CMSG_LEN(sizeof(in_pktinfo));
    in_pktinfo info{};
    info.ipi_spec_dst.s_addr = htonl(address);
    std::memcpy(CMSG_DATA(part), &info, sizeof info);
}

}  // namespace

struct UdpAgents::Buffers {
    struct Packet {
        sockaddr_in from{};
        iovec part{};
        alignas(cmsghdr) std::array<char, kControlBytes> control{};
        std::array<std::uint8_t, kMaxRequestBytes> bytes{};
    };
    std::array<Packet, kBatch> in;
    std::array<Packet, kBatch> out;
    std::array<mmsghdr, kBatch> in_headers{};
    std::array<mmsghdr, kBatch> out_headers{};
};

struct UdpAgents::Delayed {
    base::BootTime at;
    sockaddr_in to{};
    std::uint32_t from = 0;
    std::vector<std::uint8_t> bytes;
    static bool later(const Delayed& a, const Delayed& b) { return a.at > b.at; }
};

base::Result<std::unique_ptr<UdpAgents>> UdpAgents::open(net::EventLoop& loop, std::uint16_t port,
                                                         base::BootTime epoch, FindDevice find,
                                                         Wiring* wiring) {
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return socket_error(port, errno);
    const int on = 1;
    setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2);
    // More than the limit needs a privilege; without it the limit is what there is.
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kSocketBuffer, sizeof kSocketBuffer) != 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kSocketBuffer, sizeof kSocketBuffer);
    }
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &kSocketBuffer, sizeof kSocketBuffer) != 0) {
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSocketBuffer, sizeof kSocketBuffer);
    }
    const net::SocketAddress at = net::SocketAddress::ipv4(INADDR_ANY, port);
    if (bind(fd, at.data(), at.length()) != 0) {
        const int number = errno;
        close(fd);
        return socket_error(port, number);
    }
    std::unique_ptr<UdpAgents> agents(new UdpAgents(loop, fd, epoch, std::move(find), wiring));
    if (auto watched = loop.watch(fd, EPOLLIN, *agents); !watched) {
        return std::unexpected(watched.error());
    }
    return agents;
}

UdpAgents::UdpAgents(net::EventLoop& loop, int fd, base::BootTime epoch, FindDevice find,
                     Wiring* wiring)
    : loop_(loop),
      fd_(fd),
      port_(net::SocketAddress::local_of(fd).port()),
      epoch_(epoch),
      find_(std::move(find)),
      agent_(wiring),
      buffers_(std::make_unique<Buffers>()),
      delay_timer_(loop, [this] { send_delayed(); }) {}

UdpAgents::~UdpAgents() {
    loop_.unwatch(fd_);
    close(fd_);
}

void UdpAgents::on_ready(int /*fd*/, std::uint32_t /*events*/) {
    for (int i = 0; i < kBatchesPerTurn && receive_batch(); ++i) {
    }
}

// Whether more may be waiting.
bool UdpAgents::receive_batch() {
    for (std::size_t i = 0; i < kBatch; ++i) {
        Buffers::Packet& packet = buffers_->in[i];
        packet.part = {.iov_base = packet.bytes.data(), .iov_len = packet.bytes.size()};
        buffers_->in_headers[i].msg_hdr = {.msg_name = &packet.from,
                                           .msg_namelen = sizeof packet.from,
                                           .msg_iov = &packet.part,
                                           .msg_iovlen = 1,
                                           .msg_control = packet.control.data(),
                                           .msg_controllen = packet.control.size(),
                                           .msg_flags = 0};
    }
    const int count = recvmmsg(fd_, buffers_->in_headers.data(), kBatch, 0, nullptr);
    if (count <= 0) return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        answer_packet(i, buffers_->in_headers[i].msg_len);
    }
    flush();
    counters_.requests.fetch_add(static_cast<std::uint64_t>(count), std::memory_order_relaxed);
    return static_cast<std::size_t>(count) == kBatch;
}

void UdpAgents::answer_packet(std::size_t i, std::size_t length) {
    Buffers::Packet& in = buffers_->in[i];
    const std::uint32_t address = destination(buffers_->in_headers[i].msg_hdr);
    const Device* device = address >> 24U == 127 ? find_(address) : nullptr;
    if (device == nullptr) {
        counters_.dropped.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    const auto request = std::span<const std::uint8_t>(in.bytes).first(length);
    const AgentAnswer answer = agent_.answer(*device, request, loop_.now() - epoch_);
    if (answer.bytes.empty()) return;
    const std::uint32_t from = answer.from_neighbour ? address ^ 1U : address;
    if (answer.delay > base::Duration::zero()) return delay(i, answer, from);
    Buffers::Packet& out = buffers_->out[ready_];
    std::copy(answer.bytes.begin(), answer.bytes.end(), out.bytes.begin());
    out.from = in.from;
    out.part = {.iov_base = out.bytes.data(), .iov_len = answer.bytes.size()};
    msghdr& header = buffers_->out_headers[ready_].msg_hdr;
    header = {};
    header.msg_name = &out.from;
    header.msg_namelen = sizeof out.from;
    header.msg_iov = &out.part;
    header.msg_iovlen = 1;
    set_source(header, out.control.data(), from);
    ++ready_;
}

void UdpAgents::flush() {
    std::size_t done = 0;
    while (done < ready_) {
        const int sent =
            sendmmsg(fd_, &buffers_->out_headers[done], static_cast<unsigned>(ready_ - done), 0);
        if (sent <= 0) {
            // One packet cannot go (its asker's port is closed, or buffers are full): like a
            // network, drop it.
            counters_.dropped.fetch_add(1, std::memory_order_relaxed);
            ++done;
            continue;
        }
        counters_.answers.fetch_add(static_cast<std::uint64_t>(sent), std::memory_order_relaxed);
        done += static_cast<std::size_t>(sent);
    }
    ready_ = 0;
}

void UdpAgents::delay(std::size_t i, const AgentAnswer& answer, std::uint32_t from) {
    if (delayed_.size() >= kMaxDelayed) {
        counters_.dropped.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    delayed_.push_back({.at = loop_.now() + answer.delay,
                        .to = buffers_->in[i].from,
                        .from = from,
                        .bytes = {answer.bytes.begin(), answer.bytes.end()}});
    std::push_heap(delayed_.begin(), delayed_.end(), Delayed::later);
    delay_timer_.arm(delayed_.front().at);
}

void UdpAgents::send_delayed() {
    while (!delayed_.empty() && delayed_.front().at <= loop_.now()) {
        std::pop_heap(delayed_.begin(), delayed_.end(), Delayed::later);
        Delayed packet = std::move(delayed_.back());
        delayed_.pop_back();
        alignas(cmsghdr) std::array<char, kControlBytes> control{};
        iovec part{.iov_base = packet.bytes.data(), .iov_len = packet.bytes.size()};
        msghdr header{};
        header.msg_name = &packet.to;
        header.msg_namelen = sizeof packet.to;
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        set_source(header, control.data(), packet.from);
        const bool sent = sendmsg(fd_, &header, 0) >= 0;
        (sent ? counters_.answers : counters_.dropped).fetch_add(1, std::memory_order_relaxed);
    }
    if (!delayed_.empty()) delay_timer_.arm(delayed_.front().at);
}

}  // namespace pollux::lab
