// Conditions under random values, gaps, rows and restarts.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "derive/condition_test_support.hpp"

namespace pollux::derive {
namespace {

using test::Bench;
using namespace std::chrono_literals;

model::ConditionDef some_condition() {
    model::ConditionDef condition;
    condition.metric = Bench::kUse;
    condition.kind = *rc::gen::element(model::ConditionKind::kValue, model::ConditionKind::kValue,
                                       model::ConditionKind::kRate, model::ConditionKind::kAbsent);
    condition.comparison = *rc::gen::element(model::Comparison::kAbove, model::Comparison::kBelow);
    const bool up = condition.comparison == model::Comparison::kAbove;
    condition.clear_comparison = up ? model::Comparison::kAtMost : model::Comparison::kAtLeast;
    condition.trigger = *rc::gen::inRange(2, 9);
    const int gap = *rc::gen::inRange(0, 3);
    condition.clear = condition.trigger + (up ? -gap : gap);
    condition.failures = *rc::gen::inRange<std::uint16_t>(1, 4);
    condition.recoveries = *rc::gen::inRange<std::uint16_t>(1, 4);
    condition.min_delta = *rc::gen::inRange(0, 3);
    condition.after_clear =
        condition.kind == model::ConditionKind::kValue && *rc::gen::arbitrary<bool>();
    condition.rate_unit = 1min;
    condition.window = *rc::gen::element<base::Duration>(0s, 5min);
    condition.absent = 3min;
    if (*rc::gen::arbitrary<bool>()) {
        const double step = condition.trigger + (up ? 2 : -2);
        condition.steps = {{step, step + (up ? -gap : gap), "critical"}};
    }
    return condition;
}

Bench some_bench() {
    Bench bench;
    const int count = *rc::gen::inRange(1, 5);
    for (int i = 0; i < count; ++i) {
        model::ConditionDef condition = some_condition();
        condition.name = "c" + std::to_string(i);
        bench.addon.conditions.push_back(std::move(condition));
    }
    model::link(bench.addon);
    return bench;
}

Bench::Rows some_rows() {
    Bench::Rows rows;
    for (const char* row : {"a", "b", "c"}) {
        if (*rc::gen::inRange(0, 4) == 0) continue;  // missing
        rows.emplace_back(row, *rc::gen::inRange(0, 12));
    }
    return rows;
}

RC_GTEST_PROP(ConditionProperty, ARaiseAndAClearAlternate, ()) {
    Bench bench = some_bench();
    std::map<std::string, bool> raised;
    const int polls = *rc::gen::inRange(1, 60);
    for (int i = 0; i < polls; ++i) {
        for (const std::string& told : bench.poll(some_rows())) {
            const std::string name = told.substr(1, told.find(' ') - 1);
            RC_ASSERT(raised[name] == (told[0] != '+'));
            raised[name] = told[0] != '-';
        }
        // The shard sends a poll only if this differs: nothing may be told behind its back.
        const bool silent = bench.seen.alarms == 0;
        if (silent) RC_ASSERT(bench.keeper.raised().empty());
    }
}

RC_GTEST_PROP(ConditionProperty, ARestartInTheMiddleChangesNothing, ()) {
    Bench whole = some_bench();
    Bench broken = whole;
    const int polls = *rc::gen::inRange(1, 60);
    for (int i = 0; i < polls; ++i) {
        if (*rc::gen::inRange(0, 5) == 0) broken.restart();
        const Bench::Rows rows = some_rows();
        RC_ASSERT(whole.poll(rows) == broken.poll(rows));
        RC_ASSERT(whole.seen.alarms == broken.seen.alarms);
        RC_ASSERT(whole.seen.digest == broken.seen.digest);
        RC_ASSERT(whole.last == broken.last);
    }
}

// What is sent only when `alarms` changes leads to the same as what is sent with every poll.
RC_GTEST_PROP(ConditionProperty, SendingOnlyNewsLosesNothing, ()) {
    Bench bench = some_bench();
    SignalKeeper sparing;
    std::optional<std::uint64_t> sent;
    const int polls = *rc::gen::inRange(1, 60);
    for (int i = 0; i < polls; ++i) {
        bench.poll(some_rows());
        if (sent != bench.seen.alarms) sparing.apply(bench.last, bench.now.wall);
        sent = bench.seen.alarms;
        RC_ASSERT(sparing.raised().size() == bench.keeper.raised().size());
        for (const auto& [key, raised] : bench.keeper.raised()) {
            RC_ASSERT(sparing.raised().contains(key));
            RC_ASSERT(sparing.raised().at(key).signal == raised.signal);
        }
    }
}

}  // namespace
}  // namespace pollux::derive
