// A master key in a file: base64 and a line end, readable by its owner only.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/secret.hpp"

namespace pollux::store {

// 32 bytes out of base64; `origin` names where the text came from in errors.
base::Result<base::Secret> decode_key(const base::Secret& text, const std::string& origin);

enum class FileRights {
    kOwnerOnly,    // refused when group or others can read it
    kAsTheSystem,  // systemd guards its credentials by the folder and may show other bits
};

// Fails with vault.key_file, naming the file and what to do.
base::Result<base::Secret> read_key_file(const std::string& path, FileRights rights);

// Makes the file with a new random key, durable before this returns; fails if it is there.
base::Result<base::Secret> make_key_file(const std::string& path);

bool key_file_exists(const std::string& path);

// `from` takes the place of `to`, durably.
base::Status replace_key_file(const std::string& from, const std::string& to);

}  // namespace pollux::store
