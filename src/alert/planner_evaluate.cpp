// What there is to tell about a group, now or later.
#include <algorithm>

#include "alert/planner_step.hpp"

namespace pollux::alert {

using base::WallTime;
using model::AlertState;
using model::NotificationKind;

namespace {

bool speaks(const model::Alert& alert) {
    return alert.state == AlertState::kActive || alert.state == AlertState::kAcknowledged;
}

}  // namespace

NotificationPlanner::Standing NotificationPlanner::standing_of(const Case& one) {
    if (one.over()) return Standing::kOver;
    // An incident of our own has no alert.
    if (one.incident.root.empty() && one.alerts.empty()) return Standing::kOpen;
    const auto is = [&](AlertState state) {
        return [&one, state](const model::Alert& alert) {
            return one.has(alert) && alert.state == state;
        };
    };
    if (std::ranges::any_of(one.alerts, is(AlertState::kActive))) return Standing::kOpen;
    if (std::ranges::any_of(one.alerts, is(AlertState::kAcknowledged))) return Standing::kTaken;
    return one.incident.root.empty() ? Standing::kOpen : Standing::kWaiting;
}

// An incident is silent while all is silent that speaks for it; one that is over, by its root.
std::optional<WallTime> NotificationPlanner::silent_until(const Case& one, WallTime now) const {
    if (silences_.size() == 0) return std::nullopt;
    std::optional<WallTime> until;
    for (const model::Alert& alert : one.alerts) {
        const bool counts =
            one.over() ? alert.id == one.incident.root : one.has(alert) && speaks(alert);
        if (!counts) continue;
        const auto hold = silences_.holding(labels_of(alert), now);
        if (!hold) return std::nullopt;
        until = std::min(until.value_or(WallTime::max()), hold->until);
    }
    if (until) return until;
    const auto hold = silences_.holding(one.labels(), now);
    if (!hold) return std::nullopt;
    return hold->until;
}

std::optional<WallTime> NotificationPlanner::flapping_until(const Case& one,
                                                            const std::string& receiver,
                                                            WallTime now) const {
    if (!one.recurs() || settings_.flap_limit == 0) return std::nullopt;
    const auto found = flaps_.find(planner::flap_key(one.fingerprint(), receiver));
    if (found == flaps_.end() || found->second.size() < settings_.flap_limit) return std::nullopt;
    const WallTime oldest = found->second[found->second.size() - settings_.flap_limit];
    const WallTime until = oldest + settings_.flap_cool_down;
    if (until <= now) return std::nullopt;
    return until;
}

// Two routes may lead to one receiver, who hears of an incident once.
bool NotificationPlanner::told_elsewhere(const Case& one, std::string_view key,
                                         const std::string& receiver) const {
    return std::ranges::any_of(one.groups, [&](const std::string& other) {
        if (other == key) return false;
        const Group& group = groups_.find(other)->second;
        const auto told = group.told.find(receiver);
        if (told != group.told.end() && (told->second.open.contains(one.incident.id) ||
                                         told->second.owed.contains(one.incident.id))) {
            return true;
        }
        const model::NotifyRoute* route = router_.route(group.route);
        if (route == nullptr || other > key) return false;
        const auto names = router_.receivers(route->receivers, one.labels());
        return std::ranges::find(names, receiver) != names.end();
    });
}

std::vector<NotificationPlanner::View> NotificationPlanner::views_of(const Group& group,
                                                                     WallTime now) const {
    std::vector<View> views;
    views.reserve(group.members.size());
    for (const planner::Member& member : group.members) {
        View view;
        view.id = &member.incident;
        const auto found = cases_.find(member.incident);
        if (found != cases_.end()) {
            view.of = &found->second;
            view.standing = standing_of(found->second);
            view.severity = found->second.incident.severity;
            view.silent_until = silent_until(found->second, now);
            view.part_of = member.part_of;
        }
        views.push_back(std::move(view));
    }
    return views;
}

NotificationPlanner::Wish NotificationPlanner::wish_of(const std::string& key, const Group& group,
                                                       const std::string& receiver, Told& told,
                                                       const std::vector<View>& views,
                                                       std::optional<WallTime> quiet_until,
                                                       const Step& step) const {
    Wish wish;
    const WallTime now = step.now;
    const bool batch = now >= group.wait_until;
    const auto later = [&](WallTime at) { wish.next = std::min(wish.next, at); };
    for (const View& view : views) {
        const bool known = told.open.contains(*view.id);
        const bool owed = told.owed.contains(*view.id);
        const bool over = view.standing == Standing::kOver;
        const bool fresh = view.standing == Standing::kOpen && !known;
        const bool higher =
            view.standing == Standing::kOpen && known && view.severity > told.severity;
        const bool attend = view.standing == Standing::kOpen && known;
        if (!(over && (known || owed)) && !fresh && !attend) continue;
        const bool routed = router_.route(group.route) != nullptr;
        if (fresh && (!routed || told_elsewhere(*view.of, key, receiver))) continue;
        if (view.silent_until) {
            later(*view.silent_until);
            continue;
        }
        if (fresh && !batch) {
            later(group.wait_until);
            continue;
        }
        std::optional<WallTime> held = quiet_until;
        // What goes into the same digest is one message.
        const bool in_digest =
            over && !known && view.of != nullptr &&
            step.past_flaps.contains(planner::flap_key(view.of->fingerprint(), receiver));
        if (view.of != nullptr && !in_digest) {
            const auto flapping = flapping_until(*view.of, receiver, now);
            if (flapping) held = std::max(held.value_or(*flapping), *flapping);
        }
        if (held) {
            if (fresh) told.owed.insert(*view.id);
            later(*held);
            continue;
        }
        if (fresh || attend) wish.highest = std::max(wish.highest, view.severity);
        wish.unattended = wish.unattended || attend;
        wish.higher = wish.higher || higher;
        if (fresh) wish.fresh.push_back(&view);
        if (over && known) wish.gone.push_back(&view);
        if (over && !known) wish.past.push_back(&view);
    }
    return wish;
}

// The receivers of the steps that are due, while nobody has it.
std::set<std::string, std::less<>> NotificationPlanner::due_steps(const Group& group,
                                                                  const model::NotifyRoute* route,
                                                                  const std::vector<View>& views,
                                                                  WallTime now,
                                                                  WallTime& next) const {
    std::set<std::string, std::less<>> receivers;
    if (route == nullptr || group.first_told == WallTime{}) return receivers;
    const auto open = std::ranges::find_if(views, [](const View& view) {
        return view.standing == Standing::kOpen && !view.silent_until;
    });
    if (open == views.end()) return receivers;
    for (std::size_t i = group.steps; i < route->escalation.size(); ++i) {
        const WallTime due = group.first_told + route->escalation[i].after;
        if (due > now) {
            next = std::min(next, due);
            break;
        }
        const MatchLabels labels = open->of == nullptr ? MatchLabels{} : open->of->labels();
        for (std::string& name : router_.receivers(route->escalation[i].receivers, labels)) {
            receivers.insert(std::move(name));
        }
    }
    return receivers;
}

void NotificationPlanner::evaluate(Step& step, const std::string& key) {
    const auto found = groups_.find(key);
    if (found == groups_.end()) return;
    Group& group = found->second;
    const Group before = group;
    const model::NotifyRoute* route = router_.route(group.route);
    const std::vector<View> views = views_of(group, step.now);
    const auto quiet_until = router_.quiet_until(group.route, step.now);
    WallTime next = WallTime::max();

    for (const View& view : views) {
        if (route == nullptr || view.of == nullptr || view.standing == Standing::kOver) continue;
        for (const std::string& name : router_.receivers(route->receivers, view.of->labels())) {
            group.told.try_emplace(name);
        }
    }
    std::set<std::string, std::less<>> escalated;
    if (!quiet_until) {
        escalated = due_steps(group, route, views, step.now, next);
        for (const std::string& name : escalated) group.told.try_emplace(name);
        if (!escalated.empty()) {
            while (group.steps < route->escalation.size() &&
                   group.first_told + route->escalation[group.steps].after <= step.now) {
                ++group.steps;
            }
            due_steps(group, route, views, step.now, next);
        }
    }
    bool any = false;
    for (auto& [receiver, told] : group.told) {
        if (told.reviewed && !settings_.review) {
            // It was only recorded: it is told now, if it still is so.
            const std::uint32_t ordinal = told.ordinal;
            told = Told{};
            told.ordinal = ordinal;
            group.first_told = WallTime{};
            group.steps = 0;
        }
        for (const View& view : views) {
            // Who is owed it by a route that is gone hears of it by another one.
            if (route == nullptr && view.standing != Standing::kOver) told.owed.erase(*view.id);
        }
        Wish wish = wish_of(key, group, receiver, told, views, quiet_until, step);
        take_past(step, receiver, told, wish);
        any = tell(step, group, receiver, told, wish, views, escalated.contains(receiver)) || any;
        next = std::min(next, wish.next);
    }
    if (any) {
        group.wait_until =
            step.now + (route == nullptr ? base::Duration::zero() : route->group_interval);
        if (group.first_told == WallTime{}) group.first_told = step.now;
        due_steps(group, route, views, step.now, next);
    }
    if (group != before) step.dirty.insert(key);
    wake_at(key, next);
    tidy(step, key, views);
}

void NotificationPlanner::take_past(Step& step, const std::string& receiver, Told& told,
                                    const Wish& wish) {
    for (const View* view : wish.past) {
        told.owed.erase(*view->id);
        if (view->of == nullptr) continue;
        step.past[receiver].push_back(line_of(view->of->incident));
        const bool first =
            step.past_flaps.insert(planner::flap_key(view->of->fingerprint(), receiver)).second;
        if (first) remember_flap(step, *view->of, receiver);
    }
}

bool NotificationPlanner::tell(Step& step, const Group& group, const std::string& receiver,
                               Told& told, Wish& wish, const std::vector<View>& views,
                               bool escalate) {
    const model::NotifyRoute* route = router_.route(group.route);
    const base::Duration repeat = route == nullptr ? base::Duration::zero() : route->repeat;
    const bool was_open = !told.open.empty();
    const bool all_gone = was_open && wish.gone.size() == told.open.size();
    const bool batch = step.now >= group.wait_until;
    std::optional<NotificationKind> kind;
    if (escalate && (wish.unattended || !wish.fresh.empty())) {
        kind = NotificationKind::kEscalation;
    } else if (!was_open && !wish.fresh.empty()) {
        kind = NotificationKind::kProblem;
    } else if (wish.higher || !wish.fresh.empty()) {
        kind = NotificationKind::kUpdate;
    } else if (all_gone) {
        kind = NotificationKind::kRecovery;
    } else if (!wish.gone.empty() && batch) {
        kind = NotificationKind::kUpdate;
    } else if (wish.unattended && repeat > base::Duration::zero() &&
               told.last + repeat <= step.now) {
        kind = NotificationKind::kReminder;
    }
    if (kind) {
        for (const View* view : wish.fresh) {
            told.open.insert(*view->id);
            told.owed.erase(*view->id);
        }
        if (!was_open) told.reviewed = settings_.review;
        told.severity = was_open ? std::max(told.severity, wish.highest) : wish.highest;
        emit(step, group, receiver, told, *kind, views);
        for (const View* view : wish.gone) {
            told.open.erase(*view->id);
            told.owed.erase(*view->id);
        }
        told.last = step.now;
    } else if (!wish.gone.empty()) {
        wish.next = std::min(wish.next, group.wait_until);
    }
    const bool watched = wish.unattended || !wish.fresh.empty();
    if (watched && repeat > base::Duration::zero()) {
        wish.next = std::min(wish.next, told.last + repeat);
    }
    return kind.has_value();
}

// Members that are over and known to be so leave; a group without members is gone.
void NotificationPlanner::tidy(Step& step, const std::string& key, const std::vector<View>& views) {
    Group& group = groups_.find(key)->second;
    planner::NameSet done;
    const bool routed = router_.route(group.route) != nullptr;
    for (const View& view : views) {
        const bool waiting = std::ranges::any_of(group.told, [&](const auto& told) {
            return told.second.open.contains(*view.id) || told.second.owed.contains(*view.id);
        });
        if ((view.standing == Standing::kOver || !routed) && !waiting) done.insert(*view.id);
    }
    if (done.empty()) return;
    std::erase_if(group.members,
                  [&](const planner::Member& member) { return done.contains(member.incident); });
    step.dirty.insert(key);
    for (const std::string& id : done) {
        const auto one = cases_.find(id);
        if (one == cases_.end()) continue;
        std::erase(one->second.groups, key);
        if (!one->second.groups.empty()) continue;
        if (one->second.over()) {
            forget(id);
        } else {
            wake_at(std::string(planner::kUnroutedKey) + id, step.now);  // its route is gone
        }
    }
    const bool unknown =
        std::ranges::all_of(group.told, [](const auto& told) { return told.second.open.empty(); });
    if (unknown) {
        group.first_told = WallTime{};
        group.steps = 0;
    }
    if (!group.members.empty()) return;
    leaders_.erase({group.route, group.leader});
    groups_.erase(key);
    wake_at(key, WallTime::max());
    step.dirty.erase(key);
    step.out.gone.push_back(key);
}

}  // namespace pollux::alert
