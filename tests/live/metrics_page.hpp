// A page in the text format of Prometheus, read for questions of tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pollux::live {

using Labels = std::map<std::string, std::string>;

struct MetricSample {
    std::string name;
    Labels labels;
    double value = 0;
};

class MetricsPage {
  public:
    explicit MetricsPage(std::string text);

    const std::string& text() const { return text_; }
    const std::vector<MetricSample>& samples() const { return samples_; }

    // Those of the name that carry at least the given labels.
    std::vector<MetricSample> find(std::string_view name, const Labels& labels = {}) const;
    // Of the only such sample; nothing if there is none or there are several.
    std::optional<double> value(std::string_view name, const Labels& labels = {}) const;
    double sum(std::string_view name, const Labels& labels = {}) const;
    // Whether any sample has the text as the value of a label.
    bool mentions(std::string_view label_value) const;

  private:
    std::string text_;
    std::vector<MetricSample> samples_;
};

// The labels of a target on the page about Pollux itself: "http-json::web-1".
Labels target_labels(const std::string& key);

}  // namespace pollux::live
