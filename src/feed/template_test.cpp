#include "feed/template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/parse.hpp"
#include "feed/feed_test_support.hpp"

namespace pollux::feed {
namespace {

using document::Node;
using testing::HasSubstr;

Node parsed(std::string_view json) {
    document::Diagnostics diagnostics;
    auto out = document::parse_json(json, "test", diagnostics);
    EXPECT_TRUE(out.ok) << diagnostics.text();
    return std::move(out.root);
}

// What the template makes of the body, or "error: …".
std::string rendered(std::string_view text, Format format, std::string_view json) {
    const auto made = Template::compile(text, format);
    if (!made) return "error: " + made.error().message;
    const Node root = parsed(json);
    TemplateNames names;
    for (const auto& [key, mark, value] : root.entries()) names.emplace_back(key, &value);
    const auto out = made->render(names);
    return out ? *out : "error: " + out.error().message;
}

std::string text(std::string_view written, std::string_view json) {
    return rendered(written, Format::kText, json);
}

TEST(Template, ShowsValuesByPath) {
    EXPECT_EQ(text("{{ a.b }} {{ list.1 }} {{none.at.all}}.", R"({"a":{"b":"x"},"list":[1,2]})"),
              "x 2 .");
    EXPECT_EQ(text("{{ a }}", R"({"a":{"b":[true,null]}})"), R"({"b":[true,null]})");
}

TEST(Template, ChoosesAndRepeats) {
    constexpr std::string_view kBody = R"({"kind":"recovery","n":0,"items":["a","b"],"none":[]})";
    EXPECT_EQ(text("{% if kind == \"recovery\" %}yes{% else %}no{% endif %}", kBody), "yes");
    EXPECT_EQ(
        text("{% if n %}1{% elif none %}2{% elif not n and kind != 'x' %}3{% endif %}", kBody),
        "3");
    EXPECT_EQ(text("{% if n or items %}y{% endif %}", kBody), "y");
    EXPECT_EQ(text("{% for i in items | first:1 %}{{ i }}{{ loop.last }}{% endfor %}", kBody),
              "atrue");
    EXPECT_EQ(text("{% for i in items %}{{ loop.index }}{{ i }}{% if not loop.last %}, {% endif "
                   "%}{% endfor %}",
                   kBody),
              "1a, 2b");
}

TEST(Template, LeavesNoEmptyLinesForTags) {
    EXPECT_EQ(text("a\n{% if x %}\nb\n  {% endif %}\nc\n{# gone #}\n", R"({"x":1})"), "a\nb\nc\n");
    EXPECT_EQ(text("{% if x %}\nb\n{% endif %}\n", R"({"x":1})"), "b\n");
}

TEST(Template, Filters) {
    constexpr std::string_view kBody =
        R"({"s":"critical","t":"2026-11-18T01:02:03.000Z","l":["a","b"],"long":"abcdefghä","m":"x\ny"})";
    EXPECT_EQ(text("{{ s | upper }} {{ t | date }} {{ l | join:\", \" }} {{ l | size }}", kBody),
              "CRITICAL 2026-11-18 01:02 UTC a, b 2");
    EXPECT_EQ(text("{{ long | truncate:5 }} {{ long | truncate:9 }}", kBody), "abcd… abcdefghä");
    EXPECT_EQ(text("{{ s | map:\"critical=1,*=2\" }}{{ t | map:\"critical=1,*=2\" }}{{ none | "
                   "default:\"-\" }}",
                   kBody),
              "12-");
    EXPECT_EQ(text("{{ m }}|{{ m | lines }}", kBody), "x y|x\ny");
    EXPECT_EQ(rendered("{{ s | map:\"critical=7\" | number }}", Format::kJson, kBody), "7");
    EXPECT_EQ(rendered("{{ s | number }}", Format::kJson, kBody), "0");
}

TEST(Template, JsonKnowsItsPlace) {
    constexpr std::string_view kBody = R"({"s":"a\"b","n":3,"o":{"k":[1]}})";
    EXPECT_EQ(
        rendered(R"({"in":"x {{ s }}","out":{{ s }},"n":{{ n }},"o":{{ o }},"none":{{ none }}})",
                 Format::kJson, kBody),
        R"({"in":"x a\"b","out":"a\"b","n":3,"o":{"k":[1]},"none":null})");
    // An escaped quote does not end a string.
    EXPECT_EQ(rendered(R"({"q\"":"\\{{ n }}"})", Format::kJson, kBody), R"({"q\"":"\\3"})");
}

TEST(Template, JsonThatIsNoneIsAnError) {
    EXPECT_THAT(rendered("{{{ n }}", Format::kJson, R"({"n":1})"), HasSubstr("error"));
    EXPECT_THAT(rendered(R"([1,{% if n %}2{% endif %}])", Format::kJson, R"({"n":0})"),
                HasSubstr("no JSON"));
}

