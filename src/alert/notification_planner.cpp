#include "alert/notification_planner.hpp"

#include <algorithm>

#include "alert/notification_body.hpp"
#include "alert/planner_step.hpp"
#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::alert {

using base::WallTime;
using document::Node;
using model::NotifyRoute;

namespace {

// Windows begin with a minute: routes that wait for their hours are asked again then.
WallTime next_minute(WallTime now) {
    const std::int64_t minute = 60'000'000;
    return WallTime{(base::detail::floor_div(now.us, minute) + 1) * minute};
}

std::string meta_row(std::uint64_t number) {
    Node node = Node::map();
    node.set("number", Node::unsigned_integer(number));
    return document::to_json(node);
}

base::Result<std::uint64_t> read_meta(std::string_view row) {
    document::Diagnostics diagnostics;
    const auto parsed = document::parse_json(row, "row of the planner", diagnostics);
    const Node* number = parsed.root.find("number");
    document::MapReader reader(parsed.root, "", diagnostics);
    const auto value = reader.integer("number", 0, std::numeric_limits<std::int64_t>::max(),
                                      document::Need::kRequired);
    if (number == nullptr || !value) return std::unexpected(diagnostics.as_error("planner.row"));
    return static_cast<std::uint64_t>(*value);
}

}  // namespace

void NotificationPlanner::set_router(Router router) {
    router_ = std::move(router);
    reconsider_ = true;
}

void NotificationPlanner::set_settings(PlannerSettings settings) {
    settings_ = std::move(settings);
    reconsider_ = true;
}

base::Status NotificationPlanner::put_silence(model::Silence silence) {
    reconsider_ = true;
    return silences_.put(std::move(silence));
}

bool NotificationPlanner::end_silence(std::string_view id, WallTime now) {
    reconsider_ = true;
    return silences_.end(id, now);
}

void NotificationPlanner::remove_silence(std::string_view id) {
    reconsider_ = true;
    silences_.remove(id);
}

base::Result<std::vector<std::string>> NotificationPlanner::incidents_of(
    std::span<const PlannerRow> rows) {
    planner::NameSet names;
    for (const PlannerRow& row : rows) {
        if (!row.key.starts_with(planner::kGroupKey)) continue;
        const auto group = planner::read_group(row.body);
        if (!group) return std::unexpected(group.error());
        for (const planner::Member& member : group->members) names.insert(member.incident);
    }
    return std::vector<std::string>(names.begin(), names.end());
}

base::Status NotificationPlanner::restore(std::span<const PlannerRow> rows,
                                          std::span<const model::Incident> incidents,
                                          std::span<const model::Alert> alerts) {
    for (const model::Incident& incident : incidents) cases_[incident.id].incident = incident;
    for (const auto& [id, one] : cases_) {
        if (!one.incident.root.empty()) roots_.emplace(one.incident.root, id);
    }
    for (const model::Alert& alert : alerts) {
        const auto found = cases_.find(alert.incident);
        if (found != cases_.end()) keep(found->second, alert);
        const auto [first, last] = roots_.equal_range(alert.id);
        for (auto at = first; at != last; ++at) keep(cases_.find(at->second)->second, alert);
    }
    std::erase_if(roots_, [&](const auto& entry) {
        const auto home = case_of_alert_.find(entry.first);
        return home != case_of_alert_.end() && home->second == entry.second;
    });
    const auto take_row = [](const PlannerRow& row, auto read, auto& into) -> base::Status {
        auto value = read(row.body);
        if (!value) return std::unexpected(value.error());
        into.insert_or_assign(row.key, std::move(*value));
        return {};
    };
    for (const PlannerRow& row : rows) {
        base::Status status;
        if (row.key.starts_with(planner::kGroupKey)) {
            status = take_row(row, planner::read_group, groups_);
        } else if (row.key.starts_with(planner::kChannelKey)) {
            status = take_row(row, planner::read_channel, channels_);
        } else if (row.key.starts_with(planner::kFlapKey)) {
            status = take_row(row, planner::read_flap, flaps_);
        } else if (row.key == planner::kMetaKey) {
            const auto number = read_meta(row.body);
            if (!number) return std::unexpected(number.error());
            number_ = *number;
        }
        if (!status) return status;
    }
    for (const auto& [key, group] : groups_) {
        leaders_[{group.route, group.leader}] = key;
        for (const planner::Member& member : group.members) {
            const auto found = cases_.find(member.incident);
            if (found != cases_.end()) found->second.groups.push_back(key);
        }
    }
    planner::NameSet done;
    for (const auto& [id, one] : cases_) {
        if (one.over() && one.groups.empty()) done.insert(id);
    }
    for (const std::string& id : done) forget(id);
    // Each is looked at in the first step, which finds when it is to be looked at next.
    reconsider_ = true;
    return {};
}

