// What a server does with receivers and silences: what it refuses, and what it forgets.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/parse.hpp"
#include "net/test_process.hpp"
#include "runtime/runtime_test_support.hpp"
#include "runtime/server.hpp"

namespace pollux::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

// Knows the templates that it is given.
struct Templates final : config::ChannelRules {
    explicit Templates(std::set<std::string> given) : names(std::move(given)) {}
    base::Status check(const model::Channel& channel) const override {
        if (names.contains(channel.template_name)) return {};
        return base::config_error("feed.unknown_template", "no such template");
    }
    bool digests(const model::Channel& channel) const override {
        return channel.template_name == "chat";
    }
    std::set<std::string> names;
};

config::WantedObject wanted(model::ObjectKind kind, std::string name, const std::string& body,
                            config::EditVerb verb = config::EditVerb::kCreate) {
    document::Diagnostics diagnostics;
    config::WantedObject one;
    one.verb = verb;
    one.kind = kind;
    one.name = std::move(name);
    one.body = document::parse_json(body, "test", diagnostics).root;
    return one;
}

std::string receiver_with(const std::string& name) {
    return fmt::format(R"({{"channels":[{{"url":"https://h.example.org","template":"{}"}}]}})",
                       name);
}

std::string silence_until(const std::string& until) {
    return fmt::format(R"({{"match":["device=\"web\""],"from":"2020-01-01T00:00:00Z","until":"{}",)"
                       R"("owner":"anna","reason":"test"}})",
                       until);
}

class ServerNotify : public testing::Test {
  protected:
    void SetUp() override { loop_ = net::EventLoop::create().value(); }

    std::unique_ptr<Server> start() {
        ServerOptions options;
        options.data = folder_.file("data");
        options.channels = [this](const config::Settings& settings)
            -> base::Result<std::shared_ptr<const config::ChannelRules>> {
            if (broken_) return base::config_error("channel.invalid", "a.yaml:3: is wrong");
            auto names = names_;
            if (!settings.channel_folder.text.empty()) names.insert("from-folder");
            return std::make_shared<const Templates>(names);
        };
        auto server = Server::start(*loop_, lines_.log(), std::move(options));
        EXPECT_TRUE(server) << server.error().message;
        return server ? std::move(*server) : nullptr;
    }
    base::Status edit(Server& server, const std::vector<config::WantedObject>& wanted) {
        document::Diagnostics diagnostics;
        const auto done = server.edit(wanted, {"test"}, diagnostics);
        if (!done) return std::unexpected(done.error());
        return {};
    }
    base::Status put_receiver(Server& server, const std::string& name, const std::string& of) {
        return edit(server, {wanted(model::ObjectKind::kReceiver, name, receiver_with(of),
                                    config::EditVerb::kPut)});
    }
    static std::vector<std::string> silences(const Server& server) {
        std::vector<std::string> names;
        for (const model::ConfigObject& object : server.objects()) {
            if (object.kind == model::ObjectKind::kSilence) names.push_back(object.name);
        }
        return names;
    }

    net::test::TempDir folder_;
    std::unique_ptr<net::EventLoop> loop_;
    test::LogLines lines_;
    std::set<std::string> names_ = {"chat", "tickets"};
    bool broken_ = false;
};

TEST_F(ServerNotify, AReceiverWithATemplateThatIsNotThereIsRefused) {
    const auto server = start();
    const auto refused = put_receiver(*server, "ops", "chta");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "fleet.invalid");
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr("receivers.ops.channels[0].template"), HasSubstr("no such")));
    EXPECT_FALSE(server->apply({{"f.yaml",
                                 "receivers: {ops: {channels: [{url: \"https://h\", "
                                 "template: chta}]}}\n"}}));
    EXPECT_TRUE(put_receiver(*server, "ops", "chat"));
}

