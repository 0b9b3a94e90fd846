#include "runtime/run_book.hpp"

#include <algorithm>
#include <limits>

namespace pollux::runtime {
namespace {

template <class Unit>
std::uint32_t counted(base::Duration duration) {
    const auto count = std::chrono::duration_cast<Unit>(duration).count();
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(count, 0, std::numeric_limits<std::uint32_t>::max()));
}

std::uint32_t counted_us(base::Duration duration) {
    return counted<std::chrono::microseconds>(duration);
}

// What lists call the health of a target: well, partly, not at all.
int health_of(model::Outcome outcome) {
    if (outcome == model::Outcome::kOk) return 0;
    return outcome == model::Outcome::kDegraded ? 1 : 2;
}

std::shared_ptr<const FailureWords> words_of(const RunReport& report, const RunRecord* before) {
    if (report.code.empty() && report.message.empty()) return nullptr;
    FailureWords words{report.code, report.message.substr(0, RunBook::kLongestWords)};
    if (before != nullptr && before->words && *before->words == words) return before->words;
    return std::make_shared<const FailureWords>(std::move(words));
}

}  // namespace

std::vector<RunRecord> RunBook::Page::newest(std::size_t limit) const {
    std::vector<RunRecord> out;
    const std::size_t count = std::min(limit, runs_.size());
    out.reserve(count);
    for (std::size_t back = 0; back < count; ++back) {
        out.push_back(recent(back));
    }
    return out;
}

void RunBook::Page::add(RunRecord record, std::size_t room) {
    if (runs_.size() < room) {
        // Still growing: the newest is the last, unless it was a ring before there was more room.
        const auto behind = static_cast<std::ptrdiff_t>(runs_.empty() ? 0 : newest_ + 1);
        newest_ = static_cast<std::size_t>(behind);
        runs_.insert(runs_.begin() + behind, std::move(record));
        return;
    }
    dropped_ = true;
    if (runs_.size() > room) {
        std::vector<RunRecord> kept = newest(room);
        std::ranges::reverse(kept);
        runs_ = std::move(kept);
        newest_ = room - 1;
    }
    newest_ = (newest_ + 1) % runs_.size();
    runs_[newest_] = std::move(record);
}

std::size_t RunBook::room() const {
    return std::clamp(budget_ / std::max<std::size_t>(tasks_, 1), kLeastRuns, kMostRuns);
}

void RunBook::began(std::uint32_t task, model::RunId run, base::WallTime at, base::Duration lag) {
    if (pages_.size() <= task) pages_.resize(task + std::size_t{1});
    if (!pages_[task]) {
        pages_[task] = std::make_unique<Page>();
        ++tasks_;
    }
    Page& page = *pages_[task];
    page.run_ = run;
    page.started_ = at;
    page.lag_ = lag;
}

void RunBook::ended(const RunReport& report, const Before& before, base::WallTime now) {
    const std::uint32_t task = report.task.index;
    if (task >= pages_.size() || !pages_[task] || pages_[task]->run_ != report.run) return;
    Page& page = *pages_[task];
    page.run_ = {};
    const RunRecord* last = page.last();
    RunRecord record;
    record.started = page.started_;
    record.duration_us = counted_us(report.duration);
    record.lag_ms = counted<std::chrono::milliseconds>(page.lag_);
    record.requests = report.cost.requests;
    record.bytes = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(report.cost.bytes, std::numeric_limits<std::uint32_t>::max()));
    for (std::size_t i = 0; i < kRunPhases; ++i) {
        record.phases_us[i] = counted_us(report.cost.phases[i]);
    }
    record.outcome = report.outcome;
    record.trigger = report.trigger;
    record.changed = before.changed;
    record.words = words_of(report, last);
    if (report.outcome != model::Outcome::kInterrupted) {
        const int health = health_of(report.outcome);
        // An earlier life left only whether it was up; of what was up nobody knows since when.
        const bool same = page.counted_  ? health_of(*page.counted_) == health
                          : before.known ? before.up == (health < 2)
                                         : false;
        if (!same) page.since_ = now;
        page.counted_ = report.outcome;
    }
    if (report.headline) page.headline_ = report.headline;
    page.add(std::move(record), room());
}

void RunBook::forget(std::uint32_t task) {
    if (task >= pages_.size() || !pages_[task]) return;
    pages_[task].reset();
    --tasks_;
}

}  // namespace pollux::runtime
