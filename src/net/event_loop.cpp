#include "net/event_loop.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>
#include <utility>

#include "base/check.hpp"

namespace pollux::net {
namespace {

std::int64_t nanoseconds_of(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::unexpected<base::Error> system_error(std::string_view what) {
    const int number = errno;
    return base::internal_error("net.system", fmt::format("{}: {}", what, std::strerror(number)));
}

timespec to_timespec(base::Duration duration) {
    const std::int64_t nanoseconds = std::max<std::int64_t>(duration.count(), 0);
    return {.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000),
            .tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000)};
}

constexpr int kBatch = 256;
constexpr base::Duration kLate = std::chrono::milliseconds(50);
constexpr int kRoundsWhenLate = 64;

int wait_for_events(int epoll_fd, std::array<epoll_event, kBatch>& events, base::Duration longest) {
    const timespec timeout = to_timespec(longest);
    const int count = epoll_pwait2(epoll_fd, events.data(), kBatch, &timeout, nullptr);
    if (count >= 0 || errno != ENOSYS) return count;
    // Kernels before 5.11, and tools that do not know the call: milliseconds, rounded up.
    const auto longest_ms = static_cast<std::int64_t>(std::numeric_limits<int>::max());
    const std::int64_t ms = std::clamp<std::int64_t>(base::ceil_ms(longest), 0, longest_ms);
    return epoll_wait(epoll_fd, events.data(), kBatch, static_cast<int>(ms));
}

}  // namespace

base::BootTime boot_now() { return base::BootTime{nanoseconds_of(CLOCK_BOOTTIME)}; }
base::WallTime wall_now() { return base::WallTime{nanoseconds_of(CLOCK_REALTIME) / 1000}; }
base::Instant instant_now() { return {.boot = boot_now(), .wall = wall_now()}; }

void Timer::arm(base::BootTime at) { loop_.arm(*this, at); }
void Timer::arm_in(base::Duration delay) { loop_.arm(*this, loop_.now() + delay); }
void Timer::cancel() { loop_.cancel(*this); }

base::Result<std::unique_ptr<EventLoop>> EventLoop::create() {
    const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0) return system_error("cannot make an epoll descriptor");
    const int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd < 0) {
        close(epoll_fd);
        return system_error("cannot make an event descriptor");
    }
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = static_cast<std::uint64_t>(wake_fd);
    std::unique_ptr<EventLoop> loop(new EventLoop(epoll_fd, wake_fd));
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wake_fd, &event) != 0) {
        return system_error("cannot watch the event descriptor");
    }
    return loop;
}

EventLoop::~EventLoop() {
    // Timers unlink themselves here, so they must go before the loop does.
    POLLUX_CHECK(heap_.empty());
    close(wake_fd_);
    close(epoll_fd_);
}

base::Status EventLoop::watch(int fd, std::uint32_t events, FdHandler& handler) {
    const auto index = static_cast<std::size_t>(fd);
    if (watches_.size() <= index) watches_.resize(index + 1);
    Watch& watch = watches_[index];
    epoll_event event{};
    event.events = events;
    // The generation tells an event of an earlier use of the same number from one of this use.
    event.data.u64 =
        static_cast<std::uint64_t>(watch.generation + 1) << 32U | static_cast<std::uint32_t>(fd);
    if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) != 0) {
        return system_error(fmt::format("cannot watch descriptor {}", fd));
    }
    ++watch.generation;
    watch.handler = &handler;
    ++watched_;
    return {};
}

base::Status EventLoop::change(int fd, std::uint32_t events) {
    const auto index = static_cast<std::size_t>(fd);
    POLLUX_CHECK(index < watches_.size() && watches_[index].handler != nullptr);
    epoll_event event{};
    event.events = events;
    event.data.u64 = static_cast<std::uint64_t>(watches_[index].generation) << 32U |
                     static_cast<std::uint32_t>(fd);
    if (epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, fd, &event) != 0) {
        return system_error(fmt::format("cannot change what descriptor {} waits for", fd));
    }
    return {};
}

void EventLoop::unwatch(int fd) {
    const auto index = static_cast<std::size_t>(fd);
    if (index >= watches_.size() || watches_[index].handler == nullptr) return;
    watches_[index].handler = nullptr;
    --watched_;
    // Fails if the owner closed it first; then the kernel has forgotten it already.
    epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::post(std::move_only_function<void()> work) {
    {
        const std::lock_guard lock(mutex_);
        posted_.push_back(std::move(work));
    }
    wake();
}

void EventLoop::wake() {
    if (wake_pending_.exchange(true, std::memory_order_acq_rel)) return;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof one);
}

