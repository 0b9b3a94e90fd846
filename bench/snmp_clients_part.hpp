// Three clients that ask the same five values of the same devices: our driver, a bare sendmmsg loop
// that only knows this one request, and net-snmp's asynchronous sessions.
#pragma once

#include <poll.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/netsnmp_part.hpp"
#include "bench/snmp_answers_part.hpp"
#include "protocol/snmp/snmp_driver.hpp"

namespace pollux::bench {

constexpr std::uint32_t kSnmpDevices = 20'000;
constexpr std::size_t kSnmpWindow = 1000;

// What a client role prints.
inline void print_client(std::uint64_t polls, std::uint64_t wrong, double seconds, double cpu) {
    fmt::print("rate {:.1f}\ncpu_us {:.3f}\nwrong {}\n", static_cast<double>(polls) / seconds,
               cpu / static_cast<double>(polls) * 1e6, wrong);
}

// Whom our driver asks, and how.
struct DriverLoad {
    std::uint32_t devices = kSnmpDevices;
    std::size_t window = kSnmpWindow;
    model::SnmpVersion version = model::SnmpVersion::kV2c;
    std::shared_ptr<const model::Credentials> credentials;  // null: the community "public"
};

// The role `snmp-driver PORT SECONDS`.
class DriverClient {
  public:
    explicit DriverClient(std::uint16_t port, DriverLoad load = {})
        : loop_(net::EventLoop::create().value()),
          driver_(protocol::snmp::SnmpDriver::create(*loop_, {}).value()),
          window_(load.window) {
        auto community = std::make_shared<model::Credentials>();
        community->community = base::Secret("public");
        for (std::uint32_t i = 0; i < load.devices; ++i) {
            auto ask = std::make_shared<model::Ask>();
            ask->host = device_text(i);
            ask->port = port;
            ask->timeout = std::chrono::seconds(2);
            ask->resends = 1;
            ask->credentials = load.credentials != nullptr ? load.credentials : community;
            model::SnmpAsk request;
            request.version = load.version;
            for (const char* name : kSnmpNames) request.gets.push_back(*model::parse_oid(name));
            ask->request = std::move(request);
            asks_.push_back(std::move(ask));
        }
    }

    // Asks until every device was asked once.
    void warm_up() {
        for (std::size_t i = 0; i < window_; ++i) start_next();
        while (done_ + wrong_ < asks_.size()) loop_->run_once(std::chrono::milliseconds(100));
        done_ = wrong_ = 0;
        is_warm_ = true;
    }
    const protocol::snmp::SnmpCounters& counters() const { return driver_->counters(); }

    void run(double seconds) {
        for (std::size_t i = 0; i < window_ && !is_warm_; ++i) start_next();
        const double begin = wall_seconds();
        const double cpu = own_cpu_seconds();
        while (wall_seconds() < begin + seconds) loop_->run_once(std::chrono::milliseconds(100));
        print_client(done_, wrong_, wall_seconds() - begin, own_cpu_seconds() - cpu);
    }

  private:
    void start_next() {
        const std::uint64_t id = ++started_;
        driver_->start({.id = id,
                        .ask = asks_[id % asks_.size()],
                        .deadline = loop_->now() + std::chrono::seconds(10)},
                       [this](model::Reply&& reply) { take(reply); });
    }
    void take(const model::Reply& reply) {
        const auto* answer = std::get_if<model::SnmpReply>(&reply.answer);
        const bool right = answer != nullptr && answer->gets.size() == std::size(kSnmpNames) &&
                           answer->gets.back().type == model::SnmpType::kCounter32;
        ++(right ? done_ : wrong_);
        start_next();
    }

