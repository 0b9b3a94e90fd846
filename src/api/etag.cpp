#include "api/etag.hpp"

#include <fmt/format.h>

#include "base/siphash.hpp"

namespace pollux::api {
namespace {

constexpr base::SipKey kTextKey{0x706f6c6c75782d65ULL, 0x746167732d763031ULL};

// The tag without its quotes and without the mark of the coding; empty if it has no quotes.
std::string_view opaque(std::string_view tag) {
    if (tag.size() < 2 || tag.front() != '"' || tag.back() != '"') return {};
    tag = tag.substr(1, tag.size() - 2);
    for (const std::string_view coding : {"-gzip", "-br"}) {
        if (tag.ends_with(coding)) return tag.substr(0, tag.size() - coding.size());
    }
    return tag;
}

}  // namespace

std::string etag_of(std::uint64_t version) { return fmt::format("\"v{}\"", version); }

std::string etag_of_text(std::string_view text) {
    return fmt::format("\"h{:016x}\"", base::siphash24(kTextKey, text));
}

bool etag_listed(std::string_view field, std::string_view etag, bool weak_counts) {
    const std::string_view wanted = opaque(etag);
    while (!field.empty()) {
        const std::size_t start = field.find_first_not_of(" \t,");
        if (start == std::string_view::npos) return false;
        field.remove_prefix(start);
        if (field.starts_with('*')) return true;
        const bool weak = field.starts_with("W/");
        if (weak) field.remove_prefix(2);
        const std::size_t end = field.find('"', 1);
        if (!field.starts_with('"') || end == std::string_view::npos) return false;
        if (opaque(field.substr(0, end + 1)) == wanted && (!weak || weak_counts)) return true;
        field.remove_prefix(end + 1);
    }
    return false;
}

std::optional<Problem> check_if_match(const Call& call, std::string_view current) {
    const auto field = call.request.header("If-Match");
    if (!field) {
        if (call.route == nullptr || !call.route->needs_if_match) return std::nullopt;
        return Problem{.status = 428,
                       .code = "api.if-match-missing",
                       .detail =
                           "send If-Match with the ETag of the version you read, so that "
                           "nobody's change is lost"};
    }
    if (etag_listed(*field, current, false)) return std::nullopt;
    return Problem{.status = 412,
                   .code = "api.stale",
                   .detail = fmt::format("the object was changed meanwhile and is now {}; read it "
                                         "again and repeat your change",
                                         current),
                   .headers = {{"ETag", std::string(current)}}};
}

}  // namespace pollux::api
