// The parameters of a query, checked against what the route takes.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/problem.hpp"
#include "api/route.hpp"
#include "base/time.hpp"

namespace pollux::api {

class Query {
  public:
    static constexpr std::size_t kMostParameters = 64;

    // Reads and checks all; the problem names each parameter that is wrong.
    static std::expected<Query, Problem> read(const Route& route, std::string_view text);

    bool empty() const { return values_.empty(); }
    bool has(std::string_view name) const { return text(name).has_value(); }
    std::optional<std::string_view> text(std::string_view name) const;
    std::string_view text_or(std::string_view name, std::string_view standard) const {
        return text(name).value_or(standard);
    }
    std::vector<std::string_view> texts(std::string_view name) const;  // of a repeated one
    std::optional<std::int64_t> integer(std::string_view name) const;
    std::optional<bool> flag(std::string_view name) const;
    std::optional<base::WallTime> time(std::string_view name) const;

    // In their order, decoded.
    const std::vector<std::pair<std::string, std::string>>& values() const { return values_; }

  private:
    std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace pollux::api
