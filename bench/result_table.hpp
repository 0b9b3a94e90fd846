// What the benchmarks share: slices of a measurement, the table they print, and how busy the
// machine was meanwhile. A row is printed as soon as it is known.
#pragma once

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace pollux::bench {

using Clock = std::chrono::steady_clock;

inline std::int64_t nanos_since(Clock::time_point start) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

// How much of the time since its construction this program had a core. On a shared machine the rest
// went to others, so a wall time multiplied by it is what the work itself took.
class CoreShare {
  public:
    CoreShare() : start_(Clock::now()), cpu_start_ns_(cpu_ns()) {}
    double now() const {
        const auto wall_ns = static_cast<double>(nanos_since(start_));
        return std::min(1.0, static_cast<double>(cpu_ns() - cpu_start_ns_) / wall_ns);
    }

  private:
    static std::int64_t cpu_ns() {
        timespec time{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }

    Clock::time_point start_;
    std::int64_t cpu_start_ns_;
};

// The same work measured several times. The median is what we quote; the best time, or the worst
// rate, shows how much of it was the machine being busy with others.
class Slices {
  public:
    void add(double value) { values_.push_back(value); }
    double lowest() const { return *std::ranges::min_element(values_); }
    double median() const {
        std::vector<double> sorted = values_;
        std::ranges::sort(sorted);
        return sorted[sorted.size() / 2];
    }
    std::string text(const char* unit) const {
        return fmt::format("{:.0f} {} (best {:.0f})", median(), unit, lowest());
    }
    std::string rate_text() const {
        return fmt::format("{:.0f} /s (worst {:.0f})", median(), lowest());
    }

  private:
    std::vector<double> values_;
};

// Scatters an id: where a benchmark needs chance, the same in every run.
constexpr std::uint64_t scatter(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15ULL;
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBULL;
    return value ^ (value >> 31U);
}

// Resident bytes now, after giving back what was freed.
inline double resident_bytes() {
    malloc_trim(0);
    std::ifstream file("/proc/self/statm");
    double total = 0;
    double resident = 0;
    file >> total >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

class ResultTable {
  public:
    explicit ResultTable(
        std::string_view how = "Figures: median of 5 and best, of the time on a core.") {
        fmt::print("{} cores, load {}. {}\n\n", std::thread::hardware_concurrency(), load(), how);
        print("measured", "ours", "goal", "", "peer", "peer's", "ratio");
        fmt::print("{:-<132}\n", "");
    }

    // `met` is left out by rows that only inform; peer 0: there is none. The ratio is how many
    // times better than the peer's our figure is.
    struct Row {
        std::string what = {};
        std::string ours = {};
        std::string goal = {};
        bool met = true;
        std::string peer = {};
        std::string peers_figure = {};
        double ratio = 0;
    };
    void add(const Row& row) {
        const char* verdict = row.goal.empty() ? "" : row.met ? "met" : "MISSED";
        missed_ += row.met ? 0 : 1;
        print(row.what, row.ours, row.goal, verdict, row.peer, row.peers_figure,
              row.ratio > 0 ? fmt::format("{:.2f}x", row.ratio) : "");
    }

    // A fact that must hold whatever the machine does.
    void require(bool holds, const std::string& what) {
        if (holds) return;
        fmt::print("WRONG: {}\n", what);
        wrong_ = true;
    }

    int finish() const {
        const double wall_s = static_cast<double>(nanos_since(start_)) * 1e-9;
        fmt::print("\n{:.0f} s, of which {:.0f} % on a core; load {} now. {} goal(s) missed.\n",
                   wall_s, share_.now() * 100, load(), missed_);
        return wrong_ || missed_ > 0 ? 1 : 0;
    }

  private:
    static void print(const std::string& what, const std::string& ours, const std::string& goal,
                      const std::string& verdict, const std::string& peer,
                      const std::string& peers_figure, const std::string& ratio) {
        fmt::print("{:<43} {:<24} {:<11} {:<6} {:<21} {:<17} {}\n", what, ours, goal, verdict, peer,
                   peers_figure, ratio);
        std::fflush(stdout);
    }

    static std::string load() {
        double one = 0;
        return getloadavg(&one, 1) == 1 ? fmt::format("{:.1f}", one) : "unknown";
    }

    Clock::time_point start_ = Clock::now();
    CoreShare share_;
    int missed_ = 0;
    bool wrong_ = false;
};

}  // namespace pollux::bench
