#include "runtime/jobs/job_workers.hpp"

#include <pthread.h>

#include "net/event_loop.hpp"

namespace pollux::runtime {
namespace {

constexpr base::Duration kProgressEvery = std::chrono::milliseconds(200);

}  // namespace

class JobWorkers::Run final : public JobControl {
  public:
    Run(RunOrder given, Progress tell) : order(std::move(given)), tell_(std::move(tell)) {
        state_.id = order.plan->job->spec.id;
    }

    bool cancelled() const override { return cancelled_ || net::boot_now() >= deadline(); }
    base::BootTime deadline() const override {
        // Before the core's own, so that what it found out is heard.
        return order.deadline - std::chrono::seconds(1);
    }
    void log(std::string line) override {
        if (line.size() > model::kMostJobLogLine) line.resize(model::kMostJobLogLine);
        const std::scoped_lock lock(mutex_);
        if (log_.size() == model::kMostJobLogLines) log_.pop_front();
        log_.push_back(std::move(line));
    }
    void progress(std::uint64_t done, std::uint64_t total, std::string text) override {
        JobProgress now;
        {
            const std::scoped_lock lock(mutex_);
            state_.done = done;
            state_.total = total;
            state_.text = std::move(text);
            // Whoever watches is told now and then, and of the last step.
            if (net::boot_now() < next_ && done != total) return;
            next_ = net::boot_now() + kProgressEvery;
            now = state_;
        }
        if (tell_) tell_(std::move(now));
    }
    std::vector<std::string> lines() const {
        const std::scoped_lock lock(mutex_);
        return {log_.begin(), log_.end()};
    }
    JobProgress state() const {
        const std::scoped_lock lock(mutex_);
        return state_;
    }
    void cancel() { cancelled_ = true; }
    bool was_cancelled() const { return cancelled_; }

    const RunOrder order;

  private:
    Progress tell_;
    std::atomic<bool> cancelled_ = false;
    mutable std::mutex mutex_;  // guards what follows
    std::deque<std::string> log_;
    JobProgress state_;
    base::BootTime next_;
};

JobWorkers::JobWorkers(std::size_t threads, Report report, Progress progress)
    : report_(std::move(report)), progress_(std::move(progress)) {
    for (std::size_t i = 0; i < threads; ++i) {
        threads_.emplace_back([this] {
            pthread_setname_np(pthread_self(), "pollux-job");
            work();
        });
    }
}

JobWorkers::~JobWorkers() { stop(); }

void JobWorkers::take(std::vector<RunOrder> orders) {
    const std::scoped_lock lock(mutex_);
    for (RunOrder& order : orders) {
        const model::RunId id = order.run;
        auto run = std::make_shared<Run>(std::move(order), progress_);
        live_.emplace(id, run);
        queue_.push_back(std::move(run));
    }
    arrived_.notify_all();
}

void JobWorkers::cancel(model::RunId run) {
    const std::scoped_lock lock(mutex_);
    const auto found = live_.find(run);
    if (found != live_.end()) found->second->cancel();
}

std::vector<std::string> JobWorkers::log_of(const std::string& job_id) {
    const std::scoped_lock lock(mutex_);
    for (const auto& [id, run] : live_) {
        if (run->order.plan->job->spec.id == job_id) return run->lines();
    }
    return {};
}

JobProgress JobWorkers::progress_of(const std::string& job_id) {
    const std::scoped_lock lock(mutex_);
    for (const auto& [id, run] : live_) {
        if (run->order.plan->job->spec.id == job_id) return run->state();
    }
    return {};
}

WorkCounts JobWorkers::counts() const {
    const std::scoped_lock lock(mutex_);
    WorkCounts counts = done_;
    counts.active = live_.size() - queue_.size();
    return counts;
}

void JobWorkers::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
        for (const auto& [id, run] : live_) run->cancel();
        queue_.clear();
    }
    arrived_.notify_all();
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
    threads_.clear();
}

void JobWorkers::work() {
    for (;;) {
        std::shared_ptr<Run> run;
        {
            std::unique_lock lock(mutex_);
            arrived_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
            if (stopping_) return;
            run = std::move(queue_.front());
            queue_.pop_front();
        }
        const base::BootTime started = net::boot_now();
        JobResult result;
        if (!run->was_cancelled()) result = run->order.plan->job->run(*run);
        RunReport report;
        report.task = run->order.task;
        report.run = run->order.run;
        report.trigger = run->order.trigger;
        report.duration = net::boot_now() - started;
        report.outcome = run->was_cancelled() ? model::Outcome::kInterrupted : result.outcome;
        if (!model::is_success(report.outcome)) {
            report.kind = report.outcome == model::Outcome::kInterrupted
                              ? model::FailureKind::kCancelled
                              : model::FailureKind::kUnknown;
            report.code = std::move(result.code);
            report.message = std::move(result.message);
        }
        report.job = std::make_shared<model::JobRun>();
        report.job->exit_status = result.exit_status;
        report.job->output = std::move(result.output);
        report.job->log = run->lines();
        {
            const std::scoped_lock lock(mutex_);
            live_.erase(run->order.run);
            ++(model::is_success(report.outcome) ? done_.completed : done_.failed);
            if (stopping_) return;
        }
        report_({std::move(report)});
    }
}

}  // namespace pollux::runtime
