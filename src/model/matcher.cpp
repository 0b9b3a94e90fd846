#include "model/matcher.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"

namespace pollux::model {
namespace {

using base::quoted;

constexpr std::int64_t kMaxMemory = 1LL << 20U;

std::unexpected<base::Error> invalid(std::string message) {
    return base::config_error("matcher.invalid", std::move(message));
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_plain_name(std::string_view name) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == ':' || c == '.' || c == '-';
    };
    return !name.empty() && std::ranges::all_of(name, plain);
}

// Reads matchers from the front of a text.
class Reader {
  public:
    explicit Reader(std::string_view text) : rest_(text) {}

    void skip_blanks() {
        while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    }
    bool take(std::string_view what) {
        skip_blanks();
        if (!rest_.starts_with(what)) return false;
        rest_.remove_prefix(what.size());
        return true;
    }
    bool done() {
        skip_blanks();
        return rest_.empty();
    }
    std::string_view rest() const { return rest_; }

    base::Result<LabelMatcher> matcher() {
        LabelMatcher result;
        auto name = word("=!,}");
        if (!name) return std::unexpected(name.error());
        result.label = std::move(*name);
        if (result.label.empty()) return invalid("a matcher begins with the name of a label");
        // The longer operators first.
        constexpr MatchOperator kOperators[] = {MatchOperator::kMatches, MatchOperator::kNotMatches,
                                                MatchOperator::kNotEqual, MatchOperator::kEqual};
        const auto op = std::ranges::find_if(
            kOperators, [&](MatchOperator one) { return take(to_string(one)); });
        if (op == std::end(kOperators)) {
            return invalid(
                fmt::format("{} has no operator; write =, !=, =~ or !~ and a value, "
                            "such as severity=\"critical\"",
                            quoted(result.label)));
        }
        result.op = *op;
        auto value = word(",}");
        if (!value) return std::unexpected(value.error());
        result.value = std::move(*value);
        return result;
    }

  private:
    // A text in quotes with \", \\ and \n, or everything up to one of `stops`.
    base::Result<std::string> word(std::string_view stops) {
        skip_blanks();
        std::string text;
        if (!rest_.starts_with('"')) {
            std::string_view plain = rest_.substr(0, rest_.find_first_of(stops));
            rest_.remove_prefix(plain.size());
            while (!plain.empty() && is_blank(plain.back())) plain.remove_suffix(1);
            return std::string(plain);
        }
        for (std::size_t i = 1; i < rest_.size(); ++i) {
            const char c = rest_[i];
            if (c == '"') {
                rest_.remove_prefix(i + 1);
                return text;
            }
            if (c != '\\') {
                text += c;
                continue;
            }
            const char next = ++i < rest_.size() ? rest_[i] : '\0';
            if (next == 'n') {
                text += '\n';
            } else if (next == '"' || next == '\\') {
                text += next;
            } else {
                // As Alertmanager has it: what is no escape stays, so that "\d+" can be written.
                text += '\\';
                text += next;
            }
        }
        return invalid(fmt::format("{} has no closing quote", quoted(rest_)));
    }

    std::string_view rest_;
};

std::string in_quotes(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        if (c == '\n') {
            result += "\\n";
        } else {
            result += c;
        }
    }
    return result + '"';
}

}  // namespace

struct CompiledMatcher::Pattern {
    explicit Pattern(const std::string& text) : re(text, options()) {}

    static RE2::Options options() {
        RE2::Options options;
        options.set_max_mem(kMaxMemory);
        options.set_log_errors(false);
        return options;
    }

    RE2 re;
};

base::Result<LabelMatcher> parse_matcher(std::string_view text) {
    Reader reader(text);
    auto result = reader.matcher();
    if (!result) return result;
    if (!reader.done()) {
        return invalid(fmt::format("{} stands behind a matcher; several are written in braces",
                                   quoted(reader.rest())));
    }
    return result;
}

base::Result<std::vector<LabelMatcher>> parse_matchers(std::string_view text) {
    std::vector<LabelMatcher> matchers;
    Reader reader(text);
    const bool braces = reader.take("{");
    while (!(braces ? reader.take("}") : reader.done())) {
        if (matchers.size() >= kMostMatchers) {
            return invalid(fmt::format("there are more than {} matchers", kMostMatchers));
        }
        auto one = reader.matcher();
        if (!one) return std::unexpected(one.error());
        matchers.push_back(std::move(*one));
        if (reader.take(",")) continue;
        if (braces && reader.take("}")) break;
        if (!braces && reader.done()) break;
        return invalid(fmt::format("a comma {}is missing before {}", braces ? "or brace " : "",
                                   quoted(reader.rest())));
    }
    if (!reader.done()) {
        return invalid(fmt::format("{} stands behind the matchers", quoted(reader.rest())));
    }
    return matchers;
}

std::string to_string(const LabelMatcher& matcher) {
    return (is_plain_name(matcher.label) ? matcher.label : in_quotes(matcher.label)) +
           std::string(to_string(matcher.op)) + in_quotes(matcher.value);
}

std::string to_string(std::span<const LabelMatcher> matchers) {
    std::string text = "{";
    for (const LabelMatcher& one : matchers) {
        if (text.size() > 1) text += ", ";
        text += to_string(one);
    }
    return text + '}';
}

base::Result<CompiledMatcher> CompiledMatcher::compile(LabelMatcher matcher) {
    if (matcher.label.empty()) return invalid("a matcher needs the name of a label");
    if (matcher.label.size() > kLongestMatcher || matcher.value.size() > kLongestMatcher) {
        return invalid(fmt::format("a matcher has at most {} bytes", kLongestMatcher));
    }
    std::shared_ptr<const Pattern> pattern;
    if (matcher.op == MatchOperator::kMatches || matcher.op == MatchOperator::kNotMatches) {
        auto compiled = std::make_shared<Pattern>(matcher.value);
        if (!compiled->re.ok()) {
            return invalid(fmt::format("{} is no regular expression (RE2): {}",
                                       quoted(matcher.value), compiled->re.error()));
        }
        pattern = std::move(compiled);
    }
    return CompiledMatcher(std::move(matcher), std::move(pattern));
}

bool CompiledMatcher::fits(std::string_view value) const {
    if (pattern_ == nullptr) return value == matcher_.value;
    return pattern_->re.Match(value, 0, value.size(), RE2::ANCHOR_BOTH, nullptr, 0);
}

}  // namespace pollux::model
