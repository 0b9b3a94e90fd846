// The whole path of a poll through the core: the timer fires, the gates open, the run starts, its
// result comes 20 ms later, the next one is armed. Time is virtual and goes in steps of 1 ms; only
// what is spent inside the core's step() counts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/result_table.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::bench {

inline constexpr std::uint64_t kBaseMs = 60'000;

// What a device answers: it changes once in a while, some every minute, some once a day.
constexpr std::uint64_t digest_at(std::uint32_t task, std::uint64_t now_ms) {
    const std::uint64_t period_ms = kBaseMs << (scatter(task) % 11);
    return (now_ms + scatter(task ^ 0xD16E57U) % period_ms) / period_ms;
}

// The production core.
class CoreSubject {
  public:
    CoreSubject(std::uint32_t tasks, model::PolicyKind policy)
        : core_(at(0), 1, settings(tasks, policy)) {
        auto specs = std::make_shared<std::vector<model::TaskSpec>>();
        specs->reserve(tasks);
        for (std::uint32_t i = 0; i < tasks; ++i) {
            model::TaskSpec spec;
            spec.key = fmt::format("bench::device-{}", i);
            spec.device = fmt::format("device-{}", i);
            using std::chrono::seconds;
            spec.cadence = model::Cadence::adaptive(seconds(5), seconds(60), seconds(300));
            specs->push_back(std::move(spec));
        }
        const std::vector<schedule::Event> load = {schedule::TasksUpserted{std::move(specs)}};
        core_.step(at(0), load, out_);
        write_behind();
        out_ = {};
    }

    void add_result(schedule::StartRun start, std::uint64_t now_ms) {
        schedule::RunFinished result;
        result.task = start.task;
        result.run = start.run;
        result.has_digest = true;
        result.digest = digest_at(start.task.index, now_ms);
        events_.emplace_back(result);
    }
    void step(std::uint64_t now_ms) { core_.step(at(now_ms), events_, out_); }
    std::span<const schedule::StartRun> starts() const { return out_.starts; }
    void end_step() {
        write_behind();
        out_.clear();
        events_.clear();
    }
    std::uint64_t polls() const { return core_.stats().finished; }
    const schedule::SchedulerCore& core() const { return core_; }

  private:
    static base::Instant at(std::uint64_t ms) {
        constexpr std::int64_t kWallStart = 1'700'000'000'000'000;
        const auto count = static_cast<std::int64_t>(ms);
        return {base::BootTime{count * 1'000'000}, base::WallTime{kWallStart + count * 1000}};
    }
    static model::CoreSettings settings(std::uint32_t tasks, model::PolicyKind policy) {
        model::CoreSettings settings;
        settings.mode = policy == model::PolicyKind::kFixed ? model::AdaptiveMode::kOff
                                                            : model::AdaptiveMode::kOn;
        settings.global_rate = static_cast<double>(tasks) / 25;  // more than twice what is needed
        settings.global_slots = 100'000;
        settings.max_starts_per_step = 1000;
        settings.seed = 1;
        model::ClassSettings only;
        only.name = "bench";
        only.policy = policy;
        settings.classes = {only};
        return settings;
    }
    // What the persistence pump does: takes the rows, so that the next change asks again.
    void write_behind() {
        for (const auto& persist : out_.persists) core_.take_record(persist.task);
    }

    schedule::SchedulerCore core_;
    schedule::Commands out_;
    std::vector<schedule::Event> events_;
};

// The least a scheduler can do: a heap of due times and a record for each task. No limits of any
// kind, no deadlines, no failures, no learning.
class HeapSubject {
  public:
    struct Start {
        std::uint32_t task;
    };
    explicit HeapSubject(std::uint32_t tasks) : tasks_(tasks) {
        for (std::uint32_t i = 0; i < tasks; ++i) heap_.push({scatter(i) % kBaseMs, i});
    }
    void add_result(Start start, std::uint64_t now_ms) {
        results_.push_back({start.task, digest_at(start.task, now_ms)});
    }
    void step(std::uint64_t now_ms) {
        for (const auto& [task, digest] : results_) {
            Task& own = tasks_[task];
            own.running = false;
            own.last_success_ms = now_ms;
            if (own.digest != digest) own.last_change_ms = now_ms;
            own.digest = digest;
            own.due_ms += kBaseMs;
            heap_.push({own.due_ms, task});
            ++polls_;
        }
        while (!heap_.empty() && heap_.top().first <= now_ms) {
            Task& own = tasks_[heap_.top().second];
            own.due_ms = heap_.top().first;
            own.running = true;
            ++own.attempt;
            starts_.push_back({heap_.top().second});
            heap_.pop();
        }
    }
    std::span<const Start> starts() const { return starts_; }
    void end_step() {
        starts_.clear();
        results_.clear();
    }
    std::uint64_t polls() const { return polls_; }

