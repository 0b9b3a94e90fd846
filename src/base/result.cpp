#include "base/result.hpp"

#include "base/check.hpp"

namespace pollux::base {

std::string_view to_string(ErrorClass error_class) {
    switch (error_class) {
        case ErrorClass::kTransient: return "transient";
        case ErrorClass::kPermanent: return "permanent";
        case ErrorClass::kAuth: return "auth";
        case ErrorClass::kConfig: return "config";
        case ErrorClass::kInternal: return "internal";
    }
    POLLUX_CHECK_MSG(false, "an ErrorClass outside its enumerators");
    return {};
}

}  // namespace pollux::base
