// How fast the scheduler core is, and how small: every promise about it measured in one run, each
// beside the simplest thing that could do the same work.
#include <array>
#include <cstdint>
#include <string_view>

#include "bench/bench_options.hpp"
#include "bench/core_part.hpp"
#include "bench/hour_part.hpp"
#include "bench/jobs_part.hpp"
#include "bench/result_table.hpp"
#include "bench/wheel_part.hpp"

namespace {

namespace bench = pollux::bench;

constexpr std::string_view kUsage =
    R"(usage: bench_core [--quick] [--only PART]...

  --quick        a tenth of the size: a look, not a figure to quote
  --only PART    one part; may be given again: wheel core jobs hour (takes minutes)
)";

constexpr std::array<std::string_view, 4> kParts = {"wheel", "core", "jobs", "hour"};

int run(const bench::BenchOptions& options) {
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
    return run(bench::bench_options(count, words, kUsage, kParts));
}
