// What an expression is compiled to. Private to expression*.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "extract/expression.hpp"
#include "extract/pattern.hpp"
#include "model/value.hpp"

namespace pollux::extract {

enum class ExpressionOp : std::uint8_t {
    kLiteral,
    kName,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
    kNegate,
    kEqual,
    kNotEqual,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kAnd,
    kOr,
    kNot,
    kChoose,
    kMin,
    kMax,
    kAbs,
    kRound,
    kFloor,
    kCeil,
    kCoalesce,
    kExists,
    kContains,
    kStartsWith,
    kEndsWith,
    kLower,
    kUpper,
    kLength,
    kNumber,
    kText,
    kCapture,
};

struct ExpressionNode {
    ExpressionOp op = ExpressionOp::kLiteral;
    std::uint16_t name = 0;
    model::Value literal;
    std::vector<std::uint16_t> operands;  // indices of nodes, all smaller than its own
    std::optional<Pattern> pattern;       // kCapture
};

struct ExpressionProgram {
    std::vector<ExpressionNode> nodes;  // the last one is the whole
    std::vector<std::uint16_t> names;
};

base::Result<ExpressionProgram> parse_expression(std::string_view text,
                                                 const Expression::Resolver& resolve);

}  // namespace pollux::extract
