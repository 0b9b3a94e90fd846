#include "sim/limit_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/run.hpp"

namespace pollux::sim {
namespace {

constexpr double kRounding = 1e-6;

template <class Value>
Value& at_index(std::vector<Value>& values, std::size_t index) {
    if (values.size() <= index) values.resize(index + 1);
    return values[index];
}

}  // namespace

void LimitLedger::reset(base::BootTime now) {
    slots_ = 0;
    class_slots_.clear();
    device_runs_.clear();
    used_.clear();
    global_ = {-1, now};
    class_rates_.clear();
    device_rates_.clear();
}

// Any window w holds at most rate * w + burst. True: there was a token.
bool LimitLedger::spend(Bucket& bucket, double rate, base::BootTime now) {
    const double burst = std::max(1.0, 0.5 * rate);
    const double passed = static_cast<double>((now - bucket.at).count()) * 1e-9;
    const double had = bucket.tokens < 0 ? burst : std::min(burst, bucket.tokens + passed * rate);
    const bool enough = had >= 1 - kRounding;
    bucket.tokens = enough ? std::max(0.0, had - 1) : had;
    bucket.at = now;
    return enough;
}

void LimitLedger::check_rates(base::BootTime now, const std::string& key, const Holding& holding) {
    if (!spend(global_, settings_.global_rate, now)) {
        violations_.add(now, Rule::kGlobalRate, key + ": more starts than the global rate allows");
    }
    const double of_class = settings_.classes[holding.class_index].rate;
    if (of_class > 0 && !spend(at_index(class_rates_, holding.class_index), of_class, now)) {
        violations_.add(now, Rule::kClassRate, key + ": more starts than its class may have");
    }
    if (holding.device == model::kNoIndex) return;
    if (!spend(at_index(device_rates_, holding.device), settings_.device_rate, now)) {
        violations_.add(now, Rule::kDeviceRate, key + ": more starts than its device may have");
    }
}

void LimitLedger::check_slots(base::BootTime now, const std::string& key, const Holding& holding) {
    if (slots_ > static_cast<std::int64_t>(settings_.global_slots)) {
        violations_.add(now, Rule::kGlobalSlots,
                        fmt::format("{}: {} slots are taken", key, slots_));
    }
    const model::ClassSettings& own = settings_.classes[holding.class_index];
    const std::int64_t of_class = class_slots_[holding.class_index];
    if (own.slots > 0 && of_class > static_cast<std::int64_t>(own.slots)) {
        violations_.add(now, Rule::kClassSlots,
                        fmt::format("{}: {} slots of its class are taken", key, of_class));
    }
    for (const auto& part : holding.demand) {
        const auto pool =
            std::ranges::find(settings_.resources, part.resource, &model::ResourceSettings::name);
        const std::int64_t capacity = pool == settings_.resources.end() ? 0 : pool->capacity;
        if (used_[part.resource] <= capacity) continue;
        violations_.add(now, Rule::kResources,
                        fmt::format("{}: {} of {} {} are used", key, used_[part.resource], capacity,
                                    part.resource));
    }
}

void LimitLedger::check_device(base::BootTime now, const std::string& key, const Holding& holding) {
    std::uint32_t runs = 0;
    for (auto of = device_runs_.lower_bound({holding.device, 0});
         of != device_runs_.end() && of->first.first == holding.device; ++of) {
        if (!settings_.classes[of->first.second].host_slots_exempt) runs += of->second;
    }
    if (runs > settings_.device_slots) {
        violations_.add(now, Rule::kDeviceSlots,
                        fmt::format("device of {} has {} runs at once", key, runs));
    }
    const std::uint32_t same = device_runs_[{holding.device, holding.class_index}];
    if (same > settings_.device_class_slots) {
        violations_.add(now, Rule::kDeviceClassSlots,
                        fmt::format("device of {} has {} runs of one class at once", key, same));
    }
}

void LimitLedger::take(base::BootTime now, const std::string& key, const Holding& holding) {
    slots_ += holding.slots;
    at_index(class_slots_, holding.class_index) += holding.slots;
    for (const auto& part : holding.demand) used_[part.resource] += part.amount;
    check_slots(now, key, holding);
    check_rates(now, key, holding);
    if (holding.device == model::kNoIndex) return;
    ++device_runs_[{holding.device, holding.class_index}];
    if (!settings_.classes[holding.class_index].host_slots_exempt) check_device(now, key, holding);
}

void LimitLedger::give_back(const Holding& holding) {
    slots_ -= holding.slots;
    class_slots_[holding.class_index] -= holding.slots;
    for (const auto& part : holding.demand) used_[part.resource] -= part.amount;
    const auto runs = device_runs_.find({holding.device, holding.class_index});
    if (runs != device_runs_.end() && --runs->second == 0) device_runs_.erase(runs);
}

void LimitLedger::compare(base::BootTime now, const schedule::Admission& admission) {
    const std::int64_t slots = admission.global_pool().used;
    if (slots != slots_) {
        violations_.add(
            now, Rule::kBooks,
            fmt::format("the core counts {} slots taken, its runs hold {}", slots, slots_));
    }
    for (std::uint32_t i = 0; i < admission.resource_count(); ++i) {
        const schedule::Pool& pool = admission.resource_pool(i);
        // Almost always nothing is used, and the name need not be looked up.
        const bool same = pool.used == 0 ? used_.empty() || used(admission.resource_name(i)) == 0
                                         : used(admission.resource_name(i)) == pool.used;
        if (same) continue;
        violations_.add(now, Rule::kBooks,
                        fmt::format("the core counts {} {} taken, its runs hold {}", pool.used,
                                    admission.resource_name(i), used(admission.resource_name(i))));
    }
}

bool LimitLedger::device_busy(std::uint32_t device) const {
    const auto first = device_runs_.lower_bound({device, 0});
    return first != device_runs_.end() && first->first.first == device;
}

bool LimitLedger::device_busy(std::uint32_t device, std::uint16_t class_index) const {
    return device_runs_.contains({device, class_index});
}

std::int64_t LimitLedger::used(const std::string& resource) const {
    const auto found = used_.find(resource);
    return found == used_.end() ? 0 : found->second;
}

}  // namespace pollux::sim
