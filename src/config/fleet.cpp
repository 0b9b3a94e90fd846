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

document::Mark Places::find_exact(std::string_view path) const {
    const auto found = marks_.find(path);
    return found == marks_.end() ? document::Mark{} : found->second;
}

}  // namespace pollux::config
