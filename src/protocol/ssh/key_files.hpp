// Private keys read from files, each once: a passphrase is slow to check on purpose.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"
#include "base/secret.hpp"

struct ssh_key_struct;

namespace pollux::protocol::ssh {

class KeyFiles {
  public:
    KeyFiles() = default;
    ~KeyFiles();
    KeyFiles(const KeyFiles&) = delete;
    KeyFiles& operator=(const KeyFiles&) = delete;

    // Owned by this. Read again when the file changed. Error ssh.key names the file, never the
    // passphrase.
    base::Result<ssh_key_struct*> get(const std::string& path, const base::Secret& passphrase);

  private:
    struct Entry {
        ssh_key_struct* key = nullptr;
        std::int64_t stamp = 0;
        base::Secret passphrase;
    };
    static constexpr std::size_t kMaxKeys = 256;
    std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace pollux::protocol::ssh
