#include "tests/known_answers/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

namespace pollux::known_answers {
namespace {

namespace json = boost::json;

std::string to_text(const json::string& text) { return {text.data(), text.size()}; }

json::string_view key_of(std::string_view name) { return {name.data(), name.size()}; }

std::optional<double> as_number(const json::value& value) {
    if (!value.is_number()) return std::nullopt;
    return value.to_number<double>();
}

std::optional<std::int64_t> as_integer(const json::value& value) {
    if (!value.is_number()) return std::nullopt;
    boost::system::error_code error;
    const auto number = value.to_number<std::int64_t>(error);
    if (error) return std::nullopt;
    return number;
}

std::optional<Row> as_row(const json::value& value, std::size_t texts, std::size_t numbers) {
    const json::array* cells = value.if_array();
    if (cells == nullptr || cells->size() != texts + numbers) return std::nullopt;
    Row row;
    for (std::size_t i = 0; i < cells->size(); ++i) {
        const json::string* text = (*cells)[i].if_string();
        const std::optional<double> number = as_number((*cells)[i]);
        if (i < texts && text != nullptr) row.texts.push_back(to_text(*text));
        if (i >= texts && number) row.numbers.push_back(*number);
    }
    if (row.texts.size() != texts || row.numbers.size() != numbers) return std::nullopt;
    return row;
}

}  // namespace

Fields::Fields(std::string path, const json::object* object, Problems& problems)
    : path_(std::move(path)), object_(object), problems_(&problems) {}

bool Fields::has(std::string_view name) const {
    return object_ != nullptr && object_->contains(key_of(name));
}

double Fields::number(std::string_view name) {
    const json::value* value = find(name);
    if (value == nullptr) return 0;
    const std::optional<double> number = as_number(*value);
    if (!number) problem(name, "must be a number");
    return number.value_or(0);
}

double Fields::number_or(std::string_view name, double fallback) {
    return has(name) ? number(name) : fallback;
}

std::optional<double> Fields::nullable_number(std::string_view name) {
    const json::value* value = find(name);
    if (value == nullptr || value->is_null()) return std::nullopt;
    const std::optional<double> number = as_number(*value);
    if (!number) problem(name, "must be a number or null");
    return number;
}

std::int64_t Fields::integer(std::string_view name) {
    const json::value* value = find(name);
    if (value == nullptr) return 0;
    const std::optional<std::int64_t> number = as_integer(*value);
    if (!number) problem(name, "must be a whole number");
    return number.value_or(0);
}

std::int64_t Fields::integer_or(std::string_view name, std::int64_t fallback) {
    return has(name) ? integer(name) : fallback;
}

bool Fields::boolean(std::string_view name) {
    const json::value* value = find(name);
    if (value == nullptr) return false;
    if (!value->is_bool()) problem(name, "must be true or false");
    return value->is_bool() && value->get_bool();
}

bool Fields::boolean_or(std::string_view name, bool fallback) {
    return has(name) ? boolean(name) : fallback;
}

std::string Fields::text(std::string_view name) {
    const json::value* value = find(name);
    if (value == nullptr) return {};
    if (const json::string* text = value->if_string()) return to_text(*text);
    problem(name, "must be a string");
    return {};
}

base::Duration Fields::seconds(std::string_view name) { return base::from_seconds(number(name)); }

void Fields::null(std::string_view name) {
    const json::value* value = find(name);
    if (value != nullptr && !value->is_null()) problem(name, "must be null");
}

std::vector<double> Fields::numbers(std::string_view name) {
    const json::array* values = array(name);
    if (values == nullptr) return {};
    std::vector<double> result;
    for (const json::value& value : *values) {
        const std::optional<double> number = as_number(value);
        if (!number) problem(name, "must hold numbers only");
        result.push_back(number.value_or(0));
    }
    return result;
}

std::vector<double> Fields::one_or_more(std::string_view name) {
    const json::value* value = find(name);
    if (value == nullptr) return {};
    return value->is_array() ? numbers(name) : std::vector<double>{number(name)};
}

std::vector<bool> Fields::booleans(std::string_view name) {
    const json::array* values = array(name);
    if (values == nullptr) return {};
    std::vector<bool> result;
    for (const json::value& value : *values) {
        if (!value.is_bool()) problem(name, "must hold true and false only");
        result.push_back(value.is_bool() && value.get_bool());
    }
    return result;
}

std::map<std::string, std::int64_t> Fields::counts(std::string_view name) {
    const json::value* value = find(name);
    if (value == nullptr) return {};
    std::map<std::string, std::int64_t> result;
    const json::object* entries = value->if_object();
    if (entries == nullptr) {
        problem(name, "must be an object of whole numbers");
        return result;
    }
    for (const auto& entry : *entries) {
        const std::optional<std::int64_t> number = as_integer(entry.value());
        if (!number) problem(name, "must be an object of whole numbers");
        result.emplace(std::string(entry.key().data(), entry.key().size()), number.value_or(0));
    }
    return result;
}

std::vector<Row> Fields::rows(std::string_view name, std::size_t texts, std::size_t numbers) {
    const json::array* values = array(name);
    if (values == nullptr) return {};
    std::vector<Row> result;
    for (const json::value& value : *values) {
        std::optional<Row> row = as_row(value, texts, numbers);
        if (!row) {
            problem(name,
                    fmt::format("each entry must be an array of {} string(s) and {} number(s)",
                                texts, numbers));
            return {};
        }
        result.push_back(std::move(*row));
    }
    return result;
}

Fields Fields::object(std::string_view name) {
    const json::value* value = find(name);
    const json::object* inner = value == nullptr ? nullptr : value->if_object();
    if (value != nullptr && inner == nullptr) problem(name, "must be an object");
    return {fmt::format("{}.{}", path_, name), inner, *problems_};
}

void Fields::problem(std::string_view name, std::string_view what) {
    problems_->push_back(fmt::format("{}.{}: {}", path_, name, what));
}

void Fields::ignore(std::string_view name) { used_.emplace_back(name); }

void Fields::finish() {
    if (object_ == nullptr) return;
    for (const auto& entry : *object_) {
        const std::string name(entry.key().data(), entry.key().size());
        if (std::ranges::find(used_, name) == used_.end()) {
            problem(name, "unknown field, nothing checks it");
        }
    }
}

const json::value* Fields::find(std::string_view name) {
    used_.emplace_back(name);
    if (object_ == nullptr) return nullptr;
    const json::value* value = object_->if_contains(key_of(name));
    if (value == nullptr) problem(name, "missing field");
    return value;
}

const json::array* Fields::array(std::string_view name) {
    const json::value* value = find(name);
    if (value == nullptr) return nullptr;
    if (!value->is_array()) problem(name, "must be an array");
    return value->if_array();
}

}  // namespace pollux::known_answers
