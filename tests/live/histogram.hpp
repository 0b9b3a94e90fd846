// Histograms of a page of metrics.
#pragma once

#include <map>
#include <string>

#include "tests/live/metrics_page.hpp"

namespace pollux::live {

// How many were at most so much, by bound; of all series together.
std::map<double, double> buckets(const MetricsPage& page, const std::string& name);

// The least bound that holds for all that came in between.
double worst_between(const std::map<double, double>& before, const std::map<double, double>& after);

}  // namespace pollux::live
