#include "feed/escape.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/text.hpp"
#include "feed/feed_test_support.hpp"

namespace pollux::feed {
namespace {

TEST(CleanText, RemovesWhatCannotBeSeen) {
    EXPECT_EQ(clean_text("a\x01z", false), "a z");
    EXPECT_EQ(clean_text("a\xE2\x80\xAEz\xE2\x81\xA6\xD8\x9C\xEF\xBB\xBF", false), "az");
    EXPECT_EQ(clean_text("a\xFFz", false), "a\xEF\xBF\xBDz");
    EXPECT_EQ(clean_text("ä€𝄞", false), "ä€𝄞");
}

TEST(CleanText, MakesOneLineUnlessLinesAreKept) {
    EXPECT_EQ(clean_text("a\r\nb\xE2\x80\xA8"
                         "c\xC2\x85"
                         "d\te",
                         false),
              "a b c d e");
    EXPECT_EQ(clean_text("a\r\nb", true), "a\nb");
}

TEST(Escape, KnowsEachFormat) {
    const auto escaped = [](Format format, std::string_view text) {
        std::string out;
        append_escaped(out, format, text);
        return out;
    };
    EXPECT_EQ(escaped(Format::kJson, "a\"\\\n"), R"(a\"\\\n)");
    EXPECT_EQ(escaped(Format::kHtml, "<a href='x'>&\""), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
    EXPECT_EQ(escaped(Format::kForm, "a b&c=ä"), "a%20b%26c%3D%C3%A4");
    EXPECT_EQ(escaped(Format::kUrl, "../x?y#z"), "..%2Fx%3Fy%23z");
    EXPECT_EQ(escape_slack("<!channel> & \"x\""), "&lt;!channel&gt; &amp; \"x\"");
    EXPECT_EQ(escape_markdown("- core-1 #2"), "\\- core-1 #2");
    EXPECT_EQ(escape_markdown("*a* @all"),
              "\\*a\\* @\xE2\x80\x8B"
              "all");
}

TEST(MailHeader, LeavesAsciiAndEncodesTheRest) {
    EXPECT_EQ(encode_mail_header("[CRITICAL] core-1 is down"), "[CRITICAL] core-1 is down");
    EXPECT_EQ(encode_mail_header("Käse"), "=?UTF-8?B?S8Okc2U=?=");
    // What would be read as an encoded word is encoded.
    EXPECT_EQ(encode_mail_header("=?x?="), "=?UTF-8?B?PT94Pz0=?=");
}

TEST(MailHeader, NeverBreaksOutOfItsField) {
    EXPECT_EQ(encode_mail_header(test::kHostile).find_first_of("\r\n"), std::string::npos);
    const std::string encoded = encode_mail_header("ä" + std::string(test::kHostile));
    EXPECT_TRUE(base::is_valid_utf8(encoded));
    for (std::size_t at = encoded.find('\n'); at != std::string::npos;
         at = encoded.find('\n', at + 1)) {
        EXPECT_EQ(encoded[at - 1], '\r');
        EXPECT_EQ(encoded[at + 1], ' ') << "a line that continues begins with a blank";
    }
    EXPECT_EQ(encoded.find("Bcc"), std::string::npos);
    for (std::size_t at = 0; at < encoded.size();) {
        const std::size_t end = std::min(encoded.find("\r\n", at), encoded.size());
        EXPECT_LE(end - at, 76U);
        at = end + 2;
    }
}

}  // namespace
}  // namespace pollux::feed
