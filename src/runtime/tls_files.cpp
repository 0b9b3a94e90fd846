#include "runtime/tls_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/text.hpp"

namespace pollux::runtime {
namespace {

base::Result<std::string> read_text(std::string_view name, const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
        return base::config_error(fmt::format("{}.tls_file", name),
                                  fmt::format("cannot read {}: check path and permissions", path));
    }
    return std::move(text).str();
}

base::Status check_key_file(std::string_view name, const std::string& path) {
    const std::string code = fmt::format("{}.tls_key", name);
    struct stat facts{};
    if (stat(path.c_str(), &facts) != 0) {
        return base::config_error(code, fmt::format("the key {} cannot be read: {}",
                                                    base::quoted(path), std::strerror(errno)));
    }
    if ((facts.st_mode & (S_IROTH | S_IWOTH | S_IWGRP)) == 0) return {};
    return base::config_error(
        code,
        fmt::format("the key {} can be read or changed by others than its owner and group (mode "
                    "{:04o}): chmod 0600 {}",
                    base::quoted(path), facts.st_mode & 07777U, path));
}

}  // namespace

TlsFiles api_tls_files(const config::Settings& settings) {
    return {"api", settings.api_tls_certificate.text, settings.api_tls_key.text};
}

TlsFiles inbound_tls_files(const config::Settings& settings) {
    return {"inbound", settings.inbound_tls_certificate.text, settings.inbound_tls_key.text};
}

base::Result<std::optional<net::TlsIdentity>> read_tls_identity(const TlsFiles& files) {
    if (files.certificate.empty() != files.key.empty()) {
        return base::config_error(
            fmt::format("{}.tls", files.name),
            fmt::format("{0}_tls_certificate and {0}_tls_key belong together: set both or none",
                        files.name));
    }
    if (files.certificate.empty()) return std::nullopt;
    if (auto status = check_key_file(files.name, files.key); !status) {
        return std::unexpected(status.error());
    }
    auto chain = read_text(files.name, files.certificate);
    if (!chain) return std::unexpected(chain.error());
    auto key = read_text(files.name, files.key);
    if (!key) return std::unexpected(key.error());
    return net::TlsIdentity{std::move(*chain), base::Secret(std::move(*key))};
}

}  // namespace pollux::runtime
