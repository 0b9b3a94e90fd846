// One thread's loop: waits for file descriptors, timers and posted work, and calls who waits.
//
// Everything but post() and stop() is called from the thread that runs the loop (or before it
// runs). Handlers may watch, unwatch, arm, cancel and post from inside a call; an unwatched
// descriptor is not called again, also not for an event that was already fetched.
//
// Invariants
// 1. A handler is called only while its descriptor is watched.
// 2. A timer fires at most once per arm(), never early, in order of its time; what is armed during
//    a turn for now or earlier fires in the next turn.
// 3. now() is read once per turn, so that all decisions of a turn agree.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace pollux::net {

base::BootTime boot_now();
base::WallTime wall_now();
base::Instant instant_now();

// Called when a watched descriptor is ready. `events` are EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP.
class FdHandler {
  public:
    virtual void on_ready(int fd, std::uint32_t events) = 0;

  protected:
    ~FdHandler() = default;
};

class EventLoop;

// Owned by whoever waits; cancels itself when it goes, also from inside its own call. Must not
// outlive the loop.
class Timer {
  public:
    Timer(EventLoop& loop, std::move_only_function<void()> fire)
        : loop_(loop), fire_(std::move(fire)) {}
    ~Timer() {
        cancel();
        if (gone_ != nullptr) *gone_ = true;
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    void arm(base::BootTime at);  // moves it when it is armed already
    void arm_in(base::Duration delay);
    void cancel();
    bool armed() const { return position_ != kNotArmed; }
    base::BootTime at() const { return at_; }

  private:
    friend class EventLoop;
    static constexpr std::size_t kNotArmed = static_cast<std::size_t>(-1);

    EventLoop& loop_;
    std::move_only_function<void()> fire_;
    base::BootTime at_;
    std::uint64_t order_ = 0;
    std::size_t position_ = kNotArmed;
    bool* gone_ = nullptr;  // while it fires: tells the loop that it was destroyed meanwhile
};

class EventLoop {
  public:
    static base::Result<std::unique_ptr<EventLoop>> create();
    ~EventLoop();
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    // The handler must stay until unwatch(). events: EPOLLIN | EPOLLOUT; level-triggered.
    base::Status watch(int fd, std::uint32_t events, FdHandler& handler);
    base::Status change(int fd, std::uint32_t events);
    void unwatch(int fd);

    // Runs `work` in the loop's thread, in order. From any thread; after stop() it may never run.
    void post(std::move_only_function<void()> work);

    // Until stop(). run_once() does one turn and waits at most `longest`.
    void run();
    void run_once(base::Duration longest);
    void stop();  // from any thread and from signal handlers' threads
    bool stopped() const { return stop_.load(std::memory_order_acquire); }

    base::BootTime now() const { return now_; }
    std::size_t watched() const { return watched_; }
    std::size_t timers() const { return heap_.size(); }

    // Longest time a turn spent outside of waiting, since the last call; for the watchdog.
    base::Duration take_longest_turn();

  private:
    friend class Timer;
    struct Watch {
        FdHandler* handler = nullptr;
        std::uint32_t generation = 0;
    };

    EventLoop(int epoll_fd, int wake_fd) : epoll_fd_(epoll_fd), wake_fd_(wake_fd) {}
    void arm(Timer& timer, base::BootTime at);
    void cancel(Timer& timer);
    void sift_up(std::size_t position);
    void sift_down(std::size_t position);
    void place(std::size_t position, Timer* timer);
    static bool before(const Timer& a, const Timer& b);
    void fire_timers();
    void run_posted();
    void wake();

    int epoll_fd_;
    int wake_fd_;
    base::BootTime now_ = boot_now();
    std::vector<Watch> watches_;  // by descriptor
    std::size_t watched_ = 0;
    std::vector<Timer*> heap_;
    std::uint64_t next_order_ = 0;
    base::Duration longest_turn_{};

    std::mutex mutex_;  // guards posted_
    std::vector<std::move_only_function<void()>> posted_;
    std::vector<std::move_only_function<void()>> running_;
    std::atomic<bool> wake_pending_ = false;
    std::atomic<bool> stop_ = false;
};

}  // namespace pollux::net
