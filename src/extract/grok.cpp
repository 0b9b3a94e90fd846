#include "extract/grok.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace pollux::extract {
namespace {

using base::quoted;

constexpr std::size_t kMaxExpansion = 16'384;
constexpr int kMaxDepth = 8;
constexpr std::size_t kMaxFields = 64;
constexpr std::size_t kMaxField = 64;
constexpr std::int64_t kMaxMemory = 4LL << 20U;

constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kBuiltIn = {{
    {"INT", R"([+-]?\d+)"},
    {"NUMBER", R"([+-]?(?:\d+(?:\.\d+)?|\.\d+))"},
    {"WORD", R"(\b\w+\b)"},
    {"NOTSPACE", R"(\S+)"},
    {"SPACE", R"(\s*)"},
    {"DATA", R"(.*?)"},
    {"GREEDYDATA", R"(.*)"},
    {"IP", R"((?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d))"},
    {"IPV6", R"((?:[0-9A-Fa-f]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]{0,4}))"},
    {"MAC", R"((?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4})"},
    {"HOSTNAME",
     R"([0-9A-Za-z](?:[0-9A-Za-z_-]{0,62})(?:\.[0-9A-Za-z](?:[0-9A-Za-z_-]{0,62}))*\.?)"},
    {"SYSLOGTIMESTAMP", R"([A-Z][a-z]{2}\s+\d{1,2}\s+\d{2}:\d{2}:\d{2})"},
    {"TIMESTAMP_ISO8601",
     R"(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)"},
}};

bool is_pattern_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '_';
    });
}

bool is_field_name(std::string_view text) {
    return !text.empty() && text.size() <= kMaxField && base::is_valid_utf8(text) &&
           !base::has_control(text);
}

class Expander {
  public:
    explicit Expander(const GrokOptions& options) : options_(options) {}

    // False: `error` says why.
    bool expand(std::string_view pattern, int depth) {
        if (depth > kMaxDepth) return fail("patterns use each other more than 8 deep");
        std::size_t at = 0;
        while (at < pattern.size()) {
            const std::size_t open = std::min(pattern.find("%{", at), pattern.size());
            if (!put(pattern.substr(at, open - at))) return false;
            if (open == pattern.size()) return true;
            const std::size_t close = pattern.find('}', open);
            if (close == std::string_view::npos) return put(pattern.substr(open));
            if (!name(pattern.substr(open, close + 1 - open), depth)) return false;
            at = close + 1;
        }
        return true;
    }

    std::string out;
    std::string error;
    std::vector<std::string> fields;  // of the groups pollux0, pollux1, ...

  private:
    bool fail(std::string why) {
        error = std::move(why);
        return false;
    }

    bool put(std::string_view text) {
        if (out.size() + text.size() > kMaxExpansion) {
            return fail(fmt::format("the pattern grows past {} bytes", kMaxExpansion));
        }
        out += text;
        return true;
    }

    // %{NAME} or %{NAME:field}
    bool name(std::string_view whole, int depth) {
        const std::string_view inner = whole.substr(2, whole.size() - 3);
        const std::size_t colon = inner.find(':');
        const std::string_view called = inner.substr(0, colon);
        const auto found = is_pattern_name(called) ? find(called) : std::nullopt;
        if (!found) {
            if (!options_.unknown_is_text) {
                return fail(fmt::format("{} is no pattern that is known", quoted(called)));
            }
            if (options_.unknown != nullptr) options_.unknown->emplace_back(called);
            return put(RE2::QuoteMeta(re2::StringPiece(whole.data(), whole.size())));
        }
        if (colon == std::string_view::npos) {
            return put("(?:") && expand(*found, depth + 1) && put(")");
        }
        const std::string_view field = inner.substr(colon + 1);
        if (!is_field_name(field) || fields.size() >= kMaxFields) {
            return fail(fmt::format("{} is no name for a field, or there are more than {}",
                                    quoted(field), kMaxFields));
        }
        const std::size_t number = fields.size();
        fields.emplace_back(field);
        return put(fmt::format("(?P<pollux{}>", number)) && expand(*found, depth + 1) && put(")");
    }

    std::optional<std::string_view> find(std::string_view called) const {
        const auto own = options_.patterns.find(called);
        if (own != options_.patterns.end()) return own->second;
        for (const auto& [known, expression] : kBuiltIn) {
            if (known == called) return expression;
        }
        return std::nullopt;
    }

    const GrokOptions& options_;
};

RE2::Options re2_options() {
    RE2::Options options;
    options.set_max_mem(kMaxMemory);
    options.set_log_errors(false);
    return options;
}

}  // namespace

struct Grok::Impl {
    explicit Impl(const std::string& text) : re(text, re2_options()) {}

    RE2 re;
    std::vector<std::pair<int, std::string>> groups;  // number and field, in order
    std::vector<std::string> fields;
};

base::Result<Grok> Grok::compile(std::string_view pattern, const GrokOptions& options) {
    const auto refuse = [&](std::string_view why) {
        return base::config_error("grok.invalid", fmt::format("{}: {}", quoted(pattern), why));
    };
    Expander expander(options);
    if (!expander.expand(pattern, 0)) return refuse(expander.error);
    auto impl = std::make_shared<Impl>(expander.out);
    if (!impl->re.ok()) return refuse(impl->re.error());
    if (!options.fields.empty()) {
        const int count = impl->re.NumberOfCapturingGroups();
        for (std::size_t i = 0; i < options.fields.size() && static_cast<int>(i) < count; ++i) {
            if (options.fields[i].empty()) continue;
            impl->groups.emplace_back(static_cast<int>(i) + 1, options.fields[i]);
        }
    } else {
        for (const auto& [number, name] : impl->re.CapturingGroupNames()) {
            const bool ours = name.starts_with("pollux");
            std::size_t field = 0;
            for (const char c : ours ? name.substr(6) : std::string()) {
                field = c >= '0' && c <= '9' ? field * 10 + static_cast<std::size_t>(c - '0')
                                             : expander.fields.size();
            }
            impl->groups.emplace_back(
                number, ours && field < expander.fields.size() ? expander.fields[field] : name);
        }
    }
    if (impl->groups.size() > kMaxFields) {
        return refuse(fmt::format("it has more than {} fields", kMaxFields));
    }
    for (const auto& group : impl->groups) {
        if (std::ranges::find(impl->fields, group.second) == impl->fields.end()) {
            impl->fields.push_back(group.second);
        }
    }
    return Grok(std::move(impl));
}

std::optional<std::vector<std::pair<std::string, std::string_view>>> Grok::match(
    std::string_view text) const {
    const int highest = impl_->groups.empty() ? 0 : impl_->groups.back().first;
    std::vector<re2::StringPiece> found(static_cast<std::size_t>(highest) + 1);
    if (!impl_->re.Match(text, 0, text.size(), RE2::UNANCHORED, found.data(),
                         static_cast<int>(found.size()))) {
        return std::nullopt;
    }
    std::vector<std::pair<std::string, std::string_view>> out;
    for (const auto& [number, field] : impl_->groups) {
        const re2::StringPiece& piece = found[static_cast<std::size_t>(number)];
        if (piece.data() == nullptr) continue;
        const auto same =
            std::ranges::find(out, field, &std::pair<std::string, std::string_view>::first);
        if (same == out.end())
            out.emplace_back(field, std::string_view(piece.data(), piece.size()));
    }
    return out;
}

const std::vector<std::string>& Grok::fields() const { return impl_->fields; }

const std::string& Grok::expression() const { return impl_->re.pattern(); }

}  // namespace pollux::extract
