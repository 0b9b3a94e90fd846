// Versions of objects as HTTP has them: ETag on answers, If-None-Match on reads, If-Match on
// writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/call.hpp"

namespace pollux::api {

// "\"v12\"": strong, from the version that every configured object has.
std::string etag_of(std::uint64_t version);
// The same for what has no version: from its bytes, the same in every process.
std::string etag_of_text(std::string_view text);

// Whether a field such as `"a", W/"b"` or `*` names the tag. Compressed answers carry the tag with
// "-gzip" or "-br" inside, which counts as the same.
bool etag_listed(std::string_view field, std::string_view etag, bool weak_counts);

// For writes: 428 without If-Match (if the route needs it), 412 if it names another version.
// Nothing: go on.
std::optional<Problem> check_if_match(const Call& call, std::string_view current);

}  // namespace pollux::api
