// What a JSONPath is compiled to. Private to json_path*.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"

namespace pollux::extract {

enum class SelectorKind : std::uint8_t { kName, kIndex, kWildcard, kSlice, kFilter };

struct FilterNode;

struct Selector {
    SelectorKind kind = SelectorKind::kName;
    std::string name;
    std::int64_t index = 0;  // of kIndex
    std::optional<std::int64_t> from;
    std::optional<std::int64_t> to;
    std::int64_t step = 1;
    std::shared_ptr<const FilterNode> filter;
};

struct Segment {
    bool descendant = false;  // ..
    std::vector<Selector> selectors;
};

struct PathProgram {
    std::vector<Segment> segments;
    bool singular = true;  // only names and indices, one each
};

enum class FilterOp : std::uint8_t {
    kAnd,
    kOr,
    kNot,
    kExists,
    kEqual,
    kNotEqual,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
};

struct FilterOperand {
    bool is_path = false;
    bool from_root = false;  // $ instead of @
    PathProgram path;
    model::Value literal;
};

struct FilterNode {
    FilterOp op = FilterOp::kExists;
    std::shared_ptr<const FilterNode> left;  // kAnd, kOr, kNot
    std::shared_ptr<const FilterNode> right;
    FilterOperand a;  // comparisons, kExists
    FilterOperand b;
};

base::Result<PathProgram> parse_path(std::string_view text);

}  // namespace pollux::extract
