#include "feed/email_message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "feed/feed_test_support.hpp"
#include "net/test_process.hpp"

namespace pollux::feed {
namespace {

using testing::HasSubstr;

Mail mail_of(const test::BodyFacts& facts, const std::vector<std::string>& to = {"ops@example.org"},
             std::string_view from = "Pollux <pollux@example.org>") {
    const auto mail = make_mail(test::notification(7, facts), from, to);
    EXPECT_TRUE(mail) << (mail ? "" : mail.error().message);
    return mail.value_or(Mail{});
}

// How Python's own reader of mails understands it: fields, then the two parts.
std::string understood(const std::string& message) {
    const net::test::TempDir folder;
    folder.write("mail", message);
    return net::test::run_tool({"/usr/bin/python3", "-c", R"(
import email, email.policy
mail = email.message_from_binary_file(open("mail", "rb"), policy=email.policy.default)
for name in mail: print(f"{name}: {mail[name]!r}")
print("defects", mail.defects)
for part in mail.iter_parts(): print(part.get_content_type(), part.get_content())
)"},
                               folder);
}

TEST(Mail, IsOneThatOthersUnderstand) {
    const std::string seen = understood(mail_of({}).message);
    EXPECT_THAT(seen, HasSubstr("Subject: '[CRITICAL] core-1 is down'"));
    EXPECT_THAT(seen, HasSubstr("From: 'Pollux <pollux@example.org>'"));
    EXPECT_THAT(seen, HasSubstr("Message-ID: '<00000000000000000000000000000007@example.org>'"));
    EXPECT_THAT(
        seen,
        HasSubstr("References: '<incident.0190a0b0-0000-7000-8000-000000000001@example.org>'"));
    EXPECT_THAT(seen, HasSubstr("Date: 'Tue, 18 Nov 2025 01:02:03 +0000'"));
    EXPECT_THAT(seen, HasSubstr("defects []"));
    EXPECT_THAT(seen, HasSubstr("text/plain CRITICAL: core-1 is down"));
    EXPECT_THAT(seen, HasSubstr("no answer for 3 min"));
    EXPECT_THAT(seen, HasSubstr("text/html <!doctype html>"));
    EXPECT_THAT(seen, HasSubstr("12 further alerts"));
}

TEST(Mail, RecoveryIsInTheThreadOfItsIncident) {
    const std::string seen = understood(mail_of({.kind = "recovery"}).message);
    EXPECT_THAT(seen, HasSubstr("Subject: '[RECOVERED] core-1 is down'"));
    EXPECT_THAT(
        seen,
        HasSubstr("In-Reply-To: '<incident.0190a0b0-0000-7000-8000-000000000001@example.org>'"));
}

TEST(Mail, HostileNamesAddNoFieldAndNoMarkup) {
    test::BodyFacts wild;
    wild.title = wild.device = wild.message = test::kHostile;
    const auto fields = [](const std::string& seen) {
        std::vector<std::string> out;
        std::size_t at = 0;
        while (at < seen.size() && !seen.substr(at).starts_with("defects")) {
            out.push_back(seen.substr(at, seen.find(':', at) - at));
            at = seen.find('\n', at) + 1;
        }
        return out;
    };
    const std::string seen = understood(mail_of(wild).message);
    EXPECT_EQ(fields(seen), fields(understood(mail_of({}).message))) << seen;
    EXPECT_THAT(seen, HasSubstr("defects []"));
    const std::string html = seen.substr(seen.find("text/html"));
    EXPECT_EQ(html.find("<script"), std::string::npos);
}

TEST(Mail, LinesEndAsSmtpWantsAndAreShort) {
    test::BodyFacts wild;
    wild.message = std::string(5'000, 'x') + "\n.\n";
    const std::string message = mail_of(wild).message;
    for (std::size_t at = 0; at < message.size();) {
        const std::size_t end = message.find('\n', at);
        ASSERT_NE(end, std::string::npos);
        EXPECT_EQ(message[end - 1], '\r');
        EXPECT_LE(end - at, 999U);
        EXPECT_NE(message.substr(at, end - at - 1), ".");
        at = end + 1;
    }
}

TEST(Mail, AddressesAreLookedAt) {
    EXPECT_EQ(parse_mail_address("a@b.c"), (MailAddress{"", "a@b.c"}));
    EXPECT_EQ(parse_mail_address("Ops, all <a@b.c>"), (MailAddress{"Ops, all", "a@b.c"}));
    for (const char* bad : {"", "a", "@b", "a@", "a@b@c", "a b@c", "a@b>\r\nRCPT TO:<x@y",
                            "a@b\r\n", "<a@b", "ä@b", "a,b@c"}) {
        EXPECT_FALSE(parse_mail_address(bad)) << bad;
    }
    const auto refused = make_mail(test::notification(1), "p@x.org", {"ok@x.org", "no address"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "feed.bad_address");
    EXPECT_FALSE(make_mail(test::notification(1), "p@x.org", {}));
    EXPECT_FALSE(make_mail(test::notification(1), "p@x.org",
                           std::vector<std::string>(kMostRecipients + 1, "a@b.c")));
}

}  // namespace
}  // namespace pollux::feed
