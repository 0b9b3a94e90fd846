// Which objects a grant is about, by their labels: `site=berlin,tier!=lab,role in (a,b),!x,x`. All
// requirements must hold; an empty selector holds for everything.
//
//   key=value      the label is there with this value (`==` is read too)
//   key!=value     it is not there, or has another value
//   key in (a,b)   it is there with one of these values
//   key notin (a)  it is not there, or has none of these values
//   key            it is there
//   !key           it is not there
//
// Keys are 1 to 64 characters of [A-Za-z0-9._/-], values 0 to 200 characters without blanks,
// commas, parentheses, `=`, `!` or control characters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace pollux::access {

using Labels = std::map<std::string, std::string, std::less<>>;

enum class Operator : std::uint8_t { kIn, kNotIn, kExists, kMissing };

struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;  // sorted, without doubles; of kIn and kNotIn only
    auto operator<=>(const Requirement&) const = default;
};

class Selector {
  public:
    static constexpr std::size_t kMaxText = 2000;
    static constexpr std::size_t kMaxRequirements = 32;
    static constexpr std::size_t kMaxValues = 64;

    Selector() = default;  // holds for everything

    // The error says what stands where and what may stand there.
    static base::Result<Selector> parse(std::string_view text);

    bool matches(const Labels& labels) const;
    bool everything() const { return requirements_.empty(); }
    // Whether each object the other one selects is selected by this one too. Judged by the
    // requirements as written: a true answer is sure, a false one may be too careful.
    bool covers(const Selector& other) const;
    // One form for equal selectors: sorted, `=` and `!=` for one value. Reads back as itself.
    std::string text() const;

    const std::vector<Requirement>& requirements() const { return requirements_; }
    bool operator==(const Selector&) const = default;

  private:
    std::vector<Requirement> requirements_;  // sorted, without doubles
};

}  // namespace pollux::access
