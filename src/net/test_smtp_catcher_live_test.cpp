// The SMTP server of the tests, seen by curl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/test_smtp_catcher.hpp"

namespace pollux::net::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

int send(const std::string& url, std::vector<std::string> more) {
    const TempDir folder;
    std::vector<std::string> command = {"curl",
                                        "-sS",
                                        url,
                                        "--mail-from",
                                        "pollux@example.org",
                                        "--mail-rcpt",
                                        "a@example.org",
                                        "--mail-rcpt",
                                        "b@example.org",
                                        "-T",
                                        folder.write("mail", "Subject: hello\r\n\r\nbody\r\n")};
    command.insert(command.end(), more.begin(), more.end());
    Process process(std::move(command), folder);
    EXPECT_TRUE(process.wait_for_end());
    return process.exit_code();
}

TEST(SmtpCatcher, TakesMailOverStarttlsAndTlsFromThoseItKnows) {
    SmtpCatcher server({.user = "pollux", .password = "open sesame"});
    const std::string plain = "smtp://127.0.0.1:" + std::to_string(server.port());
    const std::string secure = "smtps://127.0.0.1:" + std::to_string(server.tls_port());
    const std::string known = "pollux:open sesame";
    EXPECT_EQ(send(plain, {"--ssl-reqd", "--cacert", server.certificate(), "--user", known}), 0);
    EXPECT_EQ(send(secure, {"--cacert", server.certificate(), "--user", known}), 0);
    EXPECT_NE(send(plain, {"--user", known}), 0) << "not without TLS";
    EXPECT_NE(send(secure, {"--cacert", server.certificate(), "--user", "pollux:wrong"}), 0);
    EXPECT_NE(send(secure, {"--cacert", server.certificate()}), 0) << "not without a login";
    EXPECT_NE(send(secure, {"--user", known}), 0) << "its certificate is nobody's";
    const auto mails = server.mails();
    ASSERT_EQ(mails.size(), 2U);
    for (const auto& mail : mails) {
        EXPECT_EQ(mail.from, "pollux@example.org");
        EXPECT_THAT(mail.to, ElementsAre("a@example.org", "b@example.org"));
        EXPECT_EQ(mail.user, "pollux");
        EXPECT_TRUE(mail.tls);
        EXPECT_THAT(mail.text, HasSubstr("Subject: hello\r\n\r\nbody\r\n"));
    }
}

TEST(SmtpCatcher, RefusesAsToldAndThenTakesAgain) {
    SmtpCatcher server({.need_tls = false});
    const std::string url = "smtp://127.0.0.1:" + std::to_string(server.port());
    server.script({"451 4.3.0 try later", "554 5.7.1 go away"});
    EXPECT_NE(send(url, {}), 0);
    EXPECT_NE(send(url, {}), 0);
    EXPECT_EQ(send(url, {}), 0);
    ASSERT_TRUE(server.wait_for(1));
    EXPECT_EQ(server.mails().size(), 1U);
    EXPECT_FALSE(server.mails()[0].tls);
    EXPECT_EQ(server.mails()[0].user, "");
}

}  // namespace
}  // namespace pollux::net::test
