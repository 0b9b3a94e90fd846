#include "api/event_collector.hpp"

#include <algorithm>
#include <utility>

#include "api/alert_pages.hpp"
#include "api/event_digest.hpp"
#include "api/fleet_pages.hpp"
#include "base/text.hpp"
#include "document/json_writer.hpp"
#include "runtime/change_log.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;

constexpr base::Duration kPollBatch = std::chrono::milliseconds(250);
constexpr base::Duration kEverySecond = std::chrono::seconds(1);
constexpr base::Duration kSeldom = std::chrono::seconds(5);
constexpr base::Duration kCorePatience = std::chrono::seconds(5);
constexpr base::Duration kForPolling = std::chrono::seconds(60);
// A look at all tasks takes some milliseconds of the core's time with that many.
constexpr std::size_t kManyTasks = 200'000;
// Of an alert, in an event; the whole is in the alert's own page.
constexpr std::size_t kLongestMessage = 2000;

EventType type_of(alert::ChangeKind kind) {
    switch (kind) {
        case alert::ChangeKind::kCreated: return EventType::kAlertCreated;
        case alert::ChangeKind::kResolved: return EventType::kAlertResolved;
        case alert::ChangeKind::kUpdated:
        case alert::ChangeKind::kRemoved: break;
    }
    return EventType::kAlertUpdated;
}

}  // namespace

SchedulerFacts scheduler_facts(const runtime::CoreLoop::View& view, bool whole) {
    const schedule::SchedulerCore& core = view.engine.core();
    SchedulerFacts facts;
    facts.tasks = core.size();
    facts.store_failing = view.engine.pump().failing();
    if (!whole) return facts;
    facts.depth = core.queue_snapshot(view.now.boot).depth;
    facts.ready = core.ready();
    facts.in_flight = core.in_flight();
    facts.started = core.stats().started;
    facts.finished = core.stats().finished;
    facts.lag_p50 = view.stats.lag().quantile(0.5);
    facts.lag_p99 = view.stats.lag().quantile(0.99);
    const auto& classes = core.settings().classes;
    std::vector<SchedulerFacts::Addon> addons(classes.size());
    for (std::uint32_t index = 0; index < core.capacity(); ++index) {
        if (!core.occupied(index)) continue;
        const model::TaskHandle task = core.handle_at(index);
        const schedule::TaskSlot& slot = core.slot(task);
        if (!slot.recurring()) continue;
        SchedulerFacts::Addon& addon = addons[slot.class_index];
        ++addon.targets;
        if (slot.failure == model::kNoIndex) continue;
        const schedule::FailureStory story = core.failure(task);
        if (story.consecutive > 0) ++addon.failing;
        if (story.breaker != model::BreakerState::kClosed) ++facts.breakers;
        if (story.dead_letter != model::DeadLetterReason::kNone) ++addon.dead_letters;
    }
    for (std::size_t i = 0; i < addons.size(); ++i) {
        facts.failing += addons[i].failing;
        facts.dead_letters += addons[i].dead_letters;
        if (addons[i].targets > 0) facts.addons.emplace(classes[i].name, addons[i]);
    }
    return facts;
}

std::string change_data(const runtime::TaskNews& news) {
    const runtime::ChangeWords words = runtime::change_words(news.kind, news.from, news.to);
    std::string text;
    JsonWriter json(text);
    json.object().field("change", news.number).field("kind", words.kind);
    json.text_field("from", words.from).field("to", words.to).field("message", words.message);
    json.field("at", news.at).field("failures", news.failures);
    json.time_field("next_due", news.next_due).text_field("reason", news.reason);
    json.field("provisional", news.provisional).end_object();
    return text;
}

std::string poll_data(const runtime::PollNews& news) {
    std::string text;
    JsonWriter json(text);
    json.object().field("outcome", model::to_string(news.outcome)).field("at", news.at);
    json.field("duration", base::to_seconds(news.duration));
    json.field("lag", base::to_seconds(news.lag)).text_field("code", news.code);
    json.field("trigger", model::to_string(news.trigger)).field("failures", news.failures);
    json.field("staleness", news.staleness).time_field("next_due", news.next_due).end_object();
    return text;
}

