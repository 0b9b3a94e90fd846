#include "sim/alert_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace pollux::sim {
namespace {

constexpr base::Duration kEpoch = std::chrono::hours(24 * 365 * 56);  // some day in 2025
constexpr std::uint32_t kConfirmed = 3;                               // failures in a row
constexpr std::uint32_t kDeadLetter = 5;
constexpr base::Duration kSurveyEvery = std::chrono::seconds(30);

std::string key_of(const std::string& device) { return "icmp-ping::" + device; }

base::Result<std::shared_ptr<const base::TimeZone>> utc(std::string_view) {
    return std::make_shared<const base::TimeZone>();
}

std::shared_ptr<const alert::AlertFleet> fleet_of(const std::vector<AlertDevice>& devices) {
    auto fleet = std::make_shared<alert::AlertFleet>();
    for (const AlertDevice& device : devices) {
        alert::TargetFacts target;
        target.key = key_of(device.name);
        target.id = "id-" + device.name;
        target.device = device.name;
        target.address = device.name;
        target.addon = "icmp-ping";
        fleet->targets.push_back(std::move(target));
        if (!device.parents.empty()) fleet->devices.push_back({device.name, device.parents});
    }
    return fleet;
}

// Failures in a row to the time until the next attempt, as the ladder has it.
base::Duration ladder(std::uint32_t failures) {
    switch (failures) {
        case 1: return std::chrono::seconds(5);
        case 2: return std::chrono::seconds(10);
        default: return std::chrono::seconds(20);
    }
}

}  // namespace

AlertWorld::AlertWorld(AlertWorldOptions options, std::vector<AlertDevice> devices)
    : options_(std::move(options)), fleet_(fleet_of(devices)) {
    for (AlertDevice& device : devices) {
        const auto index = static_cast<std::uint32_t>(devices_.size());
        index_.emplace(device.name, index);
        devices_.push_back({.facts = std::move(device)});
    }
    engine_ = std::make_unique<alert::AlertEngine>(options_.settings,
                                                   alert::AlertSeed{{options_.seed, process_}, 1});
    engine_->restore(now(), fleet_, {});
    planner_ = make_planner();
    for (std::uint32_t i = 0; i < devices_.size(); ++i) {
        schedule(between({}, options_.interval, i), Fate::kPoll, i, 0);
    }
    schedule(kSurveyEvery, Fate::kSurvey, 0, 0);
    step();
}

base::Instant AlertWorld::now() const {
    return {base::BootTime{} + (std::chrono::hours(1) + clock_),
            base::WallTime{} + (kEpoch + clock_)};
}

std::uint64_t AlertWorld::random(std::uint64_t purpose) {
    return base::siphash24({options_.seed, 0x616c65727473}, ++draws_, purpose);
}

base::Duration AlertWorld::between(base::Duration low, base::Duration high, std::uint64_t purpose) {
    const auto width = static_cast<std::uint64_t>((high - low).count());
    return width == 0 ? low
                      : low + base::Duration(static_cast<std::int64_t>(random(purpose) % width));
}

std::unique_ptr<alert::NotificationPlanner> AlertWorld::make_planner() const {
    auto planner = std::make_unique<alert::NotificationPlanner>(utc);
    model::Channel channel;
    channel.name = "hook";
    channel.per_minute = 1000;
    model::NotifyRoute route;
    route.name = "all";
    route.receivers = {"ops"};
    route.repeat = base::Duration::zero();
    auto router = alert::Router::compile({route}, {model::Receiver{"ops", {channel}}}, utc);
    POLLUX_CHECK(router.has_value());
    planner->set_router(std::move(*router));
    alert::PlannerSettings settings;
    settings.review = false;
    planner->set_settings(settings);
    return planner;
}

// --- what happens -------------------------------------------------------------------------------

void AlertWorld::plan(base::Duration at, Fate fate, const std::string& device) {
    schedule(at, fate, device.empty() ? 0 : index_.at(device), 0);
}