void EventLoop::stop() {
    stop_.store(true, std::memory_order_release);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof one);
}

void EventLoop::run() {
    while (!stopped()) run_once(std::chrono::hours(1));
}

void EventLoop::run_once(base::Duration longest) {
    std::array<epoll_event, kBatch> events;
    base::Duration wait = longest;
    if (!heap_.empty()) wait = std::min(wait, heap_.front()->at_ - boot_now());
    base::BootTime began{};
    // After a stall (a busy machine, a stopped process) timers are late, and the answers that they
    // wait for are long there: those are heard before anybody says that nothing came.
    for (int round = 0; round < kRoundsWhenLate; ++round) {
        const int count = wait_for_events(epoll_fd_, events, wait);
        now_ = boot_now();
        if (round == 0) began = now_;
        for (int i = 0; i < count; ++i) {
            const epoll_event& event = events[static_cast<std::size_t>(i)];
            const int fd = static_cast<int>(event.data.u64 & 0xFFFFFFFFU);
            if (fd == wake_fd_) {
                std::uint64_t ignored = 0;
                [[maybe_unused]] const ssize_t got = read(wake_fd_, &ignored, sizeof ignored);
                continue;
            }
            // The vector may grow inside a handler, so it is looked up each time.
            const Watch& watch = watches_[static_cast<std::size_t>(fd)];
            const auto generation = static_cast<std::uint32_t>(event.data.u64 >> 32U);
            if (watch.handler == nullptr || watch.generation != generation) continue;
            watch.handler->on_ready(fd, event.events);
        }
        const bool late = !heap_.empty() && now_ - heap_.front()->at_ > kLate;
        if (count <= 0 || !late) break;
        wait = base::Duration::zero();
    }
    run_posted();
    fire_timers();
    longest_turn_ = std::max(longest_turn_, boot_now() - began);
}

void EventLoop::run_posted() {
    wake_pending_.store(false, std::memory_order_release);
    {
        const std::lock_guard lock(mutex_);
        running_.swap(posted_);
    }
    for (auto& work : running_) work();
    running_.clear();
}

base::Duration EventLoop::take_longest_turn() {
    return std::exchange(longest_turn_, base::Duration::zero());
}

// --- timers: a heap whose entries know their place ----------------------------------------------

bool EventLoop::before(const Timer& a, const Timer& b) {
    return a.at_ != b.at_ ? a.at_ < b.at_ : a.order_ < b.order_;
}

void EventLoop::place(std::size_t position, Timer* timer) {
    heap_[position] = timer;
    timer->position_ = position;
}

void EventLoop::sift_up(std::size_t position) {
    Timer* timer = heap_[position];
    while (position > 0) {
        const std::size_t parent = (position - 1) / 2;
        if (!before(*timer, *heap_[parent])) break;
        place(position, heap_[parent]);
        position = parent;
    }
    place(position, timer);
}

void EventLoop::sift_down(std::size_t position) {
    Timer* timer = heap_[position];
    while (true) {
        std::size_t child = 2 * position + 1;
        if (child >= heap_.size()) break;
        if (child + 1 < heap_.size() && before(*heap_[child + 1], *heap_[child])) ++child;
        if (!before(*heap_[child], *timer)) break;
        place(position, heap_[child]);
        position = child;
    }
    place(position, timer);
}

void EventLoop::arm(Timer& timer, base::BootTime at) {
    if (timer.armed()) cancel(timer);
    timer.at_ = at;
    timer.order_ = next_order_++;
    heap_.push_back(&timer);
    timer.position_ = heap_.size() - 1;
    sift_up(timer.position_);
}

void EventLoop::cancel(Timer& timer) {
    if (!timer.armed()) return;
    const std::size_t position = timer.position_;
    timer.position_ = Timer::kNotArmed;
    Timer* last = heap_.back();
    heap_.pop_back();
    if (last == &timer) return;
    place(position, last);
    sift_up(position);
    sift_down(last->position_);
}

void EventLoop::fire_timers() {
    const std::uint64_t first_of_next_turn = next_order_;
    // What is armed meanwhile has a higher order and waits, even if its time is past.
    while (!heap_.empty() && heap_.front()->at_ <= now_ &&
           heap_.front()->order_ < first_of_next_turn) {
        Timer& timer = *heap_.front();
        cancel(timer);
        bool gone = false;
        timer.gone_ = &gone;
        auto fire = std::move(timer.fire_);  // outlives the timer if that is destroyed in the call
        fire();
        if (gone) continue;
        timer.gone_ = nullptr;
        timer.fire_ = std::move(fire);
    }
}

}  // namespace pollux::net
