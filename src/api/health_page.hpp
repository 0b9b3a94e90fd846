// GET /api/monitoring/scheduler/health: the page that operators' dashboards and jq lines read. Its
// names and shape are given and do not change.
//
// Taken on the core's thread as plain facts, written on another one.
#pragma once

#include <string>
#include <vector>

#include "base/time.hpp"
#include "runtime/core_loop.hpp"
#include "runtime/fleet_view.hpp"
#include "runtime/task_rows.hpp"
#include "schedule/explain.hpp"

namespace pollux::api {

struct HealthFacts {
    base::WallTime now;
    bool adaptive = false;
    schedule::QueueSnapshot queue;
    std::vector<runtime::TaskRow> rows;  // of recurring tasks
};

HealthFacts health_facts(const runtime::CoreLoop::View& view);

std::string health_page(HealthFacts facts, const runtime::FleetView& fleet);

// Address and port of a target, as a person would type it; empty: not known.
std::string connection_of(const runtime::FleetView& fleet, std::string_view task_key);

}  // namespace pollux::api
