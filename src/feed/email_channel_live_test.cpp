// Mail against a real SMTP server on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "document/parse.hpp"
#include "feed/email_channel.hpp"
#include "feed/feed_test_support.hpp"
#include "net/http_test_support.hpp"
#include "net/test_smtp_server.hpp"
#include "net/test_tcp_server.hpp"

namespace pollux::feed {
namespace {

using namespace std::chrono_literals;
using net::test::SmtpServer;
using net::test::SmtpServerOptions;
using testing::HasSubstr;

class EmailLive : public testing::Test {
  protected:
    model::Channel channel_to(std::uint16_t port, std::string_view scheme = "smtp") {
        model::Channel channel;
        channel.name = "main";
        channel.kind = model::ChannelKind::kEmail;
        channel.url = fmt::format("{}://127.0.0.1:{}", scheme, port);
        channel.from = "Pollux <pollux@example.org>";
        channel.to = {"ops@example.org", "Duty <duty@example.org>"};
        return channel;
    }

    AttemptOutcome send(model::Channel channel,
                        std::shared_ptr<const model::Credentials> credentials = nullptr,
                        base::Duration time = 1min) {
        std::optional<AttemptOutcome> outcome;
        Attempt attempt{
            .id = ++last_,
            .number = 1,
            .endpoint = make_endpoint(std::move(channel), std::move(credentials),
                                      ChannelLibrary::shipped()),
            .notification = std::make_shared<const model::Notification>(test::notification(7)),
            .deadline = net::boot_now() + time};
        EXPECT_FALSE(attempt.endpoint->problem) << attempt.endpoint->problem->message;
        email.start(std::move(attempt), [&](AttemptOutcome&& got) { outcome = std::move(got); });
        EXPECT_FALSE(outcome) << "Done from inside start()";
        EXPECT_TRUE(net::test::turn_until(
            *loop, [&] { return outcome.has_value(); }, std::chrono::minutes(2)));
        return outcome.value_or(AttemptOutcome{});
    }

    std::shared_ptr<const model::Credentials> login(std::string password) {
        auto out = std::make_shared<model::Credentials>();
        out->username = "joe";
        out->password = base::Secret(std::move(password));
        return out;
    }

    document::Node mail(const SmtpServer& server, std::size_t index) {
        const auto all = server.mails();
        EXPECT_GT(all.size(), index);
        document::Diagnostics diagnostics;
        return all.size() > index ? document::parse_json(all[index], "mail", diagnostics).root
                                  : document::Node();
    }

