// The pages and files that browsers load without a login: the dashboard with its assets, and a page
// that says so where it was left out of the build. They hold no data of the fleet.
//
// Texts live as long as the program. Immutable after it was built.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/web_files.hpp"
#include "net/http_message.hpp"

namespace pollux::api {

struct StaticFile {
    std::string_view path;
    std::string_view type;
    std::string_view tag;
    std::string_view plain;
    std::string_view gzip = {};    // empty: not there in this coding
    std::string_view brotli = {};  // likewise

    // Its name holds its digest: what was loaded once never changes.
    bool hashed() const { return path.starts_with("/assets/"); }
};

class StaticFiles {
  public:
    // Of a packed dashboard. Without one: a page that says that there is none.
    StaticFiles(std::span<const PackedWebFile> packed, std::string_view blob);

    const std::vector<StaticFile>& files() const { return files_; }  // sorted by path
    const StaticFile* find(std::string_view path) const;             // nullptr: none

  private:
    std::vector<StaticFile> files_;
};

// The file in the best coding that the client takes, with its fields. `accept_encoding` is the
// field of the request, or empty.
net::Response static_response(const StaticFile& file, std::string_view accept_encoding);

}  // namespace pollux::api