TEST(Template, NoValueBreaksOut) {
    const std::string body = R"({"v":)" + document::json_string(test::kHostile) + "}";
    const std::string json = rendered(
        R"({"a":"<{{ v }}>","b":{{ v }},"c":"{{ v | lines | html }}"})", Format::kJson, body);
    const Node made = parsed(json);
    ASSERT_EQ(made.entries().size(), 3U) << json;
    EXPECT_THAT(made.find("a")->scalar(), HasSubstr("<script>"));
    EXPECT_EQ(made.find("c")->scalar().find('<'), std::string::npos);
    for (const char* key : {"a", "b"})
        EXPECT_EQ(made.find(key)->scalar().find('\n'), std::string::npos);

    const std::string html = rendered("<p title=\"{{ v }}\">{{ v }}</p>", Format::kHtml, body);
    EXPECT_EQ(std::ranges::count(html, '<'), 2);
    EXPECT_EQ(std::ranges::count(html, '"'), 2);
    const std::string form = rendered("a={{ v }}&b=1", Format::kForm, body);
    EXPECT_EQ(std::ranges::count(form, '&'), 1);
    EXPECT_EQ(std::ranges::count(form, '='), 2);
    EXPECT_EQ(rendered("/{{ s | path }}", Format::kUrl, R"({"s":"a/b:c?d#e"})"), "/a/b:c%3Fd%23e");
    const std::string url = rendered("/x/{{ v }}/y", Format::kUrl, body);
    EXPECT_EQ(std::ranges::count(url, '/'), 3);
    EXPECT_EQ(url.find_first_of("?#\r\n "), std::string::npos);
    for (const Format format : {Format::kText, Format::kHeader}) {
        const std::string line = rendered("X {{ v }}", format, body);
        EXPECT_EQ(line.find_first_of(std::string_view("\r\n\0\x01\x7F", 5)), std::string::npos);
        EXPECT_EQ(line.find("\xE2\x80\xAE"), std::string::npos);
    }
}

TEST(Template, ErrorsSayLineAndWhatIsAllowed) {
    EXPECT_THAT(text("a\nb {{ x | shout }}", "{}"),
                HasSubstr("line 2: there is no filter \"shout\"; there are date,"));
    EXPECT_THAT(text("\n\n{% while x %}", "{}"), HasSubstr("line 3: \"while\" is no tag"));
    EXPECT_THAT(text("{% if x %}", "{}"), HasSubstr("ends with {% endif %}"));
    EXPECT_THAT(text("{% for a of b %}{% endfor %}", "{}"), HasSubstr("{% for alert in alerts %}"));
    EXPECT_THAT(text("{{ x", "{}"), HasSubstr("does not end with }}"));
    EXPECT_THAT(text("{{ x y }}", "{}"), HasSubstr("\"y \" is not understood"));
    EXPECT_THAT(text("{% endif %}", "{}"), HasSubstr("ends nothing"));
    EXPECT_THAT(text("{{ x | truncate:a }}", "{}"), HasSubstr("a number from 1"));
    EXPECT_THAT(text("{{ }}", "{}"), HasSubstr("a name is expected"));
    EXPECT_THAT(rendered(R"({"a":"{% if x %}"{% endif %}})", Format::kJson, "{}"),
                HasSubstr("without {% else %}"));
    EXPECT_THAT(rendered(R"({"a":"\{{ x }}"})", Format::kJson, "{}"),
                HasSubstr("after a backslash"));
    constexpr std::string_view kKnown[] = {"incident", "alerts"};
    const auto unknown = Template::compile(
        "{% for a in alerts %}{{ a.x }}{{ loop.index }}{% endfor %}{{ incdent.x }}", Format::kText,
        kKnown);
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().message, HasSubstr("there is no \"incdent\"; there are incident"));
}

TEST(Template, IsBounded) {
    EXPECT_FALSE(Template::compile(std::string(Template::kMaxBytes + 1, 'x'), Format::kText));
    std::string deep;
    for (int i = 0; i < 20; ++i) deep += "{% if x %}";
    EXPECT_THAT(text(deep, "{}"), HasSubstr("nested deeper"));
    std::string list = "[1";
    for (int i = 0; i < 400; ++i) list += ",1";
    const std::string body = R"({"l":)" + list + "]}";
    EXPECT_THAT(text("{% for a in l %}{% for b in l %}x{% endfor %}{% endfor %}", body),
                HasSubstr("steps"));
    const auto made = Template::compile("0123456789", Format::kText);
    ASSERT_TRUE(made);
    EXPECT_FALSE(made->render({}, 9));
}

}  // namespace
}  // namespace pollux::feed
