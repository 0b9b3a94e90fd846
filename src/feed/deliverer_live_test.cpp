// The deliverer against real receivers on loopback: refusals, silence, resets, repetitions, mail
// and programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "document/parse.hpp"
#include "feed/deliverer.hpp"
#include "feed/feed_test_support.hpp"
#include "net/http_test_support.hpp"
#include "net/test_http_receiver.hpp"
#include "net/test_process.hpp"

namespace pollux::feed {
namespace {

using namespace std::chrono_literals;
using net::test::HttpReceiver;
using testing::HasSubstr;

class DelivererLive : public testing::Test {
  protected:
    void make(DelivererOptions options = {}) {
        deliverer = std::make_unique<Deliverer>(
            *loop, *resolver, std::make_shared<const net::EgressPolicy>(), std::move(options),
            [this](auto report) { reports.push_back(*report); });
    }

    model::Channel webhook(std::string url) {
        model::Channel channel;
        channel.name = "main";
        channel.url = std::move(url);
        channel.per_minute = 0;
        return channel;
    }

    void use(model::Channel channel,
             std::shared_ptr<const model::Credentials> credentials = nullptr) {
        Endpoints endpoints;
        endpoints[{"ops", "main"}] =
            make_endpoint(std::move(channel), std::move(credentials), ChannelLibrary::shipped());
        deliverer->set_endpoints(std::move(endpoints));
    }

    void offer(std::uint64_t number, const test::BodyFacts& facts = {}) {
        ASSERT_TRUE(deliverer->offer(test::notification(number, facts)));
    }

    bool run_until(const std::function<bool()>& condition) {
        return net::test::turn_until(*loop, condition, std::chrono::minutes(2));
    }
    bool all_done() {
        return run_until([&] { return deliverer->waiting() == 0; });
    }

    std::unique_ptr<net::EventLoop> loop = std::move(*net::EventLoop::create());
    std::unique_ptr<net::Resolver> resolver = std::move(*net::Resolver::create(*loop, {}));
    std::vector<DeliveryReport> reports;
    HttpReceiver receiver{*loop};
    std::unique_ptr<Deliverer> deliverer;
};

TEST_F(DelivererLive, SendsTheBodyOfAlertmanagerWithItsKey) {
    make();
    use(webhook(receiver.url("/hook")));
    offer(7);
    ASSERT_TRUE(all_done());
    ASSERT_EQ(receiver.requests().size(), 1U);
    const net::Request& request = receiver.requests()[0];
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/hook");
    EXPECT_EQ(request.header("content-type"), "application/json");
    EXPECT_EQ(request.header("idempotency-key"), test::notification(7).id);
    EXPECT_EQ(request.header("x-pollux-delivery"), test::notification(7).id + "; attempt=1");
    document::Diagnostics diagnostics;
    const auto body = document::parse_json(request.body, "body", diagnostics);
    ASSERT_TRUE(body.ok) << diagnostics.text();
    EXPECT_EQ(body.root.find("version")->scalar(), "4");
    EXPECT_EQ(body.root.find("status")->scalar(), "firing");
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].notification->state, model::DeliveryState::kDelivered);
    EXPECT_EQ(reports[0].notification->attempts, 1U);
    EXPECT_GT(deliverer->status().at({"ops", "main"}).last_worked, base::WallTime{});
}

TEST_F(DelivererLive, RefusalsResetsAndSilenceAreRepeatedWithTheSameKeyInOrder) {
    make({.limits = {.attempt_timeout = 5s}, .email = {}, .exec = {}});
    use(webhook(receiver.url()));
    receiver.plan({{.status = 200, .reset = true},  // taken, but the sender cannot know
                   {.status = 503, .retry_after = "1"},
                   {.status = 500, .body = "broken inside"},
                   {.silent = true}});
    for (std::uint64_t number = 1; number <= 3; ++number) offer(number);
    ASSERT_TRUE(all_done());
    // One of the four was silent; the reset one was taken twice with one key.
    EXPECT_EQ(receiver.requests().size(), 7U);
    EXPECT_EQ(receiver.taken().size(), 4U);
    EXPECT_EQ(receiver.distinct(), 3U);
    std::vector<std::string> keys;
    for (const net::Request& request : receiver.requests())
        keys.emplace_back(*request.header("idempotency-key"));
    EXPECT_TRUE(std::ranges::is_sorted(keys)) << "a later one overtook an earlier one";
    std::vector<std::string> codes;
    for (const DeliveryReport& report : reports) codes.push_back(report.outcome.code);
    EXPECT_EQ(codes[0], "http.connection_lost");
    EXPECT_EQ(codes[1], "http.status");
    EXPECT_EQ(reports[1].outcome.retry_after, 1s);
    EXPECT_THAT(reports[2].outcome.message, HasSubstr("it says \"broken inside\""));
    EXPECT_EQ(codes[3], "http.timeout");
    EXPECT_EQ(reports[3].notification->attempts, 4U);
}

