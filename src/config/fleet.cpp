#include "config/fleet.hpp"

namespace pollux::config {

document::Mark Places::find(std::string_view path) const {
    while (!path.empty()) {
        const auto found = marks_.find(path);
        if (found != marks_.end()) return found->second;
        const std::size_t slash = path.rfind('/');
        path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
    }
    return {};
}

}  // namespace pollux::config
