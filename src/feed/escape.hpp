// Makes text from outside harmless for the place it is put into. Devices choose their names and
// messages, so nothing of them is trusted: not quotes, not line ends, not markup, not the
// invisible characters that turn the reading direction around.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pollux::feed {

// What a template makes, and so how values are written into it.
enum class Format : std::uint8_t {
    kText,    // plain text: control characters are gone
    kJson,    // inside of a string: escaped; elsewhere: a whole value
    kHtml,    // entities
    kForm,    // application/x-www-form-urlencoded
    kUrl,     // percent-encoded, everything but letters, digits and -._~
    kHeader,  // a field of HTTP or mail: one line
};

std::string_view to_string(Format format);

// Valid UTF-8 without control characters and without characters that change the direction of text.
// Line ends become blanks unless they are kept; then they are \n.
std::string clean_text(std::string_view text, bool keep_lines);

// Appends cleaned text, escaped for the format; kJson: as the contents of a string.
void append_escaped(std::string& out, Format format, std::string_view text);

// Percent-encoding; `kept` are characters left as they are beside letters, digits and -._~
void append_percent(std::string& out, std::string_view text, std::string_view kept = {});

std::string escape_html(std::string_view text);
// What Slack wants escaped: & < and >.
std::string escape_slack(std::string_view text);
// Markdown, with mentions (@channel) broken up by an invisible character.
std::string escape_markdown(std::string_view text);

std::string base64(std::string_view bytes);

// A field value of a mail as RFC 2047 has it: as it is if it is plain ASCII, else encoded words of
// at most 75 characters, folded.
std::string encode_mail_header(std::string_view text);

}  // namespace pollux::feed
