// The whole engine on SNMP: as many polls as two cores give, beside prometheus-snmp-exporter; a
// fleet of 10k at its normal pace; an idle server; black holes; and a start after kill -9.
#pragma once

#include <cmath>

#include "bench/server_process.hpp"
#include "bench/snmp_answers_part.hpp"

namespace pollux::bench {

// --- throughput ---------------------------------------------------------------------------------

// The exporter with the same five values, asked by wrk: one request is one poll of one device.
class Exporter {
  public:
    Exporter(const TempDir& folder, std::uint16_t snmp_port)
        : folder_(folder), port_(net::test::free_port()) {
        std::string module = "bench:\n  version: 2\n  auth: {community: public}\n  get:\n";
        for (const char* name : kSnmpNames) module += fmt::format("  - {}\n", name);
        module += "  metrics:\n";
        const std::array<const char*, 5> kinds = {"gauge", "counter", "counter", "gauge",
                                                  "counter"};
        for (std::size_t i = 0; i < kSnmpNames.size(); ++i) {
            module += fmt::format("  - {{name: value{}, oid: {}, type: {}, help: a value}}\n", i,
                                  kSnmpNames[i], kinds[i]);
        }
        process_ = std::make_unique<Process>(
            std::vector<std::string>{
                "prometheus-snmp-exporter", "--config.file=" + folder.write("snmp.yml", module),
                fmt::format("--web.listen-address=127.0.0.1:{}", port_), "--log.level=error"},
            folder);
        POLLUX_CHECK_MSG(process_->wait_for_tcp("127.0.0.1", port_), "the exporter did not start");
        script_ = folder.write(
            "targets.lua", fmt::format("local n = 0\nfunction request()\n  n = (n + 1) % 20000\n"
                                       "  return wrk.format('GET', string.format("
                                       "'/snmp?module=bench&target=127.1.%d.%d:{}', "
                                       "math.floor((n + 1) / 256), (n + 1) % 256))\nend\n",
                                       snmp_port));
    }

    // Polls per second; 0 and a message if it does not answer as it should.
    double polls_per_second(double seconds) {
        const std::string page =
            http_get(port_, fmt::format("/snmp?module=bench&target=127.1.0.1:{}", snmp_port_of()));
        if (page.find("value4") == std::string::npos) {
            fmt::print(stderr, "the exporter does not answer: {}\n{}\n", page, process_->output());
            return 0;
        }
        const std::string text = net::test::run_tool(
            {"wrk", "-t1", "-c64", fmt::format("-d{}s", static_cast<int>(seconds)), "-s", script_,
             fmt::format("http://127.0.0.1:{}/", port_)},
            folder_);
        const auto at = text.find("Requests/sec:");
        if (at == std::string::npos || text.find("Non-2xx") != std::string::npos) {
            fmt::print(stderr, "{}\n", text);
            return 0;
        }
        return std::strtod(text.c_str() + at + 13, nullptr);
    }

  private:
    std::string snmp_port_of() const {
        const std::string text = folder_.read("targets.lua");
        const auto at = text.find("%d.%d:") + 6;
        return text.substr(at, text.find('\'', at) - at);
    }