TEST_F(DelivererLive, A429IsAnsweredWithPatience) {
    make();
    use(webhook(receiver.url()));
    receiver.plan({{.status = 429, .retry_after = "2"}});
    offer(1);
    const base::BootTime before = net::boot_now();
    ASSERT_TRUE(all_done());
    EXPECT_GE(net::boot_now() - before, 2s);
    EXPECT_EQ(receiver.requests().size(), 2U);
}

TEST_F(DelivererLive, ARefusalIsFinalAndARedirectIsNotFollowed) {
    HttpReceiver elsewhere(*loop);
    make();
    use(webhook(receiver.url()));
    receiver.plan(
        {{.status = 400, .body = "bad"}, {.status = 307, .location = elsewhere.url("/stolen")}});
    offer(1);
    offer(2);
    ASSERT_TRUE(all_done());
    EXPECT_EQ(receiver.requests().size(), 2U);
    EXPECT_TRUE(elsewhere.requests().empty());
    for (const DeliveryReport& report : reports) {
        EXPECT_EQ(report.notification->state, model::DeliveryState::kFailed);
        EXPECT_EQ(report.notification->attempts, 1U);
    }
}

TEST_F(DelivererLive, ALongAnswerIsAnAnswer) {
    make();
    use(webhook(receiver.url()));
    receiver.plan({{.status = 200, .body = std::string(1U << 20U, 'x')}});
    offer(1);
    ASSERT_TRUE(all_done());
    EXPECT_EQ(receiver.requests().size(), 1U) << "delivered, and not sent again";
}

TEST_F(DelivererLive, SecretsAreSentButNeverTold) {
    make();
    auto credentials = std::make_shared<model::Credentials>();
    credentials->token = base::Secret("123:hushhush");
    model::Channel channel = webhook("tgram://{secret}/42");
    channel.credentials = "bot";
    use(channel, credentials);
    // A server of one's own instead of Telegram's.
    Endpoints endpoints;
    auto endpoint =
        std::make_shared<Endpoint>(*make_endpoint(channel, credentials, ChannelLibrary::shipped()));
    endpoint->channel.url = receiver.url("");
    endpoints[{"ops", "main"}] = endpoint;
    deliverer->set_endpoints(endpoints);
    receiver.plan({{.status = 404, .body = "no bot 123:hushhush here"}});
    offer(1);
    ASSERT_TRUE(all_done());
    ASSERT_EQ(receiver.requests().size(), 1U);
    EXPECT_EQ(receiver.requests()[0].path, "/bot123:hushhush/sendMessage");
    const model::Notification& row = *reports.at(0).notification;
    EXPECT_EQ(row.state, model::DeliveryState::kFailed);
    EXPECT_EQ(row.last_error.find("hush"), std::string::npos) << row.last_error;
    EXPECT_THAT(row.last_error, HasSubstr("no bot *** here"));
}

TEST_F(DelivererLive, LogsInAsTheChannelSays) {
    make();
    auto credentials = std::make_shared<model::Credentials>();
    credentials->username = "joe";
    credentials->password = base::Secret("pass");
    const auto sent = [&](std::map<std::string, std::string> params) {
        model::Channel channel = webhook(receiver.url());
        channel.credentials = "c";
        for (auto& [name, value] : params) channel.params[name] = value;
        use(channel, credentials);
        offer(receiver.requests().size() + 1);
        EXPECT_TRUE(all_done());
        return receiver.requests().back();
    };
    EXPECT_EQ(sent({{"auth", "basic"}}).header("authorization"), "Basic am9lOnBhc3M=");
    EXPECT_EQ(sent({{"auth", "bearer"}}).header("authorization"), "Bearer pass");
    EXPECT_EQ(sent({{"auth", "header"}, {"auth_header", "X-Key"}}).header("x-key"), "pass");
    const auto own = sent({{"header.X-Site", "berlin\r\nX-Evil: 1"}, {"method", "PUT"}});
    EXPECT_EQ(own.header("x-site"), "berlin X-Evil: 1");
    EXPECT_EQ(own.method, "PUT");
}

TEST_F(DelivererLive, WhatIsForbiddenIsNotContacted) {
    net::EgressSettings settings = net::default_egress_settings();
    settings.target.deny.push_back(*net::IpRange::parse("127.0.0.0/8"));
    make();
    deliverer->set_egress(std::make_shared<const net::EgressPolicy>(settings));
    use(webhook(receiver.url()));
    offer(1);
    ASSERT_TRUE(run_until([&] { return !reports.empty(); }));
    EXPECT_EQ(reports[0].outcome.code, "http.egress_denied");
    EXPECT_EQ(reports[0].notification->state, model::DeliveryState::kWaiting)
        << "somebody may allow it";
    EXPECT_TRUE(receiver.requests().empty());
}

