// Configured objects as JSON: what is stored, with origin and version. Secrets are never in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "access/selector.hpp"
#include "document/json_writer.hpp"
#include "model/object.hpp"
#include "runtime/fleet_view.hpp"
#include "runtime/task_rows.hpp"

namespace pollux::api {

// {"name":…,"id":…,"origin":…,"version":…,"changed_at":…,"spec":{…}}
void write_object(document::JsonWriter& json, const model::ConfigObject& object);

// The same with "addon", "device", "connection", "labels", "groups" and, where it is polled, the
// state of its tasks.
void write_target(document::JsonWriter& json, const model::ConfigObject& object,
                  const runtime::FleetView& view, const std::vector<runtime::TaskRow>& tasks);

// Labels of a device's object, and of the device behind a target's.
access::Labels labels_of_object(const runtime::FleetView& view, const model::ConfigObject& object);

}  // namespace pollux::api
