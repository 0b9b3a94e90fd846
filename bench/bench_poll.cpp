// How fast real polls are, and what they cost: the drivers beside the barest clients there are, the
// whole server beside another one, and a fleet at its normal pace.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "bench/bench_options.hpp"
#include "bench/burst_part.hpp"
#include "bench/engine_part.hpp"
#include "bench/http_clients_part.hpp"
#include "bench/plugins_part.hpp"
#include "bench/poll_tools.hpp"
#include "bench/profile_part.hpp"
#include "bench/snmp_clients_part.hpp"
#include "bench/snmp_v3_part.hpp"
#include "bench/ssh_part.hpp"

namespace {

namespace bench = pollux::bench;

constexpr std::string_view kUsage =
    R"(usage: bench_poll [--quick] [--only PART]...

  --quick        shorter and once: a look, not a figure to quote
  --only PART    one part; may be given again:
                 snmp v3 profile http engine burst pace idle holes ssh plugins
)";

constexpr std::array<std::string_view, 11> kParts = {
    "snmp", "v3", "profile", "http", "engine", "burst", "pace", "idle", "holes", "ssh", "plugins"};

int run(const bench::BenchOptions& options) {
    bench::ResultTable table("Rates: median of the rounds; ratios: of neighbours in time.");
    const int rounds = options.quick ? 1 : 5;
    const double seconds = options.quick ? 1 : 2;
    if (options.wants("snmp")) bench::measure_snmp_driver(table, seconds, rounds);
    if (options.wants("v3")) bench::measure_v3(table, seconds, rounds);
    if (options.wants("profile")) bench::measure_profile(table);
    if (options.wants("http")) bench::measure_http(table, seconds, rounds);
    if (options.wants("engine")) {
        bench::measure_engine(table, options.quick ? 5 : 10, options.quick ? 1 : 3);
    }
    if (options.wants("burst")) bench::measure_burst(table, options.quick ? 1 : 3);
    if (options.wants("pace")) bench::measure_pace(table, options.quick ? 15 : 50);
    if (options.wants("idle")) bench::measure_idle(table, options.quick ? 10 : 30);
    if (options.wants("holes")) bench::measure_black_holes(table, options.quick ? 10 : 30);
    if (options.wants("ssh")) bench::measure_ssh(table, options.quick ? 5 : 60);
    if (options.wants("plugins")) bench::measure_plugins(table, options.quick ? 15 : 50);
    return table.finish();
}

// What this program does when it started itself: one side of a comparison.
int play(const std::vector<std::string_view>& words) {
    const auto number = [&](std::size_t i) { return std::atof(words.at(i).data()); };
    const auto port = [&](std::size_t i) { return static_cast<std::uint16_t>(number(i)); };
    const std::string_view role = words.at(0);
    if (role == "snmp-answers") bench::answer_snmp(port(1), static_cast<unsigned>(number(2)));
    if (role == "black-hole") bench::swallow(port(1));
    if (role == "slow-server") bench::answer_slowly(port(1));
    if (role == "burst") {
        bench::Burst(std::string(words.at(1)), std::string(words.at(2)))
            .run(static_cast<std::uint32_t>(number(3)));
        return 0;
    }
    if (role.starts_with("v3-")) return bench::run_v3_client(role, port(1), number(2));
    if (role.starts_with("snmp-")) return bench::run_snmp_client(role, port(1), number(2));
    return bench::run_http_client(role, port(1), static_cast<std::uint32_t>(number(2)), number(3));
}

}  // namespace

int main(int count, char** words) {
    if (count > 2 && std::string_view(words[1]) == "--role") {
        return play({words + 2, words + count});
    }
    return run(bench::bench_options(count, words, kUsage, kParts));
}
