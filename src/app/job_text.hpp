// Jobs, their runs and their graphs as text for people, made of what the API answers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "document/node.hpp"

namespace pollux::app {

// Rows of jobs.
std::string job_table(const std::vector<document::Node>& jobs, bool colour);
// One job with its attempts; `impact`: ids of what would not start if it failed.
std::string job_page(const document::Node& job, const document::Node& runs,
                     const std::vector<document::Node>& impact, bool colour);
// A batch level by level, with what each job needs, and its critical path.
std::string job_graph_text(const document::Node& graph, bool colour);
// Types of jobs; the arguments of one.
std::string job_types_table(const std::vector<document::Node>& types, bool colour);
std::string job_type_page(const document::Node& type, bool colour);

// How far a batch is.
struct JobCounts {
    std::size_t completed = 0;
    std::size_t failed = 0;
    std::size_t cancelled = 0;
    std::size_t running = 0;
    std::size_t held = 0;     // waits for a person
    std::size_t waiting = 0;  // for others, its turn or its next attempt

    std::size_t ended() const { return completed + failed + cancelled; }
    std::size_t all() const { return ended() + running + held + waiting; }
};
JobCounts count_jobs(const std::vector<document::Node>& jobs);
// "3 of 4 ended: 2 completed, 1 failed; 1 running"
std::string counts_text(const JobCounts& counts);

}  // namespace pollux::app
