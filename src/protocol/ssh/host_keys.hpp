// The keys of SSH hosts that are believed, in a file of the form of OpenSSH's known_hosts:
//
//     host ssh-ed25519 AAAA…          port 22
//     [host]:2222 ssh-rsa AAAA…       any other port
//
// So `ssh-keyscan` can fill it, and people can read and edit it. Thread-safe: shards share one. The
// file is read again when it changed, and written whole (a new file that takes the old one's
// place), so that a server and a command can both change it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace pollux::protocol::ssh {

struct HostKey {
    std::string host;  // as in the file: "host" or "[host]:2222"
    std::string type;  // "ssh-ed25519"
    std::string key;   // base64
    bool operator==(const HostKey&) const = default;
};

// "SHA256:…" as ssh-keygen -l shows it; empty if the key is none.
std::string fingerprint_of(std::string_view base64_key);

class HostKeys {
  public:
    // An empty path: kept in memory only.
    explicit HostKeys(std::string path) : path_(std::move(path)) {}

    static std::string name_of(std::string_view host, std::uint16_t port);

    enum class Verdict : std::uint8_t { kKnown, kNew, kChanged };
    struct Answer {
        Verdict verdict = Verdict::kNew;
        std::string known_fingerprint;  // of kChanged
    };
    Answer check(const HostKey& seen);
    // Types of the keys that are known of a host, to ask it for one of these.
    std::vector<std::string> types_of(const std::string& host);
    base::Status remember(const HostKey& seen);

    base::Result<std::vector<HostKey>> list();
    // How many were forgotten; `host` is a name, an address, or either with a port as in the file.
    base::Result<std::size_t> forget(std::string_view host);

    const std::string& path() const { return path_; }

  private:
    base::Status load();  // if the file changed
    base::Status save();

    const std::string path_;
    std::mutex mutex_;
    std::vector<HostKey> keys_;
    std::vector<std::string> other_lines_;  // comments, hashed names, markers: kept as they are
    std::int64_t stamp_ = -1;
};

}  // namespace pollux::protocol::ssh
