#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "document/scalar.hpp"
#include "extract/expression_program.hpp"

namespace pollux::extract {
namespace {

using Op = ExpressionOp;

constexpr std::size_t kMaxText = 4096;
constexpr int kNone = -1;

struct Function {
    std::string_view name;
    Op op;
    std::size_t fewest;
    std::size_t most;
};

constexpr std::array<Function, 17> kFunctions = {{{"min", Op::kMin, 1, 16},
                                                  {"max", Op::kMax, 1, 16},
                                                  {"abs", Op::kAbs, 1, 1},
                                                  {"round", Op::kRound, 1, 2},
                                                  {"floor", Op::kFloor, 1, 1},
                                                  {"ceil", Op::kCeil, 1, 1},
                                                  {"coalesce", Op::kCoalesce, 1, 16},
                                                  {"exists", Op::kExists, 1, 1},
                                                  {"contains", Op::kContains, 2, 2},
                                                  {"starts_with", Op::kStartsWith, 2, 2},
                                                  {"ends_with", Op::kEndsWith, 2, 2},
                                                  {"lower", Op::kLower, 1, 1},
                                                  {"upper", Op::kUpper, 1, 1},
                                                  {"length", Op::kLength, 1, 1},
                                                  {"number", Op::kNumber, 1, 1},
                                                  {"text", Op::kText, 1, 1},
                                                  {"capture", Op::kCapture, 2, 2}}};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Binary {
    std::string_view token;
    Op op;
};

// Recursive descent; each level returns the index of its node, or kNone after a mistake.
class ExpressionParser {
  public:
    ExpressionParser(std::string_view text, const Expression::Resolver& resolve)
        : text_(text), resolve_(resolve) {}

    bool parse_whole() {
        if (choose() == kNone) return false;
        blanks();
        if (at_ == text_.size()) return true;
        fail("an operator was wanted here");
        return false;
    }

    std::string error() const {
        return fmt::format("{} (at character {} of {})", error_, error_at_ + 1,
                           base::quoted(text_, 120));
    }

    ExpressionProgram take() {
        std::ranges::sort(program_.names);
        const auto rest = std::ranges::unique(program_.names);
        program_.names.erase(rest.begin(), rest.end());
        return std::move(program_);
    }

  private:
    int fail(std::string message) {
        if (error_.empty()) {
            error_ = std::move(message);
            error_at_ = at_;
        }
        return kNone;
    }

    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    void blanks() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
    }

    // A word (and, or, not) must end where it ends.
    bool take(std::string_view token) {
        blanks();
        if (!text_.substr(at_).starts_with(token)) return false;
        const char next = peek(token.size());
        if (is_letter(token[0]) && (is_letter(next) || is_digit(next))) return false;
        at_ += token.size();
        return true;
    }

    int add(Op op, std::vector<std::uint16_t> operands = {}) {
        if (program_.nodes.size() >= Expression::kMaxNodes) {
            return fail(
                fmt::format("the expression has more than {} parts", Expression::kMaxNodes));
        }
        ExpressionNode node;
        node.op = op;
        node.operands = std::move(operands);
        program_.nodes.push_back(std::move(node));
        return static_cast<int>(program_.nodes.size() - 1);
    }

    static std::uint16_t at(int node) { return static_cast<std::uint16_t>(node); }

    bool enter() {
        if (++depth_ <= Expression::kMaxDepth) return true;
        fail(fmt::format("nested deeper than {} levels", Expression::kMaxDepth));
        return false;
    }

    int choose() {
        if (!enter()) return kNone;
        const int result = choose_inside();
        --depth_;
        return result;
    }

    int choose_inside() {
        const int condition = any();
        if (condition == kNone || !take("?")) return condition;
        const int yes = choose();
        if (yes == kNone) return kNone;
        if (!take(":")) return fail(": was wanted here");
        const int no = choose();
        return no == kNone ? kNone : add(Op::kChoose, {at(condition), at(yes), at(no)});
    }

    // left (token right)*, with the tokens of one precedence; longer tokens first.
    template <class Next>
    int chain(std::initializer_list<Binary> tokens, Next next) {
        int left = next();
        for (bool found = left != kNone; found;) {
            found = false;
            for (const Binary& binary : tokens) {
                if (!take(binary.token)) continue;
                const int right = next();
                if (right == kNone) return kNone;
                left = add(binary.op, {at(left), at(right)});
                found = left != kNone;
                break;
            }
        }
        return left;
    }

    int any() {
        return chain({{"||", Op::kOr}, {"or", Op::kOr}}, [this] { return all(); });
    }
    int all() {
        return chain({{"&&", Op::kAnd}, {"and", Op::kAnd}}, [this] { return comparison(); });
    }
    int comparison() {
        return chain({{"==", Op::kEqual},
                      {"!=", Op::kNotEqual},
                      {"<=", Op::kLessEqual},
                      {">=", Op::kGreaterEqual},
                      {"<", Op::kLess},
                      {">", Op::kGreater}},
                     [this] { return sum(); });
    }
    int sum() {
        return chain({{"+", Op::kAdd}, {"-", Op::kSubtract}}, [this] { return product(); });
    }
    int product() {
        return chain({{"*", Op::kMultiply}, {"/", Op::kDivide}, {"%", Op::kRemainder}},
                     [this] { return unary(); });
    }

