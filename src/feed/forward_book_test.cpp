#include "feed/forward_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/parse.hpp"

namespace pollux::feed {
namespace {

using document::Node;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr base::WallTime kStart{1'700'000'000'000'000};

model::Alert alert(std::string id, std::uint64_t version = 1) {
    model::Alert one;
    one.id = std::move(id);
    one.fingerprint = "f-" + one.id;
    one.type = "unreachable";
    one.title = "no answer";
    one.device = "core-1";
    one.labels = {{"site", "berlin"}, {"team/one", "net"}};
    one.state = model::AlertState::kActive;
    one.first_seen = kStart;
    one.version = version;
    return one;
}

// The posts of one turn, each taken.
std::vector<Node> said(ForwardBook& book, base::WallTime now, bool taken = true) {
    std::vector<Node> all;
    for (int i = 0; i < 10; ++i) {
        const std::string text = book.next_post(now, "https://pollux.example");
        if (text.empty()) break;
        document::Diagnostics diagnostics;
        const auto parsed = document::parse_json(text, "post", diagnostics);
        EXPECT_TRUE(parsed.ok) << text;
        for (const Node& one : parsed.root.items()) all.push_back(one);
        book.taken(taken, now);
        if (!taken) break;
    }
    return all;
}

std::string label(const Node& alert, std::string_view name) {
    const Node* found = alert.find("labels")->find(name);
    return found == nullptr ? "" : found->scalar();
}

std::string ends(const Node& alert) { return alert.find("endsAt")->scalar(); }

TEST(ForwardBook, TellsWhatIsNewAndRepeatsItBeforeItEnds) {
    ForwardBook book;
    book.set_open({alert("a")}, kStart);
    auto posts = said(book, kStart);
    ASSERT_THAT(posts, SizeIs(1));
    EXPECT_EQ(label(posts[0], "alertname"), "unreachable");
    EXPECT_EQ(label(posts[0], "team_one"), "net") << "names as Alertmanager takes them";
    EXPECT_EQ(label(posts[0], "fingerprint"), "f-a");
    EXPECT_EQ(ends(posts[0]), base::format_utc(kStart + ForwardBook::kLife));
    EXPECT_EQ(posts[0].find("generatorURL")->scalar(), "https://pollux.example/alerts/a");
    book.set_open({alert("a")}, kStart + 30s);
    EXPECT_THAT(said(book, kStart + 30s), IsEmpty()) << "nothing changed";
    book.set_open({alert("a")}, kStart + 60s);
    posts = said(book, kStart + 60s);
    ASSERT_THAT(posts, SizeIs(1));
    EXPECT_EQ(ends(posts[0]), base::format_utc(kStart + 60s + ForwardBook::kLife));
    book.set_open({alert("a", 2)}, kStart + 61s);
    EXPECT_THAT(said(book, kStart + 61s), SizeIs(1)) << "a change is told at once";
}

TEST(ForwardBook, EndsWhatIsOverOnce) {
    ForwardBook book;
    book.set_open({alert("a"), alert("b")}, kStart);
    EXPECT_THAT(said(book, kStart), SizeIs(2));
    book.set_open({alert("b")}, kStart + 10s);
    const auto posts = said(book, kStart + 10s);
    ASSERT_THAT(posts, SizeIs(1));
    EXPECT_EQ(label(posts[0], "fingerprint"), "f-a");
    EXPECT_EQ(ends(posts[0]), base::format_utc(kStart + 10s));
    book.set_open({alert("b")}, kStart + 20s);
    EXPECT_THAT(said(book, kStart + 20s), IsEmpty());
    EXPECT_EQ(book.size(), 1U);
}

TEST(ForwardBook, RepeatsWhatWasNotTaken) {
    ForwardBook book;
    book.set_open({alert("a")}, kStart);
    EXPECT_THAT(said(book, kStart, false), SizeIs(1));
    EXPECT_THAT(said(book, kStart + 15s), SizeIs(1));
    book.set_open({}, kStart + 20s);
    EXPECT_THAT(said(book, kStart + 20s, false), SizeIs(1));
    book.set_open({}, kStart + 35s);
    const auto posts = said(book, kStart + 35s);
    ASSERT_THAT(posts, SizeIs(1));
    EXPECT_EQ(ends(posts[0]), base::format_utc(kStart + 20s)) << "it ended when it ended";
}

TEST(ForwardBook, ForgetsWhatEndedThereByItself) {
    ForwardBook book;
    book.set_open({alert("a"), alert("b")}, kStart);
    EXPECT_THAT(said(book, kStart), SizeIs(2));
    book.set_open({}, kStart + 10s);
    EXPECT_THAT(said(book, kStart + 10s, false), SizeIs(2));
    book.set_open({}, kStart + 5min);
    EXPECT_THAT(said(book, kStart + 5min), IsEmpty());
    EXPECT_EQ(book.size(), 0U);
    book.set_open({alert("c")}, kStart);
    book.set_open({}, kStart + 1s);
    EXPECT_THAT(said(book, kStart + 1s), IsEmpty()) << "what was never told needs no end";
}

TEST(ForwardBook, AnotherSeverityEndsTheAlertOfBefore) {
    ForwardBook book;
    book.set_open({alert("a")}, kStart);
    EXPECT_THAT(said(book, kStart), SizeIs(1));
    model::Alert worse = alert("a", 2);
    worse.severity = model::Severity::kCritical;
    book.set_open({worse}, kStart + 10s);
    const auto posts = said(book, kStart + 10s);
    ASSERT_THAT(posts, SizeIs(2));
    EXPECT_EQ(label(posts[0], "severity"), "warning");
    EXPECT_EQ(ends(posts[0]), base::format_utc(kStart + 10s));
    EXPECT_EQ(label(posts[1], "severity"), "critical");
    EXPECT_EQ(ends(posts[1]), base::format_utc(kStart + 10s + ForwardBook::kLife));
}

TEST(ForwardBook, APostIsBounded) {
    ForwardBook book;
    std::vector<model::Alert> many;
    for (std::size_t i = 0; i < ForwardBook::kMostPerPost + 1; ++i) {
        many.push_back(alert(std::to_string(i)));
    }
    book.set_open(many, kStart);
    EXPECT_FALSE(book.next_post(kStart, "").empty());
    book.taken(true, kStart);
    document::Diagnostics diagnostics;
    EXPECT_THAT(document::parse_json(book.next_post(kStart, ""), "rest", diagnostics).root.items(),
                SizeIs(1));
}

}  // namespace
}  // namespace pollux::feed
