// Keeps the book of uptime: reads the transitions that were committed, when there are new ones,
// saves the book now and then, and answers. A thread of its own, because it reads the store; the
// core does not know of it.
//
// start(), stop() and recall() belong to the owner's thread; questions come from any thread that
// may block for a read. A question reads one page of the log at most, and none while somebody else
// reads: a long log is taken in by the thread, and until then the answer is what is known so far.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/time.hpp"
#include "observe/log.hpp"
#include "runtime/fleet_view.hpp"
#include "runtime/uptime/uptime_book.hpp"
#include "store/store.hpp"

namespace pollux::runtime {

class UptimeKeeper {
  public:
    // Keys of its rows among the memories; no key of a task begins so.
    static constexpr std::string_view kPrefix = "uptime/";
    static constexpr std::string_view kHeadKey = "uptime-head";
    // Each turn also saves that this server runs: a crash costs what came after the last one.
    static constexpr base::Duration kReadEvery = std::chrono::seconds(15);
    static constexpr base::Duration kFresh = std::chrono::seconds(2);

    using View = std::function<std::shared_ptr<const FleetView>()>;
    // A task as it was stored: whether it is enabled, and how it stands if no transition says so.
    struct Seed {
        std::string key;
        bool up = false;
        bool enabled = true;
    };

    // The store and the log outlive it; `view` is called from its thread.
    UptimeKeeper(store::Store& store, observe::Log& log, View view);
    ~UptimeKeeper();
    UptimeKeeper(const UptimeKeeper&) = delete;
    UptimeKeeper& operator=(const UptimeKeeper&) = delete;

    // Whether the row is one of its own, by its whole key.
    bool recall(const std::string& key, std::string_view bytes);
    // `first_change`: numbers of transitions of this life are not below it.
    void start(base::Instant started, std::uint64_t first_change, std::vector<Seed> seeds);
    // Reads once more, saves, ends the thread. What is left of a long log is for the next life. The
    // store must still take batches.
    void stop();

    // Nothing: no such target is polled.
    std::optional<TargetUptime> target(std::string_view key);
    std::vector<GroupUptime> groups();

  private:
    enum class Pages : std::uint8_t { kOne, kAll };

    void run();
    void refresh_unless_busy();
    // With refresh_mutex_ held, and mutex_ not.
    void refresh(Pages pages);
    bool take_pages(Pages pages);  // whether that was all
    bool take_page();              // whether there may be more
    // With mutex_ held.
    base::WallTime look();  // before the book is told anything of now
    void take_fleet();
    void plant(base::WallTime at);  // the seeds
    void save();

    store::Store& store_;
    observe::Log& log_;
    View view_;
    std::thread thread_;
    std::mutex refresh_mutex_;           // one reader of the log at a time; taken before mutex_
    std::optional<std::uint64_t> read_;  // transitions of this life when it last read; none: never
    bool failing_ = false;               // the last read
    std::mutex mutex_;                   // guards what follows
    std::condition_variable wake_;
    bool stopping_ = false;
    bool behind_ = false;  // somebody left a part of the log to the thread
    UptimeBook book_;
    std::shared_ptr<const FleetImage> image_;
    std::vector<Seed> seeds_;
    std::uint64_t first_change_ = 0;
    base::BootTime refreshed_;  // zero: never
    enum class Saving : std::uint8_t { kDone, kUnderWay, kFailed };
    std::vector<std::string> saving_;  // keys of the last batch
    std::shared_ptr<std::atomic<Saving>> saved_ =
        std::make_shared<std::atomic<Saving>>(Saving::kDone);
};

}  // namespace pollux::runtime
