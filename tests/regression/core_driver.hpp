// Drives one scheduler core through a story: virtual time, workers that answer as told, and a log
// of every start. Tests say what happens; the driver does the stepping.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/run.hpp"
#include "model/settings.hpp"
#include "model/task_spec.hpp"
#include "model/tier.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::tests {

// What a worker reports about one run, and when.
struct Reply {
    model::Outcome outcome = model::Outcome::kOk;
    base::Duration after = std::chrono::milliseconds(20);
    std::optional<std::uint64_t> digest = std::nullopt;
    base::Duration retry_after{};
    bool lost = false;  // the worker dies: nobody ever reports
};

struct LoggedStart {
    double at_s = 0;   // since the start of the story
    double due_s = 0;  // what it was planned for
    std::string key;
    model::Trigger trigger = model::Trigger::kSchedule;
    bool fresh_login = false;
};

// One class named "c", adaptive polling off, nothing scarce.
model::CoreSettings roomy_settings(std::initializer_list<std::string_view> classes = {"c"});

model::TaskSpec fixed_task(std::string key, base::Duration every);
model::TaskSpec adaptive_task(std::string key, base::Duration min, base::Duration base,
                              base::Duration max);
model::TaskSpec job(std::string key);
model::TaskSpec long_job(std::string key);  // may run for a day: holds a slot as long as wanted
model::TaskSpec with_device(model::TaskSpec spec, std::string device);
model::TaskSpec with_tier(model::TaskSpec spec, model::Tier tier);
model::TaskSpec with_needs(model::TaskSpec spec, model::NeedGroup group);
std::vector<model::TaskSpec> fleet(std::string_view class_name, int count,
                                   const model::TaskSpec& like);
model::NeedGroup needs_task(std::string key);
model::NeedGroup needs_device(std::string name);

class CoreDriver {
  public:
    using Worker = std::function<Reply(const std::string& key, double now_s)>;

    explicit CoreDriver(model::CoreSettings settings);

    static Worker always(Reply reply);  // answers every run alike

    // Who answers runs. Without one, runs stay open until finish() is called.
    void set_worker(Worker worker) { worker_ = std::move(worker); }

    // Input, applied in one step at the current time.
    void apply(std::vector<schedule::Event> events);
    void apply(schedule::Event event);
    void add(model::TaskSpec spec);
    void add_all(std::vector<model::TaskSpec> specs);
    void remove(const std::string& key);
    void finish(const std::string& key, model::Outcome outcome = model::Outcome::kOk);
    void finish(const std::string& key, const Reply& reply);
    void finish_all(model::Outcome outcome = model::Outcome::kOk);  // in one step
    void operate(schedule::OperatorVerb verb, const std::string& key = "");
    void poke(const std::string& key);
    void parent(const std::string& device, bool healthy);
    void credit(const std::string& region, std::int64_t amount);
    void change_settings(model::CoreSettings settings);

    // Lets time pass: steps when the core asks for it, and delivers what workers owe.
    void run_until(double at_s);
    void run_for(double seconds) { run_until(now_s() + seconds); }

    // Until the task runs; false: it did not start within the limit.
    bool run_to_start(const std::string& key, double limit_s = 7200);

    // Until it has failed so many times more; each run fails as soon as it starts.
    void fail(const std::string& key, int times,
              model::Outcome outcome = model::Outcome::kTransient);

    // The process dies and starts again later with what `record()` held: a new core and epoch.
    void restart(double down_s);

    double now_s() const;
    base::Instant now() const { return now_; }
    double second_of(base::BootTime time) const;
    base::BootTime time_at(double at_s) const;

    const schedule::SchedulerCore& core() const { return *core_; }
    schedule::SchedulerCore& core() { return *core_; }
    const schedule::Commands& commands() const { return commands_; }
    const std::vector<LoggedStart>& starts() const { return starts_; }
    std::vector<LoggedStart> starts_of(std::string_view key) const;
    std::vector<double> start_times(std::string_view key) const;
    std::vector<double> gaps(std::string_view key) const;  // between one start and the next
    std::vector<std::string> started_keys() const;         // in order
    std::size_t most_starts_within(double window_s) const;
    void forget_starts() { starts_.clear(); }

    model::TaskHandle handle(const std::string& key) const;
    const schedule::TaskSlot& slot(const std::string& key) const;
    schedule::FailureStory failure(const std::string& key) const;
    schedule::Freshness freshness(const std::string& key) const;
    schedule::Explanation explain(const std::string& key) const;
    double next_due_s(const std::string& key) const;
    double wait_s(const std::string& key) const { return next_due_s(key) - now_s(); }
    bool runs(const std::string& key) const { return open_.contains(key); }
    std::size_t running() const { return open_.size(); }
    std::size_t most_at_once() const { return most_at_once_; }
    const std::vector<schedule::Change>& changes() const { return changes_; }
    const std::vector<schedule::Rejection>& rejections() const { return rejections_; }

  private:
    struct Owed {
        schedule::RunFinished result;
        std::string key;
    };

    void step(std::vector<schedule::Event> events);
    void take_start(const schedule::StartRun& start);

    base::Instant start_;
    base::Instant now_;
    std::uint32_t epoch_ = 1;
    std::unique_ptr<schedule::SchedulerCore> core_;
    schedule::Commands commands_;
    Worker worker_;
    std::multimap<std::int64_t, Owed> owed_;
    std::map<std::string, model::RunId> open_;
    std::map<std::string, model::TaskSpec> specs_;
    std::vector<LoggedStart> starts_;
    std::vector<schedule::Change> changes_;
    std::vector<schedule::Rejection> rejections_;
    std::size_t most_at_once_ = 0;
};

}  // namespace pollux::tests
