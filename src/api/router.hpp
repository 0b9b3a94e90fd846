// Finds the route of a request, in one step per segment of its path.
//
// Segments are decoded once before they are compared, so `pve::n1`, `pve%3A%3An1` and even
// `%70ve::n1` are the same key, and `%2F` is a slash inside a key. A literal segment wins over a
// parameter. What is no clean path (empty segments, `.` and `..`, broken escapes, controls, bytes
// that are no UTF-8) matches nothing. Immutable after it was built.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/route.hpp"
#include "base/result.hpp"

namespace pollux::api {

struct RouteMatch {
    const Route* route = nullptr;  // nullptr: none for this method
    std::vector<std::string> parameters = {};
    // "GET, HEAD, OPTIONS": what the path takes; empty: there is no such path.
    std::string allow = {};
    std::string_view pattern = {};  // template of the path, also for a wrong method
};

class Router {
  public:
    static constexpr std::size_t kMostSegments = 16;

    // Refuses what cannot be: bad templates, the same method and path twice, an operation id twice.
    static base::Result<Router> create(std::vector<Route> routes);

    RouteMatch match(std::string_view method, std::string_view path) const;
    const std::vector<Route>& routes() const { return routes_; }

  private:
    struct Node {
        std::vector<std::pair<std::string, std::uint32_t>> literals;  // sorted by text
        std::uint32_t parameter = 0;                                  // 0: none; node 0 is the root
        std::vector<std::uint32_t> routes;
    };

    base::Status add(std::uint32_t index);
    std::uint32_t child_of(std::uint32_t node, std::string_view segment);
    std::string allow_of(const Node& node) const;

    std::vector<Route> routes_;
    std::vector<Node> nodes_;
};

}  // namespace pollux::api
