#include "api/query.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace pollux::api {
namespace {

std::optional<std::string> decoded(std::string_view text) {
    std::string plain(text);
    std::ranges::replace(plain, '+', ' ');
    auto value = net::percent_decode(plain);
    if (value && !base::is_valid_utf8(*value)) return std::nullopt;
    return value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    std::int64_t value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end.ec != std::errc{} || end.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

// What is wrong with a value; empty: nothing.
std::string check(const Parameter& parameter, std::string_view value) {
    switch (parameter.type) {
        case ParameterType::kText:
            if (value.size() <= parameter.longest) return {};
            return fmt::format("is longer than {} bytes", parameter.longest);
        case ParameterType::kInteger: {
            const auto number = parse_integer(value);
            if (!number) return fmt::format("{} is not a whole number", base::quoted(value));
            if (*number >= parameter.least && *number <= parameter.most) return {};
            return fmt::format("must be from {} to {}", parameter.least, parameter.most);
        }
        case ParameterType::kBoolean:
            if (value == "true" || value == "false") return {};
            return fmt::format("{} is neither true nor false", base::quoted(value));
        case ParameterType::kWord:
            if (std::ranges::find(parameter.words, value) != parameter.words.end()) return {};
            return fmt::format("{} is none of {}", base::quoted(value),
                               fmt::join(parameter.words, ", "));
        case ParameterType::kTime:
            if (base::parse_utc(value)) return {};
            return fmt::format("{} is not a time such as 2026-02-28T12:00:00Z",
                               base::quoted(value));
    }
    return {};
}

std::string unknown_text(const Route& route, std::string_view name) {
    std::vector<std::string_view> known;
    for (const Parameter& one : route.query) known.push_back(one.name);
    std::string text = "is not known here";
    if (known.empty()) return text + "; there are no parameters";
    if (const auto near = base::nearest(name, known)) {
        return text + fmt::format("; did you mean {}?", *near);
    }
    return text + fmt::format("; there are {}", fmt::join(known, ", "));
}

const Parameter* find(const Route& route, std::string_view name) {
    const auto found = std::ranges::find(route.query, name, &Parameter::name);
    return found == route.query.end() ? nullptr : &*found;
}

Problem wrong_query(std::vector<FieldProblem> errors) {
    Problem problem = bad_request("api.query", "the query is wrong");
    problem.detail = fmt::format("the parameter {} of the query {}",
                                 base::quoted(errors[0].parameter), errors[0].detail);
    problem.errors = std::move(errors);
    return problem;
}

}  // namespace

std::expected<Query, Problem> Query::read(const Route& route, std::string_view text) {
    Query query;
    std::vector<FieldProblem> errors;
    const auto wrong = [&](std::string_view name, std::string detail) {
        errors.push_back({.parameter = std::string(name), .detail = std::move(detail)});
    };
    for (std::size_t count = 0; !text.empty(); ++count) {
        if (count == kMostParameters) {
            return std::unexpected(bad_request("api.query", "the query has too many parameters"));
        }
        const std::string_view part = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(part.size() + 1, text.size()));
        if (part.empty()) continue;
        const std::size_t equals = std::min(part.find('='), part.size());
        auto name = decoded(part.substr(0, equals));
        auto value = decoded(part.substr(std::min(equals + 1, part.size())));
        if (!name || !value) {
            wrong(part.substr(0, equals), "is not UTF-8 with well-formed %XX escapes");
            continue;
        }
        const Parameter* parameter = find(route, *name);
        if (parameter == nullptr) {
            wrong(*name, unknown_text(route, *name));
        } else if (std::string fault = check(*parameter, *value); !fault.empty()) {
            wrong(*name, std::move(fault));
        } else if (!parameter->repeated && query.has(*name)) {
            wrong(*name, "is given twice");
        } else {
            query.values_.emplace_back(std::move(*name), std::move(*value));
        }
    }
    for (const Parameter& one : route.query) {
        if (one.required && !query.has(one.name) && errors.empty()) wrong(one.name, "is missing");
    }
    if (!errors.empty()) return std::unexpected(wrong_query(std::move(errors)));
    return query;
}

std::optional<std::string_view> Query::text(std::string_view name) const {
    for (const auto& [key, value] : values_) {
        if (key == name) return value;
    }
    return std::nullopt;
}

std::vector<std::string_view> Query::texts(std::string_view name) const {
    std::vector<std::string_view> all;
    for (const auto& [key, value] : values_) {
        if (key == name) all.push_back(value);
    }
    return all;
}

std::optional<std::int64_t> Query::integer(std::string_view name) const {
    const auto value = text(name);
    return value ? parse_integer(*value) : std::nullopt;
}

std::optional<bool> Query::flag(std::string_view name) const {
    const auto value = text(name);
    return value ? std::optional(*value == "true") : std::nullopt;
}

std::optional<base::WallTime> Query::time(std::string_view name) const {
    const auto value = text(name);
    return value ? base::parse_utc(*value) : std::nullopt;
}

}  // namespace pollux::api