void NotificationPlanner::wake_at(const std::string& key, WallTime at) {
    const auto known = wake_of_.find(key);
    if (known != wake_of_.end()) {
        if (known->second == at) return;
        wakes_.erase({known->second, key});
        wake_of_.erase(known);
    }
    if (at == WallTime::max()) return;
    wakes_.emplace(at, key);
    wake_of_.emplace(key, at);
}

WallTime NotificationPlanner::next_wake() const {
    if (reconsider_) return WallTime::min();
    return wakes_.empty() ? WallTime::max() : wakes_.begin()->first;
}

void NotificationPlanner::step(WallTime now, const PlannerInput& input, PlannerOutput& out) {
    Step step{.now = now, .out = out};
    for (const model::Notification& answer : input.answers) take(step, answer);
    // Incidents first: an alert needs its incident to be known.
    std::set<std::string, std::less<>> changes;
    for (const model::Incident& incident : input.incidents) {
        take(step, incident);
        changes.insert(incident.id);
    }
    for (const model::Alert& alert : input.alerts) {
        take(step, alert);
        if (!alert.incident.empty()) changes.insert(alert.incident);
    }
    for (const model::Incident& incident : input.incidents) merge(step, incident.id);
    changes.merge(step.moved);
    for (const std::string& incident : changes) changed(step, incident);

    std::vector<std::string> due;
    while (!wakes_.empty() && wakes_.begin()->first <= now) {
        due.push_back(wakes_.begin()->second);
        wake_at(std::string(due.back()), WallTime::max());
    }
    if (reconsider_) {
        reconsider_ = false;
        for (const auto& [key, group] : groups_) step.touched.insert(key);
        for (const auto& [key, channel] : channels_) due.push_back(key);
        for (const auto& [key, memory] : flaps_) due.push_back(key);
        for (const auto& [id, one] : cases_) {
            if (one.groups.empty()) due.push_back(std::string(planner::kUnroutedKey) + id);
        }
    }
    std::ranges::sort(due);
    due.erase(std::unique(due.begin(), due.end()), due.end());
    for (const std::string& key : due) {
        if (key.starts_with(planner::kGroupKey)) step.touched.insert(key);
        if (key.starts_with(planner::kUnroutedKey)) {
            changed(step, key.substr(planner::kUnroutedKey.size()));
        }
        const auto flap = flaps_.find(key);
        if (flap == flaps_.end()) continue;
        const WallTime forgotten = flap->second.back() + settings_.flap_cool_down;
        if (forgotten > now) {
            wake_at(key, forgotten);
            continue;
        }
        flaps_.erase(flap);
        out.gone.push_back(key);
    }
    const auto touched = std::move(step.touched);
    for (const std::string& key : touched) evaluate(step, key);
    for (const auto& [receiver, lines] : step.past) emit_digest(step, receiver, lines);
    for (const std::string& key : due) {
        if (key.starts_with(planner::kChannelKey)) flush_channel(step, key);
    }
    write_rows(step);
}

void NotificationPlanner::take(Step&, const model::Incident& incident) {
    const bool over = incident.resolved_at != WallTime{};
    const auto found = cases_.find(incident.id);
    if (found == cases_.end() && over) return;  // nobody heard of it
    Case& one = found == cases_.end() ? cases_[incident.id] : found->second;
    // What is over stays over, and changes come in their order.
    if (one.over() || incident.version < one.incident.version) return;
    const bool moved = one.incident.root != incident.root;
    one.incident = incident;
    if (moved) one.sort_alerts();
}