    const TempDir& folder_;
    std::uint16_t port_;
    std::string script_;
    std::unique_ptr<Process> process_;
};

inline void measure_engine(ResultTable& table, double seconds, int rounds) {
    constexpr std::uint32_t kDevices = 20'000;
    const TempDir folder;
    const std::uint16_t port = net::test::free_port();
    Process answers(role_command({"snmp-answers", std::to_string(port), "9"}), folder);
    POLLUX_CHECK(answers.wait_for_udp("127.0.0.1", port, snmp_question()));
    const Settings limits = raised_limits(1'000'000, 4096, 4096);
    const std::string file =
        folder.write("fleet.yaml", fleet_text({{.count = kDevices, .port = port}}, "250ms"));
    fmt::print("# whole engine: {} devices at 250 ms,{}\n", kDevices, to_text(limits));
    std::vector<double> ours;
    std::vector<double> peers;
    Interval last;
    for (int round = 0; round < rounds; ++round) {
        {
            const TempDir data;
            ServerProcess server(data, {file}, limits);
            sleep_seconds(3);
            last = watch(server, seconds, "");
            ours.push_back(last.polls / last.seconds);
            table.require(last.failures <= last.polls / 1000,
                          fmt::format("the engine: {} failed polls", last.failures));
        }
        Exporter exporter(folder, port);
        peers.push_back(exporter.polls_per_second(seconds));
        table.require(peers.back() > 0, "prometheus-snmp-exporter could not be measured");
        if (peers.back() <= 0) return;
    }
    Slices mine;
    Slices theirs;
    for (const double one : ours) mine.add(one);
    for (const double one : peers) theirs.add(one);
    Slices ratios;
    for (std::size_t i = 0; i < ours.size(); ++i) ratios.add(ours[i] / peers[i]);
    table.add({.what = "SNMP through the engine, SQLite, history",
               .ours = fmt::format("{:.0f} polls/s", mine.median()),
               .goal = ">= 30000/s",
               .met = mine.median() >= 30'000});
    table.add({.what = "the same beside the exporter",
               .ours = fmt::format("{:.0f} polls/s", mine.median()),
               .goal = ">= 6.0x",
               .met = ratios.median() >= 6,
               .peer = "snmp-exporter <- wrk",
               .peers_figure = fmt::format("{:.0f}/s", theirs.median()),
               .ratio = ratios.median()});
    table.add(
        {.what = "  its CPU per poll; samples kept, dropped",
         .ours = fmt::format("{:.1f} us; {:.0f}/s, {:.0f}", last.cpu_seconds / last.polls * 1e6,
                             last.samples / last.seconds, last.dropped)});
}

// --- a fleet at its normal pace -----------------------------------------------------------------

// 10,000 devices of `pollux fleet`, to be asked once a minute.
class PaceFleet {
  public:
    explicit PaceFleet(const TempDir& folder)
        : file_(folder.file("fleet.yaml")),
          process_({pollux_program(), "fleet", "--snmp", "10000", "--http", "0", "--profile",
                    "calm", "--port-snmp", std::to_string(net::test::free_port()), "--port-http",
                    "0", "--port-https", "0", "--control", "0", "--write-fleet", file_, "--quiet"},
                   folder) {
        const auto is_written = [&] { return std::filesystem::exists(file_); };
        POLLUX_CHECK_MSG(Process::wait_until(std::chrono::seconds(60), is_written),
                         "pollux fleet did not start");
        // Five values of each, as in the other rows, in place of every table of every device.
        std::string text = folder.read("fleet.yaml");
        const std::string shipped = "addons: [snmp-system, snmp-interfaces]";
        for (auto at = text.find(shipped); at != std::string::npos; at = text.find(shipped, at)) {
            text.replace(at, shipped.size(), "addons: [bench-snmp]");
        }
        folder.write("fleet.yaml", text);
    }
    const std::string& file() const { return file_; }
    static Settings limits() { return raised_limits(1000, 4096, 1000); }

  private:
    std::string file_;
    Process process_;
};

// At its normal pace; then kill -9 and a second start.
inline void measure_pace(ResultTable& table, double seconds) {
    const TempDir folder;
    const PaceFleet fleet(folder);
    const std::string& file = fleet.file();
    const Settings limits = PaceFleet::limits();
    fmt::print("# at pace: 10000 devices at 60 s,{}\n", to_text(limits));
    auto server = std::make_unique<ServerProcess>(folder, std::vector{file}, limits);
    sleep_seconds(10);
    const Interval what = watch(*server, seconds, "");
    const double lag_ms = what.lag_p99_s * 1000;
    const double share = what.cpu_seconds / what.seconds * 100;
    const double resident = status_megabytes(server->pid(), "VmRSS");
    table.add({.what = "10k SNMP devices at 60 s: p99 start lag",
               .ours = fmt::format("{:.0f} ms ({:.0f} polls/s)", lag_ms, what.polls / what.seconds),
               .goal = "<= 250 ms",
               .met = lag_ms <= 250});
    table.add({.what = "  CPU of the server",
               .ours = fmt::format("{:.1f} % of a core", share),
               .goal = "<= 15 %",
               .met = share <= 15});
    table.add({.what = "  memory of the server",
               .ours = fmt::format("{:.0f} MB", resident),
               .goal = "<= 200 MB",
               .met = resident <= 200});
    table.add({.what = "  store reads",
               .ours = fmt::format("{:.0f} in {:.0f} polls", what.reads, what.polls),
               .goal = "0",
               .met = what.reads == 0});
    table.require(what.polls > seconds * 100, "the fleet was not polled");
    table.require(what.failures <= what.polls / 1000,
                  fmt::format("{} failed polls at pace", what.failures));
    server->kill_at_once();
    const ServerProcess second(folder, {file}, limits);
    table.add({.what = "kill -9, start again: serving after",
               .ours = fmt::format("{:.2f} s, {:.2f} s CPU", second.serving_after_seconds(),
                                   second.start_cpu_seconds()),
               .goal = "<= 2 s",
               .met = second.serving_after_seconds() <= 2});
}

inline void measure_idle(ResultTable& table, double seconds) {
    const TempDir folder;
    const std::uint16_t port = net::test::free_port();
    Process answers(role_command({"snmp-answers", std::to_string(port), "9"}), folder);
    POLLUX_CHECK(answers.wait_for_udp("127.0.0.1", port, snmp_question()));
    const std::string file =
        folder.write("fleet.yaml", fleet_text({{.count = 50, .port = port}}, "60s"));
    const ServerProcess server(folder, {file}, {});
    sleep_seconds(5);
    const Interval what = watch(server, seconds, "");
    const double share = what.cpu_seconds / what.seconds * 100;
    const double resident = status_megabytes(server.pid(), "VmRSS");
    table.add({.what = "idle, 50 targets at 60 s: CPU",
               .ours = fmt::format("{:.2f} % of a core", share),
               .goal = "<= 0.5 %",
               .met = share <= 0.5});
    table.add({.what = "  memory",
               .ours = fmt::format("{:.1f} MB", resident),
               .goal = "<= 30 MB",
               .met = resident <= 30});
}

// --- black holes --------------------------------------------------------------------------------

// The role `black-hole PORT`: takes every datagram and answers none.
[[noreturn]] inline void swallow(std::uint16_t port) {
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const net::test::TestAddress any("0.0.0.0", port);
    POLLUX_CHECK(bind(fd, any.get(), any.length) == 0);
    while (true) pause();
}

inline void measure_black_holes(ResultTable& table, double seconds) {
    constexpr std::uint32_t kHalf = 2500;
    const TempDir folder;
    const std::uint16_t port = net::test::free_port();
    Process answers(role_command({"snmp-answers", std::to_string(port), "9"}), folder);
    POLLUX_CHECK(answers.wait_for_udp("127.0.0.1", port, snmp_question()));
    const std::uint16_t hole = net::test::free_port();
    Process silence(role_command({"black-hole", std::to_string(hole)}), folder);
    const Settings limits = raised_limits(2000, 4096, 1000);
    fmt::print("# black holes: 5000 targets at 10 s,{}\n", to_text(limits));
    std::array<double, 2> lag_ms{};
    for (const bool holes : {false, true}) {
        const TempDir data;
        const std::string file = data.write(
            "fleet.yaml", fleet_text({{.addon = "bench-snmp", .count = kHalf, .port = port},
                                      {.addon = "bench-silent",
                                       .first = kHalf,
                                       .count = kHalf,
                                       .port = holes ? hole : port}},
                                     "10s"));
        const ServerProcess server(data, {file}, limits);
        sleep_seconds(10);
        const Interval what = watch(server, seconds, "bench-snmp");
        lag_ms[holes ? 1 : 0] = what.lag_p99_s * 1000;
        table.require(what.polls >= kHalf / 10.0 * seconds * 0.9, "healthy targets were left out");
        table.require((what.failures > 0) == holes, "the black holes are not where they should be");
    }
    const double allowed = std::max(lag_ms[0] * 0.1, 20.0);
    table.add({.what = "half of 5000 black-holed: p99 lag of others",
               .ours = fmt::format("{:.1f} ms", lag_ms[1]),
               .goal = fmt::format("+-{:.0f} ms", allowed),
               .met = std::abs(lag_ms[1] - lag_ms[0]) <= allowed,
               .peer = "all healthy",
               .peers_figure = fmt::format("{:.1f} ms", lag_ms[0])});
}

}  // namespace pollux::bench