    std::unique_ptr<net::EventLoop> loop_;
    std::unique_ptr<protocol::snmp::SnmpDriver> driver_;
    std::vector<std::shared_ptr<const model::Ask>> asks_;
    std::size_t window_;
    bool is_warm_ = false;
    std::uint64_t started_ = 0;
    std::uint64_t done_ = 0;
    std::uint64_t wrong_ = 0;
};

// The role `snmp-raw PORT SECONDS`: the limit. One prepared packet, in which only the id changes;
// answers are matched by id and source, and their values are read.
class RawClient {
  public:
    explicit RawClient(std::uint16_t port)
        : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), packet_(snmp_question()) {
        const int buffer = 32 << 20;
        setsockopt(fd_, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
        setsockopt(fd_, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer);
        id_at_ = packet_.find("\x11\x22\x33\x44");
        for (std::size_t i = 0; i < kBatch; ++i) {
            to_[i].sin_family = AF_INET;
            to_[i].sin_port = htons(port);
            std::memcpy(sent_[i].data(), packet_.data(), packet_.size());
        }
    }
    ~RawClient() { close(fd_); }
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    void run(double seconds) {
        const double begin = wall_seconds();
        const double cpu = own_cpu_seconds();
        while (wall_seconds() < begin + seconds) {
            while (open_ + kBatch <= kWindow) send_batch();
            receive_batch();
        }
        print_client(done_, wrong_, wall_seconds() - begin, own_cpu_seconds() - cpu);
        // Read, so that the compiler keeps the reading.
        if (sum_ == 1) fmt::print("sum 1\n");
    }

  private:
    static constexpr std::size_t kBatch = 128;
    static constexpr std::size_t kWindow = 1024;

    void send_batch() {
        std::array<mmsghdr, kBatch> headers{};
        std::array<iovec, kBatch> parts{};
        for (std::size_t i = 0; i < kBatch; ++i) {
            const std::uint32_t id = next_++ & 0x7FFFFFFFU;
            for (std::size_t byte = 0; byte < 4; ++byte) {
                sent_[i][id_at_ + byte] = static_cast<std::uint8_t>(id >> (24 - 8 * byte));
            }
            to_[i].sin_addr.s_addr = htonl(device_address(id % kSnmpDevices));
            parts[i] = {.iov_base = sent_[i].data(), .iov_len = packet_.size()};
            msghdr& header = headers[i].msg_hdr;
            header.msg_name = &to_[i];
            header.msg_namelen = sizeof to_[i];
            header.msg_iov = &parts[i];
            header.msg_iovlen = 1;
        }
        const int sent = sendmmsg(fd_, headers.data(), kBatch, 0);
        if (sent > 0) open_ += static_cast<std::size_t>(sent);
    }

    void receive_batch() {
        std::array<mmsghdr, kBatch> headers{};
        std::array<iovec, kBatch> parts{};
        std::array<sockaddr_in, kBatch> from{};
        for (std::size_t i = 0; i < kBatch; ++i) {
            parts[i] = {.iov_base = received_[i].data(), .iov_len = received_[i].size()};
            msghdr& header = headers[i].msg_hdr;
            header.msg_name = &from[i];
            header.msg_namelen = sizeof from[i];
            header.msg_iov = &parts[i];
            header.msg_iovlen = 1;
        }
        const int got = recvmmsg(fd_, headers.data(), kBatch, MSG_DONTWAIT, nullptr);
        if (got <= 0) {
            pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
            if (poll(&ready, 1, 500) == 0) open_ = 0;  // lost: a bare client just goes on
            return;
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
            const bool right = read_answer(received_[i].data(), headers[i].msg_len, from[i]);
            ++(right ? done_ : wrong_);
        }
        open_ -= std::min(open_, static_cast<std::size_t>(got));
    }

    // The shape of the answer is known: only lengths are followed.
    bool read_answer(const std::uint8_t* at, std::size_t size, const sockaddr_in& from) {
        constexpr std::size_t kId = 4 + 3 + 8 + 4;
        if (size < kId + 16 || at[kId] != 0x02 || at[kId + 1] != 4) return false;
        std::uint32_t id = 0;
        for (std::size_t i = 0; i < 4; ++i) id = id << 8U | at[kId + 2 + i];
        if (ntohl(from.sin_addr.s_addr) != device_address(id % kSnmpDevices)) return false;
        std::size_t place = kId + 6 + 6 + 4;
        int values = 0;
        while (place + 4 < size) {
            std::size_t value = place + 2;
            value += 2U + at[value + 1];
            for (std::size_t i = 0; i < at[value + 1]; ++i) sum_ = sum_ << 8U ^ at[value + 2 + i];
            place += 2U + at[place + 1];
            ++values;
        }
        return values == 5;
    }

    int fd_;
    std::string packet_;
    std::size_t id_at_ = 0;
    std::uint32_t next_ = 0;
    std::size_t open_ = 0;
    std::uint64_t done_ = 0;
    std::uint64_t wrong_ = 0;
    std::uint64_t sum_ = 0;
    std::array<sockaddr_in, kBatch> to_{};
    std::array<std::array<std::uint8_t, 256>, kBatch> sent_{};
    std::array<std::array<std::uint8_t, 1500>, kBatch> received_;
};

inline int run_snmp_client(std::string_view role, std::uint16_t port, double seconds) {
    stay_on_core(0);
    if (role == "snmp-driver") {
        DriverClient(port).run(seconds);
    } else if (role == "snmp-raw") {
        RawClient(port).run(seconds);
    } else {
        const NetSnmpResult result = run_netsnmp(port, seconds, kSnmpWindow);
        print_client(result.polls, result.wrong, result.seconds, result.cpu_seconds);
    }
    return 0;
}

// Median of pairs measured one after the other: what others do to the machine meets both.
inline double median_ratio(const std::vector<double>& ours, const std::vector<double>& peers) {
    Slices ratios;
    for (std::size_t i = 0; i < ours.size(); ++i) ratios.add(ours[i] / peers[i]);
    return ratios.median();
}

inline void measure_snmp_driver(ResultTable& table, double seconds, int rounds) {
    const TempDir folder;
    const std::uint16_t port = net::test::free_port();
    Process answers(role_command({"snmp-answers", std::to_string(port), "1"}), folder);
    POLLUX_CHECK(answers.wait_for_udp("127.0.0.1", port, snmp_question()));
    std::map<std::string, std::vector<double>> rate;
    std::map<std::string, Slices> cpu;
    for (int round = 0; round < rounds; ++round) {
        for (const char* role : {"snmp-raw", "snmp-driver", "snmp-netsnmp"}) {
            const Figures figures =
                run_role({role, std::to_string(port), fmt::format("{}", seconds)}, folder);
            rate[role].push_back(figures.at("rate"));
            cpu[role].add(figures.at("cpu_us"));
            table.require(figures.at("wrong") * 1000 <= figures.at("rate"),
                          fmt::format("{}: {} wrong or lost answers", role, figures.at("wrong")));
        }
    }
    const auto median = [&](const std::string& role) {
        Slices slices;
        for (const double one : rate[role]) slices.add(one);
        return slices.median();
    };
    const std::string ours =
        fmt::format("{:.0f}/s, {:.1f} us CPU", median("snmp-driver"), cpu["snmp-driver"].median());
    for (const auto& [role, name, goal] :
         {std::tuple{"snmp-raw", "bare sendmmsg", 0.45}, {"snmp-netsnmp", "net-snmp async", 1.4}}) {
        const double ratio = median_ratio(rate["snmp-driver"], rate[role]);
        table.add(
            {.what = "SNMP driver, 5 values, 20k devices",
             .ours = ours,
             .goal = fmt::format(">= {:.2f}x", goal),
             .met = ratio >= goal,
             .peer = name,
             .peers_figure = fmt::format("{:.0f}/s, {:.1f} us", median(role), cpu[role].median()),
             .ratio = ratio});
    }
}

}  // namespace pollux::bench
