// How the jobs of a batch hang together: what is wrong with it, and what it means. Pure.
//
// Parents are named within the batch, or are ids of jobs that are stored already. Any member of an
// any-of group counts as a parent here: a circle is refused also where another member would do.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/graph.hpp"
#include "base/time.hpp"
#include "config/job_reader.hpp"
#include "document/diagnostic.hpp"
#include "model/job.hpp"
#include "model/job_type.hpp"

namespace pollux::config {

class JobGraph {
  public:
    // Numbers are indexes in `jobs`. Names and ids that are not among them are left out.
    explicit JobGraph(std::span<const model::JobSpec> jobs);

    std::size_t size() const { return parents_.size(); }
    const base::Edges& parents() const { return parents_; }    // each once, sorted
    const base::Edges& children() const { return children_; }  // likewise

    // One circle for each set of jobs that need each other: a needs b needs ... needs a.
    std::vector<std::vector<std::uint32_t>> circles() const;

    // 0: needs no job of the batch; else one more than the highest of its parents. Empty if there
    // is a circle.
    std::vector<std::uint32_t> levels() const;

    struct Path {
        std::vector<std::uint32_t> jobs;  // from the first to the last
        base::Duration length{};
    };
    // The jobs that decide when the last one ends, if nothing but needs keeps them waiting: of an
    // any-of group the parent that ends first counts. Empty if there is a circle.
    Path critical_path(std::span<const base::Duration> durations) const;

    // What directly or indirectly needs the job; sorted.
    std::vector<std::uint32_t> impact(std::uint32_t job) const;

  private:
    base::Edges parents_;
    base::Edges children_;
    std::vector<base::Edges> groups_;  // by job: its groups with their members
};

struct ArgumentFault {
    std::string argument;
    std::string message;
};

struct JobRules {
    std::span<const model::JobTypeDef> types;
    std::map<std::string, std::int64_t, std::less<>> resources;  // with their capacity
    std::int64_t global_slots = 1024;
    std::function<bool(std::string_view id)> stored;      // whether there is such a job
    std::function<bool(std::string_view target)> target;  // whether there is such a target
    std::function<bool(std::string_view device)> device;
    // What its type finds wrong with its arguments, beyond their form.
    std::function<std::optional<ArgumentFault>(const model::JobSpec&)> arguments;
};

// Names that stand twice, parents that are missing, circles (all of them named, up to the bound of
// the diagnostics), demands that can never be met, targets and devices that are not there,
// arguments that their type refuses.
void check_jobs(const JobBatch& batch, const JobRules& rules, document::Diagnostics& diagnostics);

}  // namespace pollux::config
