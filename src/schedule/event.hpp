// What goes into the core. Bulky payloads are shared and immutable, so that an event stays small
// and a recorded one can be replayed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/run.hpp"
#include "model/settings.hpp"
#include "model/task_record.hpp"
#include "model/task_spec.hpp"

namespace pollux::schedule {

// Added or changed, by key. All of a batch is taken, or none of it.
struct TasksUpserted {
    std::shared_ptr<const std::vector<model::TaskSpec>> specs;
    std::uint64_t correlation = 0;  // comes back in a rejection
};

struct TaskRemoved {
    std::string key;
    std::uint64_t correlation = 0;
};

struct RestoredTask {
    model::TaskSpec spec;
    model::TaskRecord record;
};

// The state found in the store at start. Overdue tasks are spread, see recovery_spread.hpp.
struct TasksRestored {
    std::shared_ptr<const std::vector<RestoredTask>> tasks;
    std::uint64_t correlation = 0;
};

struct RunFinished {
    model::TaskHandle task;
    model::RunId run;
    model::Outcome outcome = model::Outcome::kOk;
    bool has_digest = false;
    std::uint64_t digest = 0;      // of meaning, not of bytes; compared with the previous one
    float known_rate = 0;          // changes per second where the source knows them; 0: unknown
    base::Duration retry_after{};  // the device asked us to wait (HTTP 429, 503)
    base::Duration job_delay{};    // of a failed job: until its next attempt; zero: the ladder's
};

// The holder of the run is gone; nobody will report. Never counts as a failure.
struct RunExpired {
    model::TaskHandle task;
    model::RunId run;
};

// Fresh data without a run: one answer about a cluster refreshes all of its guests.
struct Observed {
    model::TaskHandle task;
    base::BootTime at;
    bool changed = false;
};

enum class PokeReason : std::uint8_t {
    kTrap,
    kWebhook,
    kParentRecovered,
    kEdited,
    kOperator,
    kVerify,  // somebody behind it does not answer: does it?
};

struct Poked {
    model::TaskHandle task;
    PokeReason reason = PokeReason::kTrap;
};

struct ParentChanged {
    std::string device;
    bool healthy = true;
};

struct DeviceChanged {
    std::shared_ptr<const model::DeviceSpec> spec;
    std::uint64_t correlation = 0;
};

// How many runs the workers of a region can take at once. A region nobody serves has none.
struct CreditChanged {
    std::string region;
    std::int64_t credit = 0;
};

enum class OperatorVerb : std::uint8_t {
    kTriggerNow,
    kEnable,
    kDisable,
    kResetBreaker,
    kRetryDeadLetter,
    kRemoveDeadLetter,  // takes the label off and disables the task
    kCancelJob,
    kResetAllBreakers,
    kRetryAllDeadLetters,
    kClearDeadLetter,  // takes the label off; it is polled on as if it had never failed
    kRetryJob,         // a job that failed or was cancelled goes through all gates again
};

// Which tasks the two verbs that mean all are about. A key that nobody knows, or whose task has
// nothing to be done, is passed over.
struct OperatorFilter {
    std::vector<std::string> keys;  // empty: any
    std::string class_name;         // empty: any
    bool operator==(const OperatorFilter&) const = default;
};

struct OperatorAction {
    OperatorVerb verb = OperatorVerb::kTriggerNow;
    std::string key;  // empty for the two that mean all
    std::uint64_t correlation = 0;
    std::shared_ptr<const OperatorFilter> filter = nullptr;  // null: all
};

struct SettingsChanged {
    std::shared_ptr<const model::CoreSettings> settings;
    std::uint64_t correlation = 0;
};

struct Tick {};

using Event = std::variant<TasksUpserted, TaskRemoved, TasksRestored, RunFinished, RunExpired,
                           Observed, Poked, ParentChanged, DeviceChanged, CreditChanged,
                           OperatorAction, SettingsChanged, Tick>;

}  // namespace pollux::schedule