void NotificationPlanner::take(Step& step, const model::Alert& alert) {
    leave_home(step, alert);
    const auto [first, last] = roots_.equal_range(alert.id);
    for (auto at = first; at != last; ++at) keep(cases_.find(at->second)->second, alert);
    const auto found = cases_.find(alert.incident);
    if (found == cases_.end()) return;
    if (!keep(found->second, alert)) return;
    if (alert.state != model::AlertState::kActive) return;
    std::vector<model::Silence> begun = silences_.begin(labels_of(alert), step.now);
    step.out.begun.insert(step.out.begun.end(), begun.begin(), begun.end());
}

// An alert may be found to belong to another cause than it was told with. What it was the root of
// still has to be named after it.
void NotificationPlanner::leave_home(Step& step, const model::Alert& alert) {
    const auto home = case_of_alert_.find(alert.id);
    if (home == case_of_alert_.end() || home->second == alert.incident) return;
    Case& left = cases_.find(home->second)->second;
    if (left.incident.root == alert.id) {
        roots_.emplace(alert.id, home->second);
    } else {
        std::erase_if(left.alerts, [&](const model::Alert& other) { return other.id == alert.id; });
    }
    step.moved.insert(home->second);
    case_of_alert_.erase(home);
}

// The root and the first ones by number: the same whenever they are given. False: it is not newer
// than what is known.
bool NotificationPlanner::keep(Case& one, const model::Alert& alert) {
    const auto known = std::ranges::find_if(
        one.alerts, [&](const model::Alert& other) { return other.id == alert.id; });
    if (known != one.alerts.end()) {
        if (one.has(alert)) case_of_alert_[alert.id] = one.incident.id;
        if (alert.version <= known->version) return false;
        *known = alert;
        return true;
    }
    one.alerts.push_back(alert);
    one.sort_alerts();
    if (one.has(alert)) case_of_alert_[alert.id] = one.incident.id;
    if (one.alerts.size() > kMostAlertsInBody) {
        case_of_alert_.erase(one.alerts.back().id);
        one.alerts.pop_back();
    }
    return true;
}

// Those who heard of it hear that it is part of another one; nobody else hears of it any more.
void NotificationPlanner::merge(Step& step, const std::string& incident) {
    const auto found = cases_.find(incident);
    if (found == cases_.end() || !found->second.merged()) return;
    const auto other = cases_.find(found->second.incident.merged_into);
    for (const std::string& key : found->second.groups) {
        Group& group = groups_.find(key)->second;
        for (auto& [receiver, told] : group.told) told.owed.erase(incident);
        for (planner::Member& member : group.members) {
            if (member.incident != incident || other == cases_.end()) continue;
            member.part_of = base::valid_utf8(other->second.incident.title);
        }
        step.dirty.insert(key);
    }
}

void NotificationPlanner::take(Step& step, const model::Notification& answer) {
    const auto key = leaders_.find({answer.route, answer.incident});
    if (key == leaders_.end() || answer.kind == model::NotificationKind::kRecovery) return;
    Group& group = groups_.find(key->second)->second;
    const auto told = group.told.find(answer.receiver);
    if (told == group.told.end()) return;
    if (answer.state == model::DeliveryState::kFailed) told->second.lost.insert(answer.channel);
    if (answer.state == model::DeliveryState::kDelivered) told->second.lost.erase(answer.channel);
    step.dirty.insert(key->second);
}

void NotificationPlanner::changed(Step& step, const std::string& incident) {
    const auto found = cases_.find(incident);
    if (found == cases_.end()) return;
    Case& one = found->second;
    ask_routes(step, incident, one);
    for (const std::string& key : one.groups) step.touched.insert(key);
    if (one.over() && one.groups.empty()) forget(incident);
}

