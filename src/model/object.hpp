// A configured object as it is stored: devices, groups, targets, addons and so on share one shape,
// so that origin, version and conflicts have one rule.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace pollux::model {

enum class ObjectKind : std::uint8_t {
    kDefaults,  // one object: what holds where nothing nearer says otherwise
    kGroup,
    kDevice,
    kTarget,
    kAddon,       // a user's manifest; the shipped ones live in the binary
    kCredential,  // body sealed by the vault
    kSource,      // file_sd, http_sd
    kSettings,    // one object: the settings, each version kept
    kUser,        // who may log in; of the password only its hash
    kToken,       // of an API token only its hash
    kSession,     // of a session's secret only its hash
    kReceiver,    // who is told of alerts, by which channels
    kRoute,       // which alerts go to which receivers
    kSilence,     // maintenance, as files describe it
};

enum class Origin : std::uint8_t { kFile, kApi, kDiscovery };

struct ConfigObject {
    ObjectKind kind = ObjectKind::kDevice;
    std::string id;    // UUIDv7 as text; stays when the object is renamed
    std::string name;  // unique within its kind; a target's key
    Origin origin = Origin::kFile;
    std::uint64_t version = 0;  // 1 on creation, one more with every change
    base::WallTime changed_at;
    std::string body;  // canonical JSON, or sealed bytes
    bool operator==(const ConfigObject&) const = default;
};

// What a fleet is made of: compared, applied and exported.
bool is_fleet_kind(ObjectKind kind);
// Users, tokens, sessions: only `api/` reads them; in no export, page of objects or bundle.
bool is_account_kind(ObjectKind kind);

std::string_view to_string(ObjectKind kind);
std::string_view to_string(Origin origin);

}  // namespace pollux::model
