// Typed, total expressions over values: `used / total * 100`, `state == 'up' ? 1 : 0`.
//
//     numbers 12 0.5 1e3, texts 'a' "b", true false null, names
//     + - * / %    == != < <= > >=    and or not (&& || !)    c ? a : b    ( )
//     min max abs round(x[, digits]) floor ceil coalesce exists contains starts_with ends_with
//     lower upper length number text
//
// Nothing throws and nothing is undefined: null goes through, and division by zero and kinds that
// do not fit are null; `and`, `or` and coalesce know what null leaves open. Two integers compute
// exactly. The size and depth of an expression are bounded when it is compiled, so evaluating it
// is bounded too. Immutable, may be used by several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"

namespace pollux::extract {

struct ExpressionProgram;

class Expression {
  public:
    // Number of a name in the values given to evaluate(); nullopt: no such name.
    using Resolver = std::function<std::optional<std::uint16_t>(std::string_view)>;

    static constexpr std::size_t kMaxNodes = 256;
    static constexpr int kMaxDepth = 32;

    // Error expression.invalid: what is wrong, at which character, what would be right.
    static base::Result<Expression> compile(std::string_view text, const Resolver& resolve);

    // values[i] is the value of name i; what lies past the end is null.
    model::Value evaluate(std::span<const model::Value> values) const;

    const std::vector<std::uint16_t>& names() const;  // that it uses, sorted, each once
    std::size_t nodes() const;
    const std::string& text() const { return text_; }

  private:
    Expression(std::string text, std::shared_ptr<const ExpressionProgram> program)
        : text_(std::move(text)), program_(std::move(program)) {}

    std::string text_;
    std::shared_ptr<const ExpressionProgram> program_;
};

}  // namespace pollux::extract
