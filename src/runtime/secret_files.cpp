#include "runtime/secret_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace pollux::runtime {
namespace {

std::unexpected<base::Error> file_error(std::string_view what, const std::string& path,
                                        int number) {
    return base::config_error("secret.file",
                              fmt::format("cannot {} {}: {}", what, path, std::strerror(number)));
}

base::Result<std::string> read_bounded(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return file_error("read", path, errno);
    std::string text(kMaxSecretBytes + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t got = read(fd, text.data() + size, text.size() - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            const int number = errno;
            close(fd);
            return file_error("read", path, number);
        }
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    close(fd);
    if (size > kMaxSecretBytes) {
        return base::config_error("secret.file", fmt::format("{} is larger than {} bytes: not a "
                                                             "secret",
                                                             path, kMaxSecretBytes));
    }
    text.resize(size);
    return text;
}

}  // namespace

base::Result<base::Secret> read_secret_file(const std::string& path) {
    auto text = read_bounded(path);
    if (!text) return std::unexpected(text.error());
    text->resize(std::min(text->size(), text->find('\n')));
    if (text->ends_with('\r')) text->pop_back();
    if (text->empty()) {
        return base::config_error("secret.file",
                                  fmt::format("{} is empty: its first line is the secret", path));
    }
    return base::Secret(std::move(*text));
}

base::Result<std::string> SecretFiles::path_of(std::string_view name) const {
    const bool plain = !name.empty() && name.size() <= 100 && name.front() != '.' &&
                       std::ranges::all_of(name, [](char c) {
                           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                  (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
                       });
    // A secret is written beside its file first, under this ending.
    if (!plain || name.ends_with(".new")) {
        return base::config_error("secret.name",
                                  "a secret's name has 1 to 100 letters, digits, '-', '_' or '.', "
                                  "no dot at its start and not .new at its end");
    }
    return fmt::format("{}/{}", folder_, name);
}

base::Status SecretFiles::set(std::string_view name, const base::Secret& secret) const {
    const auto path = path_of(name);
    if (!path) return std::unexpected(path.error());
    auto sealed = vault_.seal(name, secret);
    if (!sealed) return std::unexpected(sealed.error());
    if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
        return file_error("make", folder_, errno);
    }
    const std::string fresh = *path + ".new";
    const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return file_error("write", fresh, errno);
    const ssize_t written = write(fd, sealed->data(), sealed->size());
    const bool whole = written == static_cast<ssize_t>(sealed->size()) && fsync(fd) == 0;
    const int number = errno;
    close(fd);
    if (!whole || rename(fresh.c_str(), path->c_str()) != 0) {
        const int problem = whole ? errno : number;
        unlink(fresh.c_str());
        return file_error("write", *path, problem);
    }
    return {};
}

base::Result<base::Secret> SecretFiles::get(std::string_view name) const {
    const auto path = path_of(name);
    if (!path) return std::unexpected(path.error());
    const auto sealed = read_bounded(*path);
    if (!sealed) {
        return base::config_error("secret.unknown",
                                  fmt::format("no secret named {0} in the vault: put it there with "
                                              "`pollux secret set {0}`",
                                              name));
    }
    return vault_.unseal(name, *sealed);
}

base::Status SecretFiles::remove(std::string_view name) const {
    const auto path = path_of(name);
    if (!path) return std::unexpected(path.error());
    if (unlink(path->c_str()) != 0) return file_error("remove", *path, errno);
    return {};
}

base::Result<std::vector<std::string>> SecretFiles::names() const {
    std::vector<std::string> names;
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, problem)) {
        std::string name = entry.path().filename().string();
        if (!name.ends_with(".new")) names.push_back(std::move(name));
    }
    if (problem && problem != std::errc::no_such_file_or_directory) {
        return file_error("list", folder_, problem.value());
    }
    std::ranges::sort(names);
    return names;
}

base::Status SecretFiles::reseal() const {
    const auto all = names();
    if (!all) return std::unexpected(all.error());
    for (const std::string& name : *all) {
        const auto secret = get(name);
        if (!secret) return std::unexpected(secret.error());
        if (auto status = set(name, *secret); !status) return status;
    }
    return {};
}

config::SecretSource secret_source(config::Environment environment, const SecretFiles* vault,
                                   std::string_view whose) {
    return [environment = std::move(environment), vault, whose = std::string(whose)](
               const config::SecretReference& reference) -> base::Result<base::Secret> {
        switch (reference.kind) {
            case config::SecretKind::kEnvironment: {
                const auto found = environment.find(reference.name);
                if (found != environment.end() && !found->second.empty()) {
                    return base::Secret(found->second);
                }
                return base::config_error(
                    "secret.environment",
                    fmt::format("the variable {} is not set in the environment of {}",
                                reference.name, whose));
            }
            case config::SecretKind::kFile: return read_secret_file(reference.name);
            case config::SecretKind::kVault:
                if (vault == nullptr) {
                    return base::config_error("secret.vault",
                                              "there is no vault without a data folder");
                }
                return vault->get(reference.name);
            case config::SecretKind::kLiteral: return reference.literal;
        }
        return base::internal_error("secret.kind", "unknown kind of secret");
    };
}

}  // namespace pollux::runtime