    net::test::TempDir folder;
    std::unique_ptr<net::EventLoop> loop = std::move(*net::EventLoop::create());
    std::unique_ptr<net::Resolver> resolver = std::move(*net::Resolver::create(*loop, {}));
    EmailChannel email{*loop, *resolver, std::make_shared<const net::EgressPolicy>(), {}};
    std::uint64_t last_ = 0;
};

TEST_F(EmailLive, GoesThroughStartTlsWithALogin) {
    const SmtpServer server(folder, {.user = "joe", .password = "hush hush"});
    model::Channel channel = channel_to(server.port());
    channel.params["ca_file"] = server.certificate();
    const AttemptOutcome outcome = send(channel, login("hush hush"));
    ASSERT_EQ(outcome.result, AttemptResult::kDelivered) << outcome.message;
    const document::Node got = mail(server, 0);
    EXPECT_EQ(got.find("tls")->scalar(), "true");
    EXPECT_EQ(got.find("user")->scalar(), "joe");
    EXPECT_EQ(got.find("from")->scalar(), "pollux@example.org");
    EXPECT_EQ(got.find("to")->items().size(), 2U);
    EXPECT_THAT(got.find("data")->scalar(), HasSubstr("Subject: [CRITICAL] core-1 is down"));
}

TEST_F(EmailLive, ANameIsResolvedByUs) {
    const SmtpServer server(folder, {});
    model::Channel channel = channel_to(server.port());
    channel.url = fmt::format("smtp://localhost:{}", server.port());
    channel.params["ca_file"] = server.certificate();
    EXPECT_EQ(send(channel).result, AttemptResult::kDelivered);
}

TEST_F(EmailLive, GoesThroughTlsFromTheBeginning) {
    const SmtpServer server(folder, {.starttls = false, .implicit_tls = true});
    model::Channel channel = channel_to(server.port(), "smtps");
    channel.params["ca_file"] = server.certificate();
    const AttemptOutcome outcome = send(channel);
    EXPECT_EQ(outcome.result, AttemptResult::kDelivered) << outcome.message;
    EXPECT_EQ(server.mails().size(), 1U);
}

TEST_F(EmailLive, AWrongCertificateOrPasswordSendsNothing) {
    const SmtpServer server(folder, {.user = "joe", .password = "right"});
    model::Channel channel = channel_to(server.port());
    EXPECT_EQ(send(channel, login("right")).result, AttemptResult::kTransient)
        << "nobody we trust signed it";
    channel.params["ca_file"] = server.certificate();
    const AttemptOutcome denied = send(channel, login("hushwrong"));
    EXPECT_EQ(denied.result, AttemptResult::kPermanent) << denied.message;
    EXPECT_EQ(denied.code, "smtp.auth");
    EXPECT_EQ(denied.message.find("hush"), std::string::npos);
    channel.params["verify"] = "no";
    channel.params.erase("ca_file");
    EXPECT_EQ(send(channel, login("right")).result, AttemptResult::kDelivered);
}

TEST_F(EmailLive, APasswordIsNeverSentInTheClear) {
    const SmtpServer server(folder, {.starttls = false, .user = "joe", .password = "right"});
    model::Channel channel = channel_to(server.port());
    for (const char* tls : {"required", "optional"}) {
        channel.params["tls"] = tls;
        EXPECT_EQ(send(channel, login("right")).code, "smtp.no_tls") << tls;
    }
    channel.params["tls"] = "none";  // somebody wants it so
    EXPECT_EQ(send(channel, login("right")).result, AttemptResult::kDelivered);
}

TEST_F(EmailLive, WithoutALoginTlsMayBeOptional) {
    const SmtpServer server(folder, {.starttls = false});
    model::Channel channel = channel_to(server.port());
    EXPECT_EQ(send(channel).code, "smtp.no_tls") << "required unless told otherwise";
    channel.params["tls"] = "optional";
    EXPECT_EQ(send(channel).result, AttemptResult::kDelivered);
}

TEST_F(EmailLive, RefusalsAreFinalOrForNow) {
    const SmtpServer server(folder, {.fail_first = 1});
    model::Channel channel = channel_to(server.port());
    channel.params["ca_file"] = server.certificate();
    const AttemptOutcome later = send(channel);
    EXPECT_EQ(later.result, AttemptResult::kTransient);
    EXPECT_THAT(later.message, HasSubstr("451 4.3.2 not now"));
    channel.to = {"refused@example.org"};
    const AttemptOutcome refused = send(channel);
    EXPECT_EQ(refused.result, AttemptResult::kPermanent) << refused.message;
    EXPECT_THAT(refused.message, HasSubstr("550 5.1.1 no such user"));
    channel.to = {"later@example.org"};
    EXPECT_EQ(send(channel).result, AttemptResult::kTransient);
    EXPECT_TRUE(server.mails().empty());
    // Some got it: it is delivered, and says who did not.
    channel.to = {"refused@example.org", "ops@example.org"};
    const AttemptOutcome some = send(channel);
    EXPECT_EQ(some.result, AttemptResult::kDelivered);
    EXPECT_THAT(some.message, HasSubstr("550 5.1.1 no such user"));
    EXPECT_EQ(server.mails().size(), 1U);
}

TEST_F(EmailLive, ASilentOrMissingServerIsTriedAgain) {
    net::test::TcpServer silent(*loop);
    EXPECT_EQ(send(channel_to(silent.port()), nullptr, 300ms).code, "smtp.timeout");
    EXPECT_EQ(send(channel_to(net::test::free_port())).code, "smtp.failed");
    model::Channel none = channel_to(1);
    none.url.clear();
    EXPECT_EQ(send(none).code, "feed.bad_smtp_url");
}

TEST_F(EmailLive, WhatIsForbiddenIsNotContacted) {
    const SmtpServer server(folder, {});
    net::EgressSettings settings = net::default_egress_settings();
    settings.target.deny.push_back(*net::IpRange::parse("127.0.0.0/8"));
    email.set_egress(std::make_shared<const net::EgressPolicy>(settings));
    EXPECT_EQ(send(channel_to(server.port())).code, "egress.denied");
}

TEST_F(EmailLive, CancelEndsAnAttempt) {
    net::test::TcpServer silent(*loop);
    std::optional<AttemptOutcome> outcome;
    Attempt attempt{
        .id = 99,
        .endpoint = make_endpoint(channel_to(silent.port()), nullptr, ChannelLibrary::shipped()),
        .notification = std::make_shared<const model::Notification>(test::notification(7)),
        .deadline = net::boot_now() + 1min};
    email.start(std::move(attempt), [&](AttemptOutcome&& got) { outcome = std::move(got); });
    ASSERT_TRUE(net::test::turn_until(*loop, [&] { return silent.accepted() == 1; }));
    email.cancel(99);
    email.cancel(99);
    EXPECT_FALSE(outcome);
    ASSERT_TRUE(net::test::turn_until(*loop, [&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->code, "feed.cancelled");
}

}  // namespace
}  // namespace pollux::feed
