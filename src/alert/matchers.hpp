// A list of matchers that must all hold for the labels of an alert.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "alert/alert_labels.hpp"
#include "base/result.hpp"
#include "model/matcher.hpp"

namespace pollux::alert {

// May be used by several threads at once.
class Matchers {
  public:
    Matchers() = default;  // holds for everything
    // Error matcher.invalid.
    static base::Result<Matchers> compile(std::span<const model::LabelMatcher> matchers);

    bool hold(const MatchLabels& labels) const { return failing(labels) == nullptr; }
    // The first that does not hold; null: all do.
    const model::LabelMatcher* failing(const MatchLabels& labels) const;
    bool empty() const { return matchers_.empty(); }

  private:
    std::vector<model::CompiledMatcher> matchers_;
};

}  // namespace pollux::alert
