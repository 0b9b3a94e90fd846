// How many answers the simulated fleet gives: the agent alone, and through its socket, asked by a
// plain sendmmsg client in the same process. A benchmark that uses the fleet as its peer must know
// where the fleet itself ends.
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <vector>

#include "lab/fleet_server.hpp"
#include "lab/snmp_agent.hpp"
#include "net/socket_address.hpp"
#include "protocol/snmp/message.hpp"

namespace {

using namespace pollux;  // a program of its own
namespace snmp = protocol::snmp;

constexpr std::size_t kBatch = 64;
constexpr std::uint32_t kDevices = 2000;

double seconds_of(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::vector<std::uint8_t> request(std::string_view community, int names) {
    constexpr std::array<const char*, 5> kNames = {
        "1.3.6.1.2.1.1.3.0", "1.3.6.1.2.1.2.2.1.10.1", "1.3.6.1.2.1.2.2.1.16.1",
        "1.3.6.1.2.1.2.2.1.8.1", "1.3.6.1.2.1.2.2.1.14.1"};
    snmp::Message message;
    message.community = community;
    message.pdu.type = snmp::PduType::kGet;
    message.pdu.request_id = 0x11223344;
    for (int i = 0; i < names; ++i) {
        message.pdu.varbinds.push_back(
            {*model::parse_oid(kNames[static_cast<std::size_t>(i)]), {}});
    }
    std::vector<std::uint8_t> buffer(1500);
    const snmp::Bytes bytes = snmp::encode_message(message, buffer);
    return {bytes.begin(), bytes.end()};
}

void bench_agent(const lab::Fleet& fleet, int names) {
    constexpr int kRounds = 400'000;
    lab::SnmpAgent agent;
    std::size_t bytes = 0;
    const auto ask = request("public", names);
    const double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < kRounds; ++i) {
        const lab::Device& device = fleet.snmp()[static_cast<std::size_t>(i) % kDevices];
        bytes += agent.answer(device, ask, std::chrono::milliseconds(i)).bytes.size();
    }
    const double spent = seconds_of(CLOCK_THREAD_CPUTIME_ID) - before;
    fmt::print("agent alone, GET of {} names: {:.2f} us each ({} bytes answered)\n", names,
               spent / kRounds * 1e6, bytes);
}

// Sends and receives in batches with at most `window` questions open.
class Client {
  public:
    Client(const lab::FleetServer& server, int names) : fd_(socket(AF_INET, SOCK_DGRAM, 0)) {
        const int buffer = 16 << 20;
        setsockopt(fd_, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
        for (const lab::Device& device : server.fleet().snmp()) {
            packets_.push_back(request(device.community(), names));
            to_.push_back(net::SocketAddress::ipv4(device.address(), server.ports().snmp));
        }
    }
    ~Client() { close(fd_); }

    std::uint64_t run(double seconds, std::size_t window) {
        std::uint64_t answers = 0;
        std::size_t open = 0;
        const double end = seconds_of(CLOCK_MONOTONIC) + seconds;
        while (seconds_of(CLOCK_MONOTONIC) < end) {
            while (open + kBatch <= window) open += send_batch();
            const std::size_t got = receive_batch();
            answers += got;
            open = got == 0 ? 0 : open - std::min(open, got);
        }
        return answers;
    }

  private:
    std::size_t send_batch() {
        std::array<mmsghdr, kBatch> headers{};
        std::array<iovec, kBatch> parts{};
        for (std::size_t i = 0; i < kBatch; ++i) {
            const std::size_t device = next_++ % packets_.size();
            parts[i] = {.iov_base = packets_[device].data(), .iov_len = packets_[device].size()};
            // sendmmsg does not write to the address, but its type says it could.
            headers[i].msg_hdr.msg_name = const_cast<sockaddr*>(to_[device].data());
            headers[i].msg_hdr.msg_namelen = to_[device].length();
            headers[i].msg_hdr.msg_iov = &parts[i];
            headers[i].msg_hdr.msg_iovlen = 1;
        }
        const int sent = sendmmsg(fd_, headers.data(), kBatch, 0);
        return sent > 0 ? static_cast<std::size_t>(sent) : 0;
    }
    std::size_t receive_batch() {
        static std::array<std::array<std::uint8_t, 1500>, kBatch> buffers;
        std::array<mmsghdr, kBatch> headers{};
        std::array<iovec, kBatch> parts{};
        for (std::size_t i = 0; i < kBatch; ++i) {
            parts[i] = {.iov_base = buffers[i].data(), .iov_len = buffers[i].size()};
            headers[i].msg_hdr.msg_iov = &parts[i];
            headers[i].msg_hdr.msg_iovlen = 1;
        }
        pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
        if (poll(&ready, 1, 200) != 1) return 0;
        const int got = recvmmsg(fd_, headers.data(), kBatch, MSG_DONTWAIT, nullptr);
        return got > 0 ? static_cast<std::size_t>(got) : 0;
    }

    int fd_;
    std::size_t next_ = 0;
    std::vector<std::vector<std::uint8_t>> packets_;
    std::vector<net::SocketAddress> to_;
};

void bench_socket(const lab::FleetServer& server, int names) {
    Client client(server, names);
    client.run(0.3, 512);
    const double all_before = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    const double own_before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    const double wall_before = seconds_of(CLOCK_MONOTONIC);
    const std::uint64_t answers = client.run(3, 512);
    const double wall = seconds_of(CLOCK_MONOTONIC) - wall_before;
    const double own = seconds_of(CLOCK_THREAD_CPUTIME_ID) - own_before;
    const double fleet = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - all_before - own;
    const auto count = static_cast<double>(answers);
    fmt::print(
        "through the socket, GET of {} names: {:.0f} answers/s; fleet {:.2f} us of CPU each "
        "({:.0f} answers per second of CPU), client {:.2f} us\n",
        names, count / wall, fleet / count * 1e6, count / fleet, own / count * 1e6);
}

}  // namespace

int main() {
    for (const char* profile : {"calm", "demo"}) {
        auto server = lab::FleetServer::start({.snmp = kDevices, .http = 0, .profile = profile});
        if (!server) {
            fmt::print(stderr, "bench_fleet: {}\n", server.error().message);
            return 1;
        }
        fmt::print("profile {}\n", profile);
        for (const int names : {1, 5}) {
            bench_agent((*server)->fleet(), names);
            bench_socket(**server, names);
        }
    }
    return 0;
}
