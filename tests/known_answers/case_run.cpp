#include "tests/known_answers/case_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pollux::known_answers {
namespace {

bool is_near(double expected, double got, double tolerance) {
    return got >= expected - tolerance && got <= expected + tolerance;
}

}  // namespace

CaseRun::CaseRun(const Case& source)
    : problems_(source.problems),
      inputs_("inputs", &source.inputs, problems_),
      expected_("expected", &source.expected, problems_) {}

void CaseRun::check_number(std::string_view name, double got, double tolerance) {
    const double expected = expected_.number(name);
    if (!is_near(expected, got, tolerance)) {
        mismatch(name, fmt::to_string(expected), fmt::to_string(got));
    }
}

void CaseRun::check_numbers(std::string_view name, std::span<const double> got, double tolerance) {
    const std::vector<double> expected = expected_.numbers(name);
    const auto near = [&](double left, double right) { return is_near(left, right, tolerance); };
    if (!std::ranges::equal(expected, got, near)) {
        mismatch(name, fmt::format("{}", expected), fmt::format("{}", got));
    }
}

void CaseRun::check_seconds(std::string_view name, base::Duration got, double tolerance) {
    check_number(name, base::to_seconds(got), tolerance);
}

void CaseRun::check_integer(std::string_view name, std::int64_t got) {
    const std::int64_t expected = expected_.integer(name);
    if (expected != got) mismatch(name, fmt::to_string(expected), fmt::to_string(got));
}

void CaseRun::check_boolean(std::string_view name, bool got) {
    const bool expected = expected_.boolean(name);
    if (expected != got) mismatch(name, fmt::to_string(expected), fmt::to_string(got));
}

void CaseRun::check_booleans(std::string_view name, const std::vector<bool>& got) {
    const std::vector<bool> expected = expected_.booleans(name);
    if (expected != got) mismatch(name, fmt::format("{}", expected), fmt::format("{}", got));
}

void CaseRun::check_text(std::string_view name, std::string_view got) {
    const std::string expected = expected_.text(name);
    if (expected != got) mismatch(name, expected, got);
}

void CaseRun::check_counts(std::string_view name, const std::map<std::string, std::int64_t>& got) {
    const std::map<std::string, std::int64_t> expected = expected_.counts(name);
    if (expected != got) mismatch(name, fmt::format("{}", expected), fmt::format("{}", got));
}

void CaseRun::check_within(std::string_view name, double got) {
    const std::vector<double> bounds = expected_.numbers(name);
    if (bounds.size() != 2) {
        expected_.problem(name, "must be an array of two numbers");
    } else if (!(got >= bounds[0] && got <= bounds[1])) {
        mismatch(name, fmt::format("{} to {}", bounds[0], bounds[1]), fmt::to_string(got));
    }
}

void CaseRun::mismatch(std::string_view name, std::string_view expected, std::string_view got) {
    problems_.push_back(fmt::format("{}: expected {}, got {}", name, expected, got));
}

Problems CaseRun::finish() {
    inputs_.finish();
    expected_.finish();
    return std::move(problems_);
}

}  // namespace pollux::known_answers
