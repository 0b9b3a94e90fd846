// Which code answers which category of cases.
#pragma once

#include <span>
#include <string_view>

#include "tests/known_answers/case_run.hpp"

namespace pollux::known_answers {

struct Category {
    std::string_view name;
    void (*run)(CaseRun&);
};

std::span<const Category> interval_categories();
std::span<const Category> breaker_categories();
std::span<const Category> delay_categories();
std::span<const Category> failure_categories();
std::span<const Category> core_categories();

// Null when nobody knows the category.
const Category* find_category(std::string_view name);

// Alphabetical.
std::vector<std::string_view> category_names();

}  // namespace pollux::known_answers
