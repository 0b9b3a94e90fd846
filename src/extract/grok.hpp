// Patterns with names, as log tools write them: %{IP:client} %{WORD:method} %{NUMBER}. Each name
// stands for a regular expression (RE2); %{NAME:field} keeps what it matched. Thirteen names are
// built in: INT NUMBER WORD NOTSPACE SPACE DATA GREEDYDATA IP IPV6 MAC HOSTNAME SYSLOGTIMESTAMP
// TIMESTAMP_ISO8601; patterns of one's own may use and replace them.
//
// Compiled once, bounded: size and depth of the expansion, and linear time for each match.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace pollux::extract {

struct GrokOptions {
    std::map<std::string, std::string, std::less<>> patterns;  // of one's own
    std::vector<std::string> fields;  // names of the groups by position, in place of named ones
    bool unknown_is_text = false;     // %{NOPE} means itself instead of being an error
    std::vector<std::string>* unknown = nullptr;  // with it: which ones they were
};

class Grok {
  public:
    // Error grok.invalid: an unknown name, patterns that use each other in a circle, too large, or
    // what RE2 has against the result.
    static base::Result<Grok> compile(std::string_view pattern, const GrokOptions& options = {});

    // The fields of the first place where it matches, in the order of the pattern; a field that
    // took no part is left out, of equal names the first that took part counts. nullopt: no match.
    std::optional<std::vector<std::pair<std::string, std::string_view>>> match(
        std::string_view text) const;

    const std::vector<std::string>& fields() const;  // in the order of the pattern
    const std::string& expression() const;           // as RE2 has it

  private:
    struct Impl;
    explicit Grok(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
    std::shared_ptr<const Impl> impl_;
};

}  // namespace pollux::extract
