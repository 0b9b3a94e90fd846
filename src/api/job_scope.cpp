#include "api/job_scope.hpp"

#include "api/fleet_pages.hpp"
#include "runtime/jobs/job_work.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;

// Whoever names a target or device that is gone has no labels any more.
access::Labels labels_of_job(const runtime::FleetView& view, const model::JobSpec& job) {
    if (job.target.empty() && job.device.empty()) return {job.labels.begin(), job.labels.end()};
    const bool by_target = !job.target.empty();
    const auto* object = runtime::find_object(
        view, by_target ? model::ObjectKind::kTarget : model::ObjectKind::kDevice,
        by_target ? job.target : job.device);
    return object == nullptr ? access::Labels{} : labels_of_object(view, *object);
}

}  // namespace

bool may_on_job(const access::Principal& principal, Permission permission, Area area,
                const runtime::FleetView& view, const model::JobSpec& job) {
    if (access::may_everywhere(principal, permission, area)) return true;
    const access::Labels labels = labels_of_job(view, job);
    return !labels.empty() && access::may_on(principal, permission, area, labels);
}

runtime::JobGate job_gate(const access::Principal& principal, Permission permission,
                          std::shared_ptr<const runtime::FleetView> view) {
    if (access::may_everywhere(principal, permission, Area::kJobs)) return {};
    return [principal, permission, view = std::move(view)](const model::JobSpec& job) {
        return may_on_job(principal, permission, Area::kJobs, *view, job);
    };
}

bool may_see_task(const access::Principal& principal, const runtime::FleetView& view,
                  std::string_view key, const runtime::PollPlan* plan) {
    if (plan != nullptr && plan->job) {
        return may_on_job(principal, Permission::kRead, Area::kJobs, view, plan->job->spec);
    }
    return access::may_everywhere(principal, Permission::kRead, Area::kMonitoring) ||
           access::may_on(principal, Permission::kRead, Area::kMonitoring, labels_of(view, key));
}

}  // namespace pollux::api
