// The types of jobs there are, each declared in one place: share, limits, defaults, arguments, and
// how a job of it is run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/fleet.hpp"
#include "config/job_graph.hpp"
#include "config/secret_reference.hpp"
#include "config/settings.hpp"
#include "model/job.hpp"
#include "model/job_type.hpp"
#include "model/settings.hpp"
#include "net/egress_policy.hpp"
#include "runtime/command_rules.hpp"
#include "runtime/jobs/job_work.hpp"
#include "runtime/run_order.hpp"

namespace pollux::runtime {

// What the plans of jobs are made from. Immutable; made anew when the fleet changes.
struct JobSurroundings {
    config::Fleet fleet;
    config::SecretSource secrets;
    config::Settings settings;
    std::map<std::string, std::int64_t, std::less<>> resources;
    std::set<std::string, std::less<>> targets;
    std::int64_t global_slots = 1024;
    std::size_t shards = 1;
    std::shared_ptr<const net::EgressPolicy> egress = std::make_shared<const net::EgressPolicy>();
    CommandRules rules;
};

using JobAsks = std::vector<std::vector<std::shared_ptr<const model::Ask>>>;

struct JobType {
    model::JobTypeDef def;
    JobHost host = JobHost::kWorker;
    // What is wrong with its arguments beyond their form; asked when it is submitted.
    std::function<std::optional<config::ArgumentFault>(const model::JobSpec&)> check = {};
    // kShard: the one request, for each address of the device.
    std::function<base::Result<JobAsks>(const model::JobSpec&, const JobSurroundings&)> asks = {};
    // kShard: asks as this plan says, all its requests, and reads the answers.
    std::function<base::Result<std::shared_ptr<const PollPlan>>(const model::JobSpec&,
                                                                const JobSurroundings&)>
        poll = {};
    // kWorker: blocks until it is done or told to end.
    std::function<JobResult(const model::JobSpec&, const JobSurroundings&, JobControl&)> run = {};
};

class JobTypes {
  public:
    void add(JobType type);
    const JobType* find(std::string_view name) const;
    // What its type finds wrong with its arguments.
    std::optional<config::ArgumentFault> check(const model::JobSpec& job) const;
    const std::vector<model::JobTypeDef>& definitions() const { return definitions_; }

    // As classes of the core; those that the fleet names itself stay as it says.
    void add_classes(std::vector<model::ClassSettings>& classes) const;

    // The task of a job, and how it is run. A plan that cannot be made says why: the job then fails
    // with that reason when its turn comes.
    model::TaskSpec task(const model::JobSpec& job,
                         const std::vector<std::vector<std::string>>& parent_keys) const;
    std::shared_ptr<const PollPlan> plan(const model::JobSpec& job,
                                         std::shared_ptr<const JobSurroundings> around) const;

  private:
    std::map<std::string, JobType, std::less<>> types_;
    std::vector<model::JobTypeDef> definitions_;  // by name
};

// Those that ask: poll, http, ssh and exec.
void add_asking_types(JobTypes& types);

// Asks a device once as a manifest says that is not in force, and shows what it reads. Who submits
// one must be allowed to change addons, and its arguments are theirs only.
inline constexpr std::string_view kTrialJob = "trial";
void add_trial_type(JobTypes& types);

}  // namespace pollux::runtime
