// Notifications with their bodies and ids, and the limits of channels.
#include <fmt/format.h>

#include <algorithm>

#include "alert/notification_body.hpp"
#include "alert/planner_step.hpp"
#include "base/siphash.hpp"
#include "base/text.hpp"

namespace pollux::alert {

using base::WallTime;
using model::Notification;
using model::NotificationKind;

namespace {

constexpr base::Duration kMinute = std::chrono::minutes(1);
constexpr base::SipKey kIdHigh{0x706f6c6c75780001, 0x6e6f746966790001};
constexpr base::SipKey kIdLow{0x706f6c6c75780002, 0x6e6f746966790002};

// The same in every life of the process: a receiver that knows it has seen the message.
std::string id_of(const Notification& one, std::uint64_t ordinal) {
    const std::string text = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", one.incident, one.route,
                                         one.receiver, one.channel, to_string(one.kind), ordinal);
    return fmt::format("{:016x}{:016x}", base::siphash24(kIdHigh, text),
                       base::siphash24(kIdLow, text));
}

// One line of a digest as the body has it: an alert with what is known of its incident.
model::Alert alert_of(const planner::DigestLine& line) {
    model::Alert alert;
    alert.id = line.incident;
    alert.title = line.title;
    alert.device = line.device;
    alert.severity = line.severity;
    alert.first_seen = line.opened_at;
    const bool over = line.resolved_at != WallTime{};
    alert.last_seen = over ? line.resolved_at : line.opened_at;
    alert.resolved_at = line.resolved_at;
    alert.state = over ? model::AlertState::kResolved : model::AlertState::kActive;
    // Some channels show the message only.
    alert.message = line.title + (over ? " (over)" : "");
    return alert;
}

model::Incident digest_incident(const std::vector<planner::DigestLine>& lines, std::uint64_t more) {
    model::Incident incident;
    std::size_t over = 0;
    incident.opened_at = lines.empty() ? WallTime{} : lines.front().opened_at;
    for (const planner::DigestLine& line : lines) {
        incident.severity = std::max(incident.severity, line.severity);
        incident.opened_at = std::min(incident.opened_at, line.opened_at);
        if (line.resolved_at == WallTime{}) continue;
        ++over;
        incident.resolved_at = std::max(incident.resolved_at, line.resolved_at);
    }
    if (over < lines.size()) incident.resolved_at = WallTime{};
    const std::size_t open = lines.size() - over;
    incident.title = lines.size() == 1 && more == 0 ? lines.front().title
                                                    : fmt::format("{} incidents: {} open, {} over",
                                                                  lines.size() + more, open, over);
    if (more > 0) incident.title += fmt::format(", {} not listed", more);
    return incident;
}

}  // namespace

NotificationPlanner::DigestLine NotificationPlanner::line_of(const model::Incident& incident) {
    return {incident.id,
            base::valid_utf8(incident.title),
            base::valid_utf8(incident.device),
            incident.severity,
            incident.opened_at,
            incident.resolved_at,
            incident.id};
}

std::string NotificationPlanner::title_of(const View& view) {
    const Case& one = *view.of;
    if (!one.merged()) return one.incident.title;
    return fmt::format("{} (now part of: {})", one.incident.title,
                       view.part_of.empty() ? "another incident" : view.part_of);
}

// Of one that became part of another: its root, which goes on there, as it ends here.
void NotificationPlanner::add_alerts(const View& view, std::vector<model::Alert>& into) {
    const Case& one = *view.of;
    if (!one.merged()) {
        into.insert(into.end(), one.alerts.begin(), one.alerts.end());
        return;
    }
    const model::Alert* root = one.root();
    if (root == nullptr) return;
    model::Alert& alert = into.emplace_back(*root);
    alert.state = model::AlertState::kResolved;
    alert.resolved_at = one.incident.resolved_at;
    alert.message =
        fmt::format("No longer an incident of its own: now part of {}.",
                    view.part_of.empty() ? "another incident" : base::quoted(view.part_of));
}

void NotificationPlanner::push(Step& step, Notification notification) {
    notification.number = ++number_;
    notification.made = step.now;
    notification.not_before = step.now;
    if (settings_.review) notification.state = model::DeliveryState::kHeld;
    step.out.notifications.push_back(std::move(notification));
}

