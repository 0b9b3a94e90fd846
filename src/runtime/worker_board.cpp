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

std::int64_t bucket_of(base::WallTime at) {
    return at.us /
           std::chrono::duration_cast<std::chrono::microseconds>(WorkerBoard::kBucket).count();
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

void WorkerBoard::measure(std::vector<ThreadStats> threads, base::Instant now) {
    std::map<std::string, Usage, std::less<>> fresh;
    for (ThreadStats& thread : threads) {
        Usage& usage = fresh[std::move(thread.name)];
        ++usage.threads;
        usage.cpu_seconds += thread.cpu_seconds;
    }
    const double seconds = base::to_seconds(now.boot - measured_);
    for (auto& [name, usage] : fresh) {
        const auto before = usage_.find(name);
        // Threads of a pool come and go: what a gone one took is not taken back.
        if (before != usage_.end() && seconds > 0) {
            usage.cpu_share =
                std::max(0.0, (usage.cpu_seconds - before->second.cpu_seconds) / seconds);
            keep(name, usage, seconds, now.wall);
        }
    }
    usage_ = std::move(fresh);
    measured_ = now.boot;
}

void WorkerBoard::keep(const std::string& name, const Usage& usage, double seconds,
                       base::WallTime now) {
    auto found = past_.find(name);
    if (found == past_.end()) {
        if (past_.size() >= kMostKept) return;
        found = past_.emplace(name, std::make_unique<Past>()).first;
    }
    Past& past = *found->second;
    const std::int64_t number = bucket_of(now);
    Bucket& bucket = past.buckets[static_cast<std::size_t>(number) % kBuckets];
    if (bucket.number != number) bucket = {.number = number};
    bucket.seconds += seconds * static_cast<double>(usage.threads);
    bucket.cpu_seconds += usage.cpu_share * seconds;
    const auto known = known_.find(name);
    if (known == known_.end() || !known->second.work) return;
    const WorkCounts& now_counted = *known->second.work;
    // A count that fell is of something that began anew.
    const auto more = [](std::uint64_t now_is, std::uint64_t was) {
        return now_is >= was ? now_is - was : now_is;
    };
    bucket.completed += more(now_counted.completed, past.counted.completed);
    bucket.failed += more(now_counted.failed, past.counted.failed);
    past.counted = now_counted;
}

std::vector<WorkerPoint> WorkerBoard::points(std::string_view name, base::WallTime now) const {
    std::vector<WorkerPoint> out;
    const auto found = past_.find(name);
    if (found == past_.end()) return out;
    const std::int64_t number = bucket_of(now);
    for (const Bucket& bucket : found->second->buckets) {
        const std::int64_t age = number - bucket.number;
        if (bucket.number < 0 || age <= 0 || age >= static_cast<std::int64_t>(kBuckets)) continue;
        out.push_back({.at = base::WallTime{} + bucket.number * kBucket,
                       .cpu_share = bucket.cpu_seconds / bucket.seconds,
                       .completed = bucket.completed,
                       .failed = bucket.failed});
    }
    std::ranges::sort(out, {}, &WorkerPoint::at);
    return out;
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
