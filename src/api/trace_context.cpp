#include "api/trace_context.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pollux::api {
namespace {

bool is_hex(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool all_zero(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c == '0'; });
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view text) {
    // version "-" trace-id "-" parent-id "-" flags; later versions may append more.
    constexpr std::size_t kLength = 55;
    if (text.size() < kLength || text[2] != '-' || text[35] != '-' || text[52] != '-') {
        return std::nullopt;
    }
    const std::string_view version = text.substr(0, 2);
    const std::string_view trace = text.substr(3, 32);
    const std::string_view parent = text.substr(36, 16);
    const std::string_view flags = text.substr(53, 2);
    if (!is_hex(version) || version == "ff" || !is_hex(trace) || !is_hex(parent) ||
        !is_hex(flags)) {
        return std::nullopt;
    }
    if (all_zero(trace) || all_zero(parent)) return std::nullopt;
    if (version == "00" && text.size() != kLength) return std::nullopt;
    if (text.size() > kLength && text[kLength] != '-') return std::nullopt;
    const char last = flags[1];
    const int bits = last <= '9' ? last - '0' : last - 'a' + 10;
    return TraceContext{
        .trace_id = std::string(trace), .parent_id = std::string(parent), .sampled = bits % 2 == 1};
}

std::string traceparent(const TraceContext& context, std::uint64_t span) {
    return fmt::format("00-{}-{:016x}-{}", context.trace_id, span == 0 ? 1 : span,
                       context.sampled ? "01" : "00");
}

}  // namespace pollux::api
