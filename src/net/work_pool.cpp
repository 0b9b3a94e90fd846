#include "net/work_pool.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <utility>

namespace pollux::net {

WorkPool::WorkPool(std::size_t threads, std::size_t queue_limit) : queue_limit_(queue_limit) {
    threads_.reserve(std::max<std::size_t>(threads, 1));
    while (threads_.size() < std::max<std::size_t>(threads, 1)) {
        threads_.emplace_back([this] {
            pthread_setname_np(pthread_self(), "pollux-pool");
            run();
        });
    }
}

WorkPool::~WorkPool() {
    {
        const std::scoped_lock lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

base::Status WorkPool::submit(Work work) {
    {
        const std::scoped_lock lock(mutex_);
        if (waiting_.size() >= queue_limit_) {
            return base::make_error(
                base::ErrorClass::kTransient, "net.pool-full",
                fmt::format("{} pieces of work wait already; try again later", waiting_.size()));
        }
        waiting_.push_back(std::move(work));
    }
    changed_.notify_one();
    return {};
}

std::size_t WorkPool::waiting() const {
    const std::scoped_lock lock(mutex_);
    return waiting_.size();
}

void WorkPool::run() {
    while (true) {
        Work work;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
            if (waiting_.empty()) return;
            work = std::move(waiting_.front());
            waiting_.pop_front();
        }
        work();
    }
}

}  // namespace pollux::net
