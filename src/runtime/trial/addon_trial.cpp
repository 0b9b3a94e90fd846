#include "runtime/trial/addon_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "derive/condition_signals.hpp"
#include "derive/derive.hpp"
#include "runtime/trial/case_checks.hpp"
#include "runtime/trial/case_message.hpp"
#include "runtime/trial/case_reply.hpp"

namespace pollux::runtime {
namespace {

using document::MapReader;
using document::Node;
using namespace std::chrono_literals;

constexpr base::WallTime kTrialStart{1'700'000'000'000'000};

std::string series_text(const std::string& name, std::string_view row) {
    return row.empty() ? name : fmt::format("{}[{}]", name, row);
}

std::string value_text(const model::MetricDef& metric, const model::Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "1" : "0";
    if (const auto* d = std::get_if<double>(&value)) return trial_number(*d);
    const auto* i = std::get_if<std::int64_t>(&value);
    if (i != nullptr && *i >= 0 && static_cast<std::size_t>(*i) < metric.states.size() &&
        !metric.states[static_cast<std::size_t>(*i)].empty()) {
        return metric.states[static_cast<std::size_t>(*i)];
    }
    if (i != nullptr) return fmt::format("{}", *i);
    if (const auto* u = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *u);
    return "";
}

std::string_view level_text(model::Level level) {
    switch (level) {
        case model::Level::kUnknown: return "unknown";
        case model::Level::kClear: return "clear";
        case model::Level::kBetween: return "between";
        case model::Level::kTriggered: return "triggered";
    }
    return "unknown";
}

// Null: was not asked.
std::vector<const model::Reply*> asked(const std::vector<model::Reply>& replies) {
    std::vector<const model::Reply*> pointers;
    for (const model::Reply& reply : replies) {
        const auto* failure = std::get_if<model::PollFailure>(&reply.answer);
        const bool none = failure != nullptr && failure->code == kNotAsked;
        pointers.push_back(none ? nullptr : &reply);
    }
    return pointers;
}

}  // namespace

TrialStep trial_step(const model::Addon& addon, const derive::TargetMemory& memory,
                     const model::Readings& readings, const model::Observation& seen) {
    TrialStep step;
    for (const model::Reading& reading : readings.values) {
        const model::MetricDef& metric = addon.metrics[reading.metric];
        step.readings[series_text(metric.name, readings.rows[reading.row])] =
            value_text(metric, reading.value);
    }
    for (const model::Sample& sample : seen.samples) {
        const derive::SeriesName name = memory.series(sample.slot);
        step.samples[series_text(addon.metrics[name.metric].name, name.row)] =
            trial_number(sample.value);
    }
    for (const model::ConditionLevel& level : seen.conditions) {
        const std::string_view row = memory.series(level.slot).row;
        step.conditions[series_text(addon.conditions[level.condition].name, row)] =
            level_text(level.level);
    }
    step.rows.assign(readings.rows.begin() + 1, readings.rows.end());
    step.problems = readings.problems;
    step.missing = readings.missing;
    step.dropped = seen.dropped;
    step.degraded = readings.degraded;
    step.unreadable = readings.unreadable > 0;
    step.restarted = seen.restarted;
    return step;
}

std::string trial_number(double value) { return fmt::format("{:.7g}", value); }

AddonTrial::AddonTrial(std::shared_ptr<const extract::CompiledAddon> addon, CaseFiles files,
                       document::Diagnostics& diagnostics)
    : addon_(std::move(addon)), files_(std::move(files)), out_(diagnostics) {}

base::Status AddonTrial::prepare(MapReader& reader) {
    binding_.host = reader.string("host").value_or("192.0.2.1");
    binding_.port = static_cast<std::uint16_t>(reader.integer("port", 1, 65535).value_or(0));
    if (const Node* parameters = reader.map("parameters")) {
        for (const auto& entry : parameters->entries()) {
            binding_.parameters[entry.key] = entry.value.scalar();
        }
    }
    const std::string group = reader.string("group").value_or("");
    auto special = extract::specialise(addon_, binding_.parameters);
    if (!special) return std::unexpected(special.error());
    addon_ = std::move(*special);
    const auto& groups = addon_->addon().groups;
    const auto found = std::ranges::find(groups, group, &model::PollGroup::name);
    if (found == groups.end()) {
        return base::config_error("addon.group",
                                  fmt::format("the addon has no group {}", base::quoted(group)));
    }
    group_ = static_cast<std::size_t>(found - groups.begin());
    auto asks = addon_->asks(group_, binding_);
    if (!asks) return std::unexpected(asks.error());
    asks_ = std::move(*asks);
    return {};
}

std::vector<std::string> AddonTrial::asks() const {
    std::vector<std::string> texts;
    for (const auto& ask : asks_) texts.push_back(describe_ask(*ask));
    return texts;
}

bool AddonTrial::run(MapReader& reader, TrialStep& result) {
    const base::Duration at = reader.duration("at", 0s, 24h * 365).value_or(0s);
    for (const std::string_view key :
         {"http", "snmp", "failure", "replies", "trap", "webhook", "push"}) {
        reader.any(key);
    }
    for (const std::string_view key : kCheckReplies) reader.any(key);
    const Node& step = reader.node();
    const base::Instant now{base::BootTime{} + 1h + at, kTrialStart + at};
    const extract::SignalContext context{"device", binding_.host};
    const auto message = case_message(step, reader.path(), now.wall, out_);
    std::vector<model::Reply> replies;
    if (!message) replies = case_replies(step, reader.path(), asks_, files_, now.wall, out_);
    if (!out_.ok()) return false;
    const std::vector<const model::Reply*> pointers = asked(replies);
    const model::Readings readings =
        message ? addon_->read(*message) : addon_->read(group_, pointers, now.wall);
    const model::Observation seen = derive::derive(addon_->addon(), readings, now, memory_);
    result = trial_step(addon_->addon(), memory_, readings, seen);
    result.changed = has_digest_ && seen.digest != last_digest_;
    result.signals = message ? addon_->signals(*message, context)
                             : addon_->signals(group_, pointers, now.wall, context).signals;
    std::ranges::move(derive::condition_signals(addon_->addon(), static_cast<std::uint16_t>(group_),
                                                seen, memory_)
                          .signals,
                      std::back_inserter(result.signals));
    result.failed = addon_->failure(group_, pointers) != nullptr;
    last_digest_ = seen.digest;
    has_digest_ = true;
    return true;
}

}  // namespace pollux::runtime
