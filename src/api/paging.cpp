#include "api/paging.hpp"

#include <algorithm>
#include <vector>

#include "base/bytes.hpp"
#include "base/siphash.hpp"

namespace pollux::api {
namespace {

constexpr base::SipKey kFilterKey{0x706f6c6c75782d70ULL, 0x6167696e672d7631ULL};
constexpr std::uint8_t kCursorVersion = 1;
constexpr std::size_t kLongestPosition = 512;
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(char a, char b) { return lower(a) == lower(b); }

}  // namespace

std::string base64url(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size() * 4 / 3 + 2);
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : bytes) {
        bits = bits << 8U | static_cast<unsigned char>(c);
        for (count += 8; count >= 6; count -= 6) {
            out += kAlphabet[bits >> static_cast<unsigned>(count - 6) & 63U];
        }
    }
    if (count > 0) out += kAlphabet[bits << static_cast<unsigned>(6 - count) & 63U];
    return out;
}

std::optional<std::string> from_base64url(std::string_view text) {
    std::string out;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const std::size_t value = kAlphabet.find(c);
        if (value == std::string_view::npos) return std::nullopt;
        bits = bits << 6U | static_cast<std::uint32_t>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        out += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
    }
    // Bits that belong to no byte must be zero: one text per value.
    if (count >= 6 || (bits & ((1U << static_cast<unsigned>(count)) - 1)) != 0) return std::nullopt;
    return out;
}

std::uint64_t filter_hash(std::string_view path, const Query& query) {
    std::vector<std::pair<std::string_view, std::string_view>> parts;
    for (const auto& [name, value] : query.values()) {
        if (name != "limit" && name != "cursor") parts.emplace_back(name, value);
    }
    std::ranges::sort(parts);
    base::ByteWriter bytes;
    bytes.string(path);
    for (const auto& [name, value] : parts) {
        bytes.string(name);
        bytes.string(value);
    }
    return base::siphash24(kFilterKey, bytes.view());
}

std::expected<Page, Problem> Page::read(const Call& call) {
    Page page;
    if (const auto limit = call.query.integer("limit")) {
        page.limit = static_cast<std::size_t>(std::clamp<std::int64_t>(*limit, 1, 1000));
    }
    page.filter = filter_hash(call.request.path, call.query);
    const auto cursor = call.query.text("cursor");
    if (!cursor) return page;
    const auto refused = [](std::string detail) {
        Problem problem = bad_request("api.cursor", detail);
        problem.errors = {{.parameter = "cursor", .detail = std::move(detail)}};
        return std::unexpected(std::move(problem));
    };
    const auto bytes = from_base64url(*cursor);
    if (!bytes) return refused("the cursor is broken; use `next` of a page as it is");
    base::ByteReader reader(*bytes);
    const std::uint8_t version = reader.u8();
    const std::uint64_t filter = reader.u64();
    page.after = reader.string(kLongestPosition);
    if (!reader.ok() || !reader.at_end() || version != kCursorVersion) {
        return refused("the cursor is broken; use `next` of a page as it is");
    }
    if (filter != page.filter) {
        return refused("the cursor belongs to another filter; begin again without it");
    }
    return page;
}

std::string Page::cursor_after(std::string_view position) const {
    base::ByteWriter bytes;
    bytes.u8(kCursorVersion);
    bytes.u64(filter);
    bytes.string(position.substr(0, kLongestPosition));
    return base64url(bytes.view());
}

void Page::write_next(document::JsonWriter& json, bool more, std::string_view last_position) const {
    if (more) json.field("next", cursor_after(last_position));
}

Parameter label_parameter(std::string_view description) {
    return {.name = "label", .description = description, .repeated = true, .longest = 320};
}

std::expected<std::map<std::string, std::string, std::less<>>, Problem> wanted_labels(
    const Call& call) {
    std::map<std::string, std::string, std::less<>> labels;
    for (const std::string_view one : call.query.texts("label")) {
        const std::size_t equal = one.find('=');
        if (equal == 0 || equal == std::string_view::npos) {
            Problem problem =
                bad_request("query.label", "a label is name=value, such as site=bonn");
            problem.errors = {{.parameter = "label", .detail = problem.detail}};
            return std::unexpected(std::move(problem));
        }
        labels.insert_or_assign(std::string(one.substr(0, equal)),
                                std::string(one.substr(equal + 1)));
    }
    return labels;
}

bool text_matches(std::string_view value, std::string_view pattern) {
    if (pattern.find('*') == std::string_view::npos) {
        return pattern.empty() || !std::ranges::search(value, pattern, same).empty();
    }
    // Greedy with one place to go back to: linear in practice, at worst the product of lengths.
    std::size_t v = 0;
    std::size_t p = 0;
    std::size_t star = std::string_view::npos;
    std::size_t mark = 0;
    while (v < value.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            mark = v;
        } else if (p < pattern.size() && same(pattern[p], value[v])) {
            ++p;
            ++v;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            v = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

}  // namespace pollux::api
