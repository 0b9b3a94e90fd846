#include "model/task_key.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pollux::model {
namespace {

using namespace std::string_literals;

const std::string kComposed = "caf\xc3\xa9";     // U+00E9
const std::string kDecomposed = "cafe\xcc\x81";  // e, U+0301
const std::string kHangul = "\xea\xb0\x81";      // U+AC01
const std::string kJamo = "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8";

std::string times(std::size_t count, const std::string& part) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += part;
    return text;
}

void expect_words(const base::Error& error, const std::string& code,
                  const std::vector<std::string>& words) {
    EXPECT_EQ(error.code, code);
    EXPECT_EQ(error.error_class, base::ErrorClass::kConfig);
    for (const auto& word : words) {
        EXPECT_NE(error.message.find(word), std::string::npos)
            << "'" << word << "' is missing in: " << error.message;
    }
}

void refused(const std::string& text, const std::string& code,
             const std::vector<std::string>& words) {
    const auto key = parse_task_key(text);
    ASSERT_FALSE(key) << "taken as " << key->class_name << " and " << key->name;
    expect_words(key.error(), code, words);
}

TEST(TaskKey, SplitsAtTheFirstSeparator) {
    EXPECT_EQ(parse_task_key("pve::node-1").value(), (TaskKey{"pve", "node-1"}));
    EXPECT_EQ(parse_task_key("pve::node-1#slow").value(), (TaskKey{"pve", "node-1#slow"}));
    EXPECT_EQ(parse_task_key("a::b::c").value(), (TaskKey{"a", "b::c"}));
    EXPECT_EQ(parse_task_key("a:::b").value(), (TaskKey{"a", ":b"}));
    EXPECT_EQ(parse_task_key("a::::").value(), (TaskKey{"a", "::"}));
}

TEST(TaskKey, WithoutASeparatorTheClassIsUnknown) {
    EXPECT_EQ(parse_task_key("node-1").value(), (TaskKey{"unknown", "node-1"}));
    EXPECT_EQ(parse_task_key("pve:node-1").value(), (TaskKey{"unknown", "pve:node-1"}));
    EXPECT_EQ(parse_task_key(":").value(), (TaskKey{"unknown", ":"}));
    EXPECT_EQ(parse_task_key("Not A Class").value(), (TaskKey{"unknown", "Not A Class"}));
}

TEST(TaskKey, APartThatIsEmptyIsRefused) {
    refused("", "key.name", {"name \"\"", "at least one character"});
    refused("pve::", "key.name", {"name \"\"", "at least one character"});
    refused("::x", "key.class", {"class \"\"", "1 to 64 characters"});
    refused("::", "key.class", {"class \"\""});
}

TEST(TaskKey, WhatIsMadeIsReadBackTheSame) {
    EXPECT_EQ(make_task_key("pve", "node-1"), "pve::node-1");
    for (const std::string name :
         {"a", "a::b", ":", "::", "a#b", " spaced  out ", "\xf0\x9f\x90\xa7"}) {
        const auto key = parse_task_key(make_task_key("c", name));
        ASSERT_TRUE(key) << name;
        EXPECT_EQ(*key, (TaskKey{"c", name}));
    }
}

TEST(TaskKey, EveryClassCharacterIsAllowedAndNothingElse) {
    EXPECT_TRUE(check_class_name("abcdefghijklmnopqrstuvwxyz0123456789_-"));
    EXPECT_TRUE(check_class_name("-"));
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const bool allowed =
            (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        EXPECT_EQ(check_class_name("x"s + c).has_value(), allowed) << "byte " << byte;
    }
}

TEST(TaskKey, ABadClassIsNamedWithTheRule) {
    for (const std::string name : {"Pve", "p ve", "p.ve", "caf\xc3\xa9", "p:ve", "\xff"}) {
        const auto status = check_class_name(name);
        ASSERT_FALSE(status) << name;
        expect_words(status.error(), "key.class", {"is not allowed", "a-z, 0-9, _ and -"});
    }
    refused("Pve::x", "key.class", {"class \"Pve\""});
    refused("p\xff::x", "key.class", {"class \"p\\xff\""});
}

TEST(TaskKey, TheClassMayHave64Characters) {
    EXPECT_TRUE(check_class_name(std::string(64, 'x')));
    EXPECT_TRUE(parse_task_key(std::string(64, 'x') + "::n"));
    refused(std::string(65, 'x') + "::n", "key.class", {"1 to 64 characters"});
}

TEST(TaskKey, TheNameMayHave200Characters) {
    EXPECT_TRUE(normalise_name("name", std::string(200, 'x')));
    refused("c::" + std::string(201, 'x'), "key.name", {"it has 201 characters, at most 200"});
}

