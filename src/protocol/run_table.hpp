// The asks under way of one driver: what every driver owes its caller, in one place. Each ask ends
// exactly once, not later than its deadline, never from inside start() or cancel().
//
// A driver derives its own Run from RunBase, adds it here, and calls end() or end_later(). When a
// run ends, its stop() is called first (it lets go of descriptors and lookups), then Done; the
// object itself goes in a later turn, so that whoever called end() from inside of it may return.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/event_loop.hpp"
#include "protocol/driver.hpp"

namespace pollux::protocol {

inline model::PollFailure failure_of(model::FailureKind kind, std::string code,
                                     std::string message) {
    model::PollFailure failure;
    failure.kind = kind;
    failure.code = std::move(code);
    failure.message = std::move(message);
    return failure;
}

struct RunBase {
    RunBase(net::EventLoop& loop, Order given, Done then, std::function<void()> fire)
        : order(std::move(given)),
          done(std::move(then)),
          started(net::boot_now()),
          deadline(std::min(order.deadline, started + order.ask->timeout)),
          timer(loop, std::move(fire)) {
        timer.arm(deadline);
    }
    virtual ~RunBase() = default;
    RunBase(const RunBase&) = delete;
    RunBase& operator=(const RunBase&) = delete;

    virtual void stop() {}

    const model::Ask& ask() const { return *order.ask; }
    base::Duration since_start() const { return net::boot_now() - started; }
    void note(std::string line) {
        if (order.trace) reply.trace.push_back(std::move(line));
    }

    Order order;
    Done done;
    base::BootTime started;
    base::BootTime deadline;
    net::Timer timer;  // the deadline, or at once if it is ending
    std::optional<model::Reply> ending;
    model::Reply reply;  // phases, counts and trace gather here
};

template <class Run>
class RunTable {
  public:
    // `expired` is called for a run whose deadline came; it ends it.
    RunTable(net::EventLoop& loop, std::function<void(Run&)> expired)
        : loop_(loop), expired_(std::move(expired)), bury_(loop, [this] { ended_.clear(); }) {}
    ~RunTable() {
        for (const auto& [id, run] : runs_) run->stop();
    }

    template <class... Arguments>
    Run& add(Order order, Done done, Arguments&&... arguments) {
        const std::uint64_t id = order.id;
        auto run = std::make_unique<Run>(
            loop_, std::move(order), std::move(done), [this, id] { fire(id); },
            std::forward<Arguments>(arguments)...);
        Run& added = *run;
        runs_[id] = std::move(run);
        return added;
    }

    Run* find(std::uint64_t id) {
        const auto found = runs_.find(id);
        return found == runs_.end() ? nullptr : found->second.get();
    }
    std::size_t size() const { return runs_.size(); }

    template <class Visit>
    void each(Visit visit) {
        for (const auto& [id, run] : runs_) visit(*run);
    }

    void end(Run& run, decltype(model::Reply::answer) answer) {
        const auto found = runs_.find(run.order.id);
        if (found == runs_.end() || found->second.get() != &run) return;
        run.timer.cancel();
        run.stop();
        run.reply.answer = std::move(answer);
        run.reply.phases.total = run.since_start();
        model::Reply reply = std::move(run.reply);
        Done done = std::move(run.done);
        ended_.push_back(std::move(found->second));
        runs_.erase(found);
        bury_.arm(loop_.now());
        done(std::move(reply));
    }

    // In the next turn; for what is known inside start() or cancel().
    void end_later(Run& run, decltype(model::Reply::answer) answer) {
        run.stop();
        run.ending.emplace();
        run.ending->answer = std::move(answer);
        run.timer.arm(loop_.now());
    }

    void cancel(std::uint64_t id) {
        Run* const run = find(id);
        if (run == nullptr || run->ending) return;
        end_later(*run, failure_of(model::FailureKind::kCancelled, "poll.cancelled",
                                   "the poll was cancelled"));
    }

  private:
    void fire(std::uint64_t id) {
        Run* const run = find(id);
        if (run == nullptr) return;
        if (run->ending) {
            end(*run, std::move(run->ending->answer));
        } else {
            expired_(*run);
        }
    }

    net::EventLoop& loop_;
    std::function<void(Run&)> expired_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Run>> runs_;
    std::vector<std::unique_ptr<Run>> ended_;
    net::Timer bury_;
};

}  // namespace pollux::protocol
