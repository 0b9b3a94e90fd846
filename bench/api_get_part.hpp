// A small GET through the whole server of the API, beside cpp-httplib, both driven by wrk. Rates
// are per second of processor time of the server's process: what one core would do that it had to
// itself, whatever else the machine does meanwhile.
#pragma once

#include <httplib.h>

#include <array>
#include <string>

#include "bench/api_stage.hpp"

namespace pollux::bench {

inline constexpr int kGetConnections = 32;

[[noreturn]] inline void serve_api(std::uint16_t port) {
    stay_on_core(1);
    ApiStage stage(port);
    stage.start({{.method = "GET",
                  .path = "/api/ping",
                  .operation = "ping",
                  .query = {},
                  .handler = [](api::Call call) { call.json(200, R"({"status":"ok"})"); }}});
    while (true) pause();
}

[[noreturn]] inline void serve_httplib(std::uint16_t port) {
    stay_on_core(1);
    httplib::Server server;
    // A thread per connection, and connections that stay: its best case.
    server.new_task_queue = [] { return new httplib::ThreadPool(kGetConnections + 4); };
    server.set_keep_alive_max_count(1'000'000'000);
    server.set_tcp_nodelay(true);
    server.Get("/api/ping", [](const httplib::Request&, httplib::Response& response) {
        response.set_content(R"({"status":"ok"})", "application/json");
    });
    server.listen("127.0.0.1", port);
    std::exit(1);
}

struct GetRate {
    double per_cpu_second = 0;
    double per_second = 0;
};

// wrk on the other core against a role.
inline GetRate drive_get(const std::string& role, double seconds) {
    TempDir folder;
    const std::uint16_t port = net::test::free_port();
    Process server(role_command({role, std::to_string(port)}), folder);
    POLLUX_CHECK_MSG(wait_for_port(port), "a server of the benchmark does not answer");
    const auto drive = [&](double how_long) {
        Process wrk(
            {"taskset", "-c", "0", "wrk", "-t1", fmt::format("-c{}", kGetConnections),
             fmt::format("-d{:.0f}s", how_long), fmt::format("http://127.0.0.1:{}/api/ping", port)},
            folder);
        POLLUX_CHECK(wrk.wait_for_end(std::chrono::minutes(2)) && wrk.exit_code() == 0);
        return wrk.output();
    };
    drive(1);  // warm
    const double before = cpu_seconds(server.pid());
    const double begun = wall_seconds();
    const std::string report = drive(seconds);
    const double cpu = cpu_seconds(server.pid()) - before;
    const double wall = wall_seconds() - begun;
    POLLUX_CHECK_MSG(report.find("Non-2xx") == std::string::npos, "wrk saw errors");
    const std::size_t at = report.find(" requests in ");
    POLLUX_CHECK_MSG(at != std::string::npos, "wrk printed no count");
    const std::size_t line = report.rfind('\n', at) + 1;
    const double count = std::strtod(report.c_str() + line, nullptr);
    return {.per_cpu_second = count / cpu, .per_second = count / wall};
}

inline void measure_get(ResultTable& table, double seconds, int rounds) {
    Slices ours;
    Slices theirs;
    Slices ratio;
    Slices wall;
    for (int i = 0; i < rounds; ++i) {
        const GetRate api = drive_get("api-server", seconds);
        const GetRate peer = drive_get("httplib-server", seconds);
        ours.add(api.per_cpu_second);
        wall.add(api.per_second);
        theirs.add(peer.per_cpu_second);
        ratio.add(api.per_cpu_second / peer.per_cpu_second);
    }
    table.add({.what = "small GET, per second of a core",
               .ours = fmt::format("{:.0f}/s", ours.median()),
               .goal = ">= 40k/s",
               .met = ours.median() >= 40'000});
    table.add({.what = "small GET beside cpp-httplib",
               .ours = fmt::format("{:.0f}/s", ours.median()),
               .goal = ">= 1.8x",
               .met = ratio.median() >= 1.8,
               .peer = "cpp-httplib",
               .peers_figure = fmt::format("{:.0f}/s", theirs.median()),
               .ratio = ratio.median()});
    table.add({.what = "  of it, on this machine as busy as it was",
               .ours = fmt::format("{:.0f}/s", wall.median())});
}

}  // namespace pollux::bench