TEST(TaskKey, CharactersAreCountedNotBytes) {
    EXPECT_TRUE(normalise_name("name", times(200, "\xc3\xa9")));
    EXPECT_TRUE(normalise_name("name", times(200, "\xe2\x82\xac")));
    EXPECT_TRUE(normalise_name("name", times(200, "\xf0\x9f\x90\xa7")));
    EXPECT_FALSE(normalise_name("name", times(201, "\xf0\x9f\x90\xa7")));
}

TEST(TaskKey, TheLengthIsThatOfTheNormalForm) {
    EXPECT_EQ(normalise_name("name", times(200, "e\xcc\x81")).value(), times(200, "\xc3\xa9"));
    EXPECT_FALSE(normalise_name("name", times(201, "e\xcc\x81")));
    // U+0958 never stands in NFC: it becomes two characters.
    EXPECT_TRUE(normalise_name("name", times(100, "\xe0\xa5\x98")));
    const auto grown = normalise_name("name", times(101, "\xe0\xa5\x98"));
    ASSERT_FALSE(grown);
    expect_words(grown.error(), "key.name", {"202 characters"});
}

TEST(TaskKey, NamesBecomeNfc) {
    EXPECT_EQ(normalise_name("name", kDecomposed).value(), kComposed);
    EXPECT_EQ(normalise_name("name", kComposed).value(), kComposed);
    EXPECT_EQ(normalise_name("name", kJamo).value(), kHangul);
    EXPECT_EQ(normalise_name("name", "\xe2\x84\xab").value(), "\xc3\x85") << "angstrom sign";
    EXPECT_EQ(parse_task_key("c::" + kDecomposed).value(),
              parse_task_key("c::" + kComposed).value());
    EXPECT_EQ(parse_task_key(kDecomposed).value().name, kComposed);
}

TEST(TaskKey, MarksInAnyOrderAreTheSameName) {
    const auto one = normalise_name("name", "q\xcc\xa3\xcc\x87");  // dot below, dot above
    const auto other = normalise_name("name", "q\xcc\x87\xcc\xa3");
    EXPECT_EQ(one.value(), other.value());
}

TEST(TaskKey, WhatOnlyLooksAlikeStaysApart) {
    EXPECT_EQ(normalise_name("name", "\xef\xac\x81").value(), "\xef\xac\x81") << "ligature fi";
    EXPECT_EQ(normalise_name("name", "\xc2\xb2").value(), "\xc2\xb2") << "superscript two";
    EXPECT_EQ(normalise_name("name", "Node").value(), "Node");
    EXPECT_EQ(normalise_name("name", " a ").value(), " a ");
}

TEST(TaskKey, NormalisingAgainChangesNothing) {
    for (const std::string& text : {kDecomposed, kJamo, "q\xcc\x87\xcc\xa3"s, "\xe0\xa5\x98"s}) {
        const std::string once = normalise_name("name", text).value();
        EXPECT_EQ(normalise_name("name", once).value(), once);
    }
}

TEST(TaskKey, TextThatIsNotUtf8IsRefused) {
    for (const std::string& text : {
             "\xff"s, "a\x80"s, "\xc3"s, "\xc3("s, "\xe2\x82"s, "\xf0\x9f\x90"s,
             "\xc0\xaf"s,          // overlong
             "\xe0\x80\xaf"s,      // overlong
             "\xed\xa0\x80"s,      // a surrogate
             "\xf4\x90\x80\x80"s,  // past U+10FFFF
         }) {
        refused("c::" + text, "key.name", {"name \"", "must be valid UTF-8"});
    }
    refused("c::x\xff", "key.name", {"\"x\\xff\""});
}

TEST(TaskKey, ControlCharactersAreRefused) {
    for (const std::string& text :
         {"a\0b"s, "\t"s, "a\nb"s, "\r"s, "\x1b[0m"s, "\x1f"s, "\x7f"s, "\xc2\x80"s, "\xc2\x9f"s}) {
        refused("c::" + text, "key.name", {"must not contain control characters"});
    }
    refused("c::a\nb", "key.name", {"\"a\\x0ab\""});
}

TEST(TaskKey, WhatStandsBesideTheControlCharactersIsAllowed) {
    for (const std::string& text : {" "s, "~"s, "\xc2\xa0"s}) {
        EXPECT_EQ(normalise_name("name", text).value(), text);
    }
}

TEST(TaskKey, TheRefusalNamesTheField) {
    for (const std::string field : {"device", "region", "resource"}) {
        const auto name = normalise_name(field, "");
        ASSERT_FALSE(name);
        expect_words(name.error(), "key.name", {field + " \"\" is not allowed"});
    }
}

TEST(TaskKey, ALongTextIsCutInTheRefusal) {
    const auto name = normalise_name("device", std::string(100'000, 'x'));
    ASSERT_FALSE(name);
    EXPECT_LT(name.error().message.size(), 250U);
    expect_words(name.error(), "key.name", {"100000 characters"});
}

}  // namespace
}  // namespace pollux::model
