// Pages of lists: `limit` and an opaque `cursor`, which says after which entry the next page
// begins. A cursor belongs to the filter it was made with.
//
//   const auto page = Page::read(call);
//   if (!page) return call.problem(page.error());
//   …rows after page->after, at most page->limit…
//   page->write_next(json, there_are_more, rows.back().key);
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/call.hpp"
#include "document/json_writer.hpp"

namespace pollux::api {

inline constexpr std::size_t kDefaultLimit = 100;

struct Page {
    std::size_t limit = kDefaultLimit;
    std::string after;  // position of the last entry of the page before; empty: the first page
    std::uint64_t filter = 0;  // hash of path and filter

    // 400 for a cursor that is broken or of another filter.
    static std::expected<Page, Problem> read(const Call& call);

    // The cursor of the page that begins after the entry at `position`.
    std::string cursor_after(std::string_view position) const;
    // Writes "next", if there is a further page.
    void write_next(document::JsonWriter& json, bool more, std::string_view last_position) const;
};

// Of the path and all parameters but `limit` and `cursor`, in whatever order they stand.
std::uint64_t filter_hash(std::string_view path, const Query& query);

std::string base64url(std::string_view bytes);
std::optional<std::string> from_base64url(std::string_view text);

// A filter by labels, such as `label=site=bonn`; several may be given.
Parameter label_parameter(std::string_view description);
// What it says; 400 for what is not name=value.
std::expected<std::map<std::string, std::string, std::less<>>, Problem> wanted_labels(
    const Call& call);

// Filters by text: `*` stands for anything, otherwise the text may stand anywhere in the value;
// ASCII letters count without case.
bool text_matches(std::string_view value, std::string_view pattern);

}  // namespace pollux::api
