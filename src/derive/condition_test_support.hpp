// One metric per kind of condition, and polls of them, for tests.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "derive/condition_signals.hpp"
#include "derive/derive.hpp"
#include "derive/signal_keeper.hpp"

namespace pollux::derive::test {

// A target with one gauge per row, `use`, a text, `model`, and the conditions of the test.
struct Bench {
    model::Addon addon;
    model::AlertPolicy policy;
    TargetMemory memory;
    SignalKeeper keeper;
    model::Observation seen;
    base::Instant now{base::BootTime{} + std::chrono::hours(1), base::WallTime{1'000'000'000}};

    enum : std::uint16_t { kUse, kModel };

    Bench() {
        addon.name = "bench";
        addon.category = "test";
        addon.groups.emplace_back();
        addon.metrics.resize(2);
        addon.metrics[kUse].name = "use";
        addon.metrics[kUse].unit = "percent";
        addon.metrics[kUse].per_row = true;
        addon.metrics[kModel].name = "model";
        addon.metrics[kModel].type = model::MetricType::kText;
    }

    // Above 90, until at most 85.
    model::ConditionDef& add(std::string name, std::uint16_t metric = kUse) {
        model::ConditionDef condition;
        condition.name = std::move(name);
        condition.metric = metric;
        condition.trigger = 90;
        condition.clear = 85;
        addon.conditions.push_back(std::move(condition));
        model::link(addon);
        return addon.conditions.back();
    }

    using Rows = std::vector<std::pair<std::string, double>>;
    // What people are told after one more poll, a minute later: "+high[eth0] warning" and so on.
    std::vector<std::string> poll(const Rows& rows, const std::string& model_text = "m1",
                                  base::Duration later = std::chrono::minutes(1)) {
        now = {now.boot + later, now.wall + later};
        model::Readings readings;
        for (const auto& [row, value] : rows) {
            std::uint32_t index = 0;
            if (!row.empty()) {
                index = static_cast<std::uint32_t>(readings.rows.size());
                readings.rows.push_back(row);
            }
            readings.values.push_back({kUse, index, value});
        }
        if (!model_text.empty()) readings.values.push_back({kModel, 0, model_text});
        seen = derive(addon, readings, now, memory, policy);
        last = condition_signals(addon, 0, seen, memory, policy);
        std::vector<std::string> out;
        for (const SignalChange& change : keeper.apply(last, now.wall)) {
            const char sign = change.step == SignalStep::kRaised    ? '+'
                              : change.step == SignalStep::kUpdated ? '~'
                                                                    : '-';
            const std::string row =
                change.signal.subject.empty() ? "" : "[" + change.signal.subject + "]";
            out.push_back(sign + change.signal.type + row + " " + change.signal.severity);
            told = change.signal;
        }
        return out;
    }
    std::vector<std::string> value(double value) { return poll({{"", value}}); }

    // As the next process finds it.
    void restart() {
        base::ByteWriter bytes;
        memory.encode(bytes);
        memory = TargetMemory::decode(bytes.view(), now).value();
        base::ByteWriter signals;
        keeper.encode(signals);
        keeper = SignalKeeper::decode(signals.view()).value();
    }

    model::PollSignals last;
    model::Signal told;  // the last change
};

}  // namespace pollux::derive::test
