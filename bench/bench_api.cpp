// How fast the API answers: small requests beside another server, JSON of large pages, a server
// that polls ten thousand targets meanwhile, and events to many clients.
#include <array>
#include <cstdlib>
#include <string_view>

#include "bench/api_fleet_part.hpp"
#include "bench/api_get_part.hpp"
#include "bench/api_hub_part.hpp"
#include "bench/api_websocket_part.hpp"
#include "bench/bench_options.hpp"
#include "bench/json_part.hpp"

namespace {

namespace bench = pollux::bench;

constexpr std::string_view kUsage = R"(usage: bench_api [--quick] [--only PART]...

  --quick        shorter and once: a look, not a figure to quote
  --only PART    one part; may be given again: fleet json get websocket hub
)";

constexpr std::array<std::string_view, 5> kParts = {"fleet", "json", "get", "websocket", "hub"};

int run(const bench::BenchOptions& options) {
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
    return run(bench::bench_options(count, words, kUsage, kParts));
}
