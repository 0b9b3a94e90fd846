// How much one sender and all of them together may say. Bounded: past a number of senders the new
// ones share one allowance until others have been quiet. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>

#include "base/time.hpp"
#include "base/token_bucket.hpp"
#include "net/ip_address.hpp"

namespace pollux::runtime {

struct SourceRates {
    double source = 100;  // messages per second of one sender; twice as many at once
    double all = 2000;
    bool operator==(const SourceRates&) const = default;
};

class SourceLimiter {
  public:
    static constexpr std::size_t kMostSources = 10'000;

    explicit SourceLimiter(SourceRates rates);
    void set_rates(base::BootTime now, SourceRates rates);

    // Whether the sender may say one thing more; if so, it is counted.
    bool admit(const net::IpAddress& source, base::BootTime now);
    std::size_t sources() const { return sources_.size(); }

  private:
    base::TokenBucket bucket() const;
    void forget_quiet(base::BootTime now);

    SourceRates rates_;
    base::TokenBucket all_;
    base::TokenBucket others_;                             // of those that found no place
    std::map<net::IpAddress, base::TokenBucket> sources_;  // IPv6: by their first 64 bits
    base::BootTime next_sweep_ = base::BootTime::min();
};

}  // namespace pollux::runtime
