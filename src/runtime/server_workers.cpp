// Who works in the server: asked every second whether they are there, and measured.
#include <fmt/format.h>
#include <pthread.h>

#include <array>

#include "runtime/server.hpp"

namespace pollux::runtime {
namespace {

constexpr std::uint32_t kPatience = 5;      // turns of the house
constexpr std::uint64_t kMeasureEvery = 5;  // turns of the house
constexpr const char* kStoreThread = "pollux-store";
constexpr const char* kHistoryThread = "pollux-history";

// The main thread is called like the program.
std::string thread_name() {
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    return name.data();
}

// What the core let start and saw end: polls and jobs.
WorkCounts work_of(const CoreLoop::View& view) {
    const schedule::SchedulerCore& core = view.engine.core();
    WorkCounts work;
    work.memory_bytes = core.memory_bytes();
    work.active = core.in_flight();
    for (std::size_t i = 0; i < core.settings().classes.size(); ++i) {
        const auto index = static_cast<std::uint16_t>(i);
        const PollCounts& polls = view.stats.of_class(index).polls;
        const JobCounts& jobs = view.jobs.of_class(index);
        work.completed += polls.success + jobs.ok;
        work.failed += polls.failures() + jobs.failed;
    }
    return work;
}

}  // namespace

// Who does not answer cannot see: what devices seem to be meanwhile may be our own fault.
void Server::doubt_ourselves() {
    core_silent_ = core_answers_ ? 0 : core_silent_ + 1;
    if (!alerts_) return;
    std::string why;
    if (core_silent_ >= kPatience) why = "the core";
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        if (shard_silent_[i] < kPatience) continue;
        why += fmt::format("{}I/O thread {}", why.empty() ? "" : ", ", i);
    }
    if (!why.empty()) why += fmt::format(" of this server has not answered for {} s", kPatience);
    alerts_->suspect_ourselves(!why.empty(), why);
}

void Server::watch_workers() {
    doubt_ourselves();
    // The watchdog is fed by the core itself: a core that hangs must not look alive.
    if (!core_answers_) {
        log_.error("the core does not answer", {{"turns", std::to_string(core_->turns())}});
    }
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        if (shard_silent_[i] >= kPatience) {
            log_.error("an I/O thread does not answer", {{"shard", std::to_string(i)}});
        }
        ++shard_silent_[i];
        shards_[i]->ask_alive([this, i](WorkCounts work) {
            later([this, i, work] {
                shard_silent_[i] = 0;
                board_.seen(fmt::format("pollux-io-{}", i), net::wall_now(), work);
            });
        });
    }
    core_answers_ = false;
    core_->ask([this](const CoreLoop::View& view) {
        later([this, work = work_of(view)] {
            core_answers_ = true;
            board_.seen("pollux-core", net::wall_now(), work);
            options_.manager.feed_watchdog();
        });
    });
    desk_->ask_alive([this](WorkCounts work) {
        later([this, work] { board_.seen("pollux-inbound", net::wall_now(), work); });
    });
    if (alerts_) {
        alerts_->ask_alive([this](WorkCounts work) {
            later([this, work] { board_.seen("pollux-alerts", net::wall_now(), work); });
        });
    }
    board_.seen("pollux-job", net::wall_now(), jobs_->pool());
    board_.seen(thread_name(), net::wall_now(), std::nullopt);
    note_writers();
    // The first two readings come soon, so that there is a share to be seen.
    if (house_turn_ <= 2 || house_turn_ % kMeasureEvery == 0) {
        board_.measure(thread_stats(), net::instant_now());
    }
}

// Writers answer nobody: who has nothing to do is fine, and so is who gets on.
void Server::note_writers() {
    const store::StoreStats store = store_->stats();
    const std::uint64_t steps = store.commits + store.failures;
    if (store.queue_depth == 0 || steps != std::exchange(store_steps_, steps)) {
        board_.seen(kStoreThread, net::wall_now(),
                    WorkCounts{store.queue_depth, store.commits, store.failures});
    }
    board_.set_failing(kStoreThread, store.failing);
    if (!history_) return;
    const store::HistoryStats history = history_->stats();
    const std::uint64_t written = history.commits + history.failures;
    if (history.queue_samples == 0 || written != std::exchange(history_steps_, written)) {
        board_.seen(kHistoryThread, net::wall_now(),
                    WorkCounts{history.queue_samples, history.commits, history.failures,
                               history.memory_bytes});
    }
    board_.set_failing(kHistoryThread, history.failing);
}

}  // namespace pollux::runtime
