// 2000 devices that take half a second each, all asked at once through the whole engine. A worker
// per device would need 2000 of them; 32 workers need half a minute.
#pragma once

#include <netinet/tcp.h>
#include <sys/epoll.h>

#include <deque>
#include <string>
#include <vector>

#include "app/fleet_ports.hpp"
#include "app/serving.hpp"
#include "bench/http_clients_part.hpp"
#include "bench/server_process.hpp"

namespace pollux::bench {

// Answers every request after the same time, so that answers leave in the order of the questions.
class SlowServer {
  public:
    SlowServer(std::uint16_t port, double delay_seconds)
        : delay_(delay_seconds),
          listener_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
          epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        const std::string body = kilobyte_of_json();
        answer_ = fmt::format(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
            body.size(), body);
        const net::test::TestAddress any("0.0.0.0", port);
        POLLUX_CHECK(bind(listener_, any.get(), any.length) == 0 && listen(listener_, 4096) == 0);
        watch(listener_);
    }

    [[noreturn]] void run() {
        std::array<epoll_event, 512> events{};
        while (true) {
            const int count = epoll_wait(epoll_, events.data(), 512, milliseconds_to_wait());
            for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(count, 0)); ++i) {
                events[i].data.fd == listener_ ? accept_all() : read_one(events[i].data.fd);
            }
            answer_due();
        }
    }

  private:
    struct Waiting {
        double at;
        int fd;
    };

    void watch(int fd) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = fd;
        epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    }
    int milliseconds_to_wait() const {
        if (waiting_.empty()) return 1000;
        return std::max(0, static_cast<int>((waiting_.front().at - wall_seconds()) * 1000) + 1);
    }
    void accept_all() {
        const int on = 1;
        for (int fd = 0; (fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            watch(fd);
        }
    }
    void read_one(int fd) {
        std::array<char, 8192> buffer{};
        const ssize_t got = read(fd, buffer.data(), buffer.size());
        if (got <= 0) {
            std::erase_if(waiting_, [fd](const Waiting& one) { return one.fd == fd; });
            close(fd);
            return;
        }
        const std::string_view text(buffer.data(), static_cast<std::size_t>(got));
        if (text.ends_with("\r\n\r\n")) waiting_.push_back({wall_seconds() + delay_, fd});
    }
    void answer_due() {
        const double now = wall_seconds();
        for (; !waiting_.empty() && waiting_.front().at <= now; waiting_.pop_front()) {
            [[maybe_unused]] const ssize_t sent =
                write(waiting_.front().fd, answer_.data(), answer_.size());
        }
    }

    double delay_;
    int listener_;
    int epoll_;
    std::string answer_;
    std::deque<Waiting> waiting_;
};

// The role `slow-server PORT`.
[[noreturn]] inline void answer_slowly(std::uint16_t port) {
    lab::raise_descriptor_limit();
    SlowServer(port, 0.5).run();
}

inline double successes(const runtime::CoreLoop::View& view) {
    double total = 0;
    const auto& classes = view.engine.core().settings().classes;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        total +=
            static_cast<double>(view.stats.of_class(static_cast<std::uint16_t>(i)).polls.success);
    }
    return total;
}

// The role `burst DATA FLEET DEVICES`: a server as `pollux serve` makes it, told to poll every
// target now. Prints the seconds until the last one was done and the memory it took.
class Burst {
  public:
    Burst(const std::string& data, const std::string& fleet) {
        app::ServeArguments arguments;
        arguments.data = data;
        arguments.fleet = {fleet};
        auto serving = app::Serving::start(arguments, app::process_environment());
        if (!serving) fmt::print(stderr, "{}\n", serving.error().message);
        POLLUX_CHECK(serving.has_value());
        serving_ = std::move(*serving);
    }

