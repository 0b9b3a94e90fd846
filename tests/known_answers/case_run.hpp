// One case while it is being run: its fields, and what was found different. A category reads
// `inputs`, calls the code of the product, and compares each result with the field of `expected`
// that names it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "tests/known_answers/case_file.hpp"
#include "tests/known_answers/fields.hpp"

namespace pollux::known_answers {

// Answers are given with six digits, so this is as near as they can be compared.
inline constexpr double kDefaultTolerance = 1e-6;

class CaseRun {
  public:
    explicit CaseRun(const Case& source);
    CaseRun(const CaseRun&) = delete;  // the fields point into this object
    CaseRun& operator=(const CaseRun&) = delete;

    Fields& inputs() { return inputs_; }
    Fields& expected() { return expected_; }

    void check_number(std::string_view name, double got, double tolerance = kDefaultTolerance);
    void check_numbers(std::string_view name, std::span<const double> got,
                       double tolerance = kDefaultTolerance);
    void check_seconds(std::string_view name, base::Duration got,
                       double tolerance = kDefaultTolerance);
    void check_integer(std::string_view name, std::int64_t got);
    void check_boolean(std::string_view name, bool got);
    void check_booleans(std::string_view name, const std::vector<bool>& got);
    void check_text(std::string_view name, std::string_view got);
    void check_counts(std::string_view name, const std::map<std::string, std::int64_t>& got);
    void check_within(std::string_view name, double got);  // expected is [low, high], inclusive

    void mismatch(std::string_view name, std::string_view expected, std::string_view got);

    // Everything that is wrong with the case; empty: it passed.
    Problems finish();

  private:
    Problems problems_;
    Fields inputs_;
    Fields expected_;
};

}  // namespace pollux::known_answers