void AlertWorld::schedule(base::Duration at, Fate fate, std::uint32_t device,
                          std::uint32_t generation) {
    events_.insert({at, ++orders_, fate, device, generation});
}

void AlertWorld::run_until(base::Duration end) {
    for (;;) {
        base::Duration next = events_.empty() ? end : std::min(end, events_.begin()->at);
        const base::Instant moment = now();
        if (engine_wake_ != base::BootTime::max()) {
            next = std::min(next, clock_ + std::max(engine_wake_ - moment.boot, base::Duration{}));
        }
        const base::WallTime planned = planner_->next_wake();
        if (planned != base::WallTime::max()) {
            next = std::min(next, clock_ + std::max(planned - moment.wall, base::Duration{}));
        }
        if (next >= end) break;
        clock_ = std::max(clock_, next);
        while (!events_.empty() && events_.begin()->at <= clock_) {
            const Event event = *events_.begin();
            events_.erase(events_.begin());
            happen(event);
        }
        step();
    }
    clock_ = end;
}

void AlertWorld::happen(const Event& event) {
    Device& device = devices_[event.device];
    switch (event.fate) {
        case Fate::kFails: device.up = false; break;
        case Fate::kRecovers: device.up = true; break;
        case Fate::kCut: uplink_ = false; break;
        case Fate::kMended: uplink_ = true; break;
        case Fate::kRestarts: reborn(); break;
        case Fate::kSurvey: survey(); break;
        case Fate::kPoll:
            if (event.generation == device.plan) poll(event.device);
            break;
        case Fate::kAnswer:
            if (event.generation != process_) break;  // nobody is there who asked
            device.verified = clock_;
            poll(event.device);
            inputs_.emplace_back(alert::DeviceVerified{device.facts.name, reachable(event.device)});
            break;
    }
}

bool AlertWorld::way_is_clear(std::uint32_t device, std::set<std::uint32_t>& seen) const {
    if (!devices_[device].up) return false;
    if (!seen.insert(device).second) return true;
    return std::ranges::all_of(devices_[device].facts.parents, [&](const auto& group) {
        return std::ranges::any_of(
            group, [&](const std::string& name) { return way_is_clear(index_.at(name), seen); });
    });
}

bool AlertWorld::reachable(std::uint32_t device) const {
    std::set<std::uint32_t> seen;
    return uplink_ && way_is_clear(device, seen);
}

void AlertWorld::poll(std::uint32_t index) {
    Device& device = devices_[index];
    const bool answers = reachable(index);
    ++(answers ? answered_polls_ : failed_polls_);
    const std::uint32_t before = device.failures;
    device.failures = answers ? 0 : device.failures + 1;
    if (before == 0 && !answers) device.failed_since = clock_;
    if (answers) device.failed_since = base::Duration{-1};
    if (device.failures == kConfirmed) device.confirmed_at = clock_;
    schedule(clock_ + (answers ? options_.interval : ladder(device.failures)), Fate::kPoll, index,
             ++device.plan);
    const bool news = (before == 0) != (device.failures == 0) ||
                      (before < kConfirmed && device.failures == kConfirmed);
    if (news) tell_health(index);
}

void AlertWorld::tell_health(std::uint32_t index) {
    Device& device = devices_[index];
    // A poll that was answered is as good as an answer to a question, and so is a failure that was
    // confirmed; a first failure says nothing yet.
    if (device.failures == 0 || device.failures >= kConfirmed) device.verified = clock_;
    alert::TargetHealth health;
    health.target = key_of(device.facts.name);
    health.failures = device.failures;
    health.confirmed = device.failures >= kConfirmed;
    if (device.failures > 0) {
        health.health = health.confirmed ? alert::Health::kDown : alert::Health::kSuspect;
        health.message = "no answer";
    }
    inputs_.emplace_back(std::move(health));
}

