// The way of messages into the store: a bounded queue, one transaction at a time, answers after the
// commit. While a commit is under way the next messages gather; so a flood costs few transactions
// and a single message waits for nobody. Lives on one loop.
//
// While the store fails, messages that their senders repeat are answered so and dropped; those that
// nobody repeats (traps, silence) are kept, as many as fit, and tried again; after
// kProvisionalAfter what they change is told all the same.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "net/event_loop.hpp"
#include "observe/log.hpp"
#include "runtime/inbound/inbound_counts.hpp"
#include "runtime/inbound/target_book.hpp"
#include "runtime/signal_news.hpp"
#include "store/store.hpp"

namespace pollux::runtime {

enum class Delivery : std::uint8_t {
    kStored,
    kFailed,  // the store refused it; it was not kept
    kLate,    // nobody knows yet: the store has not answered for long
};

struct Incoming {
    HeardMessage heard;
    InboundKind kind = InboundKind::kTrap;
    bool keep = false;  // nobody repeats it
    bool told = false;  // what it changes was told before it could be stored
    base::BootTime at;
    // Called once, if it is there. The id is that of the row, 0 if there is none.
    std::move_only_function<void(Delivery delivery, std::uint64_t id)> answer;
};

class Intake {
  public:
    static constexpr std::size_t kMostWaiting = 10'000;
    static constexpr std::size_t kMostBytes = 64U << 20U;
    static constexpr std::size_t kMostInBatch = 1000;
    static constexpr base::Duration kPatience = std::chrono::seconds(10);  // of who waits for us

    // After the commit, with the number of the row; or, when the store fails for
    // kProvisionalAfter, before it with 0 and later once more, `known`.
    using Told = std::function<void(const HeardChange&, std::uint64_t row, bool known)>;
    using Stored = std::function<void(const HeardMessage&)>;

    // Everything outlives it; the loop is kept by what is under way in the store.
    Intake(std::shared_ptr<net::EventLoop> loop, store::Store& store, observe::Log& log,
           TargetBook& book, InboundCounts& counts, Told told, Stored stored);

    // False: no room; nothing is called.
    bool take(Incoming incoming);
    void set_limits(store::ObservationLimits limits, base::Duration age);
    // Once a second or so: who waits too long is told.
    void look_after();
    // Rows go by age also while nothing comes.
    void trim();

    std::size_t waiting() const { return queue_.size() + under_way_.size(); }
    bool idle() const { return queue_.empty() && !busy_; }

  private:
    static std::size_t bytes_of(const Incoming& incoming);
    void commit();
    void committed(base::Result<std::uint64_t> first);
    void finish(std::uint64_t first);
    void give_back();
    void tell_provisionally();

    std::shared_ptr<net::EventLoop> loop_;
    store::Store& store_;
    observe::Log& log_;
    TargetBook& book_;
    InboundCounts& counts_;
    Told told_;
    Stored stored_;
    store::ObservationLimits limits_;
    base::Duration age_ = std::chrono::hours(24 * 30);
    std::deque<Incoming> queue_;
    std::vector<Incoming> under_way_;
    std::vector<bool> has_row_;  // of those under way
    std::optional<TargetBook::Draft> draft_;
    std::size_t bytes_ = 0;  // of both
    bool busy_ = false;
    std::optional<base::BootTime> failing_since_;
    net::Timer retry_;
};

}  // namespace pollux::runtime
