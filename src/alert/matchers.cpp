#include "alert/matchers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pollux::alert {
namespace {

bool holds(const model::CompiledMatcher& matcher, const MatchLabels& labels) {
    const std::string& name = matcher.matcher().label;
    if (name != "group" || labels.groups.empty()) return matcher.holds(labels.find(name));
    const bool any = std::ranges::any_of(
        labels.groups, [&](const std::string& group) { return matcher.fits(group); });
    return any != matcher.negative();
}

}  // namespace

base::Result<Matchers> Matchers::compile(std::span<const model::LabelMatcher> matchers) {
    if (matchers.size() > model::kMostMatchers) {
        return base::config_error("matcher.invalid",
                                  fmt::format("there are {} matchers, at most {} are allowed",
                                              matchers.size(), model::kMostMatchers));
    }
    Matchers result;
    for (const model::LabelMatcher& one : matchers) {
        auto compiled = model::CompiledMatcher::compile(one);
        if (!compiled) return std::unexpected(compiled.error());
        result.matchers_.push_back(std::move(*compiled));
    }
    return result;
}

const model::LabelMatcher* Matchers::failing(const MatchLabels& labels) const {
    const auto found =
        std::ranges::find_if(matchers_, [&](const auto& one) { return !holds(one, labels); });
    return found == matchers_.end() ? nullptr : &found->matcher();
}

}  // namespace pollux::alert
