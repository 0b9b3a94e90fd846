// A batch of jobs as people write it, YAML or JSON: read strictly, with the place of every
// complaint. What depends on other jobs is checked by job_graph.hpp.
//
//     name: nightly
//     jobs:
//       - {name: sweep, type: discovery, arguments: {network: 10.0.0.0/24}}
//       - {name: report, type: exec, depends_on: [sweep], arguments: {argv: [report]}}
//
// One job alone may stand without the list.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "document/diagnostic.hpp"
#include "document/node.hpp"
#include "model/job.hpp"
#include "model/job_type.hpp"

namespace pollux::config {

struct JobBatch {
    std::string name;
    std::vector<model::JobSpec> jobs;    // without ids; depends_on as written
    std::vector<document::Mark> places;  // of the jobs
};

// What its type sets where the job does not say is filled in.
JobBatch read_jobs(std::string_view text, const std::string& file,
                   std::span<const model::JobTypeDef> types, document::Diagnostics& diagnostics);
JobBatch read_jobs(const document::Node& root, std::span<const model::JobTypeDef> types,
                   document::Diagnostics& diagnostics);

// The arguments as an object of JSON, as job.arguments holds them.
document::Node arguments_of(const model::JobSpec& job);

// A job as it is stored: all of it, canonical.
std::string to_text(const model::JobSpec& job);
base::Result<model::JobSpec> job_from_text(std::string_view text);

}  // namespace pollux::config
