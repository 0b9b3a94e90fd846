#include "protocol/ssh/key_files.hpp"

#include <fmt/format.h>
#include <libssh/libssh.h>
#include <sys/stat.h>

#include "base/text.hpp"

namespace pollux::protocol::ssh {

KeyFiles::~KeyFiles() {
    for (const auto& [path, entry] : entries_) ssh_key_free(entry.key);
}

base::Result<ssh_key_struct*> KeyFiles::get(const std::string& path,
                                            const base::Secret& passphrase) {
    struct stat facts{};
    const bool there = stat(path.c_str(), &facts) == 0;
    const std::int64_t stamp =
        there ? facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec : -1;
    const auto found = entries_.find(path);
    if (found != entries_.end() && found->second.stamp == stamp &&
        found->second.passphrase == passphrase) {
        return found->second.key;
    }
    ssh_key key = nullptr;
    const int result = ssh_pki_import_privkey_file(
        path.c_str(), passphrase.empty() ? nullptr : passphrase.reveal().c_str(), nullptr, nullptr,
        &key);
    if (result != SSH_OK) {
        return base::config_error(
            "ssh.key",
            fmt::format("cannot use the private key {}: {}", base::quoted(path, 200),
                        result == SSH_EOF || !there
                            ? "it is not there or may not be read by the server"
                        : passphrase.empty()
                            ? "it is no private key, or needs a passphrase: set ssh_key_password"
                            : "it is no private key, or ssh_key_password is not its passphrase"));
    }
    if (found != entries_.end()) {
        ssh_key_free(found->second.key);
        entries_.erase(found);
    } else if (entries_.size() >= kMaxKeys) {
        ssh_key_free(entries_.begin()->second.key);
        entries_.erase(entries_.begin());
    }
    entries_[path] = {key, stamp, passphrase};
    return key;
}

}  // namespace pollux::protocol::ssh
