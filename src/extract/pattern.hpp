// A regular expression in linear time (RE2), with bounded memory. Immutable, may be used by
// several threads at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace pollux::extract {

class Pattern {
  public:
    // Error pattern.invalid: what RE2 has against it.
    static base::Result<Pattern> compile(std::string_view text);

    bool matches(std::string_view text) const;  // somewhere in the text

    // The group named `value`, else the first group, else the whole match, of the first place
    // where it matches. nullopt: no match, or the group took no part in it.
    std::optional<std::string_view> capture(std::string_view text) const;

    const std::string& text() const;

  private:
    struct Impl;
    explicit Pattern(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
    std::shared_ptr<const Impl> impl_;
};

}  // namespace pollux::extract
