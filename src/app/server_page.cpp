#include "app/server_page.hpp"

#include <algorithm>
#include <vector>

#include "api/task_pages.hpp"
#include "document/write.hpp"
#include "runtime/task_rows.hpp"

namespace pollux::app {
namespace {

using document::Node;
using schedule::TaskSlot;

Node seconds(base::Duration duration) { return Node::number(runtime::shown_seconds(duration)); }

Node count(std::size_t value) { return Node::unsigned_integer(value); }

Node task_line(const runtime::CoreLoop::View& view, model::TaskHandle task) {
    const auto& core = view.engine.core();
    const TaskSlot& slot = core.slot(task);
    const schedule::Freshness fresh = core.freshness(task, view.now.boot);
    const schedule::FailureStory failure = core.failure(task);
    Node line = Node::map();
    line.set("key", Node::text(core.key(task)));
    line.set("place", Node::text(std::string(schedule::to_string(slot.place))));
    line.set("tier", Node::text(std::string(model::to_string(slot.tier))));
    line.set("due_in", seconds(slot.next_due - view.now.boot));
    line.set("interval", seconds(fresh.expected_age));
    line.set("age", fresh.has_data() ? seconds(fresh.age) : Node());
    line.set("bound", seconds(fresh.bound));
    line.set("failures", count(failure.consecutive));
    line.set("breaker", Node::text(std::string(model::to_string(failure.breaker))));
    line.set("dead_letter", Node::text(std::string(model::to_string(failure.dead_letter))));
    const auto why = view.failures.find(task.index);
    if (why != view.failures.end()) {
        line.set("code", Node::text(why->second.code));
        line.set("error", Node::text(why->second.message));
    }
    return line;
}

struct Totals {
    std::size_t enabled = 0;
    std::size_t over_bound = 0;
    std::size_t never = 0;
    std::size_t breakers = 0;
    std::size_t dead_letters = 0;
    double planned = 0;
    std::vector<std::pair<double, model::TaskHandle>> failing;  // by how long
};

Totals totals_of(const runtime::CoreLoop::View& view) {
    const auto& core = view.engine.core();
    Totals totals;
    for (std::uint32_t index = 0; index < core.capacity(); ++index) {
        if (!core.occupied(index)) continue;
        const model::TaskHandle task = core.handle_at(index);
        const TaskSlot& slot = core.slot(task);
        if (!slot.has(schedule::kFlagEnabled)) continue;
        ++totals.enabled;
        const schedule::Freshness fresh = core.freshness(task, view.now.boot);
        if (!fresh.has_data()) {
            ++totals.never;
        } else if (fresh.age > fresh.bound) {
            ++totals.over_bound;
        }
        if (slot.interval_ms > 0) totals.planned += 1000.0 / slot.interval_ms;
        if (slot.failure == model::kNoIndex) continue;
        const schedule::FailureStory failure = core.failure(task);
        if (failure.consecutive == 0) continue;
        if (failure.breaker != model::BreakerState::kClosed) ++totals.breakers;
        if (failure.dead_letter != model::DeadLetterReason::kNone) ++totals.dead_letters;
        totals.failing.emplace_back(base::to_seconds(view.now.boot - failure.first_failure), task);
    }
    return totals;
}

}  // namespace

std::string status_page(const runtime::CoreLoop::View& view, std::size_t limit) {
    const auto& core = view.engine.core();
    Totals totals = totals_of(view);
    const schedule::QueueSnapshot queue = core.queue_snapshot(view.now.boot);
    const schedule::CoreStats& stats = core.stats();
    Node page = Node::map();
    page.set("time", Node::text(base::format_utc(view.now.wall)));
    page.set("tasks", count(core.size()));
    page.set("enabled", count(totals.enabled));
    page.set("ready", count(core.ready()));
    page.set("in_flight", count(core.in_flight()));
    page.set("queue_depth", count(queue.depth));
    page.set("due_soon", count(queue.due_soon));
    page.set("over_bound", count(totals.over_bound));
    page.set("never_answered", count(totals.never));
    page.set("failing", count(totals.failing.size()));
    page.set("breakers", count(totals.breakers));
    page.set("dead_letters", count(totals.dead_letters));
    page.set("planned_rate", Node::number(totals.planned));
    page.set("global_rate", Node::number(core.settings().global_rate));
    page.set("started", count(stats.started));
    page.set("finished", count(stats.finished));
    page.set("expired", count(stats.expired));
    page.set("lag_p50", Node::number(view.stats.lag().quantile(0.5)));
    page.set("lag_p99", Node::number(view.stats.lag().quantile(0.99)));
    page.set("adaptive", count(static_cast<std::size_t>(core.settings().mode)));
    page.set("store_failing", Node::boolean(view.engine.pump().failing()));
    Node classes = Node::sequence();
    for (const auto& one : queue.per_class) {
        Node line = Node::map();
        line.set("class", Node::text(one.class_name));
        line.set("tasks", count(one.tasks));
        line.set("ready", count(one.ready));
        classes.push(std::move(line));
    }
    page.set("classes", std::move(classes));
    Node next = Node::sequence();
    for (const schedule::PlanEntry& entry : core.plan(view.now.boot, limit)) {
        next.push(task_line(view, entry.task));
    }
    page.set("next", std::move(next));
    const auto longest = [](const auto& a, const auto& b) { return a.first > b.first; };
    std::ranges::sort(totals.failing, longest);
    Node failing = Node::sequence();
    for (std::size_t i = 0; i < std::min(limit, totals.failing.size()); ++i) {
        failing.push(task_line(view, totals.failing[i].second));
    }
    page.set("worst", std::move(failing));
    return document::to_json(page);
}

std::string explain_page(const runtime::CoreLoop::View& view, std::string_view key) {
    const auto facts = api::explain_facts(view, key);
    if (facts) return api::explain_page(*facts);
    Node page = Node::map();
    page.set("error", Node::text(view.engine.core().explain(key).error().message));
    return document::to_json(page);
}

}  // namespace pollux::app