// As HealthWatch does it: what people know of is left out.
void AlertWorld::survey() {
    schedule(clock_ + kSurveyEvery, Fate::kSurvey, 0, 0);
    alert::SelfReading reading;
    reading.success = answered_polls_;
    reading.failures = failed_polls_;
    reading.success_seconds = 0.1 * static_cast<double>(answered_polls_);
    std::set<std::string_view> told;
    for (const auto& [id, alert] : alerts_) {
        if (alert::tells_failure(alert)) told.insert(alert.device);
    }
    for (std::uint32_t i = 0; i < devices_.size(); ++i) {
        const Device& device = devices_[i];
        if (device.failures == 0) continue;
        alert::SelfReading::Failing one{.task = i, .in_row = device.failures};
        one.known = told.contains(device.facts.name);
        one.dead_letter = device.failures >= kDeadLetter;
        if (device.failures >= kConfirmed) {
            one.open_since = base::BootTime{} + (std::chrono::hours(1) + device.failed_since);
        }
        reading.failing.push_back(one);
    }
    alert::SelfSnapshot self;
    self.targets = devices_.size();
    census_.take(now().boot, reading, self);
    self_.step(now(), self, inputs_);
}

// --- decisions, and what is kept of them --------------------------------------------------------

void AlertWorld::step() {
    alert::Output out;
    engine_->step(now(), std::exchange(inputs_, {}), out);
    engine_wake_ = out.wake_at;
    ask(out.verify);
    keep(out);
    plan_messages(out);
}

// How long a device takes to answer is its own, so that a story with a restart can be compared with
// the one without.
void AlertWorld::ask(const std::vector<alert::Verify>& questions) {
    for (const alert::Verify& question : questions) {
        const std::uint32_t device = index_.at(question.device);
        const auto width = static_cast<std::uint64_t>(
            (options_.longest_answer - options_.shortest_answer).count());
        const std::uint64_t dice =
            base::siphash24({options_.seed, 0x616e7377}, device, std::uint64_t{0});
        const auto more =
            base::Duration(static_cast<std::int64_t>(dice % std::max<std::uint64_t>(width, 1)));
        schedule(clock_ + options_.shortest_answer + more, Fate::kAnswer, device, process_);
    }
}

void AlertWorld::keep(const alert::Output& out) {
    for (const alert::AlertChange& change : out.alerts) {
        const model::Alert& alert = change.alert;
        if (alert.state == model::AlertState::kActive) active_.insert(alert.id);
        if (change.kind == alert::ChangeKind::kCreated && !open_.insert(alert.fingerprint).second) {
            violations_.push_back("two open alerts of " + alert.target);
        }
        if (!model::is_open(alert)) open_.erase(alert.fingerprint);
        alerts_.insert_or_assign(alert.id, alert);
    }
    for (const alert::IncidentChange& change : out.incidents) {
        incidents_.insert_or_assign(change.incident.id, change.incident);
    }
    for (const alert::MemoryRow& row : out.memory) {
        if (row.bytes.empty()) {
            engine_rows_.erase(row.key);
        } else {
            engine_rows_.insert_or_assign(row.key, row.bytes);
        }
    }
}

void AlertWorld::plan_messages(const alert::Output& out) {
    alert::PlannerInput input;
    for (const alert::AlertChange& change : out.alerts) input.alerts.push_back(change.alert);
    for (const alert::IncidentChange& change : out.incidents) {
        input.incidents.push_back(change.incident);
    }
    alert::PlannerOutput told;
    planner_->step(now().wall, input, told);
    for (const alert::PlannerRow& row : told.rows)
        planner_rows_.insert_or_assign(row.key, row.body);
    for (const std::string& key : told.gone) planner_rows_.erase(key);
    for (const model::Notification& one : told.notifications) {
        if (!sent_.insert(one.id).second) {
            violations_.push_back("a notification was made twice: " + one.id);
            continue;
        }
        const auto incident = incidents_.find(one.incident);
        Message message{clock_, one.kind, "", "", one.incident};
        if (incident != incidents_.end()) {
            message.title = incident->second.title;
            message.root = incident->second.device;
            check_message(message, incident->second);
        }
        messages_.push_back(std::move(message));
    }
}

