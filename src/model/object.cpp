#include "model/object.hpp"

namespace pollux::model {

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
