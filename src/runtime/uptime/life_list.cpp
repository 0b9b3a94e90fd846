#include "runtime/uptime/life_list.hpp"

namespace pollux::runtime {

bool LifeList::begin(base::WallTime at) {
    const bool cut = cut_after(at);
    if (!lives_.empty()) at = std::max(at, lives_.back().until);
    lives_.push_back({at, at});
    if (lives_.size() <= kMost) return cut;
    // Starts in quick succession: the oldest gap is forgotten.
    lives_[1].from = lives_[0].from;
    lives_.erase(lives_.begin());
    return cut;
}

bool LifeList::cut_after(base::WallTime at) {
    if (lives_.empty() || lives_.back().until <= at) return false;
    std::int64_t lost_us = 0;
    seen(at, lives_.back().until,
         [&](base::WallTime from, base::WallTime until) { lost_us += until.us - from.us; });
    if (lost_us > kMostCut / std::chrono::microseconds(1)) return false;
    std::erase_if(lives_, [&](const Life& life) { return life.from >= at; });
    if (!lives_.empty()) lives_.back().until = std::min(lives_.back().until, at);
    return true;
}

void LifeList::touch(base::WallTime now) {
    if (!lives_.empty()) lives_.back().until = std::max(lives_.back().until, now);
}

void LifeList::witness(base::WallTime at) {
    const auto after = std::ranges::upper_bound(lives_, at, {}, &Life::from);
    if (after == lives_.begin()) return;
    Life& life = *(after - 1);
    life.until = std::max(life.until, at);
}

void LifeList::forget_before(base::WallTime time) {
    const auto kept = std::ranges::lower_bound(lives_, time, {}, &Life::until);
    // The life under way stays, whatever the clock says.
    lives_.erase(lives_.begin(), std::min(kept, lives_.empty() ? kept : lives_.end() - 1));
}

void LifeList::recall(const std::vector<Life>& lives) {
    lives_.clear();
    for (const Life& life : lives) {
        const bool follows = lives_.empty() || lives_.back().until <= life.from;
        if (follows && life.from <= life.until && lives_.size() < kMost) lives_.push_back(life);
    }
}

}  // namespace pollux::runtime
