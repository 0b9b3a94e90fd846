// A few threads for what must block (password hashes, slow reads), with a bounded line before them.
//
// submit() may be called from any thread; the work runs on a thread of the pool, in order of
// submission as far as there is one thread. Work reports back by EventLoop::post or the like.
//
// Invariants
// 1. What was accepted runs, once: the destructor waits for it.
// 2. At most `queue_limit` pieces wait; one more is refused at once, never blocked on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.hpp"

namespace pollux::net {

class WorkPool {
  public:
    using Work = std::move_only_function<void()>;

    WorkPool(std::size_t threads, std::size_t queue_limit);
    ~WorkPool();
    WorkPool(const WorkPool&) = delete;
    WorkPool& operator=(const WorkPool&) = delete;

    // Transient error "net.pool-full" when the line is full.
    base::Status submit(Work work);

    std::size_t waiting() const;

  private:
    void run();

    const std::size_t queue_limit_;
    mutable std::mutex mutex_;  // guards waiting_ and ending_
    std::condition_variable changed_;
    std::deque<Work> waiting_;
    bool ending_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace pollux::net
