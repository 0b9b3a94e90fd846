#include "tests/live/histogram.hpp"

namespace pollux::live {

std::map<double, double> buckets(const MetricsPage& page, const std::string& name) {
    std::map<double, double> counts;
    for (const MetricSample& one : page.find(name + "_bucket")) {
        counts[std::stod(one.labels.at("le"))] += one.value;
    }
    return counts;
}

double worst_between(const std::map<double, double>& before,
                     const std::map<double, double>& after) {
    const auto came = [&](double bound) { return after.at(bound) - before.at(bound); };
    const double all = came(after.rbegin()->first);
    for (const auto& [bound, count] : after) {
        if (came(bound) == all) return bound;
    }
    return after.rbegin()->first;
}

}  // namespace pollux::live
