#include "app/token_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "store/durable_file.hpp"

namespace pollux::app {
namespace {

constexpr std::size_t kMostBytes = 4096;

}  // namespace

std::string default_token_file() {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    if (config != nullptr && *config == '/') return std::string(config) + "/pollux/token";
    const char* home = std::getenv("HOME");
    if (home == nullptr || *home == '\0') return {};
    return std::string(home) + "/.config/pollux/token";
}

base::Result<std::optional<StoredToken>> read_token_file(const std::string& path) {
    struct stat facts{};
    if (stat(path.c_str(), &facts) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
        return base::config_error("client.token_file",
                                  fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    }
    if (S_ISREG(facts.st_mode) && (facts.st_mode & 077) != 0) {
        return base::config_error(
            "client.token_file",
            fmt::format("others can read {} (mode {:04o}): revoke that token if they did, then "
                        "`chmod 600 {}`",
                        path, facts.st_mode & 07777, path));
    }
    auto text = store::read_file(path, kMostBytes);
    if (!text) return std::unexpected(text.error());
    if (!*text) return std::nullopt;
    std::istringstream lines(**text);
    std::string line;
    StoredToken stored;
    while (std::getline(lines, line)) {
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
        if (line.starts_with("url ")) {
            stored.url = line.substr(4);
        } else if (line.starts_with("name ")) {
            stored.name = line.substr(5);
        } else if (stored.token.empty()) {
            stored.token = base::Secret(line);
        }
    }
    if (stored.token.empty()) {
        return base::config_error("client.token_file",
                                  fmt::format("there is no token in {}", path));
    }
    return stored;
}

base::Status write_token_file(const std::string& path, const StoredToken& token) {
    std::error_code failed;
    const auto folder = std::filesystem::path(path).parent_path();
    if (!folder.empty() && !std::filesystem::exists(folder, failed)) {
        std::filesystem::create_directories(folder, failed);
        if (!failed) {
            std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
        }
    }
    if (failed) {
        return base::config_error(
            "client.token_file",
            fmt::format("cannot make the folder {}: {}", folder.string(), failed.message()));
    }
    std::string text = token.token.reveal() + "\n";
    if (!token.url.empty()) text += "url " + token.url + "\n";
    if (!token.name.empty()) text += "name " + token.name + "\n";
    return store::replace_file(path, text);
}

}  // namespace pollux::app
