// Jobs, resources and the ready set as JSON.
#pragma once

#include <string>
#include <vector>

#include "document/json_writer.hpp"
#include "runtime/core_loop.hpp"
#include "runtime/jobs/job_desk.hpp"

namespace pollux::api {

void write_job(document::JsonWriter& json, const runtime::JobView& job);
std::string graph_page(const runtime::JobGraphView& graph);
std::string runs_page(const std::vector<model::JobRun>& runs, const std::vector<std::string>& log);
std::string job_types_page(const std::vector<model::JobTypeDef>& types);

// Taken on the core's thread: usage, waiting demand and holders of each resource. Only those are
// named that pass; all are counted.
using TaskGate = std::function<bool(std::string_view key, const runtime::PollPlan* plan)>;
std::string resources_page(const runtime::CoreLoop::View& view, const TaskGate& gate);
// What is due and waits, and the last turns in which something was started.
std::string ready_page(const runtime::CoreLoop::View& view, std::size_t limit);

}  // namespace pollux::api
