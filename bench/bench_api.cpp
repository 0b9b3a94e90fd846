// How fast the API answers: small requests beside another server, JSON of large pages, a server
// that polls ten thousand targets meanwhile, and events to many clients.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "bench/api_fleet_part.hpp"
#include "bench/api_get_part.hpp"
#include "bench/api_hub_part.hpp"
#include "bench/api_websocket_part.hpp"
#include "bench/json_part.hpp"

namespace {

namespace bench = pollux::bench;

constexpr std::string_view kUsage = R"(usage: bench_api [--quick] [--only PART]...

  --quick        shorter and once: a look, not a figure to quote
  --only PART    one part; may be given again: fleet json get websocket hub
)";

constexpr std::array<std::string_view, 5> kParts = {"fleet", "json", "get", "websocket", "hub"};

struct Options {
    bool quick = false;
    std::vector<std::string_view> only;
    bool wants(std::string_view part) const {
        return only.empty() || std::ranges::find(only, part) != only.end();
    }
};

bool parse(int count, char** words, Options& options) {
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        if (word == "--quick") {
            options.quick = true;
        } else if (word == "--only" && i + 1 < count) {
            options.only.emplace_back(words[++i]);
            if (std::ranges::find(kParts, options.only.back()) == kParts.end()) return false;
        } else {
            return false;
        }
    }
    return true;
}

int run(const Options& options) {
    bench::ResultTable table(
        "Rates: median of the rounds, per second of the server's processor time.");
    // On all cores, as people run it; the other parts have a core for each side.
    if (options.wants("fleet")) bench::measure_api_fleet(table, options.quick ? 5 : 30);
    bench::stay_on_core(0);
    if (options.wants("json")) bench::measure_json(table, options.quick ? 3 : 15);
    if (options.wants("get")) {
        bench::measure_get(table, options.quick ? 1 : 3, options.quick ? 1 : 5);
    }
    if (options.wants("websocket")) bench::measure_websocket(table, options.quick ? 4 : 20);
    if (options.wants("hub")) bench::measure_hub(table, options.quick ? 4 : 20);
    return table.finish();
}

// What this program does when it started itself: one side of a comparison.
int play(std::string_view role, std::uint16_t port) {
    if (role == "api-server") bench::serve_api(port);
    if (role == "snmp-answers") bench::answer_snmp(port, 9);
    if (role == "httplib-server") bench::serve_httplib(port);
    if (role == "fan-server") bench::serve_fan(port);
    if (role == "hub-server") bench::serve_hub(port);
    return 2;
}

}  // namespace

int main(int count, char** words) {
    if (count > 3 && std::string_view(words[1]) == "--role") {
        return play(words[2], static_cast<std::uint16_t>(std::atoi(words[3])));
    }
    Options options;
    if (!parse(count, words, options)) {
        fmt::print(stderr, "{}", kUsage);
        return 2;
    }
    return run(options);
}
