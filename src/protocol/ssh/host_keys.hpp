// The keys of SSH hosts that are believed, in a file of the form of OpenSSH's known_hosts
// (known_hosts.hpp), so that `ssh-keyscan` can fill it, and people can read and edit it.
//
// Thread-safe: shards share one. Invariants
// 1. The file is read again when it changed; when it cannot be read, no question about a host is
//    answered and nothing is written.
// 2. A new key is one line more at the end, durable when remember() returns; everything else that
//    stands in the file stays as it is. Only forget() writes it anew.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "protocol/ssh/host_key_file.hpp"
#include "protocol/ssh/known_hosts.hpp"

namespace pollux::protocol::ssh {

struct HostKey {
    std::string host;  // "host" or "[host]:2222"; of a listed one also a hash, or patterns
    std::string type;  // "ssh-ed25519"
    std::string key;   // base64
    bool operator==(const HostKey&) const = default;
};

// "SHA256:…" as ssh-keygen -l shows it; empty if the key is none.
std::string fingerprint_of(std::string_view base64_key);

class HostKeys {
  public:
    static constexpr std::size_t kMaxKeys = 200'000;

    // An empty path: kept in memory only. `warn` is told, once each, what in the file has no
    // effect; from whatever thread, and must not call back.
    using Warn = std::function<void(std::string_view what)>;
    explicit HostKeys(std::string path, Warn warn = {})
        : file_(std::move(path)), warn_(std::move(warn)) {}

    static std::string name_of(std::string_view host, std::uint16_t port);

    enum class Verdict : std::uint8_t { kKnown, kNew, kChanged, kRevoked };
    struct Answer {
        Verdict verdict = Verdict::kNew;
        std::string known_fingerprint;  // of kChanged
        std::size_t line = 0;           // of kChanged and kRevoked: where in the file
        bool authority = false;         // certificates would be taken from it; not by us
    };
    // Error ssh.host_keys: nobody can say.
    base::Result<Answer> check(const HostKey& seen);
    // Types of the keys that are known of a host, to ask it for one of these.
    base::Result<std::vector<std::string>> types_of(const std::string& host);
    base::Status remember(const HostKey& seen);

    // All lines with a key; "@revoked " and "@cert-authority " stand in front of the host.
    base::Result<std::vector<HostKey>> list();
    // How many were forgotten; `host` is a name, an address, or either with a port as in the file.
    // Patterns, and keys that are marked, stay: they mean more than this host.
    base::Result<std::size_t> forget(std::string_view host);

    const std::string& path() const { return file_.path(); }

  private:
    struct Line {
        KnownHost known;
        std::size_t number = 0;
    };

    bool in_memory() const { return file_.path().empty(); }
    base::Status load();  // if the file changed
    base::Status take(std::string_view text);
    void add(KnownHost known, std::size_t number);
    std::vector<const Line*> lines_of(std::string_view host) const;
    base::Result<bool> is_wanted(const HostKey& seen) const;
    base::Status append(const HostKey& seen);

    const HostKeyFile file_;
    const Warn warn_;
    std::mutex mutex_;  // guards what follows
    std::optional<HostKeyFile::Stamp> stamp_;
    std::vector<Line> lines_;
    std::map<std::string, std::vector<std::size_t>, std::less<>> by_name_;
    std::vector<std::size_t> others_;  // hashed, patterns, marked: to be looked at one by one
    std::size_t last_line_ = 0;        // its number
    std::size_t keep_ = 0;             // bytes of the file that are good
    bool open_end_ = false;            // the last line has no end
    bool warned_ = false;
};

}  // namespace pollux::protocol::ssh
