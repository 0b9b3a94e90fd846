#include "api/problem.hpp"

#include <utility>

#include "document/json_writer.hpp"

namespace pollux::api {
namespace {

constexpr std::string_view kRetrySeconds = "1";

void append_step(std::string& out, std::string_view step) {
    out += '/';
    for (const char c : step) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out += c;
        }
    }
}

}  // namespace

Problem problem_of(const base::Error& error) {
    using enum base::ErrorClass;
    Problem problem{.code = error.code, .detail = error.message};
    switch (error.error_class) {
        case kConfig: problem.status = 422; break;
        case kAuth: problem.status = 403; break;
        case kPermanent: problem.status = 409; break;
        case kTransient:
            problem.status = 503;
            problem.headers.push_back({"Retry-After", std::string(kRetrySeconds)});
            break;
        case kInternal:
            problem.detail = "the server made a mistake; its log has the details";
            break;
    }
    return problem;
}

Problem problem_of(const document::Diagnostics& diagnostics, bool readable) {
    Problem problem{.status = readable ? 422 : 400,
                    .code = readable ? "api.invalid" : "api.unreadable",
                    .detail = readable ? "the body has mistakes" : "the body cannot be read"};
    const document::Diagnostic* last = nullptr;
    for (const document::Diagnostic& one : diagnostics.items()) {
        if (one.severity != document::Severity::kError) continue;
        problem.errors.push_back({.pointer = json_pointer(one.field), .detail = one.message});
        last = &one;
    }
    if (problem.errors.size() != 1) return problem;
    // Many a message is about its field without naming it: "is no known key".
    const bool named = last->field.empty() || last->message.starts_with(last->field);
    problem.detail += ": " + (named ? std::string() : last->field + ": ") + last->message;
    return problem;
}

Problem not_found(std::string what) {
    return {.status = 404, .code = "api.not-found", .detail = std::move(what)};
}

Problem conflict(std::string code, std::string detail) {
    return {.status = 409, .code = std::move(code), .detail = std::move(detail)};
}

Problem bad_request(std::string code, std::string detail) {
    return {.status = 400, .code = std::move(code), .detail = std::move(detail)};
}

std::string json_pointer(std::string_view field) {
    std::string out;
    std::string step;
    const auto flush = [&] {
        if (!step.empty()) append_step(out, step);
        step.clear();
    };
    for (const char c : field) {
        if (c == '.' || c == '[' || c == ']') {
            flush();
        } else {
            step += c;
        }
    }
    flush();
    return out;
}

net::Response to_response(const Problem& problem, std::string_view request_id) {
    std::string body;
    document::JsonWriter json(body);
    json.object();
    json.field("type", "/problems/" + problem.code);
    json.field("title", net::reason_phrase(problem.status));
    json.field("status", problem.status);
    json.text_field("detail", problem.detail);
    json.field("code", problem.code);
    json.text_field("request_id", request_id);
    if (!problem.errors.empty()) {
        json.key("errors").array();
        for (const FieldProblem& one : problem.errors) {
            json.object();
            if (one.parameter.empty()) {
                json.field("pointer", one.pointer);
            } else {
                json.field("parameter", one.parameter);
            }
            json.field("detail", one.detail).end_object();
        }
        json.end_array();
    }
    json.end_object();
    if (!problem.extra.empty()) {
        body.pop_back();
        body += "," + problem.extra + "}";
    }
    net::Response response{.status = problem.status, .headers = {}, .body = std::move(body)};
    response.with("Content-Type", "application/problem+json");
    for (const net::HeaderField& field : problem.headers) response.headers.push_back(field);
    return response;
}

}  // namespace pollux::api
