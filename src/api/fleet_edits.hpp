// Changes of the fleet on behalf of a call: made on the server's thread, recorded with the change,
// answered on the API's.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/server_link.hpp"
#include "config/fleet_edit.hpp"
#include "document/node.hpp"

namespace pollux::api {

// What is wanted, made of the objects as they are at that moment.
using MakeEdits = std::move_only_function<base::Result<std::vector<config::WantedObject>>(
    std::span<const model::ConfigObject> current, document::Diagnostics& diagnostics)>;
// Answers the call after the change, on the API's thread.
using AfterEdit = std::move_only_function<void(Call call)>;

// One entry for each object that is changed; at least one.
void edit_fleet(const ServerLink& link, Call call, MakeEdits make,
                std::vector<model::AuditEntry> entries, AfterEdit after);
void edit_fleet(const ServerLink& link, Call call, MakeEdits make, model::AuditEntry entry,
                AfterEdit after);
void edit_fleet(const ServerLink& link, Call call, std::vector<config::WantedObject> wanted,
                model::AuditEntry entry, AfterEdit after);

// An error of an edit with what the diagnostics know about it: pointers into the body.
Problem problem_of_fleet(const base::Error& error, const document::Diagnostics& diagnostics);

// An entry of its own: of what changes no object, or of a refusal. `done` is called on any thread.
using Recorded = std::function<void(const base::Status& recorded)>;
void record(const ServerLink& link, model::AuditEntry entry, Recorded done);
void record_refusal(const ServerLink& link, model::AuditEntry entry, std::string_view code,
                    Recorded done);

// 403, and an entry of the trail that says who was refused what.
void refuse(const ServerLink& link, Call call, model::AuditEntry entry);

// Takes `reason` out of a body.
void take_reason(document::Node& body, std::string& reason);
document::Node without_key(const document::Node& body, std::string_view key);

// The word of an edit in the names of audited actions: "create".
std::string_view to_string(config::EditVerb verb);

}  // namespace pollux::api
