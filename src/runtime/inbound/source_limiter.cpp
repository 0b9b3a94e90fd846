#include "runtime/inbound/source_limiter.hpp"

#include <algorithm>

#include "net/sender_address.hpp"

namespace pollux::runtime {
namespace {

constexpr base::Duration kSweepEvery = std::chrono::seconds(1);

double burst_of(double rate) { return std::max(1.0, 2 * rate); }

}  // namespace

SourceLimiter::SourceLimiter(SourceRates rates)
    : rates_(rates),
      all_(base::TokenBucket::per_second(rates.all, burst_of(rates.all))),
      others_(bucket()) {}

base::TokenBucket SourceLimiter::bucket() const {
    return base::TokenBucket::per_second(rates_.source, burst_of(rates_.source));
}

void SourceLimiter::set_rates(base::BootTime now, SourceRates rates) {
    if (rates == rates_) return;
    rates_ = rates;
    all_.set_rate(now, rates.all, burst_of(rates.all));
    others_.set_rate(now, rates.source, burst_of(rates.source));
    for (auto& [source, one] : sources_) one.set_rate(now, rates.source, burst_of(rates.source));
}

bool SourceLimiter::admit(const net::IpAddress& source, base::BootTime now) {
    const net::IpAddress sender = net::sender_of(source);
    auto found = sources_.find(sender);
    if (found == sources_.end()) {
        if (sources_.size() >= kMostSources) forget_quiet(now);
        if (sources_.size() < kMostSources) found = sources_.emplace(sender, bucket()).first;
    }
    base::TokenBucket& own = found == sources_.end() ? others_ : found->second;
    // A sender over its own measure takes nothing from what all share.
    if (!own.open(now) || !all_.open(now)) return false;
    own.take(now);
    all_.take(now);
    return true;
}

void SourceLimiter::forget_quiet(base::BootTime now) {
    if (now < next_sweep_) return;
    next_sweep_ = now + kSweepEvery;
    std::erase_if(sources_, [&](const auto& entry) {
        const auto whole = static_cast<std::int64_t>(entry.second.burst());
        return entry.second.open(now, whole);
    });
}

}  // namespace pollux::runtime
