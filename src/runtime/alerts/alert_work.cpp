// The turns of the desk: what has gathered becomes one step of the engine and the planner, and what
// comes out goes to the ledger.
#include "runtime/alerts/alert_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/alerts/default_route.hpp"

namespace pollux::runtime {
namespace {

constexpr base::Duration kHouseEvery = std::chrono::seconds(1);
constexpr std::uint64_t kTrimEvery = 3600;  // turns of the house

}  // namespace

AlertDesk::Work::Work(std::shared_ptr<net::EventLoop> loop, std::shared_ptr<AlertBoard> board,
                      store::Store& store, observe::Log& log, CoreLoop& core,
                      AlertDeskOptions options)
    : loop_(std::move(loop)),
      board_(std::move(board)),
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
                   },
               .uncommitted =
                   [board = board_](auto rows) { board->set_uncommitted(std::move(rows)); }}),
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

void AlertDesk::Work::begin() {
    doubt_ = SelfDoubt(engine_.stats().impaired);
    std::vector<std::string> devices;
    for (alert::Verify& verify : engine_.ask_again(net::instant_now())) {
        devices.push_back(std::move(verify.device));
    }
    if (!devices.empty()) verifier_.verify(devices);
    watch_.look_at_failing();
    house_.arm_in(kHouseEvery);
    turn();
}

void AlertDesk::Work::end() {
    timer_.cancel();
    house_.cancel();
}

// --- rules and deliveries -----------------------------------------------------------------------

void AlertDesk::Work::set_policy(std::shared_ptr<const NotifyPolicy> policy) {
    policy_ = std::move(policy);
    engine_.set_settings(policy_->engine);
    planner_.set_settings(policy_->planner);
    self_.set_limits(policy_->self);
    deliveries_.set_receivers(policy_->receivers);
    auto router = alert::Router::compile(policy_->routes, policy_->receivers, options_.zones);
    if (router) {
        planner_.set_router(std::move(*router));
    } else {
        log_.error("the routes of notifications cannot be used: the ones before stay in force",
                   {{"error", router.error().message}});
    }
    take_silences();
    decide_soon();
}

// Those that are over stay with the fleet for a while, but hold nothing.
void AlertDesk::Work::take_silences() {
    std::set<std::string, std::less<>> known;
    std::map<std::string, model::Silence, std::less<>> wanted;
    const base::WallTime now = net::wall_now();
    for (model::Silence silence : policy_->silences) {
        known.insert(silence.id);
        if (const auto begun = begun_.find(silence.id); begun != begun_.end()) {
            silence.started = begun->second;
        }
        if (alert::SilenceBook::over(silence, now)) continue;
        wanted.insert_or_assign(silence.id, std::move(silence));
    }
    for (const model::Silence& one : planner_.silences().all()) {
        if (!wanted.contains(one.id)) planner_.remove_silence(one.id);
    }
    for (auto& [id, silence] : wanted) {
        const std::string name = silence.name;
        if (auto status = planner_.put_silence(std::move(silence)); !status) {
            log_.error("a silence cannot be used",
                       {{"key", name}, {"error", status.error().message}});
        }
    }
    std::erase_if(begun_, [&](const auto& one) {
        if (known.contains(one.first)) return false;
        ledger_.add_memory(fmt::format("{}{}", kBegunSilence, one.first), "");
        return true;
    });
    board_->set_begun(begun_);
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
        deliveries_.attempted(row, net::wall_now());
        if (row.state == model::DeliveryState::kWaiting) {
            known->second = row;
        } else {
            outbox_.erase(known);
            input.answers.push_back(row);
        }
        ledger_.add(std::move(row), false);
    }
    plan(input);
    ledger_.commit();
    wait_until_next();
}

// --- decisions ----------------------------------------------------------------------------------

void AlertDesk::Work::turn() {
    Inputs inputs = std::exchange(inputs_, {});
    if (std::exchange(fleet_changed_, false)) inputs.insert(inputs.begin(), fleet_now());
    step(inputs);
    wait_until_next();
}

void AlertDesk::Work::wait_until_next() {
    const base::Instant now = net::instant_now();
    base::BootTime wake = engine_wake_;
    const base::WallTime planned = planner_.next_wake();
    if (planned != base::WallTime::max()) {
        wake = std::min(wake, now.boot + std::max(planned - now.wall, base::Duration::zero()));
    }
    if (!inputs_.empty() || fleet_changed_) wake = now.boot;
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
    plan(told);
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
        ledger_.add(std::move(change), now);
    }
}

void AlertDesk::Work::plan(const alert::PlannerInput& input) {
    alert::PlannerOutput out;
    planner_.step(net::wall_now(), input, out);
    for (model::Notification& row : out.notifications) {
        ++counts_.notifications;
        const bool waits = row.state == model::DeliveryState::kWaiting;
        if (waits) outbox_.insert_or_assign(row.id, row);
        ledger_.add(std::move(row), waits, true);
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
    if (!out.begun.empty()) board_->set_begun(begun_);
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
    doubt_.see_route(loop_->now(), remote_targets_, !remote_targets_ || read_default_route());
    tell_doubt();
    if (auto suspects = book_.suspects(); !suspects.empty()) watch_.look(std::move(suspects));
    if (watch_.survey_due()) watch_.survey(known_targets());
    if (house_turn_++ % kTrimEvery == 0) {
        planner_.silences().forget(net::wall_now(), base::Duration::zero());
        ledger_.trim(net::wall_now() - policy_->retention);
        ledger_.commit();
    }
}

// Their failure is told, somebody has it, or nobody wants to hear of it.
KnownTargets AlertDesk::Work::known_targets() const {
    auto known = std::make_shared<std::set<std::string, std::less<>>>();
    const auto silences = planner_.silences().in_force(net::wall_now());
    for (const auto& [id, alert] : open_) {
        if (alert.target.empty()) continue;
        if (alert::tells_failure(alert)) {
            known->insert(alert.target);
            continue;
        }
        const bool silenced = !silences.empty() && silences.hold(alert::labels_of(alert));
        if (alert.acknowledged || silenced) known->insert(alert.target);
    }
    return known;
}

}  // namespace pollux::runtime
