// Small text helpers for validation and for error messages.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pollux::base {

// Well-formed UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing past U+10FFFF.
bool is_valid_utf8(std::string_view text);

// The length of the well-formed UTF-8 sequence at the beginning of a non-empty text, or 0.
std::size_t utf8_sequence(std::string_view text);

// The beginning of the text, at most `most` bytes, without a character cut in two.
std::string_view utf8_prefix(std::string_view text, std::size_t most);

// Whether there is a control character: U+0000 to U+001F, U+007F, U+0080 to U+009F. In text that
// is not UTF-8, a stray byte from 0x80 to 0x9F counts as one too.
bool has_control(std::string_view text);

// quoted(text, max = 80): text from outside, made safe to show within a message: in double quotes;
// quotes and backslashes with a backslash; control and invalid bytes as \xNN; cut with … after
// about `max` characters. An object, because for a std::string argument an unqualified call of a
// function would find std::quoted wherever <iomanip> is included.
struct Quoted {
    std::string operator()(std::string_view text, std::size_t max = 80) const;
};
inline constexpr Quoted quoted{};

// The text with each byte that is no UTF-8 as U+FFFD; unchanged if it is valid.
std::string valid_utf8(std::string_view text);

// Text of a program for people: escape sequences of terminals (colours, titles, cursor) and control
// characters but line ends and tabs are gone, line ends are \n, blanks at the end are cut, what is
// no UTF-8 is U+FFFD.
std::string plain_text(std::string_view text);

// The candidate to suggest for a mistyped word: the nearest within an edit distance (insert,
// delete, replace a byte) of 2 that still shares something with it; the first of equals.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

}  // namespace pollux::base
