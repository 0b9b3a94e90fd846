#include <fmt/format.h>

#include <charconv>

#include "base/text.hpp"
#include "extract/path_program.hpp"

namespace pollux::extract {
namespace {

constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxSegments = 64;
constexpr std::size_t kMaxSelectors = 64;
constexpr int kMaxDepth = 32;  // of parentheses and nested filters

bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class PathParser {
  public:
    explicit PathParser(std::string_view text) : text_(text) {}

    bool parse_whole(PathProgram& out) {
        blanks();
        if (peek() != '$' && peek() != '@') return fail("a path begins with $");
        ++at_;
        if (!segments(out)) return false;
        blanks();
        return at_ == text_.size() || fail("a . or [ was wanted here");
    }

    std::string error() const {
        return fmt::format("{} (at character {} of {})", error_, error_at_ + 1,
                           base::quoted(text_, 120));
    }

  private:
    bool fail(std::string_view message) {
        if (error_.empty()) {
            error_ = message;
            error_at_ = at_;
        }
        return false;
    }

    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    void blanks() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
    }
    bool take(std::string_view token) {
        if (!text_.substr(at_).starts_with(token)) return false;
        at_ += token.size();
        return true;
    }

    bool segments(PathProgram& out) {
        while (true) {
            const std::size_t before = at_;
            blanks();
            if (peek() != '.' && peek() != '[') {
                at_ = before;
                return true;
            }
            if (out.segments.size() >= kMaxSegments) return fail("the path has too many parts");
            Segment segment;
            if (!read_segment(segment)) return false;
            out.singular = out.singular && !segment.descendant && segment.selectors.size() == 1 &&
                           (segment.selectors[0].kind == SelectorKind::kName ||
                            segment.selectors[0].kind == SelectorKind::kIndex);
            out.segments.push_back(std::move(segment));
        }
    }

    bool read_segment(Segment& out) {
        if (take("..")) {
            out.descendant = true;
            if (peek() == '[') return bracket(out);
            return shorthand(out);
        }
        if (take(".")) return shorthand(out);
        return bracket(out);
    }

    bool shorthand(Segment& out) {
        Selector selector;
        if (take("*")) {
            selector.kind = SelectorKind::kWildcard;
            out.selectors.push_back(std::move(selector));
            return true;
        }
        const std::size_t start = at_;
        if (is_name_start(peek())) {
            while (is_name_start(peek()) || is_digit(peek())) ++at_;
        }
        if (at_ == start) {
            return fail("a name or * was wanted after the dot; other names go into ['...']");
        }
        selector.name = std::string(text_.substr(start, at_ - start));
        out.selectors.push_back(std::move(selector));
        return true;
    }

    bool bracket(Segment& out) {
        ++at_;
        while (true) {
            blanks();
            if (out.selectors.size() >= kMaxSelectors) return fail("too many choices in brackets");
            Selector selector;
            if (!read_selector(selector)) return false;
            out.selectors.push_back(std::move(selector));
            blanks();
            if (take("]")) return true;
            if (!take(",")) return fail("] or , was wanted here");
        }
    }

    bool read_selector(Selector& out) {
        if (peek() == '\'' || peek() == '"') return quoted_text(out.name);
        if (take("*")) {
            out.kind = SelectorKind::kWildcard;
            return true;
        }
        if (take("?")) {
            out.kind = SelectorKind::kFilter;
            out.filter = read_or();
            return out.filter != nullptr;
        }
        return index_or_slice(out);
    }

    bool integer(std::optional<std::int64_t>& out) {
        const std::size_t start = at_;
        if (peek() == '-') ++at_;
        while (is_digit(peek())) ++at_;
        if (at_ == start) return true;
        std::int64_t value = 0;
        const auto result = std::from_chars(text_.data() + start, text_.data() + at_, value);
        constexpr std::int64_t kMost = 1LL << 53U;
        if (result.ec != std::errc() || result.ptr != text_.data() + at_ || value > kMost ||
            value < -kMost) {
            at_ = start;
            return fail("a whole number was wanted here");
        }
        out = value;
        return true;
    }

    bool index_or_slice(Selector& out) {
        std::optional<std::int64_t> first;
        if (!integer(first)) return false;
        blanks();
        if (peek() != ':') {
            if (!first) return fail("a name in quotes, a number, *, a slice or ? was wanted here");
            out.kind = SelectorKind::kIndex;
            out.index = *first;
            return true;
        }
        ++at_;
        out.kind = SelectorKind::kSlice;
        out.from = first;
        blanks();
        if (!integer(out.to)) return false;
        blanks();
        if (take(":")) {
            std::optional<std::int64_t> step;
            blanks();
            if (!integer(step)) return false;
            out.step = step.value_or(1);
        }
        return true;
    }

    bool quoted_text(std::string& out) {
        const char quote = peek();
        ++at_;
        while (at_ < text_.size() && peek() != quote) {
            char c = peek();
            if (c == '\\') {
                ++at_;
                constexpr std::string_view kNames = "\\/'\"bfnrt";
                constexpr std::string_view kValues = "\\/'\"\b\f\n\r\t";
                const std::size_t known = peek() == '\0' ? kNames.npos : kNames.find(peek());
                if (known == kNames.npos) return fail("an unknown character after a backslash");
                c = kValues[known];
            }
            out.push_back(c);
            ++at_;
        }
        if (at_ == text_.size()) return fail("the closing quote is missing");
        ++at_;
        return true;
    }

