#include "extract/pattern.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <vector>

#include "base/text.hpp"

namespace pollux::extract {
namespace {

constexpr std::size_t kMaxText = 4096;
constexpr std::int64_t kMaxMemory = 2LL << 20U;

RE2::Options options() {
    RE2::Options options;
    options.set_max_mem(kMaxMemory);
    options.set_log_errors(false);
    return options;
}

}  // namespace

struct Pattern::Impl {
    explicit Impl(std::string_view pattern) : re(pattern, options()) {}

    RE2 re;
    int group = 0;
};

base::Result<Pattern> Pattern::compile(std::string_view text) {
    if (text.size() > kMaxText) {
        return base::config_error("pattern.invalid",
                                  fmt::format("the pattern is longer than {} bytes", kMaxText));
    }
    auto impl = std::make_shared<Impl>(text);
    if (!impl->re.ok()) {
        return base::config_error("pattern.invalid",
                                  fmt::format("{} is no regular expression (RE2): {}",
                                              base::quoted(text), impl->re.error()));
    }
    const auto& names = impl->re.NamedCapturingGroups();
    const auto named = names.find("value");
    impl->group = named != names.end() ? named->second : (impl->re.NumberOfCapturingGroups() > 0);
    return Pattern(std::move(impl));
}

bool Pattern::matches(std::string_view text) const {
    return impl_->re.Match(text, 0, text.size(), RE2::UNANCHORED, nullptr, 0);
}

std::optional<std::string_view> Pattern::capture(std::string_view text) const {
    std::vector<re2::StringPiece> groups(static_cast<std::size_t>(impl_->group) + 1);
    if (!impl_->re.Match(text, 0, text.size(), RE2::UNANCHORED, groups.data(),
                         static_cast<int>(groups.size()))) {
        return std::nullopt;
    }
    const re2::StringPiece& found = groups.back();
    if (found.data() == nullptr) return std::nullopt;
    return std::string_view(found.data(), found.size());
}

const std::string& Pattern::text() const { return impl_->re.pattern(); }

}  // namespace pollux::extract
