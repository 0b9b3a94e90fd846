// From the replies of a poll to what they mean: the part of a poll that needs no network. Used by
// the shards, by `pollux poll` and by the cases of addons.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "derive/target_memory.hpp"
#include "extract/compiled_addon.hpp"
#include "model/reading.hpp"
#include "model/reply.hpp"
#include "model/signal.hpp"
#include "runtime/device_page.hpp"
#include "runtime/run_order.hpp"
#include "runtime/series_directory.hpp"
#include "store/history/history.hpp"

namespace pollux::runtime {

struct PollReading {
    model::Outcome outcome = model::Outcome::kOk;
    model::PollFailure failure;  // of a poll that failed
    model::Readings readings;
    model::Observation observation;
};

// Takes the replies as far as they came; null: was not asked. A poll without failure that lacks a
// part is degraded.
PollReading read_poll(const PollPlan& plan, std::span<const model::Reply* const> replies,
                      derive::TargetMemory& memory, base::Instant now,
                      extract::Trace* trace = nullptr);
PollReading read_poll(const PollPlan& plan, const std::vector<model::Reply>& replies,
                      derive::TargetMemory& memory, base::Instant now,
                      extract::Trace* trace = nullptr);

void describe(PollReading& reading, RunReport& report);
// What the requests of a poll that failed heard of the device, by the answers that they got.
Heard heard_of(const model::Ask& ask, std::span<const model::Reply* const> given);

// Adds one reply to what its run took.
void add_cost(RunCost& cost, const model::Reply& reply);

// The numbers that a list shows of a target: the first ones of the manifest that belong to the
// target itself, else the first one of a row. Null: there is none.
std::shared_ptr<const Headline> make_headline(const PollPlan& plan,
                                              const derive::TargetMemory& memory);

// Adds what the conditions of a successful poll say to what its signals say.
void add_conditions(const PollPlan& plan, const PollReading& reading,
                    const derive::TargetMemory& memory, model::PollSignals& signals);

// The lines of a target on the page of devices: its values and their age.
void add_values(DevicePage& page, const PollPlan& plan, const derive::TargetMemory& memory,
                base::BootTime answered, base::BootTime now);

// Gives every series of the memory that has none an id in history; `ids` is by slot, 0: none could
// be had.
void define_series(const PollPlan& plan, const derive::TargetMemory& memory,
                   store::History& history, const SeriesDirectory& known,
                   std::vector<std::int64_t>& ids, store::SampleBatch& batch);

}  // namespace pollux::runtime