std::string alert_data(const alert::AlertChange& change, bool provisional) {
    std::string text;
    JsonWriter json(text);
    json.object();
    if (change.alert.message.size() <= kLongestMessage) {
        write_alert_fields(json, change.alert);
    } else {
        model::Alert cut = change.alert;
        cut.message = base::valid_utf8(cut.message.substr(0, kLongestMessage)) + "…";
        write_alert_fields(json, cut);
    }
    json.field("change", to_string(change.kind)).field("reason", change.cause);
    json.field("provisional", provisional).end_object();
    return text;
}

std::string incident_data(const alert::IncidentChange& change, bool provisional) {
    // Notes are in the incident's own page.
    model::Incident shown = change.incident;
    shown.notes.clear();
    std::string text;
    JsonWriter json(text);
    json.object();
    write_incident_fields(json, shown);
    json.field("change", to_string(change.kind)).field("reason", change.cause);
    json.field("provisional", provisional).end_object();
    return text;
}

std::string stats_data(const SchedulerFacts& facts) {
    std::string text;
    JsonWriter json(text);
    json.object().field("tasks", facts.tasks).field("queue_depth", facts.depth);
    json.field("ready", facts.ready).field("in_flight", facts.in_flight);
    json.field("started", facts.started).field("finished", facts.finished);
    json.key("lag").object().field("p50", facts.lag_p50).field("p99", facts.lag_p99).end_object();
    json.field("failing", facts.failing).field("breakers", facts.breakers);
    json.field("dead_letters", facts.dead_letters).end_object();
    return text;
}

std::string addon_data(const SchedulerFacts::Addon& addon) {
    std::string text;
    JsonWriter json(text);
    json.object().field("targets", addon.targets).field("failing", addon.failing);
    json.field("dead_letters", addon.dead_letters).end_object();
    return text;
}

std::string status_data(bool store_failing, bool core_answers, std::string_view version,
                        base::WallTime started_at) {
    std::string text;
    JsonWriter json(text);
    json.object().field("status", !core_answers   ? "core_silent"
                                  : store_failing ? "store_failing"
                                                  : "ok");
    json.field("store_failing", store_failing).field("core_answers", core_answers);
    json.field("version", version).field("started_at", started_at).end_object();
    return text;
}

EventCollector::EventCollector(ServerLink link, net::EventLoop& loop, EventHub& hub)
    : link_(std::move(link)), loop_(loop), hub_(hub), timer_(loop, [this] { tick(); }) {}

void EventCollector::start() {
    tell_status();
    link_.server.events().listen([this] { link_.loop->post([this] { take_changes(); }); });
    if (runtime::AlertDesk* desk = link_.server.alerts()) {
        desk->set_sink([&feed = link_.server.events()](
                           const std::vector<runtime::AlertNews>& news) { feed.alerted(news); });
    }
    timer_.arm_in(base::Duration::zero());
}

void EventCollector::stop() {
    link_.server.events().listen({});
    link_.server.events().want_polls(false);
    timer_.cancel();
}

bool EventCollector::wants(EventType type) const {
    return hub_.wanted(type) || loop_.now() < collect_until_;
}

void EventCollector::interest_changed() {
    link_.server.events().want_polls(wants(EventType::kPollResult));
    if (timer_.armed()) timer_.arm(std::min(timer_.at(), loop_.now() + kPollBatch));
}

void EventCollector::keep_collecting() {
    collect_until_ = loop_.now() + kForPolling;
    interest_changed();
}

void EventCollector::tick() {
    const base::BootTime now = loop_.now();
    const bool polls = wants(EventType::kPollResult);
    timer_.arm_in(polls ? kPollBatch : kEverySecond);
    link_.server.events().want_polls(polls);
    for (const runtime::PollNews& news : link_.server.events().take_polls()) {
        hub_.publish(EventType::kPollResult, news.key, poll_data(news), nullptr, brief_of(news));
    }
    if (asking_ && now - asked_at_ > kCorePatience && std::exchange(core_answers_, false)) {
        tell_status();
    }
    if (!asking_ && now >= next_question_) ask_core();
    note_counts();
}

