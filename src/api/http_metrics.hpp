// How often and how fast the API answers, by method, route and status: pulse_http_*.
//
// Bounded: routes are those of the table and "unmatched", methods those of HTTP and "other".
// Thread-safe: recorded by the API, read by the metrics page.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/route.hpp"
#include "observe/histogram.hpp"
#include "observe/metric_writer.hpp"

namespace pollux::api {

class HttpMetrics {
  public:
    static constexpr std::string_view kUnmatched = "unmatched";

    // Before the first request; the routes stay where they are.
    void set_routes(const std::vector<Route>& routes);

    // `pattern` as the routes have it, or kUnmatched.
    void record(std::string_view method, std::string_view pattern, int status, double seconds);
    void write(observe::MetricWriter& writer) const;

  private:
    struct Series {
        std::string_view method;
        std::string status;
        int number = 0;
        observe::Histogram<observe::kHttpDurationBounds> durations;
    };
    struct Row {
        std::string_view pattern;
        std::vector<Series> series;
    };
    Series& find(std::string_view method, std::string_view pattern, int status);

    mutable std::mutex mutex_;
    std::vector<Row> rows_ = {Row{.pattern = kUnmatched, .series = {}}};
};

}  // namespace pollux::api
