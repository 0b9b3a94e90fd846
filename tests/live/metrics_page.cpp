#include "tests/live/metrics_page.hpp"

#include <cstdlib>

#include "base/check.hpp"

namespace pollux::live {
namespace {

// Takes `name="value"` off the front of `rest`.
std::pair<std::string, std::string> take_label(std::string_view& rest) {
    const std::size_t equals = rest.find("=\"");
    POLLUX_CHECK_MSG(equals != std::string_view::npos, "a label without a value");
    std::pair<std::string, std::string> label{rest.substr(0, equals), ""};
    rest.remove_prefix(equals + 2);
    while (!rest.empty() && rest[0] != '"') {
        if (rest[0] == '\\' && rest.size() > 1) {
            rest.remove_prefix(1);
            label.second += rest[0] == 'n' ? '\n' : rest[0];
        } else {
            label.second += rest[0];
        }
        rest.remove_prefix(1);
    }
    POLLUX_CHECK_MSG(!rest.empty(), "a label without an end");
    rest.remove_prefix(1);
    if (rest.starts_with(',')) rest.remove_prefix(1);
    return label;
}

MetricSample sample_of(std::string_view line) {
    MetricSample sample;
    const std::size_t end = line.find_first_of("{ ");
    POLLUX_CHECK_MSG(end != std::string_view::npos, "a line of metrics without a value");
    sample.name = line.substr(0, end);
    std::string_view rest = line.substr(end);
    if (rest.starts_with('{')) {
        rest.remove_prefix(1);
        while (!rest.empty() && rest[0] != '}') sample.labels.insert(take_label(rest));
        rest.remove_prefix(rest.empty() ? 0 : 1);
    }
    sample.value = std::strtod(std::string(rest).c_str(), nullptr);
    return sample;
}

bool carries(const MetricSample& sample, const Labels& labels) {
    for (const auto& [name, value] : labels) {
        const auto found = sample.labels.find(name);
        if (found == sample.labels.end() || found->second != value) return false;
    }
    return true;
}

}  // namespace

MetricsPage::MetricsPage(std::string text) : text_(std::move(text)) {
    std::string_view rest = text_;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        const std::string_view line = rest.substr(0, end);
        if (!line.empty() && line[0] != '#') samples_.push_back(sample_of(line));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
}

std::vector<MetricSample> MetricsPage::find(std::string_view name, const Labels& labels) const {
    std::vector<MetricSample> found;
    for (const MetricSample& sample : samples_) {
        if (sample.name == name && carries(sample, labels)) found.push_back(sample);
    }
    return found;
}

std::optional<double> MetricsPage::value(std::string_view name, const Labels& labels) const {
    const auto found = find(name, labels);
    return found.size() == 1 ? std::optional(found[0].value) : std::nullopt;
}

double MetricsPage::sum(std::string_view name, const Labels& labels) const {
    double total = 0;
    for (const MetricSample& sample : find(name, labels)) total += sample.value;
    return total;
}

bool MetricsPage::mentions(std::string_view label_value) const {
    for (const MetricSample& sample : samples_) {
        for (const auto& [name, value] : sample.labels) {
            if (value == label_value) return true;
        }
    }
    return false;
}

Labels target_labels(const std::string& key) {
    const std::size_t colons = key.find("::");
    return {{"instance_type", key.substr(0, colons)}, {"instance", key.substr(colons + 2)}};
}

}  // namespace pollux::live
