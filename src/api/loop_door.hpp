// A way to a loop that can be shut: for those on other threads who may come back after the loop is
// gone. From any thread.
#pragma once

#include <functional>
#include <mutex>

#include "net/event_loop.hpp"

namespace pollux::api {

class LoopDoor {
  public:
    explicit LoopDoor(net::EventLoop& loop) : loop_(&loop) {}

    // After close() the work is dropped, on this thread.
    void post(std::move_only_function<void()> work) {
        const std::lock_guard lock(mutex_);
        if (loop_ != nullptr) loop_->post(std::move(work));
    }
    // Before the loop goes.
    void close() {
        const std::lock_guard lock(mutex_);
        loop_ = nullptr;
    }

  private:
    std::mutex mutex_;  // guards loop_
    net::EventLoop* loop_;
};

}  // namespace pollux::api
