#include "tests/known_answers/categories.hpp"

#include <algorithm>
#include <array>

namespace pollux::known_answers {
namespace {

std::vector<Category> all_categories() {
    std::vector<Category> result;
    for (const auto& group : {interval_categories(), breaker_categories(), delay_categories(),
                              failure_categories(), core_categories()}) {
        result.insert(result.end(), group.begin(), group.end());
    }
    std::ranges::sort(result, {}, &Category::name);
    return result;
}

const std::vector<Category>& categories() {
    static const std::vector<Category> all = all_categories();
    return all;
}

}  // namespace

const Category* find_category(std::string_view name) {
    const auto at = std::ranges::find(categories(), name, &Category::name);
    return at == categories().end() ? nullptr : &*at;
}

std::vector<std::string_view> category_names() {
    std::vector<std::string_view> result;
    for (const Category& category : categories()) result.push_back(category.name);
    return result;
}

}  // namespace pollux::known_answers
