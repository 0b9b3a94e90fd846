// What a job does once the core lets it start: part of its plan, immutable, shared.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/time.hpp"
#include "model/job.hpp"

namespace pollux::runtime {

enum class JobHost : std::uint8_t {
    kShard,   // asks a device or runs a program, as polls do
    kTarget,  // makes a target due and takes the outcome of its next poll
    kWorker,  // blocks: on a thread of its own
};

struct JobProgress {
    std::string id;
    std::uint64_t done = 0;
    std::uint64_t total = 0;  // 0: not known
    std::string text;
};

// How work of kWorker speaks to the world. Lives as long as the run.
class JobControl {
  public:
    virtual ~JobControl() = default;
    virtual bool cancelled() const = 0;  // also when the time is over: end soon
    virtual base::BootTime deadline() const = 0;
    virtual void log(std::string line) = 0;
    virtual void progress(std::uint64_t done, std::uint64_t total, std::string text) = 0;
};

struct JobResult {
    model::Outcome outcome = model::Outcome::kOk;
    int exit_status = 0;
    std::string code = {};
    std::string message = {};
    std::string output = {};

    static JobResult failed(base::Error error) {
        const bool again = error.error_class == base::ErrorClass::kTransient ||
                           error.error_class == base::ErrorClass::kInternal;
        return {again ? model::Outcome::kTransient : model::Outcome::kPermanent, 1,
                std::move(error.code), std::move(error.message), ""};
    }
};

struct JobWork {
    model::JobSpec spec;
    JobHost host = JobHost::kShard;
    std::function<JobResult(JobControl&)> run;  // of kWorker
};

}  // namespace pollux::runtime
