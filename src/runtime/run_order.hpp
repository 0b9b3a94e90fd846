// What travels between the core and the shards: runs to do, and how they ended.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "model/alert_policy.hpp"
#include "model/ask.hpp"
#include "model/failure.hpp"
#include "model/job.hpp"
#include "model/run.hpp"

namespace pollux::extract {
class CompiledAddon;
}

namespace pollux::runtime {

struct JobWork;

// How one task is polled: immutable, replaced whole by an edit, shared by the core and its shard.
struct PollPlan {
    std::string key;
    std::string class_name;  // the addon
    std::string device;
    std::string target_id;  // what history refers to
    std::shared_ptr<const extract::CompiledAddon> addon;
    std::size_t group = 0;
    // The requests, in their order, for each address of the device; another address is tried after
    // one did not answer.
    std::vector<std::vector<std::shared_ptr<const model::Ask>>> asks;
    std::string problem;  // not empty: cannot be polled, and why (credentials, parameters)
    std::string paused;   // not empty: is not to be polled, and why; an operator cannot enable it
    std::vector<std::pair<std::string, std::string>> labels;
    std::size_t shard = 0;         // by a hash of the host: one device, one thread
    base::Duration stale_after{};  // values older than this are not shown any more
    bool history = true;
    model::AlertPolicy alerts;  // what the fleet says over the addon
    // Not null: work that is done once, see jobs/job_work.hpp. With an addon it asks and reads as a
    // poll does, and nothing of it is kept but what it shows.
    std::shared_ptr<const JobWork> job;
};

struct RunOrder {
    model::TaskHandle task;
    model::RunId run;
    base::BootTime deadline;
    std::uint32_t attempt = 1;
    model::Trigger trigger = model::Trigger::kSchedule;
    bool fresh_login = false;
    std::shared_ptr<const PollPlan> plan;
};

// Where the time of a run went, all its requests together.
enum class RunPhase : std::uint8_t { kDns, kConnect, kTls, kWait, kRead };
inline constexpr std::size_t kRunPhases = 5;

struct RunCost {
    std::uint32_t requests = 0;
    std::uint64_t bytes = 0;  // both ways
    std::array<base::Duration, kRunPhases> phases{};
};

// The first values that a manifest names, as the newest poll read them: what a list shows of a
// target. Immutable, made by the shard.
struct Headline {
    struct Value {
        std::uint16_t metric = 0;  // index into Addon::metrics
        std::string row;           // empty: the target itself
        double value = 0;
    };
    std::shared_ptr<const extract::CompiledAddon> addon;
    std::vector<Value> values;  // at most kMostHeadlines
};
inline constexpr std::size_t kMostHeadlines = 2;

// What a failed run says about the device itself.
enum class Heard : std::uint8_t {
    kSilence,  // it was asked, and nothing came back
    kAnswer,   // something came back, only not what was asked for: it lives
    kNothing,  // it was not asked
};

struct RunReport {
    model::TaskHandle task;
    model::RunId run;
    model::Trigger trigger = model::Trigger::kSchedule;
    model::Outcome outcome = model::Outcome::kOk;
    bool has_digest = false;
    std::uint64_t digest = 0;
    base::Duration duration{};
    base::Duration retry_after{};
    base::Duration job_delay{};  // see schedule::RunFinished
    std::uint32_t problems = 0;  // values that were missing or out of range
    model::FailureKind kind = model::FailureKind::kNone;
    Heard heard = Heard::kSilence;       // of a failure
    std::string code;                    // of a failure
    std::string message;                 // of a failure; no secret
    std::shared_ptr<model::JobRun> job;  // of a job: output, exit status and log
    RunCost cost;
    std::shared_ptr<const Headline> headline;  // of a success; null: no number to show
};

struct RunCancel {
    model::TaskHandle task;
    model::RunId run;
};

}  // namespace pollux::runtime