void NotificationPlanner::remember_flap(Step& step, const Case& one, const std::string& receiver) {
    if (settings_.review || settings_.flap_limit == 0) return;
    const std::string key = planner::flap_key(one.fingerprint(), receiver);
    planner::FlapMemory& memory = flaps_[key];
    memory.push_back(step.now);
    if (memory.size() > settings_.flap_limit) memory.erase(memory.begin());
    step.dirty.insert(key);
    wake_at(key, step.now + settings_.flap_cool_down);
}

// Whether a message may go out now. If not, its lines wait for the digest of the channel. Where
// there are no digests, it goes out and waits for its turn in the queue of the channel.
bool NotificationPlanner::may_send(Step& step, const std::string& receiver,
                                   const model::Channel& channel,
                                   std::span<const DigestLine> lines) {
    if (settings_.review || channel.per_minute == 0 || !channel.digests) return true;
    const std::string key = planner::channel_key(receiver, channel.name);
    planner::ChannelMemory& memory = channels_[key];
    step.dirty.insert(key);
    std::erase_if(memory.recent, [&](WallTime at) { return at + kMinute <= step.now; });
    if (memory.waiting.empty() && memory.recent.size() < channel.per_minute) {
        memory.recent.push_back(step.now);
        wake_at(key, step.now + kMinute);
        return true;
    }
    for (const DigestLine& line : lines) {
        const auto known = std::ranges::find_if(memory.waiting, [&](const DigestLine& other) {
            return other.incident == line.incident;
        });
        if (known != memory.waiting.end()) {
            *known = line;
        } else if (memory.waiting.size() < kMostDigestLines) {
            memory.waiting.push_back(line);
        } else {
            ++memory.more;
        }
    }
    wake_at(key, memory.recent.empty() ? step.now : memory.recent.front() + kMinute);
    return false;
}

void NotificationPlanner::flush_channel(Step& step, const std::string& key) {
    const auto found = channels_.find(key);
    if (found == channels_.end()) return;
    planner::ChannelMemory& memory = found->second;
    const std::string_view names = std::string_view(key).substr(planner::kChannelKey.size());
    const std::string receiver(names.substr(0, names.find('\n')));
    const std::string name(names.substr(names.find('\n') + 1));
    const model::Receiver* known = router_.receiver(receiver);
    const model::Channel* channel = nullptr;
    for (std::size_t i = 0; known != nullptr && i < known->channels.size(); ++i) {
        if (known->channels[i].name == name) channel = &known->channels[i];
    }
    std::erase_if(memory.recent, [&](WallTime at) { return at + kMinute <= step.now; });
    if (channel == nullptr) memory.waiting.clear();  // nobody is there any more
    const bool room = channel != nullptr &&
                      (channel->per_minute == 0 || memory.recent.size() < channel->per_minute);
    if (!memory.waiting.empty() && room) {
        const std::vector<DigestLine> lines = std::exchange(memory.waiting, {});
        const std::uint64_t more = std::exchange(memory.more, 0);
        memory.recent.push_back(step.now);
        send_digest(step, receiver, name, lines, more);
    }
    step.dirty.insert(key);
    if (!memory.recent.empty()) {
        wake_at(key, memory.recent.front() + kMinute);
    }
}

void NotificationPlanner::send_digest(Step& step, const std::string& receiver,
                                      const std::string& channel,
                                      const std::vector<DigestLine>& lines, std::uint64_t more) {
    NotificationBody body;
    body.kind = NotificationKind::kDigest;
    body.receiver = receiver;
    body.external_url = settings_.external_url;
    body.incident = digest_incident(lines, more);
    body.more = more;
    for (const DigestLine& line : lines) {
        body.alerts.push_back(alert_of(line));
        body.about.push_back(line.lane);
    }

    const std::string key = planner::channel_key(receiver, channel);
    planner::ChannelMemory& memory = channels_[key];
    Notification one;
    one.receiver = receiver;
    one.channel = channel;
    one.kind = NotificationKind::kDigest;
    one.body = to_json(body);
    one.id = id_of(one, ++memory.ordinal);
    step.dirty.insert(key);
    push(step, std::move(one));
}

