// Threads for jobs that block: discovery, maintenance. Never the core, never the main loop, never a
// shard. Everything public is called from any thread.
//
// Each order leads to exactly one report; orders under way when it stops are reported by nobody and
// end as interrupted. The queue is bounded by the slots of the types that run here.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/jobs/job_work.hpp"
#include "runtime/run_order.hpp"
#include "runtime/worker_board.hpp"

namespace pollux::runtime {

class JobWorkers {
  public:
    using Report = std::function<void(std::vector<RunReport>)>;
    using Progress = std::function<void(JobProgress)>;

    JobWorkers(std::size_t threads, Report report, Progress progress);
    ~JobWorkers();

    void take(std::vector<RunOrder> orders);
    void cancel(model::RunId run);
    // What a run under way has said so far, and how far it is.
    std::vector<std::string> log_of(const std::string& job_id);
    JobProgress progress_of(const std::string& job_id);
    WorkCounts counts() const;
    // Tells all to end and waits for them.
    void stop();

  private:
    class Run;
    void work();

    Report report_;
    Progress progress_;
    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable arrived_;
    std::deque<std::shared_ptr<Run>> queue_;
    std::map<model::RunId, std::shared_ptr<Run>> live_;
    WorkCounts done_;  // `active` is not used
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace pollux::runtime