void NotificationPlanner::forget(const std::string& incident) {
    const auto found = cases_.find(incident);
    for (const model::Alert& alert : found->second.alerts) {
        const auto home = case_of_alert_.find(alert.id);
        if (home != case_of_alert_.end() && home->second == incident) case_of_alert_.erase(home);
    }
    const auto [first, last] = roots_.equal_range(found->second.incident.root);
    for (auto at = first; at != last;) at = at->second == incident ? roots_.erase(at) : ++at;
    cases_.erase(found);
    wake_at(std::string(planner::kUnroutedKey) + incident, WallTime::max());
}

// Routes are asked when an incident can be told, and again when it becomes worse.
void NotificationPlanner::ask_routes(Step& step, const std::string& incident, Case& one) {
    const Standing standing = standing_of(one);
    if (standing != Standing::kOpen && standing != Standing::kTaken) return;
    const model::Severity severity = one.incident.severity;
    bool asked = false;
    for (const std::string& key : one.groups) {
        for (planner::Member& member : groups_.find(key)->second.members) {
            if (member.incident != incident) continue;
            asked = asked || member.routed >= severity;
            if (member.routed < severity) step.dirty.insert(key);
            member.routed = std::max(member.routed, severity);
        }
    }
    if (asked) return;
    const MatchLabels labels = one.labels();
    for (const NotifyRoute* route : router_.choose(labels, severity, step.now)) {
        join(step, incident, one, *route);
    }
    const bool later = one.groups.empty() && router_.may_apply_later(labels, severity, step.now);
    wake_at(std::string(planner::kUnroutedKey) + incident,
            later ? next_minute(step.now) : WallTime::max());
}

std::string NotificationPlanner::group_key(const std::string& incident, const MatchLabels& labels,
                                           const NotifyRoute& route,
                                           model::AlertLabels& group_labels) const {
    const std::string prefix = std::string(planner::kGroupKey) + route.name + '\n';
    std::string key = prefix + incident;
    if (!route.group_by.empty()) {
        Node values = Node::map();
        for (const std::string& label : route.group_by) {
            const std::string value = base::valid_utf8(labels.find(label));
            group_labels[label] = value;
            values.set(label, Node::text(value));
        }
        key = prefix + document::to_json(values);
    }
    const bool full = groups_.size() >= kMostGroups && !groups_.contains(key);
    if (full) group_labels.clear();
    return full ? prefix + "rest" : key;
}

void NotificationPlanner::join(Step& step, const std::string& incident, Case& one,
                               const NotifyRoute& route) {
    model::AlertLabels group_labels;
    const std::string key = group_key(incident, one.labels(), route, group_labels);
    const auto [at, fresh] = groups_.try_emplace(key);
    Group& group = at->second;
    if (fresh) {
        group.route = route.name;
        group.leader = incident;
        group.labels = std::move(group_labels);
        group.wait_until = step.now + route.group_wait;
        leaders_[{group.route, group.leader}] = key;
    }
    if (std::ranges::find(one.groups, key) != one.groups.end()) return;
    step.dirty.insert(key);
    if (group.members.size() >= kMostMembers) {
        ++group.left_out;
        return;
    }
    group.members.push_back({incident, one.incident.severity, {}});
    one.groups.push_back(key);
}

void NotificationPlanner::write_rows(Step& step) {
    if (!step.out.notifications.empty()) step.dirty.insert(std::string(planner::kMetaKey));
    for (const std::string& key : step.dirty) {
        std::optional<std::string> body;
        if (const auto group = groups_.find(key); group != groups_.end()) {
            body = planner::group_row(group->second);
        } else if (const auto channel = channels_.find(key); channel != channels_.end()) {
            body = planner::channel_row(channel->second);
        } else if (const auto flap = flaps_.find(key); flap != flaps_.end()) {
            body = planner::flap_row(flap->second);
        } else if (key == planner::kMetaKey) {
            body = meta_row(number_);
        }
        if (!body) continue;
        std::erase(step.out.gone, key);  // forgotten, and begun anew in this step
        step.out.rows.push_back({key, std::move(*body)});
    }
}

}  // namespace pollux::alert
