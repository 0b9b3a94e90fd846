#include "extract/expression.hpp"

#include <array>
#include <cmath>
#include <compare>

#include "extract/expression_program.hpp"
#include "extract/value_math.hpp"

namespace pollux::extract {
namespace {

using model::Value;
using Op = ExpressionOp;

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char raised(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

Value compared(Op op, const Value& a, const Value& b) {
    if (is_null(a) || is_null(b)) return {};
    const std::partial_ordering order = compare_values(a, b);
    if (op == Op::kEqual) return order == 0;
    if (op == Op::kNotEqual) return order != 0;
    if (!is_ordered(a) || !is_ordered(b) || order == std::partial_ordering::unordered) return {};
    switch (op) {
        case Op::kLess: return order < 0;
        case Op::kLessEqual: return order <= 0;
        case Op::kGreater: return order > 0;
        default: return order >= 0;
    }
}

// Nearest, halves away from zero; `digits` behind the point.
Value rounded(const Value& value, const Value& digits) {
    if (is_integer(value) && is_null(digits)) return value;
    const auto number = as_double(value);
    const auto places = as_double(digits);
    if (!number || (!is_null(digits) && !places)) return {};
    double scale = 1;
    for (int i = 0; places && i < 9 && i < *places; ++i) scale *= 10;
    const double scaled = *number * scale;
    const double whole = scaled < 0 ? std::ceil(scaled - 0.5) : std::floor(scaled + 0.5);
    const double result = whole / scale;
    return std::isfinite(result) ? Value(result) : Value();
}

Value text_function(Op op, const Value& a, const Value& b) {
    const auto* text = std::get_if<std::string>(&a);
    const auto* part = std::get_if<std::string>(&b);
    if (text == nullptr || part == nullptr) return {};
    switch (op) {
        case Op::kContains: return text->find(*part) != std::string::npos;
        case Op::kStartsWith: return text->starts_with(*part);
        default: return text->ends_with(*part);
    }
}

Value changed_case(const Value& value, char (*change)(char)) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return {};
    std::string out = *text;
    for (char& c : out) c = change(c);
    return out;
}

Value captured(const Pattern& pattern, const Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    const auto found = text == nullptr ? std::nullopt : pattern.capture(*text);
    return found ? Value(std::string(*found)) : Value();
}

class Evaluator {
  public:
    Evaluator(const ExpressionProgram& program, std::span<const Value> values)
        : program_(program), values_(values) {}

    // Depth is bounded by the compiler's bound, calls by the number of nodes: each operand belongs
    // to one node.
    Value run(std::size_t index) const {
        const ExpressionNode& node = program_.nodes[index];
        switch (node.op) {
            case Op::kLiteral: return node.literal;
            case Op::kName: return node.name < values_.size() ? values_[node.name] : Value();
            case Op::kAnd:
            case Op::kOr: return logic(node);
            case Op::kChoose: {
                const Value condition = operand(node, 0);
                const auto* yes = std::get_if<bool>(&condition);
                return yes == nullptr ? Value() : operand(node, *yes ? 1 : 2);
            }
            case Op::kCoalesce: {
                for (std::size_t i = 0; i < node.operands.size(); ++i) {
                    Value value = operand(node, i);
                    if (!is_null(value)) return value;
                }
                return {};
            }
            case Op::kExists: return !is_null(operand(node, 0));
            case Op::kMin:
            case Op::kMax: return extreme(node);
            case Op::kCapture: return captured(*node.pattern, operand(node, 0));
            default: break;
        }
        return node.operands.size() == 1 ? unary(node.op, operand(node, 0)) : binary(node);
    }

  private:
    Value operand(const ExpressionNode& node, std::size_t i) const { return run(node.operands[i]); }

    // Kleene: null is "could be either", which decides nothing.
    Value logic(const ExpressionNode& node) const {
        const bool decides = node.op == Op::kOr;  // the value that settles it
        const Value a = operand(node, 0);
        const auto* left = std::get_if<bool>(&a);
        if (left == nullptr && !is_null(a)) return {};
        if (left != nullptr && *left == decides) return decides;
        const Value b = operand(node, 1);
        const auto* right = std::get_if<bool>(&b);
        if (right == nullptr) return {};
        if (*right == decides) return decides;
        return left == nullptr ? Value() : Value(!decides);
    }

    Value extreme(const ExpressionNode& node) const {
        Value best = operand(node, 0);
        if (!is_number(best)) return {};
        for (std::size_t i = 1; i < node.operands.size(); ++i) {
            Value next = operand(node, i);
            if (!is_number(next)) return {};
            const std::partial_ordering order = compare_values(next, best);
            if (node.op == Op::kMin ? order < 0 : order > 0) best = std::move(next);
        }
        return best;
    }

    static Value unary(Op op, const Value& value) {
        switch (op) {
            case Op::kNegate: return negate(value);
            case Op::kNot: {
                const auto* flag = std::get_if<bool>(&value);
                return flag == nullptr ? Value() : Value(!*flag);
            }
            case Op::kAbs:
                return is_number(value) && compare_values(value, Value(std::int64_t{0})) < 0
                           ? negate(value)
                           : (is_number(value) ? value : Value());
            case Op::kRound: return rounded(value, {});
            case Op::kFloor:
            case Op::kCeil: {
                if (is_integer(value)) return value;
                const auto number = as_double(value);
                if (!number) return {};
                return op == Op::kFloor ? std::floor(*number) : std::ceil(*number);
            }
            case Op::kLower: return changed_case(value, lowered);
            case Op::kUpper: return changed_case(value, raised);
            case Op::kLength: {
                const auto* text = std::get_if<std::string>(&value);
                return text == nullptr ? Value() : Value(static_cast<std::int64_t>(text->size()));
            }
            case Op::kNumber: return to_number(value);
            case Op::kText: return is_null(value) ? Value() : Value(to_text(value));
            default: return {};
        }
    }

    Value binary(const ExpressionNode& node) const {
        const Value a = operand(node, 0);
        const Value b = operand(node, 1);
        switch (node.op) {
            case Op::kAdd: return add(a, b);
            case Op::kSubtract: return subtract(a, b);
            case Op::kMultiply: return multiply(a, b);
            case Op::kDivide: return divide(a, b);
            case Op::kRemainder: return remainder(a, b);
            case Op::kRound: return rounded(a, b);
            case Op::kContains:
            case Op::kStartsWith:
            case Op::kEndsWith: return text_function(node.op, a, b);
            default: return compared(node.op, a, b);
        }
    }

    const ExpressionProgram& program_;
    std::span<const Value> values_;
};

}  // namespace

base::Result<Expression> Expression::compile(std::string_view text, const Resolver& resolve) {
    auto program = parse_expression(text, resolve);
    if (!program) return std::unexpected(program.error());
    return Expression(std::string(text),
                      std::make_shared<const ExpressionProgram>(std::move(*program)));
}

Value Expression::evaluate(std::span<const Value> values) const {
    return Evaluator(*program_, values).run(program_->nodes.size() - 1);
}

const std::vector<std::uint16_t>& Expression::names() const { return program_->names; }

std::size_t Expression::nodes() const { return program_->nodes.size(); }

}  // namespace pollux::extract
