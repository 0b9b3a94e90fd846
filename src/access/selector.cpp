#include "access/selector.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace pollux::access {
namespace {

constexpr std::size_t kMaxKey = 64;
constexpr std::size_t kMaxValue = 200;

bool is_key_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '/' || c == '-';
}

bool is_value_character(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > ' ' && byte != 0x7f && std::string_view(",()=!").find(c) == std::string::npos;
}

class SelectorParser {
  public:
    explicit SelectorParser(std::string_view text) : text_(text) {}

    base::Result<std::vector<Requirement>> parse() {
        std::vector<Requirement> all;
        skip_blanks();
        if (at_end()) return all;
        while (true) {
            auto one = requirement();
            if (!one) return std::unexpected(std::move(one.error()));
            all.push_back(std::move(*one));
            if (all.size() > Selector::kMaxRequirements) {
                return wrong(fmt::format("at most {} requirements", Selector::kMaxRequirements));
            }
            skip_blanks();
            if (at_end()) return all;
            if (!take(',')) return wrong("a comma or the end");
        }
    }

  private:
    base::Result<Requirement> requirement() {
        skip_blanks();
        Requirement result;
        const bool missing = take('!');
        skip_blanks();
        auto key = word(is_key_character);
        if (key.empty() || key.size() > kMaxKey) {
            return wrong("a label name of 1 to 64 letters, digits, . _ / or -");
        }
        result.key = std::move(key);
        if (missing) {
            result.op = Operator::kMissing;
            return result;
        }
        skip_blanks();
        if (at_end() || text_[at_] == ',') return result;
        return condition(std::move(result));
    }

    base::Result<Requirement> condition(Requirement result) {
        if (take('!')) {
            if (!take('=')) return wrong("= behind !");
            result.op = Operator::kNotIn;
            return single_value(std::move(result));
        }
        if (take('=')) {
            take('=');
            result.op = Operator::kIn;
            return single_value(std::move(result));
        }
        const std::string name = word(is_key_character);
        if (name == "in") {
            result.op = Operator::kIn;
        } else if (name == "notin") {
            result.op = Operator::kNotIn;
        } else {
            return wrong("=, !=, in (…), notin (…), a comma or the end");
        }
        return value_list(std::move(result));
    }

    base::Result<Requirement> single_value(Requirement result) {
        skip_blanks();
        auto value = word(is_value_character);
        if (value.size() > kMaxValue) return wrong("a value of at most 200 characters");
        result.values.push_back(std::move(value));
        return result;
    }

    base::Result<Requirement> value_list(Requirement result) {
        skip_blanks();
        if (!take('(')) return wrong("( with the values, such as in (a,b)");
        do {
            skip_blanks();
            auto value = word(is_value_character);
            if (value.size() > kMaxValue) return wrong("a value of at most 200 characters");
            result.values.push_back(std::move(value));
            if (result.values.size() > Selector::kMaxValues) {
                return wrong(fmt::format("at most {} values", Selector::kMaxValues));
            }
            skip_blanks();
        } while (take(','));
        if (!take(')')) return wrong("a comma or )");
        std::ranges::sort(result.values);
        const auto doubles = std::ranges::unique(result.values);
        result.values.erase(doubles.begin(), doubles.end());
        return result;
    }

    std::string word(bool (*belongs)(char)) {
        const std::size_t first = at_;
        while (!at_end() && belongs(text_[at_])) ++at_;
        return std::string(text_.substr(first, at_ - first));
    }

    bool take(char c) {
        if (at_end() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void skip_blanks() {
        while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    }
    bool at_end() const { return at_ >= text_.size(); }

    std::unexpected<base::Error> wrong(std::string_view expected) const {
        const std::string seen =
            at_end()
                ? "the end"
                : base::quoted(text_.substr(at_, std::min<std::size_t>(20, text_.size() - at_)));
        return base::config_error(
            "access.selector", fmt::format("selector {}: at character {} there is {}; expected {}",
                                           base::quoted(text_), at_ + 1, seen, expected));
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

bool holds(const Requirement& one, const Labels& labels) {
    const auto found = labels.find(one.key);
    const bool there = found != labels.end();
    switch (one.op) {
        case Operator::kExists: return there;
        case Operator::kMissing: return !there;
        case Operator::kIn: return there && std::ranges::binary_search(one.values, found->second);
        case Operator::kNotIn:
            return !there || !std::ranges::binary_search(one.values, found->second);
    }
    return false;
}

// Whether `narrow` holding makes `wide` hold.
bool follows(const Requirement& wide, const Requirement& narrow) {
    if (wide.key != narrow.key) return false;
    if (wide == narrow) return true;
    switch (wide.op) {
        case Operator::kExists: return narrow.op == Operator::kIn;
        case Operator::kMissing: return false;
        case Operator::kIn:
            return narrow.op == Operator::kIn && std::ranges::includes(wide.values, narrow.values);
        case Operator::kNotIn:
            if (narrow.op == Operator::kMissing) return true;
            if (narrow.op == Operator::kNotIn) {
                return std::ranges::includes(narrow.values, wide.values);
            }
            return narrow.op == Operator::kIn &&
                   std::ranges::none_of(narrow.values, [&](const std::string& value) {
                       return std::ranges::binary_search(wide.values, value);
                   });
    }
    return false;
}

std::string requirement_text(const Requirement& one) {
    const bool single = one.values.size() == 1;
    switch (one.op) {
        case Operator::kExists: return one.key;
        case Operator::kMissing: return "!" + one.key;
        case Operator::kIn:
            return single ? fmt::format("{}={}", one.key, one.values[0])
                          : fmt::format("{} in ({})", one.key, fmt::join(one.values, ","));
        case Operator::kNotIn:
            return single ? fmt::format("{}!={}", one.key, one.values[0])
                          : fmt::format("{} notin ({})", one.key, fmt::join(one.values, ","));
    }
    return {};
}

}  // namespace

base::Result<Selector> Selector::parse(std::string_view text) {
    if (text.size() > kMaxText) {
        return base::config_error(
            "access.selector",
            fmt::format("the selector has {} characters; at most {}", text.size(), kMaxText));
    }
    if (!base::is_valid_utf8(text)) {
        return base::config_error("access.selector", "the selector is not UTF-8");
    }
    SelectorParser parser(text);
    auto parsed = parser.parse();
    if (!parsed) return std::unexpected(std::move(parsed.error()));
    Selector selector;
    selector.requirements_ = std::move(*parsed);
    std::ranges::sort(selector.requirements_);
    const auto doubles = std::ranges::unique(selector.requirements_);
    selector.requirements_.erase(doubles.begin(), doubles.end());
    return selector;
}

bool Selector::matches(const Labels& labels) const {
    return std::ranges::all_of(requirements_,
                               [&](const Requirement& one) { return holds(one, labels); });
}

bool Selector::covers(const Selector& other) const {
    return std::ranges::all_of(requirements_, [&](const Requirement& wide) {
        return std::ranges::any_of(
            other.requirements_, [&](const Requirement& narrow) { return follows(wide, narrow); });
    });
}

std::string Selector::text() const {
    std::string result;
    for (const Requirement& one : requirements_) {
        if (!result.empty()) result += ',';
        result += requirement_text(one);
    }
    return result;
}

}  // namespace pollux::access
