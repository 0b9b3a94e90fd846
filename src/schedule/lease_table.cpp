#include "schedule/lease_table.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"

namespace pollux::schedule {

using model::kNoIndex;

LeaseTable::LeaseTable() {
    heads_.fill(kNoIndex);
    earliest_.fill(base::BootTime::max());
}

std::uint32_t LeaseTable::open(const Lease& lease) {
    const std::uint32_t index = leases_.allocate();
    Lease& own = leases_[index];
    own = lease;
    const auto slot = static_cast<std::uint64_t>(std::max<std::int64_t>(0, lease.ends.ns)) /
                      static_cast<std::uint64_t>(kBucketNs);
    own.bucket = static_cast<std::uint16_t>(slot % kBuckets);
    own.bucket_prev = kNoIndex;
    own.bucket_next = heads_[own.bucket];
    if (own.bucket_next != kNoIndex) leases_[own.bucket_next].bucket_prev = index;
    heads_[own.bucket] = index;
    used_[own.bucket / 64U] |= 1ULL << (own.bucket % 64U);
    earliest_[own.bucket] = std::min(earliest_[own.bucket], own.ends);
    return index;
}

void LeaseTable::close(std::uint32_t index) {
    const Lease& own = leases_[index];
    if (own.bucket_prev != kNoIndex) {
        leases_[own.bucket_prev].bucket_next = own.bucket_next;
    } else {
        heads_[own.bucket] = own.bucket_next;
        if (own.bucket_next == kNoIndex) {
            used_[own.bucket / 64U] &= ~(1ULL << (own.bucket % 64U));
            earliest_[own.bucket] = base::BootTime::max();
        }
    }
    if (own.bucket_next != kNoIndex) leases_[own.bucket_next].bucket_prev = own.bucket_prev;
    leases_.release(index);
}

void LeaseTable::collect_ended(base::BootTime now, std::vector<std::uint32_t>& ended) {
    const std::int64_t last = std::max<std::int64_t>(0, now.ns) / kBucketNs;
    if (checked_ < 0 || last - checked_ >= static_cast<std::int64_t>(kBuckets)) {
        checked_ = last - static_cast<std::int64_t>(kBuckets);
    }
    // The current bucket is looked at again next time: part of it may end later.
    for (std::int64_t slot = checked_ + 1; slot <= last; ++slot) {
        const std::size_t bucket = bucket_of(slot);
        if (earliest_[bucket] > now) continue;
        earliest_[bucket] = base::BootTime::max();
        for (std::uint32_t i = heads_[bucket]; i != kNoIndex; i = leases_[i].bucket_next) {
            if (leases_[i].ends <= now) {
                ended.push_back(i);
            } else {
                earliest_[bucket] = std::min(earliest_[bucket], leases_[i].ends);
            }
        }
    }
    checked_ = last - 1;
}

std::int64_t LeaseTable::next_used(std::int64_t from) const {
    const std::size_t first = bucket_of(from);
    std::size_t word = first / 64;
    std::uint64_t bits = used_[word] & (~0ULL << (first % 64));
    for (std::size_t words = 0; bits == 0; ++words) {
        POLLUX_CHECK(words <= used_.size());
        word = (word + 1) % used_.size();
        bits = used_[word];
    }
    const std::size_t bucket = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    return from + static_cast<std::int64_t>((bucket + kBuckets - first) % kBuckets);
}

base::BootTime LeaseTable::next_check() const {
    if (leases_.size() == 0) return base::BootTime::max();
    const std::int64_t slot = next_used(checked_ + 1);
    // A lease of a later round shares the bucket: look again when its bucket comes by.
    return std::min(earliest_[bucket_of(slot)], base::BootTime{(slot + 1) * kBucketNs});
}

}  // namespace pollux::schedule