void NotificationPlanner::emit_digest(Step& step, const std::string& receiver,
                                      const std::vector<DigestLine>& lines) {
    const model::Receiver* known = router_.receiver(receiver);
    if (known == nullptr) return;
    const std::size_t shown = std::min(lines.size(), kMostDigestLines);
    const std::vector<DigestLine> first(lines.begin(),
                                        lines.begin() + static_cast<std::ptrdiff_t>(shown));
    for (const model::Channel& channel : known->channels) {
        if (!may_send(step, receiver, channel, lines)) continue;
        send_digest(step, receiver, channel.name, first, lines.size() - shown);
    }
}

std::string NotificationPlanner::body_of(const Group& group, const std::string& receiver,
                                         NotificationKind kind,
                                         const std::vector<const View*>& about) const {
    NotificationBody body;
    body.kind = kind;
    body.receiver = receiver;
    body.route = group.route;
    body.external_url = settings_.external_url;
    body.group_labels = group.labels;
    body.more = group.left_out;
    const View* worst = nullptr;
    std::uint32_t affected = 0;
    for (const View* view : about) {
        if (view->of == nullptr) continue;
        const Case& one = *view->of;
        affected += one.incident.affected;
        if (worst == nullptr || one.incident.severity > worst->of->incident.severity) worst = view;
        add_alerts(*view, body.alerts);
        if (one.merged()) continue;
        // Of the consequences, only the first ones are kept.
        const std::uint64_t listed = one.alerts.empty() ? 0 : one.alerts.size() - 1;
        if (one.incident.affected > listed) body.more += one.incident.affected - listed;
    }
    if (worst != nullptr) {
        body.incident = worst->of->incident;
        body.incident.title = title_of(*worst);
        // What a receiver opens under a name ends under the same one, whatever is worst then.
        body.incident.id = group.leader;
    }
    body.incident.affected = affected;
    if (about.size() > 1) {
        body.incident.title =
            fmt::format("{} incidents, the worst: {}", about.size(), body.incident.title);
    }
    if (kind != NotificationKind::kRecovery && about.size() > 1) {
        body.incident.resolved_at = WallTime{};
    }
    return to_json(body);
}

void NotificationPlanner::emit(Step& step, const Group& group, const std::string& receiver,
                               Told& told, NotificationKind kind, const std::vector<View>& views) {
    std::vector<const View*> about;
    std::vector<DigestLine> lines;
    for (const View& view : views) {
        if (!told.open.contains(*view.id)) continue;
        about.push_back(&view);
        if (view.of == nullptr) continue;
        lines.push_back(line_of(view.of->incident));
        lines.back().title = base::valid_utf8(title_of(view));
        lines.back().lane = group.leader;
        remember_flap(step, *view.of, receiver);
    }
    ++told.ordinal;
    const model::Receiver* known = router_.receiver(receiver);
    if (known == nullptr) return;
    const std::string body = body_of(group, receiver, kind, about);
    for (const model::Channel& channel : known->channels) {
        const bool recovery = kind == NotificationKind::kRecovery;
        if (recovery && (!channel.send_resolved || told.lost.contains(channel.name))) continue;
        if (!may_send(step, receiver, channel, lines)) continue;
        Notification one;
        one.incident = group.leader;
        one.receiver = receiver;
        one.channel = channel.name;
        one.route = group.route;
        one.kind = kind;
        one.body = body;
        one.id = id_of(one, told.ordinal);
        push(step, std::move(one));
    }
}

base::Result<std::vector<Notification>> NotificationPlanner::test(std::string_view receiver,
                                                                  WallTime now) {
    const model::Receiver* known = router_.receiver(receiver);
    if (known == nullptr) {
        return base::config_error("notify.receiver",
                                  fmt::format("there is no receiver {}", base::quoted(receiver)));
    }
    NotificationBody body;
    body.kind = NotificationKind::kTest;
    body.receiver = known->name;
    body.external_url = settings_.external_url;
    body.incident.title = "Test of the receiver " + known->name;
    body.incident.severity = model::Severity::kInfo;
    body.incident.opened_at = now;
    const std::string text = to_json(body);
    std::vector<Notification> notifications;
    for (const model::Channel& channel : known->channels) {
        Notification one;
        one.receiver = known->name;
        one.channel = channel.name;
        one.kind = NotificationKind::kTest;
        one.made = now;
        one.not_before = now;
        one.body = text;
        one.id = id_of(one, static_cast<std::uint64_t>(now.us));
        one.number = ++number_;
        notifications.push_back(std::move(one));
    }
    return notifications;
}

}  // namespace pollux::alert
