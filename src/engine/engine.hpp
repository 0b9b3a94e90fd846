// The core with its persistence: what the simulator and the server both run, unchanged. Pure: the
// owner carries commands to workers and batches to a store, and brings their answers back.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "engine/persistence_pump.hpp"
#include "model/settings.hpp"
#include "schedule/command.hpp"
#include "schedule/event.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::engine {

struct StoreAnswer {
    std::uint64_t sequence = 0;
    bool committed = true;
};

struct Output {
    schedule::Commands commands;
    std::shared_ptr<const WriteBatch> batch;  // to be written now
    std::vector<TaskChange> visible;          // may be shown and sent
    base::BootTime wake_at = base::BootTime::max();
};

class Engine {
  public:
    // epoch: bumped and made durable by the owner before this. first_change: see PersistencePump.
    Engine(base::Instant now, std::uint32_t epoch, std::uint64_t first_change,
           model::CoreSettings settings, PumpOptions options = {})
        : core_(now, epoch, std::move(settings)), pump_(first_change, options) {}

    void step(base::Instant now, std::span<const schedule::Event> events,
              std::span<const StoreAnswer> answers, Output& out) {
        decide(now, events, answers, out);
        write(now, out);
    }

    // The two halves of a step, for an owner that records between them what the first one did.
    void decide(base::Instant now, std::span<const schedule::Event> events,
                std::span<const StoreAnswer> answers, Output& out) {
        out.commands.clear();
        out.batch.reset();
        out.visible.clear();
        for (const StoreAnswer& answer : answers) {
            auto visible = answer.committed ? pump_.committed(answer.sequence)
                                            : pump_.failed(now, answer.sequence);
            for (auto& change : visible) out.visible.push_back(std::move(change));
        }
        core_.step(now, events, out.commands);
        pump_.absorb(now, core_, out.commands);
    }
    // See PersistencePump::record().
    void record(base::Instant now, model::AuditEntry entry,
                std::span<const model::TaskHandle> tasks) {
        pump_.record(now, std::move(entry), tasks);
    }
    void write(base::Instant now, Output& out) {
        out.batch = pump_.next_batch(now, core_);
        out.wake_at = std::min(out.commands.wake_at, std::max(pump_.next_wake(), now.boot));
    }

    // A run of a job that the next step is told of, or that the last one began.
    void note(base::Instant now, model::JobRun run) { pump_.note(now, std::move(run)); }

    schedule::SchedulerCore& core() { return core_; }
    const schedule::SchedulerCore& core() const { return core_; }
    const PersistencePump& pump() const { return pump_; }

  private:
    schedule::SchedulerCore core_;
    PersistencePump pump_;
};

}  // namespace pollux::engine
