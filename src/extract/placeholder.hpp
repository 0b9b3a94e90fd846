// Texts with placeholders like `/api/{site}/status`. A placeholder is {name} with a name of lower
// case letters, digits and underscores; any other brace is just a brace, so JSON bodies and
// regular expressions keep theirs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pollux::extract {

class Template {
  public:
    static Template compile(std::string_view text);

    std::vector<std::string> names() const;  // in order, each as often as it is used
    bool has_placeholders() const;

    // `value` gives the text of a name, already escaped for its place; nullopt leaves the
    // placeholder as it stands.
    std::string fill(
        const std::function<std::optional<std::string>(std::string_view)>& value) const;

  private:
    struct Part {
        std::string text;
        bool is_name = false;
    };
    std::vector<Part> parts_;
};

// Everything but letters, digits and -._~ as %XX.
std::string percent_encoded(std::string_view text);

// For a value that is a path with a query by itself: only what may not stand in one (blanks,
// controls, quotes, angle brackets, #, bytes past ASCII) becomes %XX.
std::string percent_encoded_path(std::string_view text);

}  // namespace pollux::extract