    void run(std::uint32_t devices) {
        turn_for(1.5);
        const double before = count();
        const double idle = status_megabytes(getpid(), "VmRSS");
        const double begin = wall_seconds();
        const double cpu = own_cpu_seconds();
        for (std::uint32_t i = 0; i < devices; ++i) {
            schedule::OperatorAction action;
            action.verb = schedule::OperatorVerb::kTriggerNow;
            action.key = fmt::format("http-json::d{:05}", i);
            serving_->server().operate(std::move(action), [](base::Status) {});
        }
        while (count() < before + devices && wall_seconds() < begin + 30) turn_for(0.002);
        fmt::print("seconds {:.3f}\nfinished {}\ncpu {:.3f}\nidle_mb {:.1f}\npeak_mb {:.1f}\n",
                   wall_seconds() - begin, count() - before, own_cpu_seconds() - cpu, idle,
                   status_megabytes(getpid(), "VmHWM"));
    }

  private:
    void turn_for(double seconds) {
        const double until = wall_seconds() + seconds;
        while (wall_seconds() < until) serving_->loop().run_once(std::chrono::milliseconds(1));
    }
    double count() {
        double found = -1;
        serving_->server().ask(
            [](const auto& view) { return fmt::format("{}", successes(view)); },
            [&found](const std::string& text) { found = std::strtod(text.c_str(), nullptr); });
        while (found < 0) serving_->loop().run_once(std::chrono::milliseconds(5));
        return found;
    }

    std::unique_ptr<app::Serving> serving_;
};

inline void measure_burst(ResultTable& table, int rounds) {
    constexpr std::uint32_t kDevices = 2000;
    const TempDir folder;
    const std::uint16_t port = net::test::free_port();
    Process slow(role_command({"slow-server", std::to_string(port)}), folder);
    POLLUX_CHECK(slow.wait_for_tcp("127.0.0.1", port));
    const std::string file = folder.write(
        "fleet.yaml", fleet_text({{.addon = "http-json", .count = kDevices, .port = port}}, "1h"));
    const Settings limits = raised_limits(100'000, 4096, 4096);
    fmt::print("# burst: {} devices,{}\n", kDevices, to_text(limits));
    Slices seconds;
    Slices memory;
    Slices cpu;
    Slices bare;
    for (int round = 0; round < rounds; ++round) {
        const TempDir data;
        bare.add(
            run_role({"curl-once", std::to_string(port), std::to_string(kDevices), "0"}, folder)
                .at("seconds"));
        auto settings = limits;
        settings.emplace_back("POLLUX_METRICS_PORT", std::to_string(net::test::free_port()));
        settings.emplace_back("POLLUX_API_LISTEN", "127.0.0.1:0");
        settings.emplace_back("POLLUX_LOG_LEVEL", "error");
        Process role(role_command({"burst", data.file("data"), file, std::to_string(kDevices)}),
                     folder, settings);
        POLLUX_CHECK(role.wait_for_end(std::chrono::minutes(2)) && role.exit_code() == 0);
        const Figures figures = parse_figures(role.output());
        table.require(figures.contains("finished") && figures.at("finished") == kDevices,
                      "the burst did not finish: " + role.output());
        if (!figures.contains("seconds")) return;
        seconds.add(figures.at("seconds"));
        memory.add(figures.at("peak_mb") - figures.at("idle_mb"));
        cpu.add(figures.at("cpu"));
    }
    table.add({.what = "2000 devices at 0.5 s each, at once",
               .ours = fmt::format("{:.3f} s, {:.2f} s CPU", seconds.median(), cpu.median()),
               .goal = "<= 0.70 s",
               .met = seconds.median() <= 0.7,
               .peer = "bare libcurl, multis",
               .peers_figure = fmt::format("{:.3f} s", bare.median()),
               .ratio = bare.median() / seconds.median()});
    table.add({.what = "  memory over idle",
               .ours = fmt::format("{:.1f} MB", memory.median()),
               .goal = "<= 60 MB",
               .met = memory.median() <= 60});
}

}  // namespace pollux::bench