    using FilterPtr = std::shared_ptr<const FilterNode>;

    FilterPtr refuse(std::string_view message) {
        fail(message);
        return nullptr;
    }

    FilterPtr chain(FilterPtr left, FilterPtr right, FilterOp op) {
        FilterNode node;
        node.op = op;
        node.left = std::move(left);
        node.right = std::move(right);
        return std::make_shared<const FilterNode>(std::move(node));
    }

    FilterPtr read_or() {
        if (++depth_ > kMaxDepth) return refuse("the filter is nested too deep");
        FilterPtr left = read_and();
        blanks();
        while (left != nullptr && take("||")) {
            FilterPtr right = read_and();
            if (right == nullptr || ++parts_ > kMaxSelectors) {
                return refuse("the filter is too long");
            }
            left = chain(std::move(left), std::move(right), FilterOp::kOr);
            blanks();
        }
        --depth_;
        return left;
    }

    FilterPtr read_and() {
        FilterPtr left = read_basic();
        blanks();
        while (left != nullptr && take("&&")) {
            FilterPtr right = read_basic();
            if (right == nullptr || ++parts_ > kMaxSelectors) {
                return refuse("the filter is too long");
            }
            left = chain(std::move(left), std::move(right), FilterOp::kAnd);
            blanks();
        }
        return left;
    }

    FilterPtr read_basic() {
        blanks();
        if (take("!")) {
            if (++depth_ > kMaxDepth) return refuse("the filter is nested too deep");
            FilterPtr inner = read_basic();
            --depth_;
            return inner == nullptr ? nullptr : chain(std::move(inner), nullptr, FilterOp::kNot);
        }
        if (take("(")) {
            FilterPtr inner = read_or();
            blanks();
            if (inner != nullptr && !take(")")) return refuse(") was wanted here");
            return inner;
        }
        FilterNode node;
        if (!operand(node.a)) return nullptr;
        blanks();
        if (take("==")) {
            node.op = FilterOp::kEqual;
        } else if (take("!=")) {
            node.op = FilterOp::kNotEqual;
        } else if (take("<=")) {
            node.op = FilterOp::kLessEqual;
        } else if (take(">=")) {
            node.op = FilterOp::kGreaterEqual;
        } else if (take("<")) {
            node.op = FilterOp::kLess;
        } else if (take(">")) {
            node.op = FilterOp::kGreater;
        } else {
            if (!node.a.is_path) return refuse("a comparison (==, !=, <, ...) was wanted here");
            return std::make_shared<const FilterNode>(std::move(node));
        }
        blanks();
        if (!operand(node.b)) return nullptr;
        if ((node.a.is_path && !node.a.path.singular) ||
            (node.b.is_path && !node.b.path.singular)) {
            return refuse("only a path to one value can be compared; no *, .. or slices in it");
        }
        return std::make_shared<const FilterNode>(std::move(node));
    }

    bool operand(FilterOperand& out) {
        if (peek() == '@' || peek() == '$') {
            out.is_path = true;
            out.from_root = peek() == '$';
            ++at_;
            if (++depth_ > kMaxDepth) return fail("the filter is nested too deep");
            const bool ok = segments(out.path);
            --depth_;
            return ok;
        }
        if (peek() == '\'' || peek() == '"') {
            std::string text;
            if (!quoted_text(text)) return false;
            out.literal = std::move(text);
            return true;
        }
        if (take("true")) {
            out.literal = true;
            return true;
        }
        if (take("false")) {
            out.literal = false;
            return true;
        }
        if (take("null")) return true;
        return number(out.literal);
    }

    bool number(model::Value& out) {
        const std::size_t start = at_;
        if (peek() == '-') ++at_;
        while (is_digit(peek()) || peek() == '.' || peek() == 'e' || peek() == 'E' ||
               ((peek() == '-' || peek() == '+') &&
                (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))) {
            ++at_;
        }
        const char* const end = text_.data() + at_;
        std::int64_t whole = 0;
        const auto integer = std::from_chars(text_.data() + start, end, whole);
        if (integer.ec == std::errc() && integer.ptr == end) {
            out = whole;
            return true;
        }
        double value = 0;
        const auto real = std::from_chars(text_.data() + start, end, value);
        if (at_ == start || real.ec != std::errc() || real.ptr != end) {
            at_ = start;
            return fail("@, $, a text in quotes, a number, true, false or null was wanted here");
        }
        out = value;
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t error_at_ = 0;
    std::string error_;
    int depth_ = 0;
    std::size_t parts_ = 0;
};

}  // namespace

base::Result<PathProgram> parse_path(std::string_view text) {
    if (text.size() > kMaxText) {
        return base::config_error("json_path.invalid",
                                  fmt::format("the path is longer than {} bytes", kMaxText));
    }
    PathParser parser(text);
    PathProgram program;
    if (!parser.parse_whole(program)) {
        return base::config_error("json_path.invalid", parser.error());
    }
    return program;
}

}  // namespace pollux::extract