TEST_F(DelivererLive, StopDropsNothing) {
    make();
    use(webhook(receiver.url()));
    receiver.otherwise.silent = true;
    for (std::uint64_t number = 1; number <= 3; ++number) offer(number);
    ASSERT_TRUE(run_until([&] { return !receiver.requests().empty(); }));
    bool stopped = false;
    deliverer->stop(200ms, [&] { stopped = true; });
    ASSERT_TRUE(run_until([&] { return stopped; }));
    EXPECT_EQ(deliverer->waiting(), 3U);
    EXPECT_EQ(deliverer->in_flight(), 0U);
    net::test::turn(*loop);
    EXPECT_TRUE(reports.empty()) << "what was stopped still waits, and was never told";

    // The next life sends them all, with the same keys.
    receiver.otherwise.silent = false;
    make();
    use(webhook(receiver.url()));
    for (std::uint64_t number = 1; number <= 3; ++number) offer(number);
    ASSERT_TRUE(all_done());
    EXPECT_EQ(receiver.distinct(), 3U);
    EXPECT_EQ(receiver.requests().front().header("idempotency-key"),
              receiver.taken().front().header("idempotency-key"));
}

TEST_F(DelivererLive, StopWaitsForWhatIsAboutToEnd) {
    make();
    use(webhook(receiver.url()));
    offer(1);
    ASSERT_TRUE(run_until([&] { return deliverer->in_flight() == 1; }));
    bool stopped = false;
    deliverer->stop(1min, [&] { stopped = true; });
    ASSERT_TRUE(run_until([&] { return stopped; }));
    EXPECT_EQ(reports.size(), 1U);
    EXPECT_EQ(deliverer->waiting(), 0U);
}

TEST_F(DelivererLive, AProgramGetsTheBodyOnItsInput) {
    const net::test::TempDir folder;
    const std::string program = folder.write(
        "notify", "#!/bin/sh\ncat > " + folder.file("body") + "\nenv > " + folder.file("env") +
                      "\necho \"$@\" > " + folder.file("args") + "\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    make({.limits = {}, .email = {}, .exec = {.folders = {}, .allow = {program}}});
    model::Channel channel = webhook("");
    channel.kind = model::ChannelKind::kExec;
    channel.argv = {program, "a b", "$(id)"};
    use(channel);
    test::BodyFacts wild;
    wild.device = test::kHostile;
    offer(5, wild);
    ASSERT_TRUE(all_done());
    EXPECT_EQ(reports.at(0).notification->state, model::DeliveryState::kDelivered)
        << reports.at(0).notification->last_error;
    EXPECT_EQ(folder.read("body"), test::notification(5, wild).body);
    EXPECT_EQ(folder.read("args"), "a b $(id)\n");
    EXPECT_THAT(folder.read("env"), HasSubstr("POLLUX_DELIVERY=" + test::notification(5).id));
}

TEST_F(DelivererLive, ProgramsThatFailHangOrMayNotRun) {
    const net::test::TempDir folder;
    const auto script = [&](const std::string& name, const std::string& text) {
        const std::string path = folder.write("bin/" + name, "#!/bin/sh\n" + text + "\n");
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        return path;
    };
    const std::string usage = script("usage", "echo wrong >&2; exit 64");
    const std::string busy = script("busy", "exit 75");
    const std::string hangs =
        script("hangs", "sleep 1000 & echo $! > " + folder.file("child") + "; wait");
    make({.limits = {.attempt_timeout = 8s},
          .email = {},
          .exec = {.folders = {folder.file("bin")}, .allow = {}}});
    model::Channel channel = webhook("");
    channel.kind = model::ChannelKind::kExec;
    const auto outcome = [&](const std::string& program) {
        channel.argv = {program};
        use(channel);
        const std::size_t before = reports.size();
        offer(before + 1, {.incident = "i" + std::to_string(before)});
        EXPECT_TRUE(run_until([&] { return reports.size() > before; }));
        deliverer->cancel(test::notification(before + 1).id);
        return reports.back().outcome;
    };
    const AttemptOutcome wrong = outcome(usage);
    EXPECT_EQ(wrong.result, AttemptResult::kPermanent);
    EXPECT_THAT(wrong.message, HasSubstr("status 64: \"wrong\""));
    EXPECT_EQ(outcome(busy).result, AttemptResult::kTransient);
    EXPECT_EQ(outcome("/bin/ls").code, "exec.not_allowed");
    EXPECT_EQ(outcome(hangs).code, "exec.timeout");
    // The whole group goes with it.
    const int child = std::stoi(folder.read("child"));
    EXPECT_TRUE(run_until([&] { return kill(child, 0) != 0; }));
}

}  // namespace
}  // namespace pollux::feed
