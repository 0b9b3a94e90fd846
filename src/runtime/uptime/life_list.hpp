// When a server was there to look: its lives, from start to the last sign of it. What happened in
// between is not known. Bounded; not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/time.hpp"

namespace pollux::runtime {

class LifeList {
  public:
    static constexpr std::size_t kMost = 500;
    static constexpr base::Duration kMostCut = std::chrono::hours(24);

    struct Life {
        base::WallTime from;
        base::WallTime until;
        bool operator==(const Life&) const = default;
    };

    // A clock that was set back: either it is right now and was ahead before, or the other way
    // round. Cutting what was seen after `at` is right in the first case, and is done where that is
    // no more than kMostCut; else the new life waits until the clock is where it was. Whether
    // something was cut.
    bool begin(base::WallTime at);
    // The life under way goes on until now.
    void touch(base::WallTime now);
    // Something was seen at that time: the life before it lasted so long at least.
    void witness(base::WallTime at);
    // Forgets what ended before.
    void forget_before(base::WallTime time);

    // Calls part(from, until) for what was seen of a span, in order of time.
    template <class Part>
    void seen(base::WallTime from, base::WallTime until, Part&& part) const {
        const auto first = std::ranges::lower_bound(lives_, from, {}, &Life::until);
        for (auto life = first; life != lives_.end() && life->from < until; ++life) {
            const base::WallTime begin = std::max(from, life->from);
            const base::WallTime end = std::min(until, life->until);
            if (begin < end) part(begin, end);
        }
    }

    const std::vector<Life>& lives() const { return lives_; }
    // As they were stored; what is not in order is left out.
    void recall(const std::vector<Life>& lives);

  private:
    bool cut_after(base::WallTime at);

    std::vector<Life> lives_;  // in order of time; they do not overlap
};

}  // namespace pollux::runtime
