#include "protocol/exec/exec_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"

namespace pollux::protocol::exec {
namespace {

using base::quoted;

bool is_program(const std::string& path) {
    struct stat facts{};
    return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           access(path.c_str(), X_OK) == 0;
}

std::string_view without_slash(std::string_view folder) {
    while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
    return folder;
}

// No way around a folder: /plugins/../bin/sh is another name of /bin/sh.
bool is_plain_path(std::string_view path) {
    if (!path.starts_with('/') || path.ends_with('/')) return false;
    while (!path.empty()) {
        path.remove_prefix(1);
        const std::size_t end = std::min(path.find('/'), path.size());
        const std::string_view part = path.substr(0, end);
        if (part.empty() || part == "." || part == "..") return false;
        path.remove_prefix(end);
    }
    return true;
}

}  // namespace

base::Result<std::string> find_program(const ExecRules& rules, std::string_view name) {
    const std::string path(name);
    if (name.empty() || name == "." || name == ".." || base::has_control(name)) {
        return base::config_error("exec.not_allowed",
                                  fmt::format("{} is no name of a program", quoted(name)));
    }
    if (name.find('/') == std::string_view::npos) {
        for (const std::string& folder : rules.folders) {
            const std::string found = fmt::format("{}/{}", without_slash(folder), name);
            if (folder.starts_with('/') && is_program(found)) return found;
        }
        return base::config_error(
            "exec.not_found",
            fmt::format("there is no program {} in {}; install it, or add its folder to the "
                        "setting plugin_folders",
                        quoted(name), fmt::join(rules.folders, ", ")));
    }
    const std::string_view folder = name.substr(0, name.rfind('/'));
    const bool allowed =
        is_plain_path(name) && (std::ranges::find(rules.allow, path) != rules.allow.end() ||
                                std::ranges::any_of(rules.folders, [&](const std::string& known) {
                                    return known.starts_with('/') && without_slash(known) == folder;
                                }));
    if (!allowed) {
        return base::config_error(
            "exec.not_allowed",
            fmt::format("{} may not be run; who operates this server can allow it: add the path "
                        "to the setting exec_allow, or its folder to plugin_folders",
                        quoted(name)));
    }
    if (!is_program(path)) {
        return base::config_error(
            "exec.not_found",
            fmt::format("{} is not there, or no program that may be executed", quoted(name)));
    }
    return path;
}

}  // namespace pollux::protocol::exec
