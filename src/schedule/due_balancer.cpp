#include "schedule/due_balancer.hpp"

#include <algorithm>

namespace pollux::schedule {

void DueBalancer::advance(base::BootTime now) {
    const std::int64_t bin = now.ns / kBinNs;
    if (bin - now_bin_ >= static_cast<std::int64_t>(kBins)) bins_.fill(0);
    const std::int64_t from = std::max(now_bin_ + 1, bin - static_cast<std::int64_t>(kBins) + 1);
    for (std::int64_t passed = from; passed <= bin; ++passed) {
        bins_[static_cast<std::size_t>(passed) % kBins] = 0;
    }
    now_bin_ = std::max(now_bin_, bin);
}

base::BootTime DueBalancer::choose(base::BootTime earliest, base::BootTime latest,
                                   std::uint64_t hash) const {
    const std::int64_t play = std::max<std::int64_t>(0, (latest - earliest).count());
    base::BootTime best = earliest;
    std::uint32_t fewest = UINT32_MAX;
    for (int i = 0; i < 4; ++i) {
        const auto share = static_cast<std::int64_t>(hash & 0xFFFFU);
        hash >>= 16U;
        // play is at most a tenth of a month: no overflow after the division.
        const base::BootTime time = earliest + base::Duration(play / 65536 * share);
        const std::uint32_t crowd = in_range(time) ? bins_[index_of(time)] : 0;
        if (crowd >= fewest) continue;
        fewest = crowd;
        best = time;
    }
    return best;
}

}  // namespace pollux::schedule
