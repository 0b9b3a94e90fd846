// For tests of addons against real servers: a target polled as a shard does it, by the drivers of a
// shard, and what it read by the names of the manifest.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "extract/shipped_addons.hpp"
#include "protocol/test_bench.hpp"
#include "runtime/poll_reading.hpp"
#include "runtime/shard_drivers.hpp"

namespace pollux::runtime::test {

inline std::shared_ptr<const extract::CompiledAddon> shipped_addon(std::string_view name) {
    const auto addons = extract::shipped_addons();
    const auto found = std::ranges::find(addons, name, &extract::ShippedAddon::name);
    POLLUX_CHECK_MSG(found != addons.end(), "the addon of a test is shipped");
    return extract::compile(found->manifest, std::string(found->file)).addon;
}

// One target of a shipped addon.
class AddonWatch {
  public:
    AddonWatch(std::string_view addon, const extract::TargetBinding& binding,
               const CommandRules& rules = {})
        : drivers_(
              real_drivers(std::make_shared<const net::EgressPolicy>(), rules)(bench_.loop())) {
        plan_.key = std::string(addon) + "::d";
        plan_.addon = extract::specialise(shipped_addon(addon), binding.parameters).value();
        plan_.asks.push_back(plan_.addon->asks(0, binding).value());
    }

    const PollReading& poll() {
        replies_.clear();
        std::vector<const model::Reply*> given;
        while (const auto next = plan_.addon->next_ask(0, given)) {
            given.resize(*next, nullptr);
            const model::Ask& ask = *plan_.asks.at(0).at(*next);
            replies_.push_back(std::make_unique<model::Reply>(bench_.ask(drivers_->of(ask), ask)));
            given.push_back(replies_.back().get());
        }
        reading_ = read_poll(plan_, given, memory_, net::instant_now());
        return reading_;
    }

    const PollReading& reading() const { return reading_; }
    const model::Ask& ask(std::size_t number) const { return *plan_.asks.at(0).at(number); }
    // Of the requests that were asked in the last poll.
    const model::Reply& reply(std::size_t number) const { return *replies_.at(number); }

    // What the last poll read of a metric, by the names of its rows; the target's own is "".
    std::map<std::string, model::Value> values(std::string_view metric) const {
        std::map<std::string, model::Value> found;
        for (const model::Reading& one : reading_.readings.values) {
            if (plan_.addon->addon().metrics.at(one.metric).name != metric) continue;
            found[reading_.readings.rows.at(one.row)] = one.value;
        }
        return found;
    }
    std::optional<double> number(std::string_view metric, const std::string& row = "") const {
        const auto all = values(metric);
        const auto found = all.find(row);
        return found == all.end() ? std::nullopt : as_number(found->second);
    }
    std::string text(std::string_view metric, const std::string& row = "") const {
        const auto all = values(metric);
        const auto found = all.find(row);
        const auto* text = found == all.end() ? nullptr : std::get_if<std::string>(&found->second);
        return text == nullptr ? "" : *text;
    }
    // The word of a state.
    std::string state(std::string_view metric, const std::string& row = "") const {
        const auto value = number(metric, row);
        for (const model::MetricDef& one : plan_.addon->addon().metrics) {
            if (one.name != metric || !value || *value < 0) continue;
            const auto at = static_cast<std::size_t>(*value);
            return at < one.states.size() ? one.states[at] : "";
        }
        return "";
    }
    // Conditions that the last poll left active, sorted; "name[row]" where there are rows.
    std::vector<std::string> raised() const {
        std::vector<std::string> names;
        for (const model::ConditionLevel& one : reading_.observation.conditions) {
            if (!one.active) continue;
            const std::string row(memory_.series(one.slot).row);
            names.push_back(plan_.addon->addon().conditions.at(one.condition).name +
                            (row.empty() ? "" : "[" + row + "]"));
        }
        std::ranges::sort(names);
        return names;
    }

  private:
    static std::optional<double> as_number(const model::Value& value) {
        if (const auto* number = std::get_if<double>(&value)) return *number;
        if (const auto* number = std::get_if<std::int64_t>(&value)) {
            return static_cast<double>(*number);
        }
        if (const auto* number = std::get_if<std::uint64_t>(&value)) {
            return static_cast<double>(*number);
        }
        return std::nullopt;
    }

    protocol::test::Bench bench_;
    std::unique_ptr<Drivers> drivers_;
    PollPlan plan_;
    derive::TargetMemory memory_;
    std::vector<std::unique_ptr<model::Reply>> replies_;
    PollReading reading_;
};

}  // namespace pollux::runtime::test
