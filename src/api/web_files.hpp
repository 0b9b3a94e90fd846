// The dashboard as it was packed into the binary: tools/web/pack.mjs writes what implements this,
// or cmake/Web.cmake an empty table.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace pollux::api {

// A part of the blob. Of a coding that is not there the length is 0.
struct PackedPart {
    std::size_t offset = 0;
    std::size_t length = 0;
};

struct PackedWebFile {
    std::string_view path;  // of the URL: "/", "/status", "/assets/index-1a2b3c.js"
    std::string_view type;  // media type
    std::string_view tag;   // digest of the plain bytes
    PackedPart plain;
    PackedPart gzip;
    PackedPart brotli;
};

std::span<const PackedWebFile> packed_web_files();
std::string_view web_files_blob();

}  // namespace pollux::api
