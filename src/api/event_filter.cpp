#include "api/event_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/paging.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;

bool names_target(std::string_view wanted, std::string_view key) {
    if (wanted.find('*') == std::string_view::npos) return wanted == key;
    return text_matches(key, wanted);
}

bool about_the_whole(const Event& event) {
    return event.type == EventType::kSchedulerStats || event.type == EventType::kSystemStatus ||
           (event.key.empty() && !is_about_alerts(event.type));
}

void write_names(document::JsonWriter& json, std::string_view field,
                 const std::vector<std::string>& names) {
    if (names.empty()) return;
    json.key(field).array();
    for (const std::string& name : names) json.value(name);
    json.end_array();
}

void erase_names(std::vector<std::string>& from, const std::vector<std::string>& names) {
    std::erase_if(
        from, [&](const std::string& one) { return std::ranges::find(names, one) != names.end(); });
}

void append_grants(std::string& text, const std::vector<access::Grant>& grants) {
    for (const access::Grant& grant : grants) {
        text += fmt::format("{}:{}\n", static_cast<int>(grant.role), grant.selector);
    }
}

}  // namespace

bool Subscription::matches(const Event& event, const config::TargetPlanInput* target) const {
    if (!has(event.type)) return false;
    if ((targets.empty() && groups.empty()) || about_the_whole(event)) return true;
    for (const std::string& wanted : targets) {
        if (names_target(wanted, event.key)) return true;
        // A target may be several tasks: `key#group`.
        if (target != nullptr && names_target(wanted, target->target)) return true;
    }
    if (target == nullptr && event.scope == nullptr) return false;
    const std::vector<std::string>& own = target == nullptr ? event.scope->groups : target->groups;
    return std::ranges::any_of(groups, [&](const std::string& group) {
        return std::ranges::find(own, group) != own.end();
    });
}

bool EventFilter::wants(EventType type) const {
    return std::ranges::any_of(subscriptions_,
                               [&](const Subscription& one) { return one.has(type); });
}

bool EventFilter::matches(const Event& event, const config::TargetPlanInput* target) const {
    return std::ranges::any_of(subscriptions_,
                               [&](const Subscription& one) { return one.matches(event, target); });
}

base::Status EventFilter::add(Subscription subscription) {
    if (std::ranges::find(subscriptions_, subscription) != subscriptions_.end()) return {};
    std::size_t names = 0;
    std::size_t bytes = 0;
    const auto count = [&](const Subscription& one) {
        names += one.targets.size() + one.groups.size();
        for (const auto& name : one.targets) bytes += name.size();
        for (const auto& name : one.groups) bytes += name.size();
    };
    for (const Subscription& one : subscriptions_) count(one);
    count(subscription);
    if (subscriptions_.size() >= kMostSubscriptions || names > kMostNames || bytes > kMostBytes) {
        return base::config_error(
            "event.subscriptions",
            fmt::format("a connection has at most {} subscriptions with {} names and {} bytes in "
                        "all: use patterns or groups, or unsubscribe from some",
                        kMostSubscriptions, kMostNames, kMostBytes));
    }
    subscriptions_.push_back(std::move(subscription));
    return {};
}

void EventFilter::remove(const Subscription& what) {
    const bool named = !what.targets.empty() || !what.groups.empty();
    if (!named) {
        for (Subscription& one : subscriptions_) one.types &= ~what.types;
    }
    std::erase_if(subscriptions_, [&](Subscription& one) {
        if (one.types == 0) return true;
        const bool everything = one.targets.empty() && one.groups.empty();
        if (!named || everything || (one.types & ~what.types) != 0) return false;
        erase_names(one.targets, what.targets);
        erase_names(one.groups, what.groups);
        return one.targets.empty() && one.groups.empty();
    });
}

void EventFilter::write(document::JsonWriter& json) const {
    json.array();
    for (const Subscription& one : subscriptions_) {
        json.object().key("event_types").array();
        for (std::size_t i = 0; i < kEventTypes; ++i) {
            const auto type = static_cast<EventType>(i);
            if (one.has(type)) json.value(to_string(type));
        }
        json.end_array();
        write_names(json, "targets", one.targets);
        write_names(json, "groups", one.groups);
        json.end_object();
    }
    json.end_array();
}

EventSight::EventSight(access::Principal principal)
    : principal_(std::move(principal)),
      everything_(access::may_everywhere(principal_, Permission::kRead, Area::kMonitoring)) {}

bool EventSight::sees(const Event& event, const config::TargetPlanInput* target,
                      std::uint64_t fleet) {
    if (everything_ && event.type != EventType::kJobChanged) return true;
    if (event.number == last_number_ && fleet == last_fleet_) return last_answer_;
    last_answer_ = decide(event, target);
    last_number_ = event.number;
    last_fleet_ = fleet;
    return last_answer_;
}

bool EventSight::decide(const Event& event, const config::TargetPlanInput* target) const {
    switch (event.type) {
        case EventType::kSchedulerStats:
        case EventType::kSystemStatus: return true;
        // Counts over everything, and what has no labels.
        case EventType::kAddonStatus: return everything_;
        case EventType::kJobChanged:
            return access::may_everywhere(principal_, Permission::kRead, Area::kJobs);
        case EventType::kAlertCreated:
        case EventType::kAlertUpdated:
        case EventType::kAlertResolved:
        case EventType::kIncidentChanged:
            return event.scope != nullptr && access::may_on(principal_, Permission::kRead,
                                                            Area::kMonitoring, event.scope->labels);
        case EventType::kTaskStateChanged:
        case EventType::kPollResult: break;
    }
    if (event.key.empty()) return true;
    // A selector such as `site!=berlin` must not match what is not known any more.
    return target != nullptr &&
           access::may_on(principal_, Permission::kRead, Area::kMonitoring, target->labels);
}

std::string EventSight::signature(const access::Principal& principal) {
    std::string text = principal.anonymous() ? "-" : "+";
    append_grants(text, principal.grants);
    text += principal.limits ? "limits\n" : "\n";
    if (principal.limits) append_grants(text, *principal.limits);
    for (const std::string& scope : principal.scopes) text += scope + "\n";
    return text;
}

}  // namespace pollux::api
