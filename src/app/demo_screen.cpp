#include "app/demo_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/time.hpp"

namespace pollux::app {
namespace {

using schedule::ChangeKind;
using schedule::Place;

constexpr std::size_t kNewestShown = 7;
constexpr std::string_view kEnd = "\x1b[K\n";

std::string fit(std::string text, int width) {
    const auto limit = static_cast<std::size_t>(std::max(20, width));
    if (text.size() > limit) text = text.substr(0, limit - 3) + "...";
    return text + std::string(kEnd);
}

std::string bar(double share, int width) {
    const int full = static_cast<int>(std::clamp(share, 0.0, 1.0) * width + 0.5);
    return std::string(static_cast<std::size_t>(full), '#') +
           std::string(static_cast<std::size_t>(width - full), '.');
}

std::string words_for(const engine::TaskChange& shown) {
    const schedule::Change& change = shown.change;
    switch (change.kind) {
        case ChangeKind::kBreaker:
            return fmt::format("circuit breaker {} -> {} ({} failures)",
                               to_string(static_cast<model::BreakerState>(change.from)),
                               to_string(static_cast<model::BreakerState>(change.to)),
                               change.failures);
        case ChangeKind::kDeadLetter:
            return change.to == 0
                       ? std::string("dead-letter cleared")
                       : fmt::format("dead-letter: {}",
                                     to_string(static_cast<model::DeadLetterReason>(change.to)));
        case ChangeKind::kHealth: return change.to == 1 ? "answers" : "does not answer";
        case ChangeKind::kEnabled: return change.to == 1 ? "enabled" : "disabled";
        case ChangeKind::kJob:
            return fmt::format("job {}", to_string(static_cast<model::JobState>(change.to)));
        case ChangeKind::kFaulted: return "faulted";
        case ChangeKind::kBudget:
            return change.to == 1 ? "the staleness bounds need more than the cap allows"
                                  : "the staleness bounds fit again";
    }
    return {};
}

}  // namespace

DemoScreen::Counts DemoScreen::count(const sim::World& world) const {
    Counts counts;
    const auto& core = world.engine().core();
    const base::BootTime now{sim::to_ns(world.now_s())};
    for (std::uint32_t i = 0; i < core.capacity(); ++i) {
        if (!core.occupied(i)) continue;
        const auto task = core.handle_at(i);
        const auto& slot = core.slot(task);
        if (!slot.recurring()) {
            ++(slot.place == Place::kEnded ? counts.jobs_done : counts.jobs_open);
            continue;
        }
        if (slot.has(schedule::kFlagSlow)) ++counts.slowed;
        if (slot.place == Place::kWaitsForNeeds) ++counts.held;
        const auto failure = core.failure(task);
        if (failure.dead_letter != model::DeadLetterReason::kNone) {
            ++counts.dead_letters;
            if (counts.explained.empty()) counts.explained = core.key(task);
        }
        if (failure.breaker != model::BreakerState::kClosed) {
            ++counts.broken;
        } else if (failure.consecutive > 0) {
            ++counts.confirming;
        } else {
            ++counts.healthy;
            const auto fresh = core.freshness(task, now);
            if (fresh.known && slot.place != Place::kWaitsForNeeds) {
                counts.oldest_healthy_s =
                    std::max(counts.oldest_healthy_s, base::to_seconds(fresh.age));
            }
        }
    }
    if (counts.explained.empty() && core.capacity() > 0)
        counts.explained = core.key(core.handle_at(0));
    return counts;
}

double DemoScreen::rate(const sim::World& world) {
    const double passed = world.now_s() - last_s_;
    if (passed >= 10) {
        shown_rate_ = static_cast<double>(world.polls() - last_polls_) / passed;
        last_s_ = world.now_s();
        last_polls_ = world.polls();
    }
    return shown_rate_;
}

// How the fleet's intervals are spread: the point of adaptive polling in one picture.
std::string DemoScreen::intervals(const sim::World& world, int width) const {
    constexpr std::array<double, 8> kEdges = {5.5, 8, 12, 17, 22, 27, 30, 1e9};
    std::array<std::size_t, 8> counts{};
    std::size_t total = 0;
    const auto& core = world.engine().core();
    for (std::uint32_t i = 0; i < core.capacity(); ++i) {
        if (!core.occupied(i)) continue;
        const auto& slot = core.slot(core.handle_at(i));
        if (!slot.recurring() || slot.failure != model::kNoIndex) continue;
        const double interval = slot.interval_ms * 1e-3;
        const auto edge = std::ranges::upper_bound(kEdges, interval);
        ++counts[static_cast<std::size_t>(std::min(edge, kEdges.end() - 1) - kEdges.begin())];
        ++total;
    }
    std::string text;
    for (std::size_t b = 0; b < counts.size(); ++b) {
        const std::string label = b + 1 == counts.size() ? fmt::format("{:>6}", ">= 30")
                                                         : fmt::format("< {:>4.1f}", kEdges[b]);
        const double share =
            total == 0 ? 0 : static_cast<double>(counts[b]) / static_cast<double>(total);
        text += fit(fmt::format("    {} s {} {:>6}", label, bar(share, 40), counts[b]), width);
    }
    return text;
}

std::string DemoScreen::newest(const sim::World& world, int width) const {
    const auto& changes = world.newest_changes();
    std::string text;
    std::size_t shown = 0;
    for (std::size_t i = changes.size(); i-- > 0 && shown < kNewestShown; ++shown) {
        text += fit(fmt::format("    {}  {:<18} {}", base::format_utc(changes[i].at).substr(11, 8),
                                changes[i].key, words_for(changes[i])),
                    width);
    }
    for (; shown < kNewestShown; ++shown) text += kEnd;
    return text;
}

std::string DemoScreen::why(const sim::World& world, const std::string& key, int width) const {
    const auto story = world.engine().core().explain(key);
    if (!story) return {};
    std::string text = fit(fmt::format("    {}  ->  {}", story->key, story->verdict), width);
    std::string gates = "    gates:";
    for (const auto& gate : story->gates) {
        gates += fmt::format(" {} {}{}", gate.open ? "[x]" : "[ ]", to_string(gate.kind),
                             &gate == &story->gates.back() ? "" : ",");
    }
    text += fit(gates, width);
    const auto& interval = story->interval;
    text += fit(fmt::format("    interval: {} by {}, believed {:.2f} changes/h, limited by {}",
                            base::format_duration(interval.in_force), to_string(interval.policy),
                            interval.believed_rate * 3600, to_string(interval.limited_by)),
                width);
    return text;
}

std::string DemoScreen::page(const sim::World& world, int width) {
    const Counts counts = count(world);
    const auto& core = world.engine().core();
    const double polls = rate(world);
    std::string text;
    text += fit(fmt::format("Pollux demo: {} simulated targets, {:.0f}x real time. Ctrl-C ends it.",
                            counts.healthy + counts.confirming + counts.broken, speed_),
                width);
    text += kEnd;
    const double minutes = world.now_s() / 60;
    text += fit(fmt::format("  simulated    {:.0f} h {:02.0f} min", std::floor(minutes / 60),
                            std::floor(minutes - 60 * std::floor(minutes / 60))),
                width);
    text += fit(fmt::format("  polls        {:>7.1f} /s of {:.0f} budgeted  [{}]", polls, budget_,
                            bar(polls / budget_, 30)),
                width);
    text += fit(fmt::format("  targets      {} healthy, {} confirming a failure, {} behind an open "
                            "breaker, {} dead letters",
                            counts.healthy, counts.confirming, counts.broken, counts.dead_letters),
                width);
    text += fit(fmt::format("  parents      {} held, {} slowed because a parent is down",
                            counts.held, counts.slowed),
                width);
    text += fit(fmt::format("  freshness    oldest healthy answer {:.1f} s (bound 60 s)",
                            counts.oldest_healthy_s),
                width);
    text += fit(fmt::format("  queue        {} ready, {} in flight, jobs {} open {} ended",
                            core.ready(), core.in_flight(), counts.jobs_open, counts.jobs_done),
                width);
    text += kEnd;
    text += fit("  intervals now", width) + intervals(world, width);
    text += kEnd;
    text += fit("  newest changes", width) + newest(world, width);
    text += kEnd;
    text += fit("  why is it not being polled now?", width) + why(world, counts.explained, width);
    return text + "\x1b[J";
}

std::string DemoScreen::line(const sim::World& world) {
    const Counts counts = count(world);
    return fmt::format(
        "simulated {:>6.0f} s  polls/s {:>6.1f}  healthy {}  confirming {}  breakers {}  "
        "dead letters {}  ready {}  oldest {:.1f} s\n",
        world.now_s(), rate(world), counts.healthy, counts.confirming, counts.broken,
        counts.dead_letters, world.engine().core().ready(), counts.oldest_healthy_s);
}

}  // namespace pollux::app
