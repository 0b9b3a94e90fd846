// Runs in flight. Each holds a lease with a deadline; a lease that ends unanswered is taken back by
// the core, so no lost worker can hold a slot for ever. Runs of one device are chained, which makes
// the limits per host and class a walk over a handful of entries.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/slab.hpp"
#include "base/time.hpp"
#include "model/run.hpp"

namespace pollux::schedule {

struct Lease {
    std::uint32_t task = model::kNoIndex;
    model::RunId run;
    base::BootTime started;
    base::BootTime due;
    base::BootTime ends;  // deadline plus grace
    std::uint32_t device_next = model::kNoIndex;
    std::uint32_t device_prev = model::kNoIndex;
    std::uint32_t bucket_next = model::kNoIndex;
    std::uint32_t bucket_prev = model::kNoIndex;
    std::uint16_t bucket = 0;
    // What was taken, so that the same is given back whatever was edited meanwhile.
    std::uint16_t class_index = 0;
    std::uint16_t region = 0;
    std::uint16_t demand = 0;
    std::uint32_t device = model::kNoIndex;
    bool counts_on_device = false;
    model::Trigger trigger = model::Trigger::kSchedule;
};

class LeaseTable {
  public:
    LeaseTable();

    std::uint32_t open(const Lease& lease);
    void close(std::uint32_t index);

    Lease& operator[](std::uint32_t index) { return leases_[index]; }
    const Lease& operator[](std::uint32_t index) const { return leases_[index]; }
    std::size_t size() const { return leases_.size(); }
    void prefetch(std::uint32_t index) const { __builtin_prefetch(&leases_[index]); }

    // The leases that ended at or before now. They stay open: the caller closes them.
    void collect_ended(base::BootTime now, std::vector<std::uint32_t>& ended);
    base::BootTime next_check() const;

  private:
    // The first slot of time from `from` on whose bucket has leases; there must be one.
    std::int64_t next_used(std::int64_t from) const;
    static std::size_t bucket_of(std::int64_t slot) {
        return static_cast<std::size_t>(slot + static_cast<std::int64_t>(kBuckets)) % kBuckets;
    }

    static constexpr std::size_t kBuckets = 512;
    static constexpr std::int64_t kBucketNs = 250'000'000;

    base::Slab<Lease> leases_;
    std::array<std::uint32_t, kBuckets> heads_;
    std::array<base::BootTime, kBuckets> earliest_;    // not later than the first end in the bucket
    std::array<std::uint64_t, kBuckets / 64> used_{};  // a bit for each bucket with leases
    std::int64_t checked_ = -1;                        // buckets up to here were looked at
};

}  // namespace pollux::schedule
