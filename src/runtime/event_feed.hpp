// What happened on the threads of the core and of alerts, on its way to who shows it. They write
// and never wait; one reader takes what there is, on its own thread.
//
// Invariants
// 1. Bounded: of the results of polls only the newest of each task waits, and above a limit news
//    are dropped and counted. The reader learns from the count that it missed something.
// 2. Nothing is collected while nobody listens; results of polls only while they are wanted.
// 3. The reader is woken at most once for all the changes that it has not taken yet.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "engine/persistence_pump.hpp"
#include "model/run.hpp"
#include "runtime/alerts/alert_news.hpp"
#include "schedule/command.hpp"

namespace pollux::runtime {

// A transition that may be seen: committed, or marked provisional.
struct TaskNews {
    std::uint64_t number = 0;  // the same when it is told again: provisional first, then committed
    std::string key;           // empty: about the engine
    schedule::ChangeKind kind = schedule::ChangeKind::kHealth;
    std::uint8_t from = 0;
    std::uint8_t to = 0;
    std::uint32_t failures = 0;
    base::WallTime at;
    base::WallTime next_due;  // zero: none
    std::string reason;       // message of the failure behind it, if any
    bool answered = false;    // that failure was an answer: the device lives
    bool provisional = false;
};

struct PollNews {
    std::string key;
    model::Outcome outcome = model::Outcome::kOk;
    model::Trigger trigger = model::Trigger::kSchedule;
    base::WallTime at;
    base::Duration duration{};
    base::Duration lag{};  // from due to start
    std::string code;      // of a failure
    std::uint32_t failures = 0;
    double staleness = 0;     // 0 fresh .. 1 at or over its bound
    base::WallTime next_due;  // zero: none
};

struct EventFeedLimits {
    std::size_t changes = 20'000;  // of tasks, and as many of alerts
    std::size_t polls = 20'000;
};

class EventFeed {
  public:
    explicit EventFeed(EventFeedLimits limits = {}) : limits_(limits) {}

    // The core's side.
    void changed(TaskNews news);
    void polled(PollNews news);
    // The desk of alerts' side.
    void alerted(const std::vector<AlertNews>& news);
    bool polls_wanted() const { return polls_wanted_.load(std::memory_order_relaxed); }

    // The reader's side. `wake` is called from the thread of the core or of alerts when there are
    // changes; it must not block, nor call the feed. Empty: nobody listens any more; afterwards it
    // is not called.
    void listen(std::function<void()> wake);
    void want_polls(bool wanted);

    struct Changes {
        std::vector<TaskNews> news;     // in their order
        std::vector<AlertNews> alerts;  // likewise
        std::uint64_t dropped = 0;      // since the last take, changes and results
    };
    Changes take_changes();
    std::vector<PollNews> take_polls();  // one per task at most, by key

  private:
    EventFeedLimits limits_;
    std::atomic<bool> polls_wanted_ = false;
    std::mutex mutex_;  // guards what follows
    std::function<void()> wake_;
    bool woken_ = false;
    std::vector<TaskNews> changes_;
    std::vector<AlertNews> alerts_;
    std::map<std::string, PollNews, std::less<>> polls_;
    std::uint64_t dropped_ = 0;
};

// A change as news: boot time becomes wall time.
TaskNews to_news(const engine::TaskChange& change, std::string_view reason, base::Instant now);

}  // namespace pollux::runtime
