#include "runtime/worker_board.hpp"

#include <algorithm>

namespace pollux::runtime {
namespace {

// Names of threads begin so, but for the first one.
constexpr std::string_view kPrefix = "pollux-";

std::string_view kind_of(std::string_view name) {
    if (!name.starts_with(kPrefix)) return "main";
    name.remove_prefix(kPrefix.size());
    if (name.starts_with("io-")) return "shard";
    return name == "job" ? "jobs" : name;
}

}  // namespace

void WorkerBoard::seen(const std::string& name, base::WallTime at, std::optional<WorkCounts> work) {
    Known& known = known_[name];
    known.seen = at;
    known.work = work;
}

void WorkerBoard::set_failing(const std::string& name, bool failing) {
    known_[name].failing = failing;
}

void WorkerBoard::measure(std::vector<ThreadStats> threads, base::BootTime now) {
    std::map<std::string, Usage, std::less<>> fresh;
    for (ThreadStats& thread : threads) {
        Usage& usage = fresh[std::move(thread.name)];
        ++usage.threads;
        usage.cpu_seconds += thread.cpu_seconds;
    }
    const double seconds = base::to_seconds(now - measured_);
    for (auto& [name, usage] : fresh) {
        const auto before = usage_.find(name);
        // Threads of a pool come and go: what a gone one took is not taken back.
        if (before != usage_.end() && seconds > 0) {
            usage.cpu_share =
                std::max(0.0, (usage.cpu_seconds - before->second.cpu_seconds) / seconds);
        }
    }
    usage_ = std::move(fresh);
    measured_ = now;
}

std::vector<WorkerRow> WorkerBoard::rows(base::WallTime now) const {
    std::map<std::string_view, WorkerRow> rows;
    for (const auto& [name, usage] : usage_) {
        WorkerRow& row = rows[name];
        row.threads = usage.threads;
        row.cpu_seconds = usage.cpu_seconds;
        row.cpu_share = usage.cpu_share;
    }
    for (const auto& [name, known] : known_) {
        WorkerRow& row = rows[name];
        row.last_seen = known.seen;
        row.work = known.work;
        row.status = now - known.seen > kPatience ? "silent" : known.failing ? "failing" : "ok";
    }
    std::vector<WorkerRow> result;
    for (auto& [name, row] : rows) {
        row.name = name;
        row.kind = kind_of(name);
        result.push_back(std::move(row));
    }
    return result;
}

}  // namespace pollux::runtime