EventHubCounts EventCollector::counts() const {
    const std::lock_guard lock(counts_mutex_);
    return counts_;
}

void EventCollector::note_counts() {
    const EventHubCounts counts = hub_.counts();
    const std::lock_guard lock(counts_mutex_);
    counts_ = counts;
}

void EventCollector::take_changes() {
    const runtime::EventFeed::Changes changes = link_.server.events().take_changes();
    for (const runtime::TaskNews& news : changes.news) {
        const bool job = news.kind == schedule::ChangeKind::kJob;
        hub_.publish(job ? EventType::kJobChanged : EventType::kTaskStateChanged, news.key,
                     change_data(news));
    }
    for (const runtime::AlertNews& news : changes.alerts) tell(news);
    if (changes.dropped > 0) hub_.lost();
}

void EventCollector::tell(const runtime::AlertNews& news) {
    if (const auto* change = std::get_if<alert::AlertChange>(&news.change)) {
        const model::Alert& alert = change->alert;
        hub_.publish(type_of(change->kind), alert.target, alert_data(*change, news.provisional),
                     std::make_shared<const EventScope>(alert.labels, alert.groups));
        return;
    }
    const auto& change = std::get<alert::IncidentChange>(news.change);
    const auto view = link_.view();
    const model::ConfigObject* device =
        runtime::find_object(*view, model::ObjectKind::kDevice, change.incident.device);
    std::shared_ptr<const EventScope> scope;
    if (device != nullptr) {
        scope = std::make_shared<const EventScope>(labels_of_object(*view, *device),
                                                   std::vector<std::string>{});
    }
    hub_.publish(EventType::kIncidentChanged, change.incident.id,
                 incident_data(change, news.provisional), std::move(scope));
}

void EventCollector::ask_core() {
    const bool whole = wants(EventType::kSchedulerStats) || wants(EventType::kAddonStatus);
    const bool often = tasks_ <= kManyTasks && (whole || hub_.clients() > 0);
    asked_at_ = loop_.now();
    // A little less than the timer's step, so that each of its turns counts.
    next_question_ = asked_at_ + (often ? kEverySecond : kSeldom) - kPollBatch / 2;
    asking_ = true;
    link_.ask([whole](const runtime::CoreLoop::View& view) { return scheduler_facts(view, whole); },
              [this, whole](const SchedulerFacts& facts) { take_facts(facts, whole); });
}

void EventCollector::take_facts(const SchedulerFacts& facts, bool whole) {
    asking_ = false;
    tasks_ = facts.tasks;
    store_failing_ = facts.store_failing;
    core_answers_ = true;
    tell_status();
    if (!whole) return;
    if (wants(EventType::kSchedulerStats)) {
        hub_.publish(EventType::kSchedulerStats, "", stats_data(facts));
    }
    const base::BootTime now = loop_.now();
    if (!wants(EventType::kAddonStatus) || now < next_addons_) return;
    next_addons_ = now + kSeldom;
    std::map<std::string, SchedulerFacts::Addon> addons = facts.addons;
    // One without targets any more is told once.
    for (const auto& [name, addon] : addons_) {
        if (addon.targets > 0) addons.try_emplace(name);
    }
    for (const auto& [name, addon] : addons) {
        const auto known = addons_.find(name);
        if (known != addons_.end() && known->second == addon) continue;
        hub_.publish(EventType::kAddonStatus, name, addon_data(addon));
    }
    addons_ = std::move(addons);
}

void EventCollector::tell_status() {
    std::string status =
        status_data(store_failing_, core_answers_, link_.version, link_.server.started_at());
    if (status == status_) return;
    status_ = status;
    hub_.set_status(status);
    hub_.publish(EventType::kSystemStatus, "", status);
}

}  // namespace pollux::api
