// A token bucket as GCRA ("virtual scheduling") in whole nanoseconds.
//
// Not thread-safe; a value to copy, 32 bytes.
//
// Invariants
// 1. Any window of length w holds at most rate * w + burst tokens taken while open(). Rounding is
//    always towards fewer: a token costs a whole number of nanoseconds, rounded up, so a rate
//    above 1e6/s may be met up to rate/1e9 below what was asked.
// 2. open(t) is true for every t >= opens_at() until the next take(), set_rate() or close_until().
// 3. A change of rate keeps what was spent: toggling a configuration never earns a second burst.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/check.hpp"
#include "base/time.hpp"

namespace pollux::base {

class TokenBucket {
  public:
    // Unlimited: open at all times but before close_until().
    TokenBucket() = default;

    // rate > 0 tokens per second on average, at most burst >= 1 at once; both finite. Starts full.
    static TokenBucket per_second(double rate, double burst) {
        TokenBucket bucket;
        bucket.configure(rate, burst);
        return bucket;
    }

    static TokenBucket with_default_burst(double rate) {
        return per_second(rate, std::max(1.0, 0.5 * rate));
    }

    bool unlimited() const { return rate_ <= 0.0; }
    double rate() const { return rate_; }    // 0 when unlimited
    double burst() const { return burst_; }  // 0 when unlimited

    // Whether `tokens` may be taken now. More tokens than the burst are never available: who asks
    // for a batch caps it at burst().
    bool open(BootTime now, std::int64_t tokens = 1) const {
        const BootTime at = opens_at(tokens);
        return now >= at && at != BootTime::max();
    }

    // The earliest time at which open() is true, possibly in the past; BootTime::max() is never.
    BootTime opens_at(std::int64_t tokens = 1) const {
        POLLUX_CHECK(tokens >= 0);
        if (unlimited() || tokens == 0) return closed_until_;
        if (static_cast<double>(tokens) > burst_ || free_at_ == BootTime::max()) {
            return BootTime::max();
        }
        return std::max(closed_until_, free_at_ - slack(tokens));
    }

    // Spends tokens, open or not: what is taken while closed is a debt that later takes wait for.
    void take(BootTime now, std::int64_t tokens = 1) {
        POLLUX_CHECK(tokens >= 0);
        free_at_ = std::max(free_at_, now) + cost(tokens);
    }

    // Shut until then (Retry-After); a later time wins over an earlier one. Tokens still accrue.
    void close_until(BootTime time) { closed_until_ = std::max(closed_until_, time); }

    // What was spent stays spent, in tokens. A bucket that was unlimited and in use starts empty.
    void set_rate(BootTime now, double rate, double burst) {
        const bool was_unlimited = unlimited();
        const Duration old_interval = interval();
        configure(rate, burst);
        if (free_at_ == BootTime::min()) return;  // nothing was ever taken
        if (was_unlimited) {
            free_at_ += tolerance();
        } else if (free_at_ > now) {
            const double spent = static_cast<double>((free_at_ - now).count()) /
                                 static_cast<double>(old_interval.count());
            free_at_ = now + rounded_up(spent * static_cast<double>(interval().count()));
        }
    }

  private:
    void configure(double rate, double burst) {
        POLLUX_CHECK_MSG(rate > 0.0 && rate <= kLargest, "a rate is positive and finite");
        POLLUX_CHECK_MSG(burst >= 1.0 && burst <= kLargest, "a burst below 1 would never open");
        rate_ = rate;
        burst_ = burst;
    }

    static Duration rounded_up(double nanos) {
        if (nanos >= 0x1p63) return Duration::max();
        const auto whole = static_cast<std::int64_t>(nanos);
        return Duration{static_cast<double>(whole) < nanos ? whole + 1 : whole};
    }

    // What one token costs: at least one nanosecond, 0 when unlimited.
    Duration interval() const { return unlimited() ? Duration::zero() : rounded_up(1e9 / rate_); }

    Duration cost(std::int64_t tokens) const { return saturating_mul(interval(), tokens); }

    // What a whole burst costs, rounded down.
    Duration tolerance() const {
        const double nanos = burst_ * static_cast<double>(interval().count());
        return nanos >= 0x1p63 ? Duration::max() : Duration{static_cast<std::int64_t>(nanos)};
    }

    // How long before free_at_ this many tokens are available; tokens <= burst.
    Duration slack(std::int64_t tokens) const {
        return std::max(Duration::zero(), tolerance() - cost(tokens));
    }

    static constexpr double kLargest = 1e300;

    // When the bucket will be full again; before the first take, min().
    BootTime free_at_ = BootTime::min();
    BootTime closed_until_ = BootTime::min();
    double rate_ = 0.0;
    double burst_ = 0.0;
};

static_assert(sizeof(TokenBucket) <= 32);

}  // namespace pollux::base
