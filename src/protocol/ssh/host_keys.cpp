#include "protocol/ssh/host_keys.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <libssh/libssh.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/text.hpp"

namespace pollux::protocol::ssh {
namespace {

constexpr std::size_t kMaxKeys = 200'000;

std::int64_t stamp_of(const std::string& path) {
    struct stat facts{};
    if (stat(path.c_str(), &facts) != 0) return 0;
    return (facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec) ^
           static_cast<std::int64_t>(facts.st_ino) ^ (facts.st_size << 40);
}

std::unexpected<base::Error> file_error(std::string_view what, const std::string& path) {
    return base::internal_error("ssh.host_keys",
                                fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

// Holds off other processes between reading and writing. Without a file there is nobody else.
class FileLock {
  public:
    explicit FileLock(const std::string& path) {
        if (path.empty()) return;
        fd_ = open((path + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        if (fd_ >= 0) flock(fd_, LOCK_EX);
    }
    ~FileLock() {
        if (fd_ >= 0) close(fd_);
    }
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

  private:
    int fd_ = -1;
};

}  // namespace

std::string fingerprint_of(std::string_view base64_key) {
    // The type is written in the key itself; libssh wants to be told.
    for (const auto type : {SSH_KEYTYPE_ED25519, SSH_KEYTYPE_RSA, SSH_KEYTYPE_ECDSA_P256,
                            SSH_KEYTYPE_ECDSA_P384, SSH_KEYTYPE_ECDSA_P521}) {
        ssh_key key = nullptr;
        if (ssh_pki_import_pubkey_base64(std::string(base64_key).c_str(), type, &key) != SSH_OK) {
            continue;
        }
        unsigned char* hash = nullptr;
        std::size_t length = 0;
        std::string text;
        if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &length) == 0) {
            char* shown = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length);
            if (shown != nullptr) text = shown;
            ssh_string_free_char(shown);
            ssh_clean_pubkey_hash(&hash);
        }
        ssh_key_free(key);
        return text;
    }
    return {};
}

std::string HostKeys::name_of(std::string_view host, std::uint16_t port) {
    return port == 22 ? std::string(host) : fmt::format("[{}]:{}", host, port);
}

base::Status HostKeys::load() {
    if (path_.empty()) return {};
    const std::int64_t stamp = stamp_of(path_);
    if (stamp == stamp_) return {};
    std::ifstream in(path_);
    // A file that is there and cannot be read must not make every host a new one.
    if (stamp != 0 && !in.is_open()) return file_error("read", path_);
    std::vector<HostKey> keys;
    std::vector<std::string> other_lines;
    std::string line;
    while (std::getline(in, line) && keys.size() < kMaxKeys) {
        std::istringstream words(line);
        HostKey key;
        words >> key.host >> key.type >> key.key;
        const bool plain = !key.key.empty() && !line.starts_with('#') &&
                           !key.host.starts_with('|') && !key.host.starts_with('@');
        if (!plain) {
            if (!line.empty()) other_lines.push_back(line);
            continue;
        }
        // "name,192.0.2.1 ssh-rsa …" names one key twice.
        std::istringstream names(key.host);
        std::string name;
        while (std::getline(names, name, ',')) keys.push_back({name, key.type, key.key});
    }
    if (in.bad()) return file_error("read", path_);
    keys_ = std::move(keys);
    other_lines_ = std::move(other_lines);
    stamp_ = stamp;
    return {};
}

base::Status HostKeys::save() {
    if (path_.empty()) return {};
    std::string text;
    for (const std::string& line : other_lines_) text += line + "\n";
    for (const HostKey& key : keys_) {
        text += fmt::format("{} {} {}\n", key.host, key.type, key.key);
    }
    const std::string fresh = fmt::format("{}.{}.new", path_, getpid());
    const int fd = open(fresh.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) return file_error("write", fresh);
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t wrote = write(fd, text.data() + done, text.size() - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) break;
        done += static_cast<std::size_t>(wrote);
    }
    const bool good = done == text.size() && fsync(fd) == 0;
    close(fd);
    if (!good || rename(fresh.c_str(), path_.c_str()) != 0) {
        const auto failed = file_error("write", path_);
        unlink(fresh.c_str());
        return failed;
    }
    stamp_ = stamp_of(path_);
    return {};
}

HostKeys::Answer HostKeys::check(const HostKey& seen) {
    const std::lock_guard lock(mutex_);
    [[maybe_unused]] const auto loaded = load();
    Answer answer;
    for (const HostKey& known : keys_) {
        if (known.host != seen.host) continue;
        if (known.key == seen.key) return {Verdict::kKnown, {}};
        answer.verdict = Verdict::kChanged;
        if (answer.known_fingerprint.empty() || known.type == seen.type) {
            answer.known_fingerprint = fingerprint_of(known.key);
        }
    }
    return answer;
}

std::vector<std::string> HostKeys::types_of(const std::string& host) {
    const std::lock_guard lock(mutex_);
    [[maybe_unused]] const auto loaded = load();
    std::vector<std::string> types;
    for (const HostKey& known : keys_) {
        if (known.host == host) types.push_back(known.type);
    }
    return types;
}

base::Status HostKeys::remember(const HostKey& seen) {
    const std::lock_guard lock(mutex_);
    const FileLock file(path_);
    if (const auto loaded = load(); !loaded) return loaded;
    if (std::ranges::find(keys_, seen) != keys_.end()) return {};
    if (keys_.size() >= kMaxKeys) {
        return base::internal_error("ssh.host_keys", "too many host keys are recorded");
    }
    keys_.push_back(seen);
    return save();
}

base::Result<std::vector<HostKey>> HostKeys::list() {
    const std::lock_guard lock(mutex_);
    if (const auto loaded = load(); !loaded) return std::unexpected(loaded.error());
    return keys_;
}

base::Result<std::size_t> HostKeys::forget(std::string_view host) {
    const std::lock_guard lock(mutex_);
    const FileLock file(path_);
    if (const auto loaded = load(); !loaded) return std::unexpected(loaded.error());
    const std::string any_port = fmt::format("[{}]:", host);
    const std::size_t count = std::erase_if(keys_, [&](const HostKey& key) {
        return key.host == host || key.host.starts_with(any_port);
    });
    if (count == 0) return count;
    if (const auto saved = save(); !saved) return std::unexpected(saved.error());
    return count;
}

}  // namespace pollux::protocol::ssh
