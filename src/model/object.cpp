#include "model/object.hpp"

namespace pollux::model {

bool is_account_kind(ObjectKind kind) {
    return kind == ObjectKind::kUser || kind == ObjectKind::kToken || kind == ObjectKind::kSession;
}

bool is_fleet_kind(ObjectKind kind) {
    return kind != ObjectKind::kAddon && kind != ObjectKind::kSettings && !is_account_kind(kind);
}

std::string_view to_string(ObjectKind kind) {
    switch (kind) {
        case ObjectKind::kDefaults: return "defaults";
        case ObjectKind::kGroup: return "group";
        case ObjectKind::kDevice: return "device";
        case ObjectKind::kTarget: return "target";
        case ObjectKind::kAddon: return "addon";
        case ObjectKind::kCredential: return "credential";
        case ObjectKind::kSource: return "source";
        case ObjectKind::kSettings: return "settings";
        case ObjectKind::kUser: return "user";
        case ObjectKind::kToken: return "token";
        case ObjectKind::kSession: return "session";
        case ObjectKind::kReceiver: return "receiver";
        case ObjectKind::kRoute: return "route";
        case ObjectKind::kSilence: return "silence";
    }
    return "unknown";
}

std::string_view to_string(Origin origin) {
    switch (origin) {
        case Origin::kFile: return "file";
        case Origin::kApi: return "api";
        case Origin::kDiscovery: return "discovery";
    }
    return "unknown";
}

}  // namespace pollux::model
