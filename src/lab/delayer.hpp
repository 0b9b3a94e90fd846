// Runs things later in the loop's thread: one timer for any number of them, up to a bound.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "net/event_loop.hpp"

namespace pollux::lab {

class Delayer {
  public:
    Delayer(net::EventLoop& loop, std::size_t most)
        : loop_(loop), most_(most), timer_(loop, [this] { run(); }) {}

    // False if too much waits already; then `work` is dropped.
    bool after(base::Duration delay, std::move_only_function<void()> work) {
        if (waiting_.size() >= most_) return false;
        waiting_.push_back({loop_.now() + delay, next_++, std::move(work)});
        std::push_heap(waiting_.begin(), waiting_.end(), later);
        timer_.arm(waiting_.front().at);
        return true;
    }
    std::size_t waiting() const { return waiting_.size(); }

  private:
    struct Waiting {
        base::BootTime at;
        std::uint64_t order = 0;
        std::move_only_function<void()> work;
    };
    static bool later(const Waiting& a, const Waiting& b) {
        return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
    void run() {
        while (!waiting_.empty() && waiting_.front().at <= loop_.now()) {
            std::pop_heap(waiting_.begin(), waiting_.end(), later);
            auto work = std::move(waiting_.back().work);
            waiting_.pop_back();
            work();  // may add more
        }
        if (!waiting_.empty()) timer_.arm(waiting_.front().at);
    }

    net::EventLoop& loop_;
    std::size_t most_;
    std::uint64_t next_ = 0;
    std::vector<Waiting> waiting_;
    net::Timer timer_;
};

}  // namespace pollux::lab
