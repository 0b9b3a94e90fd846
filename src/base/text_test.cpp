#include "base/text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <iomanip>  // for std::quoted, to prove that it is not the one chosen
#include <utility>

namespace pollux::base {
namespace {

TEST(IsValidUtf8, AcceptsWellFormedText) {
    EXPECT_TRUE(is_valid_utf8(""));
    EXPECT_TRUE(is_valid_utf8("plain ASCII\n"));
    EXPECT_TRUE(is_valid_utf8("Zürich, Ωmega, 東京, 🚀"));
    EXPECT_TRUE(is_valid_utf8("\xC2\x80"));          // the first of two bytes
    EXPECT_TRUE(is_valid_utf8("\xE0\xA0\x80"));      // of three
    EXPECT_TRUE(is_valid_utf8("\xED\x9F\xBF"));      // just below the surrogates
    EXPECT_TRUE(is_valid_utf8("\xEE\x80\x80"));      // just above
    EXPECT_TRUE(is_valid_utf8("\xF0\x90\x80\x80"));  // of four
    EXPECT_TRUE(is_valid_utf8("\xF4\x8F\xBF\xBF"));  // U+10FFFF
    EXPECT_TRUE(is_valid_utf8(std::string_view("a\0b", 3)));
}

TEST(IsValidUtf8, RejectsEverythingElse) {
    EXPECT_FALSE(is_valid_utf8("\x80"));              // a lone continuation
    EXPECT_FALSE(is_valid_utf8("\xC0\xAF"));          // overlong
    EXPECT_FALSE(is_valid_utf8("\xC1\xBF"));          // overlong
    EXPECT_FALSE(is_valid_utf8("\xE0\x9F\xBF"));      // overlong
    EXPECT_FALSE(is_valid_utf8("\xF0\x8F\xBF\xBF"));  // overlong
    EXPECT_FALSE(is_valid_utf8("\xED\xA0\x80"));      // a surrogate
    EXPECT_FALSE(is_valid_utf8("\xF4\x90\x80\x80"));  // past U+10FFFF
    EXPECT_FALSE(is_valid_utf8("\xF5\x80\x80\x80"));
    EXPECT_FALSE(is_valid_utf8("\xFF"));
    EXPECT_FALSE(is_valid_utf8("abc\xC3"));  // cut short
    EXPECT_FALSE(is_valid_utf8("\xE2\x82"));
    EXPECT_FALSE(is_valid_utf8("\xF0\x9F\x9A"));
    EXPECT_FALSE(is_valid_utf8("\xE2\x28\xA1"));
    EXPECT_FALSE(is_valid_utf8("\xE2\x82\x28"));
    EXPECT_FALSE(is_valid_utf8("\xF0\x9F\x9A\x28"));
}

TEST(HasControl, FindsAllControls) {
    for (int c = 0; c < 0x20; ++c) {
        EXPECT_TRUE(has_control(std::string("a") + static_cast<char>(c) + "b")) << c;
    }
    EXPECT_TRUE(has_control("\x7F"));
    EXPECT_TRUE(has_control("x\xC2\x80y"));  // U+0080
    EXPECT_TRUE(has_control("x\xC2\x9Fy"));  // U+009F
    EXPECT_TRUE(has_control("x\x85y"));      // a stray byte
}

TEST(HasControl, LeavesTextAlone) {
    EXPECT_FALSE(has_control(""));
    EXPECT_FALSE(has_control("node-1 ~!"));
    EXPECT_FALSE(has_control("\xC2\xA0"));       // U+00A0, no control
    EXPECT_FALSE(has_control("Ā 東京 🚀"));      // continuation bytes within 80 to 9F
    EXPECT_FALSE(has_control("\xFF\xC3 text"));  // invalid, but no control
}

TEST(Quoted, ShowsPlainTextAsItIs) {
    EXPECT_EQ(quoted(""), "\"\"");
    EXPECT_EQ(quoted("node-1"), "\"node-1\"");
    EXPECT_EQ(quoted("Zürich 🚀"), "\"Zürich 🚀\"");
}

TEST(Quoted, IsNotMistakenForTheStandardOne) {
    std::string text = "a\nb";
    EXPECT_EQ(quoted(text), "\"a\\x0ab\"");
    EXPECT_EQ(quoted(std::as_const(text)), "\"a\\x0ab\"");
    EXPECT_EQ(quoted(std::string(text)), "\"a\\x0ab\"");
}

TEST(Quoted, EscapesWhatCouldMislead) {
    EXPECT_EQ(quoted("a\"b\\c"), "\"a\\\"b\\\\c\"");
    EXPECT_EQ(quoted("a\nb"), "\"a\\x0ab\"");
    EXPECT_EQ(quoted(std::string_view("\0", 1)), "\"\\x00\"");
    EXPECT_EQ(quoted("\x1b[31m"), "\"\\x1b[31m\"");
    EXPECT_EQ(quoted("\xC2\x85"), "\"\\xc2\\x85\"");
    EXPECT_EQ(quoted("\xFF\xC3"), "\"\\xff\\xc3\"");
}

TEST(Quoted, CutsLongTextBetweenCharacters) {
    EXPECT_EQ(quoted("abcdef", 6), "\"abcdef\"");
    EXPECT_EQ(quoted("abcdef", 5), "\"abcde…\"");
    EXPECT_EQ(quoted("üüü", 2), "\"üü…\"");
    EXPECT_EQ(quoted("a\nb", 4), "\"a…\"");
    EXPECT_EQ(quoted("a\nb", 5), "\"a\\x0a…\"");
    EXPECT_EQ(quoted("x", 0), "\"…\"");
    EXPECT_EQ(quoted(std::string(100, 'x')), "\"" + std::string(80, 'x') + "…\"");
}

constexpr std::array<std::string_view, 6> kWords{"interval", "timeout", "retries",
                                                 "tls",      "id",      "timeouts"};

TEST(Nearest, FindsTypos) {
    EXPECT_EQ(nearest("intervall", kWords), "interval");
    EXPECT_EQ(nearest("intrval", kWords), "interval");
    EXPECT_EQ(nearest("tiemout", kWords), "timeout");
    EXPECT_EQ(nearest("retires", kWords), "retries");
    EXPECT_EQ(nearest("tsl", kWords), "tls");
    EXPECT_EQ(nearest("timeouts", kWords), "timeouts");
}

TEST(Nearest, PrefersTheFirstOfEquals) {
    EXPECT_EQ(nearest("timeoutx", kWords), "timeout");
    constexpr std::array<std::string_view, 2> kPair{"abcx", "abcy"};
    EXPECT_EQ(nearest("abcz", kPair), "abcx");
}

TEST(Nearest, SaysNothingRatherThanNonsense) {
    EXPECT_EQ(nearest("colour", kWords), std::nullopt);
    EXPECT_EQ(nearest("up", kWords), std::nullopt);
    EXPECT_EQ(nearest("", kWords), std::nullopt);
    EXPECT_EQ(nearest("interval", {}), std::nullopt);
    EXPECT_EQ(nearest(std::string(100'000, 'x'), kWords), std::nullopt);
}

TEST(ValidUtf8, ReplacesWhatIsNone) {
    EXPECT_EQ(valid_utf8("grün"), "grün");
    EXPECT_EQ(valid_utf8("a\xffz"), "a\xEF\xBF\xBDz");
    EXPECT_EQ(valid_utf8("\xC3"), "\xEF\xBF\xBD");
}

TEST(PlainText, TakesOutWhatTerminalsObey) {
    EXPECT_EQ(plain_text("\x1b[1;31mred\x1b[0m\r\nnext\tline \n"), "red\nnext\tline");
    EXPECT_EQ(plain_text("\x1b]0;title\atext"), "text");
    EXPECT_EQ(plain_text("\x1b]0;title\x1b\\text"), "text");
    EXPECT_EQ(plain_text("\x1b(Bplain\x1b="), "plain");
    EXPECT_EQ(plain_text("a\bb\x7f\xC2\x9b"), "ab");
    EXPECT_EQ(plain_text("\xff"), "\xEF\xBF\xBD");
    EXPECT_EQ(plain_text("cut off \x1b[38;5"), "cut off");
    EXPECT_EQ(plain_text("\x1b"), "");
}

TEST(Utf8Prefix, CutsBetweenCharacters) {
    EXPECT_EQ(utf8_prefix("abc", 3), "abc");
    EXPECT_EQ(utf8_prefix("abc", 2), "ab");
    EXPECT_EQ(utf8_prefix("a\u20ac", 3), "a");  // the sign has three bytes
    EXPECT_EQ(utf8_prefix("a\u20ac", 4), "a\u20ac");
    EXPECT_EQ(utf8_prefix("\u20ac", 1), "");
    EXPECT_EQ(utf8_prefix("abc", 0), "");
}

}  // namespace
}  // namespace pollux::base
