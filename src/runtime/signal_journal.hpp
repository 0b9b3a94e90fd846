// Signals of polls on their way to people: what a poll raised or cleared is stored together with
// what is raised now, and told after the commit. So a restart neither forgets a signal nor raises
// it twice.
//
// Lives on the main loop; shards hand in what they read. While the store fails, polls wait here in
// their order, as many as fit; a poll that is dropped loses nothing for good, because the next one
// says what is true then.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "derive/signal_keeper.hpp"
#include "model/signal.hpp"
#include "net/event_loop.hpp"
#include "observe/log.hpp"
#include "runtime/run_order.hpp"
#include "store/store.hpp"

namespace pollux::runtime {

struct PolledSignals {
    std::shared_ptr<const PollPlan> plan;
    model::PollSignals signals;
    base::WallTime at;
};

struct SignalCounts {
    std::uint64_t steps[3] = {};  // by derive::SignalStep
    std::uint64_t dropped = 0;    // polls that did not fit
    std::size_t waiting = 0;
    std::size_t raised = 0;  // now, of all tasks
};

class SignalJournal {
  public:
    // Of rows of learned memory; no key of a task begins so.
    static constexpr std::string_view kMemoryPrefix = "signals/";
    static constexpr std::size_t kMostWaiting = 10'000;
    static constexpr std::size_t kMostInBatch = 1000;

    // All outlive it, the loop also the store: its answers come there.
    SignalJournal(net::EventLoop& loop, store::Store& store, observe::Log& log);
    ~SignalJournal();

    // A row of learned memory of an earlier process; before the first poll. What is damaged is
    // learned again.
    void recall(std::string_view key, std::string_view bytes);
    void take(std::vector<PolledSignals> polls);
    // Tasks that are not among these are gone, and what they raised with them.
    template <class Plans>
    void keep_only(const Plans& plans) {
        std::vector<std::string> gone;
        for (const auto& [key, entry] : entries_) {
            if (!plans.contains(key)) gone.push_back(key);
        }
        forget(gone);
    }
    void set_limits(store::ObservationLimits limits, base::Duration age);

    SignalCounts counts() const;

  private:
    struct Entry {
        std::string target_id;
        std::uint64_t addon = 0;  // fingerprint of what raised it
        derive::SignalKeeper keeper;
    };
    using Entries = std::map<std::string, Entry, std::less<>>;
    struct Told {
        std::string key;
        std::vector<derive::SignalChange> changes;
    };
    struct Draft {
        Entries entries;
        std::vector<Told> told;
        store::ObservationBatch batch;
    };
    struct Life;  // tells an answer of the store whether there still is somebody to hear it

    static std::string encode(const Entry& entry);
    void commit();
    void add(const PolledSignals& poll, Draft& draft);
    void committed(bool good, const std::string& error);
    void forget(const std::vector<std::string>& keys);

    net::EventLoop& loop_;
    store::Store& store_;
    observe::Log& log_;
    std::shared_ptr<Life> life_;
    Entries entries_;
    std::deque<PolledSignals> queue_;
    std::vector<PolledSignals> under_way_;
    Draft draft_;
    store::ObservationLimits limits_;
    base::Duration age_ = std::chrono::hours(24 * 30);
    SignalCounts counts_;
    bool busy_ = false;
    bool failing_ = false;
    net::Timer retry_;
};

}  // namespace pollux::runtime