    int unary() {
        const bool minus = take("-");
        const bool negation =
            !minus && ((peek() == '!' && peek(1) != '=' && take("!")) || take("not"));
        if (!minus && !negation) return primary();
        if (!enter()) return kNone;
        const int inner = unary();
        --depth_;
        return inner == kNone ? kNone : add(minus ? Op::kNegate : Op::kNot, {at(inner)});
    }

    int literal(model::Value value) {
        const int node = add(Op::kLiteral);
        if (node != kNone) program_.nodes.back().literal = std::move(value);
        return node;
    }

    int primary() {
        blanks();
        if (take("(")) {
            const int inner = choose();
            if (inner != kNone && !take(")")) return fail(") was wanted here");
            return inner;
        }
        if (is_digit(peek())) return number();
        if (peek() == '\'' || peek() == '"') return quoted_text();
        if (is_letter(peek())) return name_or_function();
        return fail("a name, a number, a text in quotes or ( was wanted here");
    }

    int number() {
        const std::size_t start = at_;
        while (is_digit(peek()) || peek() == '.' || peek() == 'e' || peek() == 'E' ||
               ((peek() == '+' || peek() == '-') &&
                (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))) {
            ++at_;
        }
        const std::string_view word = text_.substr(start, at_ - start);
        if (const auto i = document::parse_integer(word)) return literal(*i);
        if (const auto u = document::parse_unsigned(word)) return literal(*u);
        if (const auto d = document::parse_number(word)) return literal(*d);
        at_ = start;
        return fail(fmt::format("{} is no number", base::quoted(word)));
    }

    int quoted_text() {
        const char quote = peek();
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) return fail("the closing quote is missing");
        std::string value(text_.substr(at_ + 1, end - at_ - 1));
        at_ = end + 1;
        return literal(std::move(value));
    }

    int name_or_function() {
        const std::size_t start = at_;
        while (is_letter(peek()) || is_digit(peek())) ++at_;
        const std::string_view word = text_.substr(start, at_ - start);
        if (word == "true") return literal(true);
        if (word == "false") return literal(false);
        if (word == "null") return literal({});
        blanks();
        if (peek() == '(') {
            const auto found = std::ranges::find(kFunctions, word, &Function::name);
            if (found != kFunctions.end()) return call(*found);
            at_ = start;
            return unknown_function(word);
        }
        const auto name = resolve_(word);
        if (!name) {
            at_ = start;
            return fail(fmt::format("{} is no name that is known here", base::quoted(word)));
        }
        const int node = add(Op::kName);
        if (node == kNone) return kNone;
        program_.nodes.back().name = *name;
        program_.names.push_back(*name);
        return node;
    }

    int unknown_function(std::string_view word) {
        std::vector<std::string_view> names;
        for (const Function& function : kFunctions) names.push_back(function.name);
        const auto near = base::nearest(word, names);
        return fail(fmt::format("{} is no function{}", base::quoted(word),
                                near ? fmt::format("; did you mean {}?", *near) : ""));
    }

    int call(const Function& function) {
        take("(");
        std::vector<std::uint16_t> operands;
        while (!take(")")) {
            if (!operands.empty() && !take(",")) return fail(", or ) was wanted here");
            if (operands.size() >= function.most) {
                return fail(fmt::format("{} takes at most {}", function.name, function.most));
            }
            const int operand = choose();
            if (operand == kNone) return kNone;
            operands.push_back(at(operand));
        }
        if (operands.size() < function.fewest) {
            return fail(fmt::format("{} needs {}", function.name, function.fewest));
        }
        if (function.op == Op::kCapture) return capture(operands);
        return add(function.op, std::move(operands));
    }

    // The pattern is compiled here, so it is a text and nothing that is computed.
    int capture(const std::vector<std::uint16_t>& operands) {
        const ExpressionNode& given = program_.nodes[operands[1]];
        const auto* text = std::get_if<std::string>(&given.literal);
        if (given.op != Op::kLiteral || text == nullptr) {
            return fail("capture needs a pattern in quotes");
        }
        auto pattern = Pattern::compile(*text);
        if (!pattern) return fail(pattern.error().message);
        const int node = add(Op::kCapture, {operands[0]});
        if (node != kNone) program_.nodes.back().pattern = std::move(*pattern);
        return node;
    }

    std::string_view text_;
    const Expression::Resolver& resolve_;
    ExpressionProgram program_;
    std::string error_;
    std::size_t at_ = 0;
    std::size_t error_at_ = 0;
    int depth_ = 0;
};

}  // namespace

base::Result<ExpressionProgram> parse_expression(std::string_view text,
                                                 const Expression::Resolver& resolve) {
    if (text.size() > kMaxText) {
        return base::config_error("expression.invalid",
                                  fmt::format("the expression is longer than {} bytes", kMaxText));
    }
    ExpressionParser parser(text, resolve);
    if (!parser.parse_whole()) return base::config_error("expression.invalid", parser.error());
    return parser.take();
}

}  // namespace pollux::extract
