// Small files that are replaced whole: the old content or the new one is there, never a mixture.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace pollux::store {

// Writes `<path>.new` (0600), syncs it, puts it in the place of `path`, syncs the folder. Fails
// with store.file (transient), naming the file; `path` is then as before.
base::Status replace_file(const std::string& path, std::string_view bytes);

// The content; nothing if there is no such file. Fails with store.file if it cannot be read or is
// longer than `limit`.
base::Result<std::optional<std::string>> read_file(const std::string& path, std::size_t limit);

// A new name in a folder is durable only when the folder is.
base::Status sync_folder_of(const std::string& path);

}  // namespace pollux::store
