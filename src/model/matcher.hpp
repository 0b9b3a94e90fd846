// Matchers of labels as text, in the syntax of Alertmanager (`severity="critical"`,
// `site=~"ber.*"`, lists in braces), and compiled. Regular expressions are RE2, anchored at both
// ends, with bounded size: a label of a device costs linear time, whatever it holds.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/notification.hpp"

namespace pollux::model {

inline constexpr std::size_t kMostMatchers = 64;
inline constexpr std::size_t kLongestMatcher = 4096;  // bytes of a pattern or a value

// One matcher; the value may stand without quotes. Error matcher.invalid.
base::Result<LabelMatcher> parse_matcher(std::string_view text);
// `a="b"`, `a="b",c!="d"` or `{a="b", c!="d"}`. Error matcher.invalid.
base::Result<std::vector<LabelMatcher>> parse_matchers(std::string_view text);

// What the functions above read back.
std::string to_string(const LabelMatcher& matcher);
std::string to_string(std::span<const LabelMatcher> matchers);  // in braces

// May be used by several threads at once.
class CompiledMatcher {
  public:
    // Error matcher.invalid: what RE2 has against the expression, or a bound that is passed.
    static base::Result<CompiledMatcher> compile(LabelMatcher matcher);

    const LabelMatcher& matcher() const { return matcher_; }
    bool negative() const {
        return matcher_.op == MatchOperator::kNotEqual || matcher_.op == MatchOperator::kNotMatches;
    }
    // Whether the value is equal to, or matched by, the one of the matcher; != and !~ are not
    // applied: of several values, none may fit them.
    bool fits(std::string_view value) const;
    // The matcher for a label with one value; a label that is not there is empty.
    bool holds(std::string_view value) const { return fits(value) != negative(); }

  private:
    struct Pattern;
    CompiledMatcher(LabelMatcher matcher, std::shared_ptr<const Pattern> pattern)
        : matcher_(std::move(matcher)), pattern_(std::move(pattern)) {}

    LabelMatcher matcher_;
    std::shared_ptr<const Pattern> pattern_;  // of =~ and !~
};

}  // namespace pollux::model
