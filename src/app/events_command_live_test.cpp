// `pollux events` against a running server, and commands over TLS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <thread>

#include "app/api_command_test_support.hpp"
#include "document/parse.hpp"
#include "net/test_nginx.hpp"

namespace pollux::app {
namespace {

using test::Ran;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class EventsCommand : public test::ApiCommandTest {
  protected:
    // A target that never answers: it goes down soon after it was added.
    void add_target(const std::string& name) {
        good({"add", "target", "tcp-port::" + name, "--address", "127.0.0.1", "--set",
              "port=" + std::to_string(net::test::free_port()), "--set",
              "interval={min: 1s, base: 1s, max: 1s}"});
    }
    static std::string number_in(const std::string& line) {
        document::Diagnostics diagnostics;
        return document::parse_json(line, "event", diagnostics).root.find("seq")->scalar();
    }
};

TEST_F(EventsCommand, FollowsWhatItIsAskedForAndGoesOnWhereItWas) {
    log_in();
    const std::string first =
        good({"events", "-o", "json", "--type", "scheduler_stats", "--count", "1"});
    EXPECT_EQ(std::ranges::count(first, '\n'), 1);
    const std::string since = number_in(first);
    add_target("here");
    // Whether it happens before or after the command begins.
    const std::string text = good({"events", "--type", "task_state_changed", "--target",
                                   "tcp-port::*", "--since", since, "--count", "1"});
    EXPECT_THAT(text, AllOf(HasSubstr("task_state_changed tcp-port::here"), EndsWith("\n")));
    EXPECT_EQ(std::ranges::count(text, '\n'), 1);
    const std::string next = good(
        {"events", "-o", "json", "--type", "scheduler_stats", "--count", "2", "--since", since});
    EXPECT_EQ(std::ranges::count(next, '\n'), 2);
    EXPECT_GT(number_in(next.substr(0, next.find('\n'))), since);
    // Of another life of the server: told, and no event.
    const Ran gone = pollux(
        {"events", "-o", "json", "--type", "scheduler_stats", "--count", "1", "--since", "7"});
    EXPECT_EQ(gone.status, 0);
    EXPECT_THAT(gone.err, HasSubstr("events were missed"));
    EXPECT_THAT(gone.out, AllOf(HasSubstr(R"({"type":"resync")"), HasSubstr("scheduler_stats")));
}

TEST_F(EventsCommand, SaysWhyItCannotFollow) {
    EXPECT_EQ(pollux({"events", "--count", "1"}).status, 3) << "nobody is logged in";
    log_in();
    const Ran wrong = pollux({"events", "--type", "weather"});
    EXPECT_EQ(wrong.status, 1);
    EXPECT_THAT(wrong.err, HasSubstr("task_state_changed"));
    EXPECT_EQ(pollux({"events", "-o", "table"}).status, 2);
    EXPECT_EQ(pollux({"events", "--since", "yesterday"}).status, 2);
}

TEST_F(EventsCommand, EndsCleanlyOnCtrlC) {
    log_in();
    // The signal comes to this process once the command catches it.
    std::thread presses([] {
        test::eventually([] {
            struct sigaction now{};
            sigaction(SIGINT, nullptr, &now);
            return now.sa_handler != SIG_DFL;
        });
        kill(getpid(), SIGINT);
    });
    const Ran ran = pollux({"events", "--target", "nobody::nowhere"});
    presses.join();
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    struct sigaction after{};
    sigaction(SIGINT, nullptr, &after);
    EXPECT_EQ(after.sa_handler, SIG_DFL) << "as it was";
}

struct Identity {
    Identity() {
        certificate = net::test::make_self_signed(folder, "server", 10);
        chmod(certificate.key.c_str(), 0600);
    }
    std::string fingerprint() const {
        const std::string line =
            net::test::run_tool({"openssl", "x509", "-in", certificate.certificate, "-noout",
                                 "-fingerprint", "-sha256"},
                                folder);
        return line.substr(line.find('=') + 1, 95);
    }
    net::test::TempDir folder;
    net::test::TestCertificate certificate;
};

TEST(CommandsOverTls, TrustAnAuthorityOrAPinAndNothingElse) {
    const Identity identity;
    test::ApiStage pollux({{"POLLUX_API_TLS_CERTIFICATE", identity.certificate.certificate},
                           {"POLLUX_API_TLS_KEY", identity.certificate.key}});
    const std::string pin = identity.fingerprint();
    std::string digits = pin;
    std::erase(digits, ':');
    std::ranges::transform(digits, digits.begin(),
                           [](char c) { return c < 'A' ? c : char(c + 32); });
    const std::string ca = identity.certificate.certificate;

    Ran ran = pollux({"health"});
    EXPECT_EQ(ran.status, 3);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("self-signed"), HasSubstr(digits), HasSubstr("--ca-file"),
                               HasSubstr("--pin")));
    ran = pollux({"user", "bootstrap", "--name", "ada", "--ca-file", ca},
                 pollux.bootstrap_token() + "\n" + test::kPassword + "\n");
    ASSERT_EQ(ran.status, 0) << ran.err;
    ran = pollux({"login", "--name", "ada", "--pin", pin}, std::string(test::kPassword) + "\n");
    ASSERT_EQ(ran.status, 0) << ran.err;
    for (const std::vector<std::string>& trust : {std::vector<std::string>{"--ca-file", ca},
                                                  {"--pin", pin},
                                                  {"--pin", digits},
                                                  {"--insecure"}}) {
        std::vector<std::string> events = {"events", "--type", "scheduler_stats", "--count", "1"};
        events.insert(events.end(), trust.begin(), trust.end());
        ran = pollux(events);
        EXPECT_EQ(ran.status, 0) << trust.front() << ran.err;
        EXPECT_THAT(ran.out, HasSubstr("scheduler_stats"));
    }
    // Another certificate than the pinned one is refused whatever else is said.
    const Identity other;
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--insecure"}}) {
        std::vector<std::string> command = {"health", "--pin", other.fingerprint()};
        command.insert(command.end(), more.begin(), more.end());
        ran = pollux(command);
        EXPECT_EQ(ran.status, 3);
        EXPECT_THAT(ran.err, AllOf(HasSubstr("not the pinned one"), HasSubstr(digits)));
    }
    ran = pollux({"health", "--ca-file", other.certificate.certificate});
    EXPECT_EQ(ran.status, 3) << "another authority";
    EXPECT_EQ(pollux({"health", "--pin", "abc"}).status, 2);
    EXPECT_EQ(pollux({"health", "--ca-file", "/no/such/file"}).status, 2);
}

}  // namespace
}  // namespace pollux::app
