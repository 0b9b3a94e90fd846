// The turns of the desk: what comes in becomes one step of the engine and the planner, and what
// comes out goes to the ledger.
#include "runtime/alerts/alert_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "extract/compiled_addon.hpp"
#include "runtime/inbound/message_text.hpp"

namespace pollux::runtime {
namespace {

constexpr base::Duration kHouseEvery = std::chrono::seconds(1);
constexpr std::uint64_t kTrimEvery = 3600;  // turns of the house
constexpr std::string_view kEngineMemory = "engine/";
constexpr std::string_view kPlannerMemory = "planner/";
constexpr std::string_view kBegunSilence = "silence/";  // flexible ones: when their time began

alert::TargetHealth health_of(const std::string& target, alert::Health health) {
    alert::TargetHealth told;
    told.target = target;
    told.health = health;
    told.at = net::wall_now();
    return told;
}

}  // namespace

AlertDesk::Work::Work(std::shared_ptr<net::EventLoop> loop, store::Store& store, observe::Log& log,
                      CoreLoop& core, AlertDeskOptions options)
    : loop_(std::move(loop)),
      store_(store),
      log_(log),
      options_(std::move(options)),
      policy_(options_.policy),
      engine_(policy_->engine, {options_.seed, options_.load.numbers.alert + 1}),
      planner_(options_.zones),
      timeline_(options_.load.numbers.event + 1),
      ledger_(loop_, store_, log_,
              {.news = [this](const std::vector<AlertNews>& news) { publish(news); },
               .deliver =
                   [this](std::vector<model::Notification> rows) {
                       if (deliver_) deliver_(std::move(rows));
                   }}),
      watch_(
          loop_, core, [this](std::vector<TaskRow> rows) { take_rows(std::move(rows)); },
          [this](FleetHealth health) { take_survey(std::move(health)); }),
      verifier_(loop_, core,
                [this](std::vector<DeviceVerifier::Verdict> verdicts) {
                    for (const auto& one : verdicts) {
                        gather(alert::DeviceVerified{one.device, one.up});
                    }
                }),
      timer_(*loop_, [this] { turn(); }),
      house_(*loop_, [this] { keep_house(); }) {}

// --- the start ----------------------------------------------------------------------------------

base::Status AlertDesk::Work::restore(const std::vector<SignalNews>& present) {
    const base::Instant now = net::instant_now();
    AlertLoad& load = options_.load;
    alert::AlertEngine::Rows rows;
    for (const store::MemoryRow& row : load.memory) {
        if (row.key.starts_with(kEngineMemory)) {
            rows.memory.push_back({row.key.substr(kEngineMemory.size()), row.bytes});
        } else if (row.key.starts_with(kBegunSilence)) {
            base::WallTime& at = begun_[row.key.substr(kBegunSilence.size())];
            std::from_chars(row.bytes.data(), row.bytes.data() + row.bytes.size(), at.us);
        }
    }
    for (const model::Alert& alert : load.alerts) {
        timeline_.know(alert);
        open_.emplace(alert.id, alert);
    }
    for (const model::Incident& incident : load.incidents) timeline_.know(incident);
    for (model::Notification& waiting : load.notifications) {
        const std::string id = waiting.id;
        outbox_.emplace(id, std::move(waiting));
    }
    rows.alerts = load.alerts;
    rows.incidents = load.incidents;
    set_policy(options_.policy);
    if (auto status = restore_planner(); !status) {
        log_.error("what was planned to be told could not be read: it is planned anew",
                   {{"error", status.error().message}});
    }
    set_image(options_.image);
    inputs_.clear();  // the fleet goes with the restore
    engine_.restore(now, image_.fleet, std::move(rows));
    const auto polls = load.cursors.find(kPollCursor);
    const auto messages = load.cursors.find(kMessageCursor);
    if (polls == load.cursors.end() || messages == load.cursors.end()) {
        // The first time: what is raised now, and from here on every row.
        for (const SignalNews& news : present) add_signals(news);
        store::ObservationQuery query;
        query.newest_first = true;
        query.limit = 1;
        auto newest = store_.observations(query);
        if (!newest) return std::unexpected(newest.error());
        polls_seen_ = messages_seen_ = newest->empty() ? 0 : newest->front().id;
        ledger_.set_cursor(std::string(kPollCursor), polls_seen_);
        ledger_.set_cursor(std::string(kMessageCursor), messages_seen_);
        return {};
    }
    polls_seen_ = polls->second;
    messages_seen_ = messages->second;
    return replay();
}

// Rows that were stored and not taken in before the last life ended.
base::Status AlertDesk::Work::replay() {
    store::ObservationQuery query;
    query.after = std::min(polls_seen_, messages_seen_);
    query.limit = store::kMostObservationsPerQuery;
    for (;;) {
        auto rows = store_.observations(query);
        if (!rows) return std::unexpected(rows.error());
        for (const store::Observation& row : *rows) {
            query.after = row.id;
            SignalNews news;
            news.row = row.id;
            news.message = model::is_inbound(row.kind);
            news.key = row.key;
            news.target_id = row.target_id;
            news.source = row.source;
            news.at = row.received;
            for (model::Signal& signal :
                 read_signals(row.signals).value_or(std::vector<model::Signal>{})) {
                const auto step =
                    signal.clear ? derive::SignalStep::kCleared : derive::SignalStep::kRaised;
                news.changes.push_back({step, std::move(signal), 1});
            }
            add_signals(news);
        }
        if (rows->size() < query.limit) return {};
    }
}

base::Status AlertDesk::Work::restore_planner() {
    std::vector<alert::PlannerRow> rows;
    for (const store::MemoryRow& row : options_.load.memory) {
        if (!row.key.starts_with(kPlannerMemory)) continue;
        rows.push_back({row.key.substr(kPlannerMemory.size()), row.bytes});
    }
    auto named = alert::NotificationPlanner::incidents_of(rows);
    if (!named) return std::unexpected(named.error());
    std::vector<model::Incident> incidents = options_.load.incidents;
    std::vector<model::Alert> alerts = options_.load.alerts;
    store::AlertReader& reader = store_.alert_reader();
    for (const std::string& id : *named) {
        if (std::ranges::find(incidents, id, &model::Incident::id) != incidents.end()) continue;
        auto found = reader.incident(id);
        if (!found) return std::unexpected(found.error());
        if (*found) incidents.push_back(std::move(**found));
    }
    // Alerts of these that are over too: people may still have to be told what it was.
    std::set<std::string, std::less<>> have;
    for (const model::Alert& alert : alerts) have.insert(alert.id);
    for (const model::Incident& incident : incidents) {
        store::AlertQuery query;
        query.incident = incident.id;
        query.states = {model::AlertState::kResolved};
        auto page = reader.alerts(query);
        if (!page) return std::unexpected(page.error());
        for (model::Alert& alert : page->rows) {
            if (have.insert(alert.id).second) alerts.push_back(std::move(alert));
        }
    }
    return planner_.restore(rows, incidents, alerts);
}

void AlertDesk::Work::begin() {
    watch_.look_at_failing();
    house_.arm_in(kHouseEvery);
    turn();
}

void AlertDesk::Work::end() {
    timer_.cancel();
    house_.cancel();
}

// --- what comes in ------------------------------------------------------------------------------

void AlertDesk::Work::gather(alert::Input input) {
    inputs_.push_back(std::move(input));
    // At the end of this turn of the loop: what came together is decided together.
    if (!timer_.armed() || timer_.at() > loop_->now()) timer_.arm(loop_->now());
}

// A poll whose device does not answer says so by a signal too, where the manifest names one. The
// health of the target stands for it: that one waits for confirmation and for the parents.
bool AlertDesk::Work::is_failure_of_device(const SignalNews& news,
                                           const model::Signal& signal) const {
    const auto type = failure_types_.find(target_of(news.key));
    return !news.message && type != failure_types_.end() && type->second == signal.type &&
           signal.rule.starts_with(extract::kEndpointRule);
}

void AlertDesk::Work::add_signals(const SignalNews& news) {
    if (news.row != 0) {
        // A row that was read at the start may come once more from who stored it.
        std::uint64_t& seen = news.message ? messages_seen_ : polls_seen_;
        if (news.row <= seen) return;
        seen = news.row;
        ledger_.set_cursor(std::string(news.message ? kMessageCursor : kPollCursor), news.row);
    }
    if (news.told) return;
    for (const derive::SignalChange& change : news.changes) {
        if (is_failure_of_device(news, change.signal)) continue;
        alert::Observed observed;
        observed.target = target_of(news.key);
        observed.source = news.message ? model::AlertSource::kMessage : model::AlertSource::kPoll;
        observed.signal = change.signal;
        switch (change.step) {
            case derive::SignalStep::kRaised: observed.step = alert::ObservedStep::kRaised; break;
            case derive::SignalStep::kUpdated: observed.step = alert::ObservedStep::kUpdated; break;
            case derive::SignalStep::kCleared: observed.step = alert::ObservedStep::kCleared; break;
        }
        observed.occurrences = change.occurrences;
        observed.at = news.at;
        observed.missing_answer =
            !news.message && change.signal.rule.starts_with(extract::kEndpointRule);
        gather(std::move(observed));
    }
}

void AlertDesk::Work::observed(std::vector<SignalNews> news) {
    for (const SignalNews& one : news) add_signals(one);
}

void AlertDesk::Work::changed(const TaskNews& news) {
    if (news.kind == schedule::ChangeKind::kEnabled) {
        const std::string target(target_of(news.key));
        const bool other =
            news.to != 0 ? disabled_.erase(target) != 0 : disabled_.insert(target).second;
        if (other) send_fleet();
    }
    if (auto health = book_.take(news)) gather(std::move(*health));
}

void AlertDesk::Work::take_rows(std::vector<TaskRow> rows) {
    for (const TaskRow& row : rows) {
        if (auto health = book_.take(row)) gather(std::move(*health));
    }
    // Health alerts of an earlier life whose targets do not fail any more.
    if (std::exchange(recovered_checked_, true)) return;
    for (const auto& [id, alert] : open_) {
        if (alert.source != model::AlertSource::kHealth || book_.fails(alert.target)) continue;
        gather(health_of(alert.target, alert::Health::kUp));
    }
}

void AlertDesk::Work::take_survey(FleetHealth health) {
    const base::Instant now = net::instant_now();
    Inputs said;
    self_.step(now, health.self, said);
    std::set<std::string, std::less<>> stale;
    for (const std::string& key : health.stale) stale.emplace(target_of(key));
    for (const std::string& target : stale) {
        if (stale_.contains(target)) continue;
        said.emplace_back(health_of(target, alert::Health::kStale));
    }
    for (const std::string& target : stale_) {
        if (stale.contains(target) || book_.fails(target)) continue;
        said.emplace_back(health_of(target, alert::Health::kUp));
    }
    stale_ = std::move(stale);
    for (alert::Input& input : said) gather(std::move(input));
}

void AlertDesk::Work::observed_ourselves(model::Signal signal, base::WallTime at) {
    alert::Observed observed;
    observed.source = model::AlertSource::kSelf;
    observed.step = signal.clear ? alert::ObservedStep::kCleared : alert::ObservedStep::kRaised;
    observed.signal = std::move(signal);
    observed.at = at;
    gather(std::move(observed));
}

void AlertDesk::Work::report_observer(bool bad, std::string why) {
    gather(alert::ObserverReport{bad, std::move(why)});
}

void AlertDesk::Work::set_image(AlertImage image) {
    image_ = std::move(image);
    failure_types_.clear();
    for (const alert::TargetFacts& target : image_.fleet->targets) {
        failure_types_.emplace(target.key, target.failure_type);
    }
    verifier_.set_tasks(image_.tasks);
    send_fleet();
}

// What an operator switched off is off for the engine too.
void AlertDesk::Work::send_fleet() {
    if (disabled_.empty()) {
        gather(alert::FleetChanged{image_.fleet});
        return;
    }
    auto fleet = std::make_shared<alert::AlertFleet>(*image_.fleet);
    for (alert::TargetFacts& target : fleet->targets) {
        if (disabled_.contains(target.key)) target.enabled = false;
    }
    gather(alert::FleetChanged{std::move(fleet)});
}

void AlertDesk::Work::set_policy(std::shared_ptr<const NotifyPolicy> policy) {
    policy_ = std::move(policy);
    engine_.set_settings(policy_->engine);
    planner_.set_settings(policy_->planner);
    auto router = alert::Router::compile(policy_->routes, policy_->receivers, options_.zones);
    if (router) {
        planner_.set_router(std::move(*router));
    } else {
        log_.error("the routes of notifications cannot be used: the ones before stay in force",
                   {{"error", router.error().message}});
    }
    std::set<std::string, std::less<>> wanted;
    for (model::Silence silence : policy_->silences) {
        wanted.insert(silence.id);
        if (const auto begun = begun_.find(silence.id); begun != begun_.end()) {
            silence.started = begun->second;
        }
        if (auto status = planner_.put_silence(silence); !status) {
            log_.error("a silence cannot be used",
                       {{"key", silence.name}, {"error", status.error().message}});
        }
    }
    for (const model::Silence& known : planner_.silences().all()) {
        if (wanted.contains(known.id)) continue;
        planner_.remove_silence(known.id);
        if (begun_.erase(known.id) != 0) {
            ledger_.add_memory(fmt::format("{}{}", kBegunSilence, known.id), "");
        }
    }
    if (!timer_.armed() || timer_.at() > loop_->now()) timer_.arm(loop_->now());
}

void AlertDesk::Work::set_delivery(Deliver deliver) {
    deliver_ = std::move(deliver);
    if (!deliver_ || outbox_.empty()) return;
    std::vector<model::Notification> waiting;
    for (const auto& [id, row] : outbox_) waiting.push_back(row);
    std::ranges::sort(waiting, {}, &model::Notification::number);
    deliver_(std::move(waiting));
}

void AlertDesk::Work::delivered(std::vector<model::Notification> rows) {
    alert::PlannerInput input;
    for (model::Notification& row : rows) {
        const auto known = outbox_.find(row.id);
        if (known == outbox_.end()) continue;
        if (row.state == model::DeliveryState::kWaiting) {
            known->second = row;
        } else {
            outbox_.erase(known);
            input.answers.push_back(row);
        }
        ledger_.add(std::move(row), false);
    }
    plan(std::move(input));
    ledger_.commit();
    wait_until_next();
}

// --- decisions ----------------------------------------------------------------------------------

void AlertDesk::Work::turn() {
    step(std::exchange(inputs_, {}));
    wait_until_next();
}

void AlertDesk::Work::wait_until_next() {
    const base::Instant now = net::instant_now();
    base::BootTime wake = engine_wake_;
    const base::WallTime planned = planner_.next_wake();
    if (planned != base::WallTime::max()) {
        wake = std::min(wake, now.boot + std::max(planned - now.wall, base::Duration::zero()));
    }
    if (!inputs_.empty()) wake = now.boot;
    if (wake == base::BootTime::max()) {
        timer_.cancel();
    } else {
        timer_.arm(std::max(wake, now.boot));
    }
}

void AlertDesk::Work::step(const Inputs& inputs, const std::string& by) {
    engine_.step(net::instant_now(), inputs, out_);
    engine_wake_ = out_.wake_at;
    alert::PlannerInput told;
    take_changes(out_, by, told);
    for (alert::MemoryRow& row : out_.memory) {
        ledger_.add_memory(std::string(kEngineMemory) + row.key, std::move(row.bytes));
    }
    std::vector<std::string> devices;
    for (alert::Verify& verify : out_.verify) devices.push_back(std::move(verify.device));
    if (!devices.empty()) verifier_.verify(devices);
    plan(std::move(told));
    ledger_.commit();
}

void AlertDesk::Work::take_changes(alert::Output& out, const std::string& by,
                                   alert::PlannerInput& told) {
    const base::WallTime now = net::wall_now();
    for (alert::AlertChange& change : out.alerts) {
        ledger_.add(timeline_.of(change, by, now));
        count(change);
        told.alerts.push_back(change.alert);
        ledger_.add(std::move(change), now);
    }
    for (alert::IncidentChange& change : out.incidents) {
        ledger_.add(timeline_.of(change, by, now));
        told.incidents.push_back(change.incident);
        if (!change.incident.merged_into.empty()) told.merged.push_back(change.incident.id);
        ledger_.add(std::move(change), now);
    }
}

void AlertDesk::Work::plan(alert::PlannerInput input) {
    input.provisional = ledger_.failing();
    alert::PlannerOutput out;
    planner_.step(net::wall_now(), input, out);
    for (model::Notification& row : out.notifications) {
        ++counts_.notifications;
        const bool waits = row.state == model::DeliveryState::kWaiting;
        if (waits) outbox_.insert_or_assign(row.id, row);
        ledger_.add(std::move(row), waits);
    }
    for (alert::PlannerRow& row : out.rows) {
        ledger_.add_memory(std::string(kPlannerMemory) + row.key, std::move(row.body));
    }
    for (const std::string& key : out.gone) {
        ledger_.add_memory(std::string(kPlannerMemory) + key, "");
    }
    for (const model::Silence& silence : out.begun) {
        begun_[silence.id] = silence.started;
        ledger_.add_memory(fmt::format("{}{}", kBegunSilence, silence.id),
                           fmt::format("{}", silence.started.us));
    }
}

void AlertDesk::Work::count(const alert::AlertChange& change) {
    const model::Alert& alert = change.alert;
    const auto severity = static_cast<std::size_t>(alert.severity);
    switch (change.kind) {
        case alert::ChangeKind::kCreated: ++counts_.created[severity]; break;
        case alert::ChangeKind::kResolved:
            ++counts_.resolved;
            if (alert.active_since.us != 0) {
                counts_.duration.record(
                    std::chrono::duration<double>(alert.resolved_at - alert.active_since).count());
            }
            break;
        default: break;
    }
    if (model::is_open(alert) && change.kind != alert::ChangeKind::kRemoved) {
        open_.insert_or_assign(alert.id, alert);
    } else {
        open_.erase(alert.id);
    }
}

void AlertDesk::Work::publish(const std::vector<AlertNews>& news) {
    for (const AlertNews& one : news) {
        const auto* change = std::get_if<alert::AlertChange>(&one.change);
        if (change != nullptr) log_change(*change, one.provisional);
    }
    if (sink_) sink_(news);
}

void AlertDesk::Work::log_change(const alert::AlertChange& change, bool provisional) {
    const model::Alert& alert = change.alert;
    if (change.kind == alert::ChangeKind::kUpdated && change.cause == "repeated") return;
    const bool loud =
        change.kind != alert::ChangeKind::kResolved && alert.state == model::AlertState::kActive;
    log_.write(loud ? observe::LogLevel::kWarn : observe::LogLevel::kInfo,
               fmt::format("alert {}", alert::to_string(change.kind)),
               {{"key", alert.target.empty() ? alert.addon : alert.target},
                {"type", alert.type},
                {"subject", alert.subject},
                {"severity", std::string(to_string(alert.severity))},
                {"state", std::string(to_string(alert.state))},
                {"cause", std::string(change.cause)},
                {"title", alert.title},
                {"message", alert.message},
                {"incident", alert.incident},
                {"provisional", provisional ? "true" : ""}});
}

void AlertDesk::Work::keep_house() {
    house_.arm_in(kHouseEvery);
    if (auto suspects = book_.suspects(); !suspects.empty()) watch_.look(std::move(suspects));
    if (watch_.survey_due()) watch_.survey(known_targets());
    if (house_turn_++ % kTrimEvery == 0) {
        ledger_.trim(net::wall_now() - policy_->retention);
        ledger_.commit();
    }
}

// Somebody has it, or nobody wants to hear of it.
KnownTargets AlertDesk::Work::known_targets() const {
    auto known = std::make_shared<std::set<std::string, std::less<>>>();
    const base::WallTime now = net::wall_now();
    const bool silences = planner_.silences().size() > 0;
    for (const auto& [id, alert] : open_) {
        if (alert.target.empty()) continue;
        if (alert.acknowledged || !silences) {
            if (alert.acknowledged) known->insert(alert.target);
            continue;
        }
        if (planner_.silences().holding(alert::labels_of(alert), now)) {
            known->insert(alert.target);
        }
    }
    return known;
}

}  // namespace pollux::runtime
