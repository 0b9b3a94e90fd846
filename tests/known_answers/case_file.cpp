#include "tests/known_answers/case_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace pollux::known_answers {
namespace {

namespace json = boost::json;

boost::json::object object_or_empty(const json::object& entry, std::string_view name,
                                    Problems& problems) {
    const json::value* value = entry.if_contains({name.data(), name.size()});
    if (value == nullptr) problems.push_back(fmt::format("{}: missing field", name));
    if (value == nullptr) return {};
    if (const json::object* object = value->if_object()) return *object;
    problems.push_back(fmt::format("{}: must be an object", name));
    return {};
}

std::string text_or_empty(const json::object& entry, std::string_view name, Problems& problems) {
    const json::value* value = entry.if_contains({name.data(), name.size()});
    const json::string* text = value == nullptr ? nullptr : value->if_string();
    if (text != nullptr && !text->empty()) return {text->data(), text->size()};
    problems.push_back(
        fmt::format("{}: {}", name, value == nullptr ? "missing field" : "must be a text"));
    return {};
}

Case read_case(const json::value& value, std::size_t position) {
    Case result;
    if (const json::object* entry = value.if_object()) {
        result.name = text_or_empty(*entry, "name", result.problems);
        result.category = text_or_empty(*entry, "category", result.problems);
        result.inputs = object_or_empty(*entry, "inputs", result.problems);
        result.expected = object_or_empty(*entry, "expected", result.problems);
    } else {
        result.problems.emplace_back("must be an object");
    }
    if (result.name.empty()) result.name = fmt::format("case {}", position);
    return result;
}

// "line 3, column 7" of a byte offset.
std::string place_of(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const auto line = std::ranges::count(before, '\n') + 1;
    const auto last_break = before.rfind('\n');
    const auto column =
        last_break == std::string_view::npos ? before.size() + 1 : before.size() - last_break;
    return fmt::format("line {}, column {}", line, column);
}

}  // namespace

base::Result<Cases> parse_cases(std::string_view text) {
    json::stream_parser parser;
    boost::system::error_code error;
    const std::size_t used = parser.write_some(text.data(), text.size(), error);
    if (!error && used == text.size()) parser.finish(error);
    if (!error && used < text.size()) error = json::error::extra_data;
    if (error) {
        return base::config_error(
            "known_answers.json",
            fmt::format("not valid JSON at {}: {}", place_of(text, used), error.message()));
    }
    const json::value root = parser.release();
    const json::object* object = root.if_object();
    const json::value* vectors = object == nullptr ? nullptr : object->if_contains("vectors");
    if (vectors == nullptr || !vectors->is_array()) {
        return base::config_error("known_answers.shape",
                                  R"(the file must be an object with an array "vectors")");
    }
    Cases cases;
    for (const json::value& value : vectors->get_array()) {
        cases.push_back(read_case(value, cases.size() + 1));
    }
    if (cases.empty()) {
        return base::config_error("known_answers.empty", R"("vectors" holds no case)");
    }
    return cases;
}

base::Result<Cases> load_cases(const std::string& path) {
    const auto refuse = [&](int cause) {
        return base::config_error("known_answers.read",
                                  fmt::format("cannot read {}: {}", path, std::strerror(cause)));
    };
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) return refuse(errno);
    std::ostringstream text;
    text << file.rdbuf();
    // A directory can be opened, and only reading it fails.
    if (text.view().empty() && errno != 0) return refuse(errno);
    auto cases = parse_cases(text.view());
    if (!cases) cases.error().message = fmt::format("{}: {}", path, cases.error().message);
    return cases;
}

}  // namespace pollux::known_answers
