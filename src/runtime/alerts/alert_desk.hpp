// The thread of alerts: takes in what polls, messages and the scheduler say, lets the alert engine
// and the planner of notifications decide, stores what came out in one transaction, and then tells
// everybody: followers, the log, the channels.
//
// Everything public is called from any thread, unless it says otherwise; work is done on the desk's
// own thread in the order in which it came. What is called back is called from that thread and must
// not block.
//
// Invariants
// 1. What a step decided is committed whole, with the cursors of what it was made of: after a crash
//    nothing is taken in twice, and nothing is lost.
// 2. News and notifications go out after their commit. When commits fail for kProvisionalAfter they
//    go out marked provisional, and the same rows are committed when the store takes them again.
// 3. A person's act is answered after the commit of its entry in the audit trail.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "alert/input.hpp"
#include "alert/output.hpp"
#include "alert/time_windows.hpp"
#include "base/result.hpp"
#include "model/audit.hpp"
#include "model/notification.hpp"
#include "net/event_loop.hpp"
#include "observe/histogram.hpp"
#include "observe/log.hpp"
#include "runtime/alerts/alert_board.hpp"
#include "runtime/alerts/alert_image.hpp"
#include "runtime/alerts/alert_news.hpp"
#include "runtime/alerts/alert_tally.hpp"
#include "runtime/alerts/delivery_counts.hpp"
#include "runtime/alerts/notify_policy.hpp"
#include "runtime/event_feed.hpp"
#include "runtime/signal_news.hpp"
#include "runtime/worker_board.hpp"
#include "store/store.hpp"

namespace pollux::runtime {

// What the store held at the start.
struct AlertLoad {
    std::vector<model::Alert> alerts;                // open ones
    std::vector<model::Incident> incidents;          // open ones
    std::vector<model::Notification> notifications;  // those that wait
    std::vector<store::MemoryRow> memory;
    store::AlertCursors cursors;
    store::AlertNumbers numbers;
};

struct AlertCounts {
    std::array<std::uint64_t, 5> open{};  // active and acknowledged, by model::Severity
    std::uint64_t pending = 0;
    std::uint64_t suppressed = 0;
    std::uint64_t incidents = 0;
    std::array<std::uint64_t, 5> created{};  // since the start, by severity
    std::uint64_t resolved = 0;              // since the start, as what follows
    std::uint64_t refused = 0;               // no room
    std::uint64_t notifications = 0;
    std::size_t outbox = 0;  // notifications that wait
    std::size_t uncommitted = 0;
    bool failing = false;                                        // the store
    bool impaired = false;                                       // we ourselves are cut off
    observe::Histogram<observe::kAlertDurationBounds> duration;  // of resolved ones
    std::map<DeliveryCounts::Channel, ChannelCounts> deliveries;
};

struct AlertStanding {
    double flap_percent = 0;               // of its fingerprint, see alert/flap_history.hpp
    std::vector<std::string> silenced_by;  // ids, sorted
};

struct AlertDeskOptions {
    base::SipKey seed;  // of ids; of this life
    alert::ZoneLookup zones;
    AlertLoad load;
    AlertImage image;
    std::shared_ptr<const NotifyPolicy> policy = std::make_shared<const NotifyPolicy>();
};

class AlertDesk {
  public:
    using ActDone = std::move_only_function<void(base::Result<std::vector<alert::ActResult>>)>;
    using Done = std::move_only_function<void(base::Status)>;
    // Notifications to deliver: committed, or marked provisional. The outcome of each comes back
    // by delivered().
    using Deliver = std::function<void(std::vector<model::Notification>)>;

    // The cursors of what is taken in.
    static constexpr std::string_view kPollCursor = "observations/poll";
    static constexpr std::string_view kMessageCursor = "observations/message";

    // From now on it may be told things; it takes them in when it runs. The core, the store and the
    // log outlive it.
    static base::Result<std::unique_ptr<AlertDesk>> make(store::Store& store, observe::Log& log,
                                                         CoreLoop& core, AlertDeskOptions options);
    // Goes on where an earlier life ended: what was stored and not yet taken in is taken in first.
    // `present` is what is raised now: taken in by a desk that never ran before. Blocks for the
    // reading. Once.
    base::Status run(const std::vector<SignalNews>& present);
    ~AlertDesk();
    AlertDesk(const AlertDesk&) = delete;
    AlertDesk& operator=(const AlertDesk&) = delete;

    // Writes what is still to be written (a few seconds at the most), ends the thread. Blocks.
    void stop();

    void set_image(AlertImage image);
    void set_policy(std::shared_ptr<const NotifyPolicy> policy);
    // Where notifications go; what waits is handed over at once. Empty: nowhere, they wait.
    void set_delivery(Deliver deliver);
    // Who is told of changes; replaces the one before, empty: nobody.
    void set_sink(AlertSink sink);

    void observed(std::vector<SignalNews> news);
    void changed(TaskNews news);
    // A signal about Pollux itself; a clear ends it.
    void observed_ourselves(model::Signal signal, base::WallTime at);
    // We ourselves are cut off, or no longer.
    void suspect_ourselves(bool bad, std::string why);
    // How deliveries went: the rows with their new state.
    void delivered(std::vector<model::Notification> rows);

    // `done` gets one result for each alert; an error: nothing was committed (store.*), or
    // alert.stopped.
    void act(alert::Act act, std::optional<model::AuditEntry> entry, ActDone done);
    void external(std::vector<alert::External> alerts, std::optional<model::AuditEntry> entry,
                  Done done);
    // A test message to every channel of a receiver. The ids of the notifications, after their
    // commit. Error notify.receiver.
    using TestDone = std::move_only_function<void(base::Result<std::vector<std::string>>)>;
    void test_receiver(std::string receiver, std::optional<model::AuditEntry> entry, TestDone done);
    // Tries a delivery that was given up once more. Error notification.unknown or
    // notification.state.
    void retry(std::string notification, std::optional<model::AuditEntry> entry, Done done);
    // Nobody cares any more about a delivery that was given up: it is cancelled. Errors likewise.
    void dismiss(std::string notification, std::optional<model::AuditEntry> entry, Done done);

    // Who would be told of an alert with these labels now, in words.
    void explain_route(model::AlertLabels labels, model::Severity severity,
                       std::move_only_function<void(std::string)> done);
    void open_alerts(std::move_only_function<void(std::vector<model::Alert>)> done);
    // Those that people may be told of: neither pending nor suppressed nor silent.
    void audible_alerts(std::move_only_function<void(std::vector<model::Alert>)> done);
    // At once, from any thread.
    const AlertBoard& board() const { return *board_; }
    // Counts of what `visible` lets see.
    void tally(AlertSight visible, std::move_only_function<void(AlertTally)> done);
    // How an alert stands at this moment.
    void standing_of(model::Alert alert, std::move_only_function<void(AlertStanding)> done);
    void collect_counts(std::move_only_function<void(AlertCounts)> done);
    // Calls back from the desk's thread: it is alive, and this is what it did. What waits for its
    // commit, alerts that were raised or ended, those that found no room.
    void ask_alive(std::move_only_function<void(WorkCounts)> answer);

  private:
    class Work;  // everything that lives on the desk's thread

    explicit AlertDesk(std::shared_ptr<net::EventLoop> loop);

    std::shared_ptr<net::EventLoop> loop_;
    std::shared_ptr<AlertBoard> board_ = std::make_shared<AlertBoard>();
    std::unique_ptr<Work> work_;
    std::thread thread_;
};

}  // namespace pollux::runtime
