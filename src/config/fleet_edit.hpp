// Edits of single objects, as the API makes them: what is wanted, checked against what is stored,
// as a difference that is then committed like one from files. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/objects.hpp"
#include "document/diagnostic.hpp"
#include "document/node.hpp"
#include "model/object.hpp"

namespace pollux::config {

enum class EditVerb : std::uint8_t {
    kCreate,   // there must be none of that name
    kReplace,  // there must be one
    kPut,      // either
    kRemove,
    kAdopt,  // takes over what another origin owns, as it is
};

struct WantedObject {
    EditVerb verb = EditVerb::kPut;
    model::ObjectKind kind = model::ObjectKind::kDevice;
    std::string name;
    document::Node body;                      // what stands under the name in a fleet file
    std::optional<std::uint64_t> if_version;  // what the caller has seen
};

// Codes of errors: object.unknown, object.exists, object.version (somebody was faster),
// object.owned (by files or discovery: says how to adopt it), object.invalid (see `diagnostics`:
// fields are those of the body). Targets come and go with their devices and are part of the result.
//
// All wanted objects are taken, or none. Nothing is checked here between objects but the names:
// the caller checks the fleet that results.
base::Result<FleetDiff> plan_edit(std::span<const model::ConfigObject> current,
                                  std::span<const WantedObject> wanted,
                                  document::Diagnostics& diagnostics);

// The body as it is stored: read strictly, written canonically. Holds literal secrets if it is a
// credential.
std::string canonical_body(model::ObjectKind kind, const std::string& name,
                           const document::Node& body, document::Diagnostics& diagnostics);

// The body as it may be shown: literal secrets of a credential name the vault instead.
document::Node shown_body(const model::ConfigObject& object);

}  // namespace pollux::config
