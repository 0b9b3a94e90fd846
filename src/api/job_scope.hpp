// Whose jobs somebody may see and steer. A job counts for the scope of a grant by the labels of its
// target or device; one without either by its own labels; one without any labels is for those who
// may everywhere.
#pragma once

#include "api/server_link.hpp"
#include "model/job.hpp"
#include "runtime/jobs/job_desk.hpp"

namespace pollux::api {

bool may_on_job(const access::Principal& principal, access::Permission permission,
                access::Area area, const runtime::FleetView& view, const model::JobSpec& job);

// As a gate of the desk; empty for who may everywhere.
runtime::JobGate job_gate(const access::Principal& principal, access::Permission permission,
                          std::shared_ptr<const runtime::FleetView> view);

// Of a task that polls or runs once: whether it may be named to somebody. On the core's thread.
bool may_see_task(const access::Principal& principal, const runtime::FleetView& view,
                  std::string_view key, const runtime::PollPlan* plan);

}  // namespace pollux::api