  private:
    struct Task {
        std::uint64_t due_ms = 0;
        std::uint64_t last_success_ms = 0;
        std::uint64_t last_change_ms = 0;
        std::uint64_t digest = 0;
        std::uint32_t attempt = 0;
        bool running = false;
    };
    using Due = std::pair<std::uint64_t, std::uint32_t>;

    std::vector<Task> tasks_;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> heap_;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> results_;
    std::vector<Start> starts_;
    std::uint64_t polls_ = 0;
};

// Drives a subject; run() returns the time inside step(), per poll that finished.
template <class Subject>
class PollLoop {
  public:
    template <class... Args>
    explicit PollLoop(Args&&... args) : subject_(std::forward<Args>(args)...) {}

    double run(std::uint64_t steps) {
        const std::uint64_t before = subject_.polls();
        const CoreShare share;
        std::int64_t spent_ns = 0;
        for (std::uint64_t i = 0; i < steps; ++i) spent_ns += step();
        const auto polls = static_cast<double>(subject_.polls() - before);
        return static_cast<double>(spent_ns) * share.now() / polls;
    }
    const Subject& subject() const { return subject_; }

  private:
    using Start = std::remove_cvref_t<decltype(std::declval<Subject>().starts()[0])>;

    std::int64_t step() {
        ++now_ms_;
        auto& arrived = in_flight_[now_ms_ % kRing];
        for (const Start& start : arrived) subject_.add_result(start, now_ms_);
        arrived.clear();
        const auto start = Clock::now();
        subject_.step(now_ms_);
        const std::int64_t spent_ns = nanos_since(start);
        for (const Start& one : subject_.starts()) {
            const std::uint64_t latency_ms = 16 + ++counter_ % 9;
            in_flight_[(now_ms_ + latency_ms) % kRing].push_back(one);
        }
        subject_.end_step();
        return spent_ns;
    }

    static constexpr std::uint64_t kRing = 32;
    Subject subject_;
    std::array<std::vector<Start>, kRing> in_flight_;
    std::uint64_t now_ms_ = 0;
    std::uint64_t counter_ = 0;
};

// One round: every task is polled once at its base.
template <class Subject>
Slices measure_rounds(PollLoop<Subject>& loop) {
    constexpr int kRounds = 5;
    Slices slices;
    loop.run(kBaseMs + kBaseMs / 2);  // the first answers, and whatever grows with them
    for (int round = 0; round < kRounds; ++round) slices.add(loop.run(kBaseMs));
    return slices;
}

// What the names cost: the strings themselves and what they hold on the heap.
inline double string_bytes(const schedule::SchedulerCore& core) {
    std::size_t bytes = 0;
    const auto count = [&](const std::string& text) {
        const bool inside = text.capacity() < sizeof(std::string) / 2;
        bytes += sizeof(std::string);
        // The allocator adds 8 bytes and rounds up to 16.
        if (!inside) bytes += (text.capacity() + 1 + 8 + 15) / 16 * 16;
    };
    for (std::uint32_t i = 0; i < core.capacity(); ++i) count(core.key(core.handle_at(i)));
    for (std::uint32_t i = 0; i < core.devices().size(); ++i) count(core.devices().name(i));
    return static_cast<double>(bytes);
}

inline void report_memory(ResultTable& table, const schedule::SchedulerCore& core,
                          double resident) {
    constexpr double kGoal = 256;
    const auto tasks = static_cast<double>(core.size());
    const double counted = static_cast<double>(core.memory_bytes()) / tasks;
    const double strings = string_bytes(core);
    const double real = (resident - strings) / tasks;
    table.add({"core: memory of a task, by its own count", fmt::format("{:.0f} B", counted),
               "<= 256 B", counted <= kGoal, "", "", 0});
    table.add({"core: memory of a task, resident",
               fmt::format("{:.0f} B + {:.0f} B names", real, strings / tasks), "<= 256 B",
               real <= kGoal, "", "", 0});
}

inline void measure_core(ResultTable& table, std::uint32_t tasks) {
    constexpr double kFixedGoal = 1000;
    constexpr double kOptimalGoal = 2000;
    Slices peers;
    {
        PollLoop<HeapSubject> loop(tasks);
        peers = measure_rounds(loop);
    }
    const auto add = [&](const char* what, const char* goal, double limit, const Slices& ours) {
        table.add({what, ours.text("ns"), goal, ours.median() <= limit, "heap without gates",
                   peers.text("ns"), peers.median() / ours.median()});
    };
    {
        PollLoop<CoreSubject> loop(tasks, model::PolicyKind::kFixed);
        add("core: one poll, fixed", "<= 1000 ns", kFixedGoal, measure_rounds(loop));
    }
    const double before = resident_bytes();
    PollLoop<CoreSubject> loop(tasks, model::PolicyKind::kOptimal);
    add("core: one poll, optimal", "<= 2000 ns", kOptimalGoal, measure_rounds(loop));
    report_memory(table, loop.subject().core(), resident_bytes() - before);
}

}  // namespace pollux::bench
