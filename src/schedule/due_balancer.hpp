// Keeps starts even. Intervals have a few percent of play; of four places inside it, chosen by a
// hash, a task takes the one where the fewest others are due. So a fleet that was bunched together
// (by its first round, a restart, an outage) spreads out within a few rounds and stays even, which
// plain jitter only does in hours. A forecast, not an account: tasks that move leave their old
// count behind until its time has passed.
#pragma once

#include <array>
#include <cstdint>

#include "base/time.hpp"

namespace pollux::schedule {

class DueBalancer {
  public:
    static constexpr std::int64_t kBinNs = 250'000'000;
    static constexpr std::size_t kBins = 4096;  // 17 minutes; later dues are not counted

    void advance(base::BootTime now);
    void expect(base::BootTime due) {
        if (in_range(due)) ++bins_[index_of(due)];
    }

    // The least crowded of four times in [earliest, latest]; `hash` says which four.
    base::BootTime choose(base::BootTime earliest, base::BootTime latest, std::uint64_t hash) const;

  private:
    static std::size_t index_of(base::BootTime time) {
        return static_cast<std::size_t>(time.ns / kBinNs) % kBins;
    }
    bool in_range(base::BootTime time) const {
        const std::int64_t bin = time.ns / kBinNs;
        return bin > now_bin_ && bin < now_bin_ + static_cast<std::int64_t>(kBins);
    }

    std::array<std::uint32_t, kBins> bins_{};
    std::int64_t now_bin_ = 0;
};

}  // namespace pollux::schedule
