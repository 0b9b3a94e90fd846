#include "runtime/cost_book.hpp"

#include <algorithm>
#include <utility>

namespace pollux::runtime {
namespace {

constexpr std::int64_t kHalfMicroseconds =
    std::chrono::duration_cast<std::chrono::microseconds>(CostBook::kHalf).count();

}  // namespace

std::int64_t CostBook::half_of(base::WallTime at) { return at.us / kHalfMicroseconds; }

void CostBook::add(Entry& entry, std::int64_t half, const CostSum& run) {
    if (entry.half != half) {
        const CostSum last = std::exchange(entry.current, {});
        entry.before = entry.half == half - 1 ? last : CostSum{};
        entry.half = half;
    }
    entry.current += run;
}

CostSum CostBook::shown(const Entry& entry, std::int64_t half) {
    CostSum sum;
    if (entry.half == half) {
        sum = entry.current;
        sum += entry.before;
    } else if (entry.half == half - 1) {
        sum = entry.current;
    }
    return sum;
}

void CostBook::ended(std::uint32_t task, base::WallTime now, base::Duration duration, bool failed,
                     const RunCost& cost) {
    const std::int64_t half = half_of(now);
    CostSum run;
    run.runs = 1;
    run.failures = failed ? 1 : 0;
    run.requests = cost.requests;
    run.bytes = cost.bytes;
    run.busy = base::to_seconds(duration);
    add(total_, half, run);
    if (tasks_.size() <= task) tasks_.resize(task + std::size_t{1});
    if (!tasks_[task]) {
        if (counted_ >= most_) return;
        tasks_[task] = std::make_unique<Entry>();
        ++counted_;
    }
    add(*tasks_[task], half, run);
}

void CostBook::forget(std::uint32_t task) {
    if (task >= tasks_.size() || !tasks_[task]) return;
    tasks_[task].reset();
    --counted_;
}

CostSum CostBook::of(std::uint32_t task, base::WallTime now) const {
    if (task >= tasks_.size() || !tasks_[task]) return {};
    return shown(*tasks_[task], half_of(now));
}

base::WallTime CostBook::since(base::WallTime now) const {
    return std::max(began_, base::WallTime{(half_of(now) - 1) * kHalfMicroseconds});
}

}  // namespace pollux::runtime
