// system.json: the mirror of the settings in the store, which people and older tools may edit by
// hand. Written after every commit; an edit from outside is found by its content, not its time.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"

namespace pollux::runtime {

class SettingsFile {
  public:
    static constexpr std::size_t kMaxBytes = 1U << 20U;

    explicit SettingsFile(std::string path) : path_(std::move(path)) {}

    // The text if somebody else changed the file since it was written or read here; nothing if it
    // is as we know it, or absent. A file that cannot be read is told once.
    base::Result<std::optional<std::string>> edited();

    // Replaces the file in one step.
    base::Status write(const std::string& text);

    const std::string& path() const { return path_; }

  private:
    std::string path_;
    std::optional<std::string> known_;  // content as written or read last
    std::string last_problem_;
};

}  // namespace pollux::runtime
