#include "app/control_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <string>
#include <thread>

#include "app/control_client.hpp"
#include "app/control_test_support.hpp"
#include "app/fleet_access.hpp"
#include "net/unix_listener.hpp"

namespace pollux::app {
namespace {

using testing::HasSubstr;
using testing::Not;

// Nobody listens on these loopback addresses.
constexpr const char* kFleet = R"yaml(
credentials: {web: {username: me, password: "lit3ral-password"}}
devices:
  hall: {address: 127.9.9.1, port: 9, credentials: web, addons: [http-status]}
  cellar: {address: 127.9.9.2, port: 9, addons: [http-status]}
)yaml";

std::string text_of(const document::Node& node, std::string_view field) {
    const document::Node* found = node.find(field);
    return found == nullptr ? "(missing)" : found->scalar();
}

class ControlTest : public testing::Test {
  protected:
    document::Node ask(std::string_view method, std::string_view target, std::string body = "") {
        auto answer = client_.ask(method, target, std::move(body));
        EXPECT_TRUE(answer) << target << ": " << answer.error().message;
        return answer ? std::move(*answer) : document::Node();
    }
    base::Error refusal(std::string_view method, std::string_view target, std::string body = "") {
        const auto answer = client_.ask(method, target, std::move(body));
        EXPECT_FALSE(answer) << target;
        return answer ? base::Error{} : answer.error();
    }

    test::RunningServer server_;
    ControlClient client_{server_.data()};
};

TEST(ControlClient, SaysThatNoServerAnswers) {
    const net::test::TempDir folder;
    const ControlClient client(folder.path());
    EXPECT_FALSE(client.server_runs());
    const auto answer = client.ask("GET", "/status", "");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, "control.no_server");
    EXPECT_THAT(answer.error().message, HasSubstr(folder.path()));
    EXPECT_THAT(answer.error().message, HasSubstr("pollux serve"));
}

TEST(ControlClient, EscapesWhatAQueryCannotHold) {
    EXPECT_EQ(ControlClient::escaped("aZ09-_.~"), "aZ09-_.~");
    EXPECT_EQ(ControlClient::escaped("a::b&c=d e%+/"), "a%3A%3Ab%26c%3Dd%20e%25%2B%2F");
    EXPECT_EQ(ControlClient::escaped(std::string("\0\xc3\xa9", 3)), "%00%C3%A9");
}

TEST_F(ControlTest, TheSocketIsForTheOwnerOnly) {
    EXPECT_TRUE(client_.server_runs());
    struct stat facts{};
    ASSERT_EQ(stat((server_.data() + "/" + kControlSocket).c_str(), &facts), 0);
    EXPECT_TRUE(S_ISSOCK(facts.st_mode));
    EXPECT_EQ(facts.st_mode & 0077U, 0U);
}

TEST_F(ControlTest, AppliesAFleetAndShowsIt) {
    const auto report = ask("POST", "/apply", encode_files({{"fleet.yaml", kFleet}}));
    EXPECT_NE(text_of(report, "added"), "0");
    EXPECT_EQ(text_of(report, "removed"), "0");
    EXPECT_THAT(text_of(report, "difference"), HasSubstr("hall"));
    EXPECT_THAT(text_of(report, "difference"), Not(HasSubstr("lit3ral")));
    EXPECT_THAT(text_of(report, "warnings"), Not(HasSubstr("lit3ral")));

    const auto status = ask("GET", "/status?limit=1");
    EXPECT_EQ(text_of(status, "tasks"), "2");
    EXPECT_EQ(text_of(status, "enabled"), "2");
    EXPECT_EQ(text_of(status, "store_failing"), "false");
    EXPECT_LE(status.find("next")->items().size(), 1U);
    ASSERT_NE(status.find("classes"), nullptr);

    const auto bytes = client_.ask_text("GET", "/objects", "");
    ASSERT_TRUE(bytes);
    EXPECT_GE(decode_objects(*bytes).value().size(), 5U);
}