// Since when it has been known that something is wrong there: since the failure of the root was
// confirmed, or where nothing of its own was raised, since the first failure behind it.
base::Duration AlertWorld::trouble_since(const model::Incident& incident) const {
    if (!incident.root.empty()) return devices_[index_.at(incident.device)].confirmed_at;
    base::Duration since = clock_;
    for (const auto& [id, alert] : alerts_) {
        if (alert.incident != incident.id || !model::is_open(alert)) continue;
        since = std::min(since, devices_[index_.at(alert.device)].failed_since);
    }
    return since;
}

bool AlertWorld::is_unverified(const model::Incident& incident) const {
    return std::ranges::any_of(alerts_, [&](const auto& entry) {
        return entry.second.incident == incident.id && entry.second.unverified;
    });
}

// Nobody is told of a child before its parents have been asked since it failed.
void AlertWorld::check_message(const Message& message, const model::Incident& incident) {
    if (message.kind != model::NotificationKind::kProblem ||
        incident.cause == model::CauseKind::kObserver || message.root.empty()) {
        return;
    }
    const base::Duration began = trouble_since(incident);
    const bool gave_up =
        is_unverified(incident) && clock_ - began >= options_.settings.verify_timeout;
    for (const auto& group : devices_[index_.at(message.root)].facts.parents) {
        for (const std::string& name : group) {
            const Device& parent = devices_[index_.at(name)];
            // One that is known to be down need not be asked; there may be another way.
            if (parent.verified >= began || parent.failures >= kConfirmed || gave_up) continue;
            violations_.push_back(
                fmt::format("{} was told before its parent {} was asked", message.root, name));
        }
    }
}

// The process dies and a new one begins with what was stored.
void AlertWorld::reborn() {
    cut_off_questions_ =
        cut_off_questions_ || std::ranges::any_of(events_, [&](const Event& event) {
            return event.fate == Fate::kAnswer && event.generation == process_;
        });
    ++process_;
    std::uint64_t newest = 0;
    alert::AlertEngine::Rows rows;
    std::vector<model::Alert> all;
    for (const auto& [id, alert] : alerts_) {
        newest = std::max(newest, alert.number);
        if (model::is_open(alert)) rows.alerts.push_back(alert);
        all.push_back(alert);
    }
    std::vector<model::Incident> incidents;
    for (const auto& [id, incident] : incidents_) {
        if (incident.resolved_at.us == 0) rows.incidents.push_back(incident);
        incidents.push_back(incident);
    }
    for (const auto& [key, bytes] : engine_rows_) rows.memory.push_back({key, bytes});
    engine_ = std::make_unique<alert::AlertEngine>(
        options_.settings, alert::AlertSeed{{options_.seed, process_}, newest + 1});
    engine_->restore(now(), fleet_, std::move(rows));
    ask(engine_->ask_again(now()));
    self_ = alert::SelfMonitor();
    census_ = alert::SelfCensus();
    answered_polls_ = failed_polls_ = 0;
    planner_ = make_planner();
    std::vector<alert::PlannerRow> planned;
    for (const auto& [key, body] : planner_rows_) planned.push_back({key, body});
    POLLUX_CHECK(planner_->restore(planned, incidents, all).has_value());
    inputs_.clear();
    for (std::uint32_t i = 0; i < devices_.size(); ++i) {
        if (devices_[i].failures > 0) tell_health(i);
    }
}

// --- looking on ---------------------------------------------------------------------------------

std::vector<AlertWorld::Message> AlertWorld::messages(model::NotificationKind kind) const {
    std::vector<Message> found;
    std::ranges::copy_if(messages_, std::back_inserter(found),
                         [&](const Message& message) { return message.kind == kind; });
    return found;
}

std::vector<model::Incident> AlertWorld::incidents() const {
    std::vector<model::Incident> all;
    for (const auto& [id, incident] : incidents_) all.push_back(incident);
    std::ranges::sort(all, {}, &model::Incident::number);
    return all;
}

std::size_t AlertWorld::open_alerts(model::AlertState state) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        alerts_, [&](const auto& entry) { return entry.second.state == state; }));
}

}  // namespace pollux::sim
