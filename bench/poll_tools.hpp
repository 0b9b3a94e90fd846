// What the parts of `bench poll` share: programs started by pid, this program in another role, what
// a process used, and the server's own metrics.
//
// Every client that is compared runs in a process of its own, as a role of this program, so that
// its processor time and memory are its own. A role prints one line "name value" per figure.
#pragma once

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "bench/result_table.hpp"
#include "net/test_process.hpp"

namespace pollux::bench {

using net::test::Process;
using net::test::TempDir;

inline double wall_seconds() {
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// Of the monotonic clock, which all processes of the machine share.
inline std::int64_t steady_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

inline void sleep_seconds(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// The client on the first core, what answers on the second: so both have one to themselves.
inline void stay_on_core(unsigned core) {
    if (std::thread::hardware_concurrency() < 2) return;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    sched_setaffinity(0, sizeof cores, &cores);
}

// 127.1.0.1, 127.1.0.2, ... in host byte order, and as text.
constexpr std::uint32_t device_address(std::uint32_t number) { return 0x7F010001U + number; }
inline std::string device_text(std::uint32_t number) {
    const std::uint32_t bits = device_address(number);
    return fmt::format("127.{}.{}.{}", bits >> 16U & 255U, bits >> 8U & 255U, bits & 255U);
}

// --- processes ----------------------------------------------------------------------------------

inline std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

// `pollux` stands beside the benchmark.
inline std::string pollux_program() {
    const auto path = std::filesystem::path(own_program()).parent_path() / "pollux";
    POLLUX_CHECK_MSG(std::filesystem::exists(path), "build pollux first: ./dev build release");
    return path.string();
}

// Processor time so far, user and system: RUSAGE_SELF or RUSAGE_CHILDREN.
inline double used_cpu_seconds(int whose) {
    rusage usage{};
    getrusage(whose, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}
inline double own_cpu_seconds() { return used_cpu_seconds(RUSAGE_SELF); }
// Of those that have ended.
inline double children_cpu_seconds() { return used_cpu_seconds(RUSAGE_CHILDREN); }

inline double cpu_seconds(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    // The name may hold anything, so fields are counted from its closing bracket.
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0;
    double system = 0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// A line of /proc/PID/status in MB: "VmRSS", "VmHWM".
inline double status_megabytes(pid_t pid, std::string_view name) {
    std::ifstream file(fmt::format("/proc/{}/status", pid));
    std::string line;
    while (std::getline(file, line)) {
        if (!line.starts_with(name)) continue;
        return std::strtod(line.c_str() + name.size() + 1, nullptr) / 1024;
    }
    return 0;
}

using Figures = std::map<std::string, double, std::less<>>;

// Takes the lines that are a name and a number; a log may stand between them.
inline Figures parse_figures(const std::string& text) {
    Figures figures;
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string name;
        double value = 0;
        if (words >> name >> value) figures[name] = value;
    }
    return figures;
}

inline std::vector<std::string> role_command(std::vector<std::string> arguments) {
    std::vector<std::string> command = {own_program(), "--role"};
    for (std::string& argument : arguments) command.push_back(std::move(argument));
    return command;
}

// Runs this program in a role to its end.
inline Figures run_role(std::vector<std::string> arguments, const TempDir& folder) {
    const std::string name = arguments.front();
    Process process(role_command(std::move(arguments)), folder);
    const bool ended = process.wait_for_end(std::chrono::minutes(5));
    if (!ended || process.exit_code() != 0) {
        fmt::print(stderr, "role {}: {}\n", name, process.output());
        POLLUX_CHECK_MSG(false, "a role of the benchmark failed");
    }
    return parse_figures(process.output());
}

// --- metrics ------------------------------------------------------------------------------------

// One GET on loopback, blocking. Empty: no answer.
inline std::string http_get(std::uint16_t port, std::string_view path) {
    const net::test::TestAddress address("127.0.0.1", port);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::string answer;
    if (connect(fd, address.get(), address.length) == 0) {
        const std::string request =
            fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
        [[maybe_unused]] const ssize_t sent = send(fd, request.data(), request.size(), 0);
        std::array<char, 65536> buffer{};
        while (true) {
            const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
            if (got <= 0) break;
            answer.append(buffer.data(), static_cast<std::size_t>(got));
        }
    }
    close(fd);
    const auto body = answer.find("\r\n\r\n");
    return body == std::string::npos ? std::string() : answer.substr(body + 4);
}

// The page of a server at one moment.
class Metrics {
  public:
    explicit Metrics(const std::string& page) {
        std::istringstream lines(page);
        std::string line;
        while (std::getline(lines, line)) {
            const auto space = line.rfind(' ');
            if (line.empty() || line[0] == '#' || space == std::string::npos) continue;
            values_[line.substr(0, space)] = std::strtod(line.c_str() + space + 1, nullptr);
        }
    }

    bool empty() const { return values_.empty(); }

    // All series of a name whose labels hold `label`.
    double sum(std::string_view name, std::string_view label = "") const {
        double total = 0;
        for (const auto& [series, value] : values_) {
            if (is_of(series, name) && series.find(label) != std::string::npos) total += value;
        }
        return total;
    }

    // Counts of a histogram's buckets, cumulative, by upper bound.
    std::map<double, double> buckets(const std::string& name, std::string_view label) const {
        std::map<double, double> found;
        for (const auto& [series, value] : values_) {
            if (!is_of(series, name + "_bucket") || series.find(label) == std::string::npos) {
                continue;
            }
            const auto bound = series.find("le=\"") + 4;
            found[std::strtod(series.c_str() + bound, nullptr)] += value;
        }
        return found;
    }

  private:
    static bool is_of(const std::string& series, std::string_view name) {
        return series.starts_with(name) &&
               (series.size() == name.size() || series[name.size()] == '{');
    }
    std::map<std::string, double, std::less<>> values_;
};

// The quantile of what happened between two pages, in seconds, even within its bucket.
inline double quantile_between(const Metrics& before, const Metrics& after, const std::string& name,
                               double share, std::string_view label = "") {
    const auto old = before.buckets(name, label);
    auto counts = after.buckets(name, label);
    for (auto& [bound, count] : counts) count -= old.contains(bound) ? old.at(bound) : 0;
    if (counts.empty()) return 0;
    const double wanted = counts.rbegin()->second * share;
    double lower = 0;
    double below = 0;
    for (const auto& [bound, count] : counts) {
        if (count >= wanted) {
            if (!std::isfinite(bound)) return lower;
            return count <= below ? bound
                                  : lower + (bound - lower) * (wanted - below) / (count - below);
        }
        lower = bound;
        below = count;
    }
    return lower;
}

}  // namespace pollux::bench
