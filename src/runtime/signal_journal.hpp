// Signals of polls on their way to people: what a poll raised or cleared is stored together with
// what is raised now, and told after the commit. So a restart neither forgets a signal nor raises
// it twice.
//
// Lives on the main loop; shards hand in what they read. While the store fails, polls wait here in
// their order, as many as fit; a poll that is dropped loses nothing for good, because the next one
// says what is true then. When it fails for kProvisionalAfter, what waits is told all the same.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "derive/signal_keeper.hpp"
#include "model/signal.hpp"
#include "net/event_loop.hpp"
#include "observe/log.hpp"
#include "runtime/run_order.hpp"
#include "runtime/signal_news.hpp"
#include "store/store.hpp"

namespace pollux::runtime {

struct PolledSignals {
    std::shared_ptr<const PollPlan> plan;
    model::PollSignals signals;
    base::WallTime at;
    bool news = false;  // it changes what is raised
    bool told = false;  // that was told before it could be stored
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

    // Who is told after each commit, beside the log; before the first poll.
    void set_sink(SignalSink sink) { sink_ = std::move(sink); }
    // What is raised now, as if it were told for the first time: for who has never been told.
    std::vector<SignalNews> present() const;

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
    struct Draft {
        Entries entries;
        std::vector<SignalNews> told;  // one for each row
        store::ObservationBatch batch;
    };
    struct Life;  // tells an answer of the store whether there still is somebody to hear it

    static std::string encode(const Entry& entry);
    void commit();
    bool add(const PolledSignals& poll, Draft& draft);  // false: it changes nothing
    // first: the number of the first row.
    void committed(base::Result<std::uint64_t> first);
    void give_back(std::vector<PolledSignals> polls, Draft draft);
    void tell(std::vector<SignalNews> news);
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
    std::optional<base::BootTime> failing_since_;
    SignalSink sink_;
    net::Timer retry_;
};

}  // namespace pollux::runtime
