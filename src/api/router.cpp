#include "api/router.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "net/http_message.hpp"

namespace pollux::api {
namespace {

constexpr std::array<std::string_view, 5> kMethods = {"GET", "POST", "PUT", "PATCH", "DELETE"};

// Takes "/segment" from the front; nothing if the path does not go on like that.
std::optional<std::string_view> take_segment(std::string_view& path) {
    if (!path.starts_with('/')) return std::nullopt;
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    return segment;
}

bool is_parameter(std::string_view segment) {
    return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

bool is_literal(std::string_view segment) {
    return !segment.empty() && std::ranges::all_of(segment, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    });
}

// What the segment says, decoded once into `storage` if it has escapes.
std::optional<std::string_view> plain_segment(std::string_view segment, std::string& storage) {
    if (segment.find('%') != std::string_view::npos) {
        auto decoded = net::percent_decode(segment);
        if (!decoded) return std::nullopt;
        storage = std::move(*decoded);
        segment = storage;
    }
    if (segment.empty() || segment == "." || segment == "..") return std::nullopt;
    if (!base::is_valid_utf8(segment) || base::has_control(segment)) return std::nullopt;
    return segment;
}

}  // namespace

base::Result<Router> Router::create(std::vector<Route> routes) {
    Router router;
    router.routes_ = std::move(routes);
    router.nodes_.emplace_back();
    std::set<std::string_view> operations;
    for (std::uint32_t i = 0; i < router.routes_.size(); ++i) {
        const Route& route = router.routes_[i];
        if (!route.operation.empty() && !operations.insert(route.operation).second) {
            return base::internal_error(
                "api.route", fmt::format("two routes have the operation {}", route.operation));
        }
        if (auto added = router.add(i); !added) return std::unexpected(added.error());
    }
    return router;
}

base::Status Router::add(std::uint32_t index) {
    const Route& route = routes_[index];
    const auto wrong = [&](std::string_view what) {
        return base::internal_error("api.route",
                                    fmt::format("route {} {}: {}", route.method, route.path, what));
    };
    if (std::ranges::find(kMethods, route.method) == kMethods.end()) {
        return wrong("the method is unknown");
    }
    if (!route.handler) return wrong("it has no handler");
    std::string_view rest = route.path;
    std::uint32_t node = 0;
    std::size_t segments = 0;
    while (!rest.empty() && rest != "/") {
        const auto segment = take_segment(rest);
        if (!segment || ++segments > kMostSegments ||
            (!is_parameter(*segment) && !is_literal(*segment))) {
            return wrong("the path is not made of /literal and /{parameter}");
        }
        node = child_of(node, *segment);
    }
    for (const std::uint32_t other : nodes_[node].routes) {
        if (routes_[other].method == route.method) return wrong("it is there twice");
    }
    nodes_[node].routes.push_back(index);
    return {};
}

std::uint32_t Router::child_of(std::uint32_t node, std::string_view segment) {
    const auto fresh = static_cast<std::uint32_t>(nodes_.size());
    if (is_parameter(segment)) {
        if (nodes_[node].parameter != 0) return nodes_[node].parameter;
        nodes_[node].parameter = fresh;
    } else {
        auto& literals = nodes_[node].literals;
        const auto place = std::ranges::lower_bound(
            literals, segment, {}, [](const auto& one) -> std::string_view { return one.first; });
        if (place != literals.end() && place->first == segment) return place->second;
        literals.emplace(place, std::string(segment), fresh);
    }
    nodes_.emplace_back();
    return fresh;
}

RouteMatch Router::match(std::string_view method, std::string_view path) const {
    RouteMatch match;
    std::uint32_t at = 0;
    std::string storage;
    if (!path.starts_with('/')) return {};
    if (path == "/") path = {};
    for (std::size_t count = 0; !path.empty(); ++count) {
        const auto raw = take_segment(path);
        if (!raw || count == kMostSegments) return {};
        const auto segment = plain_segment(*raw, storage);
        if (!segment) return {};
        const Node& node = nodes_[at];
        const auto literal =
            std::ranges::lower_bound(node.literals, *segment, {},
                                     [](const auto& one) -> std::string_view { return one.first; });
        if (literal != node.literals.end() && literal->first == *segment) {
            at = literal->second;
        } else if (node.parameter != 0) {
            match.parameters.emplace_back(*segment);
            at = node.parameter;
        } else {
            return {};
        }
    }
    const Node& node = nodes_[at];
    if (node.routes.empty()) return {};
    const std::string_view wanted = method == "HEAD" ? std::string_view("GET") : method;
    for (const std::uint32_t index : node.routes) {
        if (routes_[index].method == wanted) match.route = &routes_[index];
    }
    match.pattern = routes_[node.routes.front()].path;
    if (match.route == nullptr) match.allow = allow_of(node);
    return match;
}

std::string Router::allow_of(const Node& node) const {
    std::string allow;
    for (const std::string_view method : kMethods) {
        for (const std::uint32_t index : node.routes) {
            if (routes_[index].method != method) continue;
            allow += method;
            allow += method == "GET" ? ", HEAD, " : ", ";
        }
    }
    return allow + "OPTIONS";
}

}  // namespace pollux::api