TEST_F(ControlTest, WhatIsWrongComesBackAsAnError) {
    ask("POST", "/apply", encode_files({{"fleet.yaml", kFleet}}));
    const base::Error bad = refusal(
        "POST", "/apply", encode_files({{"fleet.yaml", "devices:\n  hall: {adons: [x]}\n"}}));
    EXPECT_EQ(bad.code, "fleet.invalid");
    EXPECT_THAT(bad.message, HasSubstr("fleet.yaml:2"));
    EXPECT_EQ(refusal("POST", "/apply", "\xff\xff\xff").code, "control.body");
    EXPECT_EQ(refusal("POST", "/operate?verb=explode&key=x").code, "control.verb");
    EXPECT_THAT(refusal("POST", "/operate?verb=poll&key=http-status%3A%3Anobody").message,
                HasSubstr("nobody"));
    EXPECT_THAT(refusal("GET", "/nowhere").message, HasSubstr("no such page"));
    EXPECT_THAT(refusal("POST", "/status").message, HasSubstr("no such page"));
    EXPECT_EQ(text_of(ask("GET", "/status"), "tasks"), "2") << "nothing changed";
}

TEST_F(ControlTest, ExplainsATargetGateByGate) {
    ask("POST", "/apply", encode_files({{"fleet.yaml", kFleet}}));
    const std::string key = ControlClient::escaped("http-status::hall");
    // An interval is chosen with the first answer, be it a failure.
    const auto chosen = [&] {
        const auto now = ask("GET", "/explain?key=" + key);
        return std::stod(text_of(*now.find("interval"), "chosen"));
    };
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (chosen() == 0 && std::chrono::steady_clock::now() < give_up) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ask("POST", "/operate?verb=disable&key=" + key);
    const auto page = ask("GET", "/explain?key=" + key);
    EXPECT_EQ(text_of(page, "key"), "http-status::hall");
    EXPECT_NE(text_of(page, "verdict"), "");
    ASSERT_EQ(page.find("gates")->items().size(), schedule::kGateCount);
    const document::Node& enabled = page.find("gates")->items()[0];
    EXPECT_EQ(text_of(enabled, "gate"), "enabled");
    EXPECT_EQ(text_of(enabled, "open"), "false");
    EXPECT_NE(text_of(enabled, "reason"), "");
    EXPECT_EQ(text_of(*page.find("task"), "key"), "http-status::hall");
    EXPECT_GT(std::stod(text_of(*page.find("interval"), "chosen")), 0);
    const auto unknown = ask("GET", "/explain?key=nobody");
    EXPECT_THAT(text_of(unknown, "error"), HasSubstr("nobody"));
    EXPECT_EQ(text_of(ask("GET", "/status"), "enabled"), "1");
}

TEST_F(ControlTest, TellsWhyATargetFails) {
    ask("POST", "/apply", encode_files({{"fleet.yaml", kFleet}}));
    document::Node worst;
    EXPECT_TRUE(net::test::Process::wait_until(net::test::kPatience, [&] {
        worst = ask("GET", "/status");
        return text_of(worst, "failing") == "2";
    }));
    ASSERT_EQ(worst.find("worst")->items().size(), 2U);
    const document::Node& one = worst.find("worst")->items()[0];
    EXPECT_THAT(text_of(one, "key"), HasSubstr("http-status::"));
    EXPECT_NE(text_of(one, "failures"), "0");
    EXPECT_THAT(text_of(one, "code"), HasSubstr("http."));
    EXPECT_THAT(text_of(one, "error"), HasSubstr("127.9.9."));
    EXPECT_THAT(text_of(one, "error"), Not(HasSubstr("lit3ral")));
}

TEST_F(ControlTest, ChangesASetting) {
    ask("POST", "/setting?key=metrics_target_limit&value=7");
    EXPECT_NE(refusal("POST", "/setting?key=metrics_target_limit&value=many").message, "");
    EXPECT_NE(refusal("POST", "/setting?key=no_such_setting&value=1").message, "");
    ask("POST", "/reload");
}

TEST_F(ControlTest, ALimitOfLinesIsBounded) {
    for (const char* limit : {"0", "-1", "x", "99999999999999999999", "5"}) {
        EXPECT_EQ(text_of(ask("GET", std::string("/status?limit=") + limit), "tasks"), "0");
    }
}

}  // namespace
}  // namespace pollux::app
