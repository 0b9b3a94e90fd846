#include "api/http_metrics.hpp"

#include <algorithm>
#include <array>

namespace pollux::api {
namespace {

constexpr std::array<std::string_view, 7> kMethods = {"GET",   "HEAD",   "POST",   "PUT",
                                                      "PATCH", "DELETE", "OPTIONS"};

std::string_view bounded_method(std::string_view method) {
    const auto found = std::ranges::find(kMethods, method);
    return found == kMethods.end() ? std::string_view("other") : *found;
}

std::string_view status_class(int status) {
    if (status >= 500) return "server_error";
    return status >= 400 ? "client_error" : "none";
}

}  // namespace

void HttpMetrics::set_routes(const std::vector<Route>& routes) {
    const std::scoped_lock lock(mutex_);
    for (const Route& route : routes) {
        const auto found = std::ranges::find(rows_, route.path, &Row::pattern);
        if (found == rows_.end()) rows_.push_back({.pattern = route.path, .series = {}});
    }
    std::ranges::sort(rows_, {}, &Row::pattern);
}

HttpMetrics::Series& HttpMetrics::find(std::string_view method, std::string_view pattern,
                                       int status) {
    auto row = std::ranges::lower_bound(rows_, pattern, {}, &Row::pattern);
    if (row == rows_.end() || row->pattern != pattern) {
        row = std::ranges::lower_bound(rows_, kUnmatched, {}, &Row::pattern);
    }
    const std::string_view known = bounded_method(method);
    for (Series& one : row->series) {
        if (one.number == status && one.method == known) return one;
    }
    row->series.push_back(
        {.method = known, .status = std::to_string(status), .number = status, .durations = {}});
    return row->series.back();
}

void HttpMetrics::record(std::string_view method, std::string_view pattern, int status,
                         double seconds) {
    const std::scoped_lock lock(mutex_);
    find(method, pattern, status).durations.record(seconds);
}

void HttpMetrics::write(observe::MetricWriter& writer) const {
    const std::scoped_lock lock(mutex_);
    writer.family(observe::MetricId::kHttpDuration);
    for (const Row& row : rows_) {
        for (const Series& one : row.series) {
            writer.histogram({one.method, row.pattern, one.status}, observe::kHttpDurationBounds,
                             one.durations.counts(), one.durations.sum());
        }
    }
    writer.family(observe::MetricId::kHttpRequests);
    for (const Row& row : rows_) {
        for (const Series& one : row.series) {
            writer.sample({one.method, row.pattern, one.status},
                          static_cast<double>(one.durations.total()));
        }
    }
    writer.family(observe::MetricId::kHttpErrors);
    for (const Row& row : rows_) {
        // One sample per class: the statuses of a class are added up.
        for (std::size_t i = 0; i < row.series.size(); ++i) {
            const Series& one = row.series[i];
            const std::string_view kind = status_class(one.number);
            const auto alike = [&](const Series& other) {
                return other.method == one.method && status_class(other.number) == kind;
            };
            const auto begin = row.series.begin();
            if (kind == "none" || std::find_if(begin, begin + static_cast<std::ptrdiff_t>(i),
                                               alike) != begin + static_cast<std::ptrdiff_t>(i)) {
                continue;
            }
            std::uint64_t total = 0;
            for (const Series& other : row.series) {
                if (alike(other)) total += other.durations.total();
            }
            writer.sample({one.method, row.pattern, kind}, static_cast<double>(total));
        }
    }
}

}  // namespace pollux::api
