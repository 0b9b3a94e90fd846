// What lives on the thread of alerts: the engine, the planner, the ledger, and who feeds them.
// Private to the desk.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "alert/alert_engine.hpp"
#include "alert/notification_planner.hpp"
#include "alert/self_monitor.hpp"
#include "runtime/alerts/alert_desk.hpp"
#include "runtime/alerts/alert_ledger.hpp"
#include "runtime/alerts/alert_timeline.hpp"
#include "runtime/alerts/delivery_counts.hpp"
#include "runtime/alerts/device_verifier.hpp"
#include "runtime/alerts/health_book.hpp"
#include "runtime/alerts/health_watch.hpp"
#include "runtime/alerts/self_doubt.hpp"

namespace pollux::runtime {

// Rows of memory, by whose they are.
inline constexpr std::string_view kEngineMemory = "engine/";
inline constexpr std::string_view kPlannerMemory = "planner/";
inline constexpr std::string_view kBegunSilence = "silence/";  // flexible: when their time began

// alert_restore.cpp: the start; alert_intake.cpp: what comes in; alert_work.cpp: rules, decisions;
// alert_acts.cpp: what people do and ask.
class AlertDesk::Work {
  public:
    Work(std::shared_ptr<net::EventLoop> loop, std::shared_ptr<AlertBoard> board,
         store::Store& store, observe::Log& log, CoreLoop& core, AlertDeskOptions options);

    // Before the thread runs: what was, and what came while nobody took it in.
    base::Status restore(const std::vector<SignalNews>& present);
    void begin();
    void end();  // no more timers

    void set_image(AlertImage image);
    void set_policy(std::shared_ptr<const NotifyPolicy> policy);
    void take_silences();
    void set_delivery(Deliver deliver);
    void set_sink(AlertSink sink) { sink_ = std::move(sink); }

    void observed(std::vector<SignalNews> news);
    void changed(const TaskNews& news);
    void observed_ourselves(model::Signal signal, base::WallTime at);
    void report_observer(bool bad, std::string why);
    void delivered(std::vector<model::Notification> rows);
    void act(alert::Act act, std::optional<model::AuditEntry> entry, ActDone done);
    void external(std::vector<alert::External> alerts, std::optional<model::AuditEntry> entry,
                  Done done);
    void test_receiver(const std::string& receiver, std::optional<model::AuditEntry> entry,
                       TestDone done);
    // Of one that was given up.
    void settle(const std::string& notification, model::DeliveryState next,
                std::optional<model::AuditEntry> entry, Done done);

    std::string explain_route(const model::AlertLabels& labels, model::Severity severity) const;
    std::vector<model::Alert> open_alerts() const;
    std::vector<model::Alert> audible_alerts() const;
    AlertTally tally(const AlertSight& visible) const;
    AlertStanding standing_of(const model::Alert& alert) const;
    AlertCounts counts() const;
    WorkCounts done() const;
    bool idle() const { return ledger_.idle(); }

  private:
    using Inputs = std::vector<alert::Input>;

    // One decision: the engine, the planner, the ledger. `by`: the principal behind it.
    void step(const Inputs& inputs, const std::string& by = {});
    void plan(const alert::PlannerInput& input);
    void take_changes(alert::Output& out, const std::string& by, alert::PlannerInput& told);
    void turn();  // steps what has gathered, and arms the timer
    void gather(alert::Input input);
    void decide_soon();
    void count(const alert::AlertChange& change);
    void log_change(const alert::AlertChange& change, bool provisional);
    void publish(const std::vector<AlertNews>& news);

    void take_rows(std::vector<TaskRow> rows);
    void take_survey(FleetHealth health);
    void doubt_names(const FleetHealth& health);
    void tell_doubt();
    void keep_house();
    KnownTargets known_targets() const;
    void note_fleet();
    alert::FleetChanged fleet_now() const;
    bool is_failure_of_device(const SignalNews& news, const model::Signal& signal) const;
    void add_signals(const SignalNews& news);
    base::Status replay();
    base::Status restore_planner();
    void wait_until_next();

    std::shared_ptr<net::EventLoop> loop_;
    std::shared_ptr<AlertBoard> board_;
    store::Store& store_;
    observe::Log& log_;
    AlertDeskOptions options_;
    std::shared_ptr<const NotifyPolicy> policy_;
    AlertImage image_;
    // Of the image, by key of the target: the type of alert that says that it does not answer.
    std::map<std::string, std::string, std::less<>> failure_types_;
    std::set<std::string, std::less<>> disabled_;            // targets, by an operator's switch
    std::map<std::string, std::string, std::less<>> names_;  // of hosts, by key of the target
    std::size_t all_names_ = 0;                              // different ones
    bool remote_targets_ = false;                            // not all are on this machine

    alert::AlertEngine engine_;
    alert::NotificationPlanner planner_;
    alert::SelfMonitor self_;
    SelfDoubt doubt_;
    AlertTimeline timeline_;
    HealthBook book_;
    AlertLedger ledger_;
    HealthWatch watch_;
    DeviceVerifier verifier_;
    Deliver deliver_;
    AlertSink sink_;

    Inputs inputs_;
    bool fleet_changed_ = false;  // told before the inputs above
    alert::Output out_;
    std::map<std::string, model::Alert, std::less<>> open_;           // by id
    std::map<std::string, model::Notification, std::less<>> outbox_;  // that wait, by id
    std::map<std::string, base::WallTime, std::less<>> begun_;        // flexible silences, by id
    std::set<std::string, std::less<>> stale_;  // targets that were told as stale
    std::uint64_t polls_seen_ = 0;              // rows taken in
    std::uint64_t messages_seen_ = 0;           // rows taken in
    std::uint64_t next_ticket_ = 1;
    base::BootTime engine_wake_ = base::BootTime::max();
    AlertCounts counts_;
    DeliveryCounts deliveries_;
    bool recovered_checked_ = false;  // health alerts of an earlier life
    std::uint64_t house_turn_ = 0;
    net::Timer timer_;
    net::Timer house_;
};

}  // namespace pollux::runtime
