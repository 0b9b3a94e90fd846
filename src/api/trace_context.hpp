// W3C Trace Context: the id under which a request travels through several systems.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pollux::api {

struct TraceContext {
    std::string trace_id;   // 32 hexadecimal digits; empty: the request came without one
    std::string parent_id;  // 16 digits: the span of who called
    bool sampled = false;

    bool operator==(const TraceContext&) const = default;
};

// A `traceparent` field. Nothing if it is malformed: then it must be ignored.
std::optional<TraceContext> parse_traceparent(std::string_view text);

// The field to answer with: the same trace, `span` as the parent.
std::string traceparent(const TraceContext& context, std::uint64_t span);

}  // namespace pollux::api
