// Something costly that many ask for at the same time. It is made once for all who came meanwhile,
// and kept for a short time. Who waits is parked here and holds no thread.
//
// Owned by the API's thread: everything is called there.
//
// Invariants
// 1. At most one is being made.
// 2. At most `most_waiting` wait; one more is refused at once.
// 3. Nobody gets what does not fit any more, such as after a change of settings: it is made again.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "api/loop_door.hpp"
#include "api/problem.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "net/event_loop.hpp"
#include "net/work_pool.hpp"

namespace pollux::api {

template <class Made>
class MadeOnce : public std::enable_shared_from_this<MadeOnce<Made>> {
  public:
    using Result = base::Result<std::shared_ptr<const Made>>;
    using Done = std::move_only_function<void(Result)>;
    using Waiter = std::move_only_function<void(const Result&)>;

    struct Rules {
        std::function<void(Done done)> make;  // begins it; `done` is called once, on this thread
        std::function<bool(const Made& made)> fits = {};  // empty: always
        base::Duration fresh_for;                         // from the moment it is begun
        std::size_t most_waiting = 1000;
        std::function<base::BootTime()> now = [] { return net::boot_now(); };
    };

    explicit MadeOnce(Rules rules) : rules_(std::move(rules)) {}

    // At once if there is a fresh one. False: too many wait already, and `waiter` is not called.
    bool ask(Waiter waiter) {
        if (made_ && rules_.now() - made_at_ < rules_.fresh_for && fits(*made_)) {
            waiter(made_);
            return true;
        }
        if (waiting_.size() >= rules_.most_waiting) return false;
        waiting_.push_back(std::move(waiter));
        if (!making_) make();
        return true;
    }

  private:
    bool fits(const Made& made) const { return !rules_.fits || rules_.fits(made); }

    void make() {
        making_ = true;
        began_ = rules_.now();
        rules_.make([self = this->shared_from_this()](Result made) { self->finish(made); });
    }

    void finish(const Result& made) {
        making_ = false;
        if (made && !fits(**made)) return make();
        if (made) {
            made_ = *made;
            made_at_ = began_;
        }
        for (Waiter& waiter : std::exchange(waiting_, {})) waiter(made);
    }

    Rules rules_;
    std::vector<Waiter> waiting_;
    bool making_ = false;
    base::BootTime began_;
    std::shared_ptr<const Made> made_;
    base::BootTime made_at_;
};

// What a call is told that may not wait any more.
inline Problem too_many_wait() {
    return problem_of(base::Error{"api.busy", base::ErrorClass::kTransient,
                                  "too many wait for the same answer: ask again in a moment"});
}

// Makes it on a thread of the pool, which outlives it; `loop` is that of the API's thread.
template <class Made>
std::function<void(typename MadeOnce<Made>::Done)> made_on(
    net::WorkPool& pool, std::shared_ptr<LoopDoor> loop,
    std::function<typename MadeOnce<Made>::Result()> make) {
    return [&pool, loop = std::move(loop),
            make = std::move(make)](typename MadeOnce<Made>::Done done) {
        const auto held = std::make_shared<typename MadeOnce<Made>::Done>(std::move(done));
        const auto accepted = pool.submit([loop, make, held] {
            loop->post([held, made = make()]() mutable { (*held)(std::move(made)); });
        });
        if (!accepted) (*held)(std::unexpected(accepted.error()));
    };
}

}  // namespace pollux::api