TEST_F(ServerNotify, WhoReadsAChannelIsKnownToThePlanner) {
    const auto server = start();
    ASSERT_TRUE(put_receiver(*server, "ops", "chat"));
    ASSERT_TRUE(put_receiver(*server, "duty", "tickets"));
    const auto policy = server->notify_policy();
    ASSERT_EQ(policy->receivers.size(), 2U);
    EXPECT_FALSE(policy->receivers[0].channels[0].digests) << policy->receivers[0].name;
    EXPECT_TRUE(policy->receivers[1].channels[0].digests) << policy->receivers[1].name;
}

TEST_F(ServerNotify, TemplatesAreReadAgainAtAReloadAndStayIfTheyAreWrong) {
    const auto server = start();
    ASSERT_FALSE(put_receiver(*server, "ops", "bridge"));
    names_.insert("bridge");
    ASSERT_FALSE(put_receiver(*server, "ops", "bridge")) << "not read yet";
    ASSERT_TRUE(server->reload());
    ASSERT_TRUE(put_receiver(*server, "ops", "bridge"));
    broken_ = true;
    const auto refused = server->reload();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("a.yaml:3"));
    EXPECT_TRUE(put_receiver(*server, "duty", "bridge")) << "those before stay";
}

TEST_F(ServerNotify, AFolderThatIsNeededCannotBeTakenAway) {
    const auto server = start();
    config::StoredSettings with = server->stored_settings();
    ASSERT_TRUE(config::set_value(with, "channel_folder", "/srv/channels"));
    ASSERT_TRUE(server->change_settings(with, {"test"}));
    ASSERT_TRUE(put_receiver(*server, "ops", "from-folder"));
    const auto refused = server->change_settings({}, {"test"});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("receivers.ops.channels[0].template"));
    EXPECT_EQ(server->settings().channel_folder.text, "/srv/channels");
}

TEST_F(ServerNotify, SilencesThatAreOverForLongAreForgotten) {
    {
        const auto server = start();
        const base::WallTime now = net::wall_now();
        ASSERT_TRUE(
            edit(*server,
                 {wanted(model::ObjectKind::kSilence, "old", silence_until("2020-01-02T00:00:00Z")),
                  wanted(model::ObjectKind::kSilence, "of-late",
                         silence_until(base::format_utc(now - std::chrono::hours(24 * 29)))),
                  wanted(model::ObjectKind::kSilence, "open",
                         silence_until(base::format_utc(now + std::chrono::hours(1))))}));
        ASSERT_TRUE(server->apply({{"f.yaml",
                                    "silences: {of-files: {match: [\"device=\\\"a\\\"\"], from: "
                                    "2020-01-01T00:00:00Z, until: 2020-01-02T00:00:00Z, owner: a, "
                                    "reason: b}}\n"}}));
        server->stop();
    }
    const auto server = start();
    const auto end = std::chrono::steady_clock::now() + test::kPatience;
    while (silences(*server).size() > 3 && std::chrono::steady_clock::now() < end) {
        loop_->run_once(10ms);
    }
    EXPECT_THAT(silences(*server), testing::ElementsAre("of-files", "of-late", "open"));
    server->stop();
}

TEST_F(ServerNotify, OneSilenceTooManyIsRefusedWhereItIsMade) {
    const auto server = start();
    const std::string until = base::format_utc(net::wall_now() + std::chrono::hours(1));
    std::vector<config::WantedObject> many;
    for (std::size_t i = 0; i < alert::kMostSilences; ++i) {
        many.push_back(
            wanted(model::ObjectKind::kSilence, fmt::format("s{}", i), silence_until(until)));
    }
    ASSERT_TRUE(edit(*server, many));
    const auto refused =
        edit(*server, {wanted(model::ObjectKind::kSilence, "more", silence_until(until))});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("10001 that are not over, and at most 10000"));
    EXPECT_TRUE(edit(*server, {wanted(model::ObjectKind::kSilence, "over",
                                      silence_until("2020-01-02T00:00:00Z"))}));
    EXPECT_TRUE(edit(*server,
                     {wanted(model::ObjectKind::kSilence, "s1", "{}", config::EditVerb::kRemove)}));
    EXPECT_TRUE(edit(*server, {wanted(model::ObjectKind::kSilence, "more", silence_until(until))}));
}

}  // namespace
}  // namespace pollux::runtime
