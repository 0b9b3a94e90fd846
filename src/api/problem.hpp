// What the API answers when it does not do what was asked: RFC 9457 problem details.
//
//   {"type":"/problems/access.forbidden","title":"Forbidden","status":403,"detail":"…",
//    "code":"access.forbidden","request_id":"…","errors":[{"pointer":"/name","detail":"…"}]}
//
// `code` is the stable dotted code that logs and docs use too; `detail` is for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "document/diagnostic.hpp"
#include "net/http_message.hpp"

namespace pollux::api {

// One thing that is wrong with the request: a place in its body, or a parameter of its query.
struct FieldProblem {
    std::string pointer = {};    // JSON pointer into the body: "/targets/0/name"
    std::string parameter = {};  // name of a parameter of the query, or of a header field
    std::string detail = {};
    bool operator==(const FieldProblem&) const = default;
};

struct Problem {
    int status = 500;
    std::string code = "internal";
    std::string detail = {};
    std::vector<FieldProblem> errors = {};
    std::vector<net::HeaderField> headers = {};  // sent with it, such as Retry-After
    std::string extra = {};                      // further members as JSON text: "\"key\":1"
};

// By the class of the error: configuration 422, auth 403, transient 503 with Retry-After,
// permanent 409, internal 500 (whose message is for the log and is not sent).
Problem problem_of(const base::Error& error);
// 422 with a pointer for each mistake; a body that could not be read at all is 400.
Problem problem_of(const document::Diagnostics& diagnostics, bool readable = true);

Problem not_found(std::string what);
Problem conflict(std::string code, std::string detail);
Problem bad_request(std::string code, std::string detail);

// "targets[2].name" as "/targets/2/name".
std::string json_pointer(std::string_view field);

net::Response to_response(const Problem& problem, std::string_view request_id);

}  // namespace pollux::api
