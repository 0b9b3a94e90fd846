// How fast the scheduler core is, and how small: every promise about it measured in one run, each
// beside the simplest thing that could do the same work.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "bench/core_part.hpp"
#include "bench/hour_part.hpp"
#include "bench/jobs_part.hpp"
#include "bench/result_table.hpp"
#include "bench/wheel_part.hpp"

namespace {

constexpr std::string_view kUsage =
    R"(usage: bench_core [--quick] [--skip-hour] [--only wheel|core|jobs|hour]

  --quick        a tenth of the size: a look, not a figure to quote
  --skip-hour    without the simulated hour, which takes minutes
  --only PART    one part
)";

struct Options {
    bool quick = false;
    bool skip_hour = false;
    std::string_view only;

    bool wants(std::string_view part) const {
        if (!only.empty()) return only == part;
        return part != "hour" || !skip_hour;
    }
};

bool parse(int count, char** words, Options& options) {
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        if (word == "--quick") {
            options.quick = true;
        } else if (word == "--skip-hour") {
            options.skip_hour = true;
        } else if (word == "--only" && i + 1 < count) {
            options.only = words[++i];
        } else {
            return false;
        }
    }
    const std::string_view parts[] = {"", "wheel", "core", "jobs", "hour"};
    return std::ranges::find(parts, options.only) != std::end(parts);
}

int run(const Options& options) {
    namespace bench = pollux::bench;
    const std::uint32_t size = options.quick ? 100'000 : 1'000'000;
    bench::ResultTable table;
    if (options.wants("wheel")) bench::measure_wheel(table, size);
    if (options.wants("core")) bench::measure_core(table, size);
    if (options.wants("jobs")) {
        bench::measure_jobs(table, 10'000);
        if (!options.quick) bench::measure_jobs(table, 100'000);
    }
    if (options.wants("hour")) bench::measure_hour(table, size, 1.0);
    return table.finish();
}

}  // namespace

int main(int count, char** words) {
    Options options;
    if (!parse(count, words, options)) {
        fmt::print(stderr, "{}", kUsage);
        return 2;
    }
    return run(options);
}
