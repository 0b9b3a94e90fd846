// What the desk of alerts asks the scheduler now and then: how tasks stand whose failure is not
// confirmed yet, and once in a while how the whole is doing. Questions run on the core's thread
// between two steps and are short; answers come on the loop of the desk.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "alert/self_census.hpp"
#include "base/time.hpp"
#include "net/event_loop.hpp"
#include "observe/histogram.hpp"
#include "runtime/core_loop.hpp"
#include "runtime/task_rows.hpp"

namespace pollux::runtime {

// The whole of one moment.
struct FleetHealth {
    alert::SelfSnapshot self;
    std::vector<std::string> stale;  // tasks over their bound that do not fail; bounded
    // Tasks that fail, by what the failure says; sorted, bounded.
    std::vector<std::string> answering;          // their device answers, with an error
    std::vector<std::string> unresolved;         // the name of their device was not found out
    std::vector<std::string> unresolved_lately;  // of these, since kRecent
};

// CPU time of a thread so far.
struct WorkerCpu {
    std::string name;
    double seconds = 0;
};
using WorkerCpus = std::map<int, WorkerCpu>;  // by id of the thread

// The busiest of the threads that were there at both times: its share of one CPU, and its name.
std::optional<std::pair<double, std::string>> busiest_worker(const WorkerCpus& before,
                                                             const WorkerCpus& now,
                                                             base::Duration elapsed);

// Targets that people know of already: left out of the counts.
using KnownTargets = std::shared_ptr<const std::set<std::string, std::less<>>>;

class HealthWatch {
  public:
    static constexpr base::Duration kLookEvery = std::chrono::seconds(1);
    static constexpr base::Duration kSurveyEvery = std::chrono::seconds(10);
    // A survey looks at every task: with more of them it is made less often.
    static constexpr std::size_t kTasksPerSurvey = 100'000;
    static constexpr std::size_t kMostStale = 10'000;
    // Rates are of the last so long.
    static constexpr base::Duration kWindow = alert::SelfCensus::kWindow;
    static constexpr base::Duration kRecent = std::chrono::minutes(5);

    using Rows = std::function<void(std::vector<TaskRow>)>;
    using Survey = std::function<void(FleetHealth)>;

    // Both outlive it; the loop is kept by what is asked of the core.
    HealthWatch(std::shared_ptr<net::EventLoop> loop, CoreLoop& core, Rows rows, Survey survey);
    ~HealthWatch();

    // How these tasks stand; those that are gone are left out.
    void look(std::vector<std::string> tasks);
    // All tasks that fail: at the start.
    void look_at_failing();
    void survey(KnownTargets known);
    bool survey_due() const { return !surveying_ && loop_->now() >= not_before_; }

  private:
    struct Life;  // tells an answer of the core whether there still is somebody to hear it
    using Lag = observe::Histogram<observe::kQueueWaitBounds>;
    struct Moment {
        base::BootTime at;
        std::uint64_t polls = 0;
        Lag lag;
        WorkerCpus cpu;
    };
    // What the core says of one moment.
    struct Reading {
        FleetHealth health;
        alert::SelfReading polls;
        Lag lag;
    };
    static Reading survey_of(const CoreLoop::View& view, const KnownTargets& known);

    void ask_rows(std::move_only_function<std::vector<TaskRow>(const CoreLoop::View&)> ask);
    void take(Reading reading);

    std::shared_ptr<net::EventLoop> loop_;
    CoreLoop& core_;
    Rows rows_;
    Survey survey_;
    std::shared_ptr<Life> life_;
    bool looking_ = false;
    bool surveying_ = false;
    base::BootTime not_before_;  // the next survey
    alert::SelfCensus census_;
    std::deque<Moment> moments_;  // of the window, the oldest first
};

}  // namespace pollux::runtime
