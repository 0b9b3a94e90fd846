// One-shot work as people ask for it: a job, the states it goes through, and what a run of it left
// behind. Plain data. How jobs hang together is checked in config/job_graph.hpp; when one starts is
// decided by the core, which knows it as a task that runs once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/run.hpp"
#include "model/task_spec.hpp"
#include "model/tier.hpp"

namespace pollux::model {

inline constexpr std::size_t kMostJobsPerBatch = 10'000;
inline constexpr std::size_t kMostStoredJobs = 100'000;
inline constexpr std::size_t kMostJobOutput = 64U << 10U;  // bytes kept of a run
inline constexpr std::size_t kMostJobLogLines = 200;
inline constexpr std::size_t kMostJobLogLine = 500;  // bytes of one line
inline constexpr std::size_t kMostRunsPerJob = 20;   // kept; the oldest go first

struct RetryPolicy {
    std::int64_t attempts = 1;
    base::Duration backoff{};  // doubles with each attempt; zero: 5 s to 60 s, as failures of polls
    bool operator==(const RetryPolicy&) const = default;
};

struct JobSpec {
    std::string id;     // UUIDv7
    std::string name;   // unique within its batch
    std::string batch;  // UUIDv7; jobs that were submitted together
    std::string type;
    Tier tier = Tier::kNormal;
    // All groups must be met, each by any one of its members: ids, or names within the batch until
    // the batch is submitted.
    std::vector<std::vector<std::string>> depends_on;
    std::vector<ResourceDemand> resources;  // sorted by name
    std::int64_t slots = 1;
    base::Duration timeout{};   // of one attempt
    base::Duration estimate{};  // how long it is expected to take; zero: what its type took so far
    RetryPolicy retry;
    ParentFailure on_parent_failure = ParentFailure::kFail;
    bool hold = false;      // submitted, but not to start before it is released
    std::string arguments;  // canonical JSON, as its type declares them
    std::string target;     // `addon::device`; empty: none
    std::string device;     // whose slots it takes; empty: none
    std::string created_by;
    base::WallTime created_at;
    std::map<std::string, std::string, std::less<>> labels;
    bool operator==(const JobSpec&) const = default;
};

enum class JobPhase : std::uint8_t {
    kPending,  // accepted; waits for its time, or is held
    kBlocked,  // waits for other jobs
    kReady,    // waits for its turn or for room
    kRunning,
    kCompleted,  // for good
    kFailed,
    kCancelled,
};

inline constexpr std::size_t kJobPhaseCount = 7;
inline constexpr std::array<std::string_view, kJobPhaseCount> kJobPhaseNames = {
    "pending", "blocked", "ready", "running", "completed", "failed", "cancelled"};

constexpr std::string_view to_string(JobPhase phase) {
    return kJobPhaseNames[static_cast<std::size_t>(phase)];
}

constexpr bool has_ended(JobPhase phase) { return phase >= JobPhase::kCompleted; }

// The one table of what may follow what.
bool may_follow(JobPhase from, JobPhase to);

// Where the job is after the step, or why it stays where it is: job.transition, which names both.
base::Result<JobPhase> transition(JobPhase from, JobPhase to);

// One attempt of a job, as it is kept.
struct JobRun {
    std::string key;  // of the task
    RunId run;
    std::uint32_t attempt = 0;
    base::WallTime started;
    base::WallTime finished;  // kNever: it is under way
    Outcome outcome = Outcome::kInterrupted;
    int exit_status = 0;
    std::string code;     // of a failure
    std::string message;  // of a failure; no secret
    std::string output;   // at most kMostJobOutput
    bool truncated = false;
    std::vector<std::string> log;  // at most kMostJobLogLines
    bool operator==(const JobRun&) const = default;
};

// Cuts output and log to what is kept, on a whole character.
void keep_bounds(JobRun& run);

// The class that the core counts jobs of a type by.
std::string job_class(std::string_view type);
std::string job_key(std::string_view type, std::string_view id);

}  // namespace pollux::model
