// One file with what somebody else needs to understand an installation: texts in a compressed tar
// archive, with every known secret taken out.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/secret.hpp"

namespace pollux::app {

class SupportBundle {
  public:
    // Secrets shorter than this would tear holes into everything and are left out of the scan.
    static constexpr std::size_t kShortestSecret = 4;

    // What must not appear, wherever it stands; also in the forms that JSON, URLs and base64 give
    // it.
    void hide(const base::Secret& secret);

    void add(std::string name, std::string text);

    // How often a secret was taken out so far.
    std::size_t hidden() const { return hidden_; }
    const std::vector<std::pair<std::string, std::string>>& files() const { return files_; }

    // Writes `path` (0600), all or nothing. Fails with bundle.write.
    base::Status write(const std::string& path) const;

  private:
    std::string scrubbed(std::string text);

    std::vector<std::string> secrets_;  // the longest first
    std::vector<std::pair<std::string, std::string>> files_;
    std::size_t hidden_ = 0;
};

// A POSIX tar archive of plain files.
std::string tar_archive(const std::vector<std::pair<std::string, std::string>>& files,
                        std::int64_t seconds);

}  // namespace pollux::app
