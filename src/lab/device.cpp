#include "lab/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/math.hpp"

namespace pollux::lab {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr base::Duration kOldest = hours(24 * 90);  // uptime at the start, at most
constexpr base::Duration kHalfWave = seconds(30);   // a counter runs faster, then slower

constexpr std::array<std::string_view, 6> kSites = {"berlin", "graz",  "lyon",
                                                    "porto",  "turin", "zurich"};
constexpr std::array<std::string_view, 4> kSwitchModels = {"LabSwitch 2400", "LabRouter 9",
                                                           "LabSwitch 4800", "LabGate 1"};
constexpr std::array<std::string_view, 3> kServerModels = {"LabStore 3", "LabSense 1",
                                                           "LabServe 7"};

Personality pick(const Profile& profile, double point) {
    double total = 0;
    for (const auto& [personality, weight] : profile.personalities) total += weight;
    double left = point * total;
    for (const auto& [personality, weight] : profile.personalities) {
        left -= weight;
        if (left < 0) return personality;
    }
    return Personality::kJson;
}

}  // namespace

Device::Device(DeviceKind kind, std::uint32_t number, std::uint32_t address, std::uint64_t seed,
               const Profile& profile)
    : kind_(kind),
      number_(number),
      address_(address),
      chances_(seed, (kind == DeviceKind::kSnmp ? 0ULL : 1ULL << 32U) | number),
      profile_(&profile),
      name_(fmt::format("{}-{:05}", kind == DeviceKind::kSnmp ? "sw" : "web", number + 1)) {
    interfaces_ = static_cast<std::uint32_t>(
        chances_.between(profile.interfaces_min, profile.interfaces_max, Purpose::kShape, 1));
    personality_ = pick(profile, chances_.unit(Purpose::kShape, 2));
    tls_ = kind == DeviceKind::kHttp && chances_.unit(Purpose::kShape, 3) < profile.tls_share;
}

std::string_view Device::community() const {
    return chances_.hash(Purpose::kShape, 7) % 8 == 0 ? kPrivateCommunity : kPublicCommunity;
}

std::string_view Device::site() const {
    return kSites[chances_.hash(Purpose::kShape, 4) % kSites.size()];
}

std::string_view Device::model() const {
    const std::uint64_t hash = chances_.hash(Purpose::kShape, 5);
    return kind_ == DeviceKind::kSnmp ? kSwitchModels[hash % kSwitchModels.size()]
                                      : kServerModels[hash % kServerModels.size()];
}

void Device::set_fault(const Fault& fault, FleetTime now) {
    if (fault.kind == FaultKind::kReboot) {
        rebooted_at_ = now;
        wrap_set_at_ = FleetTime::min();
        return;
    }
    if (fault.kind == FaultKind::kCounterWrap) {
        wrap_set_at_ = now;
        return;
    }
    std::erase_if(steered_,
                  [&](const Fault& old) { return old.kind == fault.kind || old.until <= now; });
    steered_.push_back(fault);
}

FaultState Device::faults(FleetTime now) const {
    FaultState state;
    for (const Fault& fault : steered_) {
        if (now < fault.until) state.add(fault.kind, fault.amount);
    }
    if (!profile_->faults.empty()) add_planned(state, now);
    return state;
}

void Device::add_planned(FaultState& state, FleetTime now) const {
    for (const FaultPlan& plan : profile_->faults) {
        const auto item = static_cast<std::uint64_t>(plan.kind);
        if (chances_.unit(Purpose::kFault, 100 + item) >= plan.share) continue;
        const auto happening = chances_.last(now, plan.every, Purpose::kFault, item);
        const auto half = plan.lasts.count() / 2;
        const auto extra = static_cast<std::int64_t>(
            chances_.hash(Purpose::kFault, 200 + item, happening.number) %
            static_cast<std::uint64_t>(std::max<std::int64_t>(plan.lasts.count(), 1)));
        if (now - happening.at < base::Duration{half + extra}) state.add(plan.kind, plan.amount);
    }
}

base::Duration Device::change_period() const {
    const double slow = base::to_seconds(profile_->slowest_change);
    const double fast = base::to_seconds(profile_->fastest_change);
    const double point = chances_.unit(Purpose::kShape, 6);
    // Rounded to milliseconds, so that it is a plain number everywhere.
    const double period = fast * base::fixed_exp(base::fixed_log(slow / fast) * point);
    return std::max<base::Duration>(base::round_to_ms(base::from_seconds(period)), seconds(1));
}

FleetTime Device::booted_at(FleetTime now) const {
    FleetTime boot = -base::Duration{static_cast<std::int64_t>(
        chances_.hash(Purpose::kUptime) % static_cast<std::uint64_t>(kOldest.count()))};
    if (profile_->reboot_every > base::Duration::zero()) {
        const auto planned = chances_.last(now, profile_->reboot_every, Purpose::kReboot);
        if (planned.at > FleetTime::zero()) boot = std::max(boot, planned.at);
    }
    return rebooted_at_ <= now ? std::max(boot, rebooted_at_) : boot;
}

// The sum up to `time`. Every wave is one half at rate × (1 + d) and one at rate × (1 − d), so
// whole waves add up to the rate exactly and the sum needs no loop.
std::uint64_t Device::running_total(std::uint64_t item, std::uint64_t per_second,
                                    FleetTime time) const {
    constexpr std::int64_t kMilli = 1'000'000;
    const std::int64_t since = (time + kOldest).count() / kMilli;  // milliseconds, never negative
    const std::int64_t half = kHalfWave.count() / kMilli;
    const std::int64_t wave = since / (2 * half);
    const std::int64_t within = since % (2 * half);
    const std::int64_t tilt = chances_.between(-80, 80, Purpose::kCounter, item, wave);  // percent
    const std::int64_t first = std::min(within, half);
    const std::int64_t second = within - first;
    const std::int64_t weighted = first * (100 + tilt) + second * (100 - tilt);
    const auto whole = static_cast<std::uint64_t>(wave * 2 * (half / 1000)) * per_second;
    return whole + static_cast<std::uint64_t>(weighted) * per_second / 100'000;
}

std::uint64_t Device::counter(std::uint64_t item, std::uint64_t per_second, FleetTime now) const {
    return running_total(item, per_second, now) - running_total(item, per_second, booted_at(now));
}

std::uint32_t Device::counter32(std::uint64_t item, std::uint64_t per_second, FleetTime now) const {
    const std::uint64_t value = counter(item, per_second, now);
    if (wrap_set_at_ == FleetTime::min() || wrap_set_at_ > now || booted_at(now) > wrap_set_at_) {
        return static_cast<std::uint32_t>(value);
    }
    // From the moment it was set the counter stands 5 s before its end and runs on from there.
    const std::uint64_t then = counter(item, per_second, wrap_set_at_);
    return static_cast<std::uint32_t>(value - then - 5 * per_second);
}

}  // namespace pollux::lab
