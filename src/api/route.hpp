// One operation of the API, as a row of a table: where it is, who may, what it takes and gives, and
// who handles it. Router, OpenAPI document, rate limits and the tests of access all read this.
//
// The texts are literals: a Route keeps views of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "access/permission.hpp"
#include "access/rate_limiter.hpp"

namespace pollux::api {

class Call;

enum class ParameterType : std::uint8_t { kText, kInteger, kBoolean, kWord, kTime };

// A parameter of the path or of the query. Those of the query are checked before the handler runs:
// a name that is not listed, a wrong form, a number or length out of range are 400.
struct Parameter {
    std::string_view name;
    ParameterType type = ParameterType::kText;
    std::string_view description = {};
    bool required = false;
    bool repeated = false;                                          // may be given several times
    std::int64_t least = std::numeric_limits<std::int64_t>::min();  // of integers
    std::int64_t most = std::numeric_limits<std::int64_t>::max();   // of integers
    std::size_t longest = 512;                                      // bytes of a text
    std::vector<std::string_view> words = {};                       // allowed ones of kWord
    std::string_view standard = {};                                 // shown: what holds without it
    std::string_view example = {};
};

using Handler = std::function<void(Call)>;

struct Route {
    std::string_view method;  // GET, POST, PUT, PATCH, DELETE; HEAD and OPTIONS come by themselves
    std::string_view path;    // "/api/targets/{key}"
    access::Permission permission = access::Permission::kRead;
    access::Area area = access::Area::kSystem;
    bool everywhere = false;  // the permission must hold on everything: what has no labels
    bool open = false;        // no login needed; the handler gets the anonymous principal
    access::RateClass rate = access::RateClass::kGeneral;

    std::string_view operation = {};  // operationId: "resetBreaker"
    std::string_view tag = {};
    std::string_view summary = {};
    std::string_view description = {};
    std::vector<Parameter> path_parameters = {};  // what is to be said about them; may be left out
    std::vector<Parameter> query = {};

    // JSON texts. A request schema means: there is a body, of JSON.
    std::string_view request_schema = {};
    std::string_view request_example = {};
    bool body_optional = false;  // an empty body is taken too
    int status = 200;            // of a success
    std::string_view response_schema = {};
    std::string_view response_example = {};
    std::string_view response_type = "application/json";
    std::size_t body_limit = 64 * 1024;
    // Bodies of another kind, such as uploads: their media type. Empty: JSON.
    std::string_view request_type = {};

    // If-Match: the handler compares the version, if it is sent; 428 without, if it is needed.
    // Elsewhere it is 400: nobody shall believe that something was compared.
    bool takes_if_match = false;
    bool needs_if_match = false;
    bool secret_answer = false;  // shows a secret once: a replay by Idempotency-Key is 409 instead
    bool upgrade = false;        // a WebSocket: GET with Upgrade
    bool any_query = false;      // the query is not looked at: pages that people link to

    // What the audit trail calls a request that was turned away, as it calls one that was done:
    // "breaker.reset"; empty: the operation. And of what: "job {id}", "*"; empty: what the
    // parameter of the path holds, or the path if it has none.
    std::string audit_action = {};
    std::string_view audit_object = {};

    Handler handler = {};
};

// Bodies of requests: a reason for the audit trail, if there is one; fields of any kind.
inline constexpr std::string_view kReasonBody =
    R"({"type":"object","properties":{"reason":{"type":"string","maxLength":500}}})";
inline constexpr std::string_view kAnyFields = R"({"type":"object","additionalProperties":true})";

// The pieces that all lists share.
Parameter limit_parameter();
Parameter cursor_parameter();

}  // namespace pollux::api
