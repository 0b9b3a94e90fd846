#include "alert/output.hpp"

namespace pollux::alert {

std::string_view to_string(ChangeKind kind) {
    switch (kind) {
        case ChangeKind::kCreated: return "created";
        case ChangeKind::kUpdated: return "updated";
        case ChangeKind::kResolved: return "resolved";
        case ChangeKind::kRemoved: return "removed";
    }
    return "unknown";
}

}  // namespace pollux::alert
