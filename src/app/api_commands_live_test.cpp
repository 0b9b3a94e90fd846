// The commands that ask the API, each against a running server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>

#include "app/api_command_test_support.hpp"

namespace pollux::app {
namespace {

using test::eventually;
using test::kPassword;
using test::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class ApiCommands : public test::ApiCommandTest {};

TEST_F(ApiCommands, FromTheFirstStartToAPolledTarget) {
    Ran ran = pollux({"health"});
    EXPECT_EQ(ran.status, 3);
    EXPECT_THAT(ran.err, HasSubstr("pollux login"));
    ran = pollux({"user", "bootstrap", "--name", "ada"}, std::string("plxboot_no\n") + kPassword);
    EXPECT_EQ(ran.status, 3) << ran.err;
    log_in();
    struct stat facts{};
    ASSERT_EQ(stat(pollux.token_file().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600U);
    EXPECT_THAT(text_of(pollux.token_file()),
                AllOf(StartsWith("plx_"), HasSubstr("url " + pollux.url())));

    EXPECT_EQ(good({"add", "target", "tcp-port::here", "--address", "127.0.0.1", "--label",
                    "site=berlin", "--set", "port=9", "--reason", "first"}),
              "target tcp-port::here added\n");
    EXPECT_THAT(good({"get", "targets"}),
                AllOf(StartsWith("KEY"), HasSubstr("tcp-port::here  "), HasSubstr("127.0.0.1:9"),
                      HasSubstr("ORIGIN  VERSION")));
    EXPECT_THAT(good({"get", "targets", "--label", "site=berlin"}), HasSubstr("tcp-port::here"));
    EXPECT_THAT(good({"get", "targets", "--label", "site=bonn"}), Not(HasSubstr("tcp-port")));
    EXPECT_THAT(good({"user", "ls"}), HasSubstr("ORIGIN  VERSION"));
    EXPECT_THAT(good({"token", "ls"}), HasSubstr("ORIGIN  VERSION"));
    EXPECT_THAT(good({"get", "targets", "--device", "elsewhere"}), Not(HasSubstr("tcp-port")));
    EXPECT_THAT(good({"get", "target", "tcp-port::here", "-o", "json"}),
                HasSubstr(R"("labels":{"site":"berlin"})"));
    EXPECT_EQ(good({"set", "target", "tcp-port::here", "--set", "interval=20s"}),
              "target tcp-port::here changed\n");
    EXPECT_THAT(good({"get", "target", "tcp-port::here"}), HasSubstr("interval: 20s"));
    EXPECT_THAT(good({"set", "target", "tcp-port::here", "--unset", "interval", "-o", "json"}),
                Not(HasSubstr("20s")));
    EXPECT_THAT(good({"disable", "tcp-port::here"}), HasSubstr("not polled any more"));
    EXPECT_THAT(good({"get", "targets"}), HasSubstr("disabled"));
    good({"enable", "tcp-port::here", "--reason", "it is back"});
    EXPECT_THAT(good({"poll", "tcp-port::here", "--now"}), HasSubstr("is polled now"));
    EXPECT_EQ(pollux({"poll", "tcp-port::here", "-o", "json"}).status, 2)
        << "by itself it has no answer of the API";
    // The poll before may be under way still.
    EXPECT_TRUE(eventually([&] {
        return pollux({"poll", "tcp-port::here", "--now", "-o", "json"})
            .out.contains(R"("key":"tcp-port::here")");
    }));
    EXPECT_THAT(good({"addon", "ls", "-o", "json"}),
                AllOf(StartsWith(R"({"items":[{)"), HasSubstr(R"("name":"axis-camera")")));
    good({"add", "target", "tcp-port::there", "--address", "127.0.0.1", "--set", "port=9"});
    EXPECT_EQ(good({"rm", "target", "tcp-port::there", "-o", "json"}), "{\"success\":true}\n");
    EXPECT_THAT(good({"explain", "tcp-port::here"}),
                AllOf(HasSubstr("next due"), HasSubstr("enabled    ok")));
    EXPECT_THAT(good({"health", "--all", "--watch", "--times", "2", "--every", "0.1"}),
                AllOf(HasSubstr("1 tasks"), HasSubstr("tcp-port::here")));
    EXPECT_THAT(good({"health", "-o", "json"}), HasSubstr(R"("instances":[{)"));
    EXPECT_EQ(good({"rm", "target", "tcp-port::here"}), "target tcp-port::here removed\n");
    EXPECT_EQ(good({"get", "targets", "-o", "json"}), "{\"items\":[]}\n");

    EXPECT_THAT(good({"logout"}), HasSubstr("revoked"));
    EXPECT_NE(stat(pollux.token_file().c_str(), &facts), 0);
    EXPECT_EQ(pollux({"get", "targets"}).status, 3);
}

TEST_F(ApiCommands, ObjectsOfEveryKindComeAndGo) {
    log_in();
    good({"add", "device", "box", "--address", "127.0.0.1", "--addon", "tcp-port", "--label",
          "rack=7", "--set", "port=9"});
    EXPECT_THAT(good({"get", "devices", "-o", "yaml"}), HasSubstr("rack: "));
    const std::string file = pollux.folder().write(
        "box.yaml", "address: 127.0.0.2\naddons:\n  - name: tcp-port\n    port: 10\n");
    good({"set", "device", "box", "--from-file", file, "--reason", "moved"});
    EXPECT_THAT(good({"get", "device", "box", "-o", "json"}),
                AllOf(HasSubstr("127.0.0.2"), Not(HasSubstr("rack"))));
    good({"add", "group", "berlin", "--set", "match.site=berlin", "--set", "tier=high"});
    EXPECT_THAT(good({"get", "groups"}), HasSubstr(R"("match":{"site":"berlin"})"));
    const std::string list = pollux.folder().write("targets.json", "[]");
    good({"add", "source", "inventory", "--set", "file_sd=" + list});
    EXPECT_THAT(good({"get", "sources", "-q", "inv"}), HasSubstr("inventory"));
    good({"add", "receiver", "ops", "--set", "channels=[{url: 'http://127.0.0.1:9/alerts'}]"});
    good({"add", "route", "all", "--set", "receivers=[ops]"});
    good({"add", "silence", "works", "--set", "match=['device=\"core-1\"']", "--set",
          "until=2096-01-02T03:04:05Z", "--set", "owner=eve", "--reason", "new firmware"});
    EXPECT_THAT(good({"get", "receivers"}), AllOf(HasSubstr("ORIGIN  VERSION"), HasSubstr("ops")));
    EXPECT_THAT(good({"get", "route", "all"}), HasSubstr("- ops"));
    EXPECT_THAT(good({"get", "silence", "works", "-o", "json"}), HasSubstr("new firmware"));
    for (const auto& [kind, name] :
         std::vector<std::pair<std::string, std::string>>{{"device", "box"},
                                                          {"group", "berlin"},
                                                          {"source", "inventory"},
                                                          {"silence", "works"},
                                                          {"route", "all"},
                                                          {"receiver", "ops"}}) {
        EXPECT_EQ(good({"rm", kind, name}), kind + " " + name + " removed\n");
        const Ran gone = pollux({"get", kind, name});
        EXPECT_EQ(gone.status, 1);
        EXPECT_THAT(gone.err, HasSubstr("there is no " + kind));
    }
}

TEST_F(ApiCommands, ASecretIsTypedAndNeverShown) {
    log_in();
    const std::string secret = "hunter2-of-the-switch";
    std::string seen =
        good({"add", "credential", "switches", "--set", "username=m", "--secret", "password", "-v"},
             secret + "\n");
    seen += good({"get", "credentials"}) + good({"get", "credential", "switches", "-o", "json"}) +
            good({"audit", "export"});
    EXPECT_THAT(seen, AllOf(HasSubstr("vault:switches/password"), Not(HasSubstr(secret)),
                            Not(HasSubstr(kPassword))));
    good({"set", "credential", "switches", "--set", "username=n"});
    EXPECT_THAT(good({"get", "credential", "switches"}), HasSubstr("vault:switches/password"));
    const Ran refused = pollux({"add", "credential", "other", "--set", "password=" + secret});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("--secret password"), Not(HasSubstr(secret))));
    good({"add", "credential", "other", "--set", "password=file:/etc/hostname"});
}

TEST_F(ApiCommands, BreakersAndDeadLettersOfADeviceThatFails) {
    log_in();
    EXPECT_EQ(good({"breaker", "ls"}), "every breaker is closed\n");
    EXPECT_EQ(good({"dlq", "ls"}), "no dead letters\n");
    const std::string port = std::to_string(net::test::free_port());  // nobody listens there
    const std::string key = "tcp-port::dark";
    good({"add", "target", key, "--address", "127.0.0.1", "--set", "port=" + port});
    Ran ran = pollux({"dlq", "retry", key});
    EXPECT_EQ(ran.status, 1) << "it is no dead letter";
    // Each poll fails; five failures in a row make a dead letter.
    ASSERT_TRUE(eventually([&] {
        pollux({"poll", key, "--now"});
        return good({"dlq", "ls"}).contains(key);
    }));
    EXPECT_THAT(good({"breaker", "ls", "--state", "open"}),
                AllOf(HasSubstr(key), HasSubstr("open")));
    EXPECT_THAT(good({"health"}), AllOf(HasSubstr("1 dead letters"), HasSubstr("dead letter")));
    EXPECT_THAT(good({"dlq", "ls", "--cause", "max_retry_attempts", "-o", "json"}),
                HasSubstr(R"("count":1)"));
    EXPECT_THAT(good({"dlq", "retry", key, "--reason", "cable"}), HasSubstr("retried after"));
    ASSERT_TRUE(eventually([&] { return good({"dlq", "ls"}).contains(key); }));
    EXPECT_THAT(good({"failures", "clear", "--all", "--reason", "fresh start", "-o", "json"}),
                HasSubstr(R"("tasksRetried":1)"));
    ASSERT_TRUE(eventually([&] { return good({"breaker", "ls"}).contains("open"); }));
    ran = pollux({"breaker", "reset", key});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(key + ": "));
    ASSERT_TRUE(eventually([&] { return good({"dlq", "ls"}).contains(key); }));
    EXPECT_THAT(good({"dlq", "rm", key}), HasSubstr("disabled"));
    EXPECT_EQ(good({"dlq", "ls"}), "no dead letters\n");
    EXPECT_THAT(good({"audit", "ls", "--action", "dlq."}), HasSubstr("cable"));
    EXPECT_EQ(pollux({"failures", "clear", "--reason", "x"}).status, 2);
    EXPECT_EQ(pollux({"failures", "clear", "--all"}).status, 2) << "a reason is needed";
    EXPECT_EQ(pollux({"breaker", "reset"}).status, 2) << "one, or --all";
}

TEST_F(ApiCommands, UsersAndTokens) {
    log_in();
    good({"user", "add", "bob", "--grant", "viewer", "--grant", "operator:site=berlin"},
         "staple battery horse\n");
    EXPECT_THAT(good({"user", "ls"}), HasSubstr("viewer, operator:site=berlin"));
    good({"user", "passwd", "bob"}, "another good one 12\n");
    good({"user", "set", "bob", "--disable", "--display", "Bob"});
    EXPECT_THAT(good({"user", "ls"}), HasSubstr("disabled"));
    EXPECT_EQ(good({"user", "sessions", "bob"}), "no sessions\n");
    good({"user", "set", "bob", "--enable"});
    const Ran made = pollux(
        {"token", "add", "reader", "--scope", "monitoring:read", "--owner", "bob", "--days", "3"});
    ASSERT_EQ(made.status, 0) << made.err;
    ASSERT_THAT(made.out, StartsWith("plx_"));
    const std::string file = pollux.folder().write("reader.token", made.out);
    chmod(file.c_str(), 0600);
    EXPECT_EQ(pollux({"get", "targets", "--token-file", file}).status, 0);
    const Ran audit = pollux({"audit", "ls", "--token-file", file});
    EXPECT_EQ(audit.status, 3) << "a viewer does not read the trail";
    EXPECT_EQ(pollux({"audit", "export", "--token-file", file}).status, 3);
    EXPECT_EQ(pollux({"audit", "verify", "--token-file", file}).status, 3);
    chmod(file.c_str(), 0644);
    EXPECT_THAT(pollux({"get", "targets", "--token-file", file}).err, HasSubstr("chmod 600"));
    EXPECT_THAT(good({"token", "ls"}),
                AllOf(HasSubstr("monitoring:read"), Not(HasSubstr(made.out.substr(0, 20)))));
    EXPECT_EQ(good({"token", "rm", "reader"}), "token reader revoked\n");
    EXPECT_THAT(good({"user", "rm", "bob"}), HasSubstr("user bob removed"));
    good({"user", "passwd"}, std::string(kPassword) + "\nmy new password 7\n");
    EXPECT_EQ(pollux({"login", "--name", "ada"}, std::string(kPassword) + "\n").status, 3);
    EXPECT_EQ(pollux({"login"}, "ada\nmy new password 7\n").status, 0);
}

TEST_F(ApiCommands, SettingsAndTheirVersions) {
    log_in();
    EXPECT_EQ(good({"config", "history"}), "the settings were never changed\n");
    EXPECT_THAT(good({"settings", "set", "default_interval=45s", "--reason", "slower"}),
                HasSubstr("version 1 now"));
    good({"settings", "set", "default_interval=50s"});
    EXPECT_THAT(good({"settings", "get", "default_interval", "-o", "json"}), HasSubstr("50"));
    EXPECT_THAT(good({"settings", "get", "--changed"}), HasSubstr("default_interval"));
    EXPECT_THAT(good({"config", "history"}), AllOf(HasSubstr("slower"), HasSubstr("45")));
    EXPECT_THAT(good({"config", "diff", "1", "2"}),
                AllOf(HasSubstr("VERSION 1"), HasSubstr("default_interval")));
    EXPECT_THAT(good({"config", "rollback", "1", "--reason", "back"}), HasSubstr("as version 3"));
    EXPECT_THAT(good({"settings", "get", "default_interval"}), HasSubstr("45"));
    const Ran wrong = pollux({"settings", "set", "default_interval=banana"});
    EXPECT_EQ(wrong.status, 1);
    EXPECT_THAT(wrong.err, AllOf(HasSubstr("banana"), HasSubstr("at /default_interval")));
    EXPECT_EQ(pollux({"settings", "get", "nothing"}).status, 2);
    EXPECT_EQ(pollux({"config", "rollback", "99"}).status, 1);
}

TEST_F(ApiCommands, TheAuditTrailIsListedExportedAndVerified) {
    log_in();
    for (int i = 0; i < 5; ++i) {
        good({"add", "group", "g" + std::to_string(i), "--set", "tier=high", "--reason",
              "number " + std::to_string(i)});
    }
    const std::string all = good({"audit", "ls", "--action", "group."});
    EXPECT_THAT(all, AllOf(StartsWith("NUMBER"), HasSubstr("number 0"), HasSubstr("number 4")));
    EXPECT_EQ(std::ranges::count(good({"audit", "ls", "--limit", "2"}), '\n'), 3);
    EXPECT_THAT(good({"audit", "ls", "--object", "g3", "-o", "json"}),
                AllOf(HasSubstr("number 3"), Not(HasSubstr("number 2"))));
    EXPECT_EQ(std::ranges::count(good({"audit", "ls", "--result", "refused"}), '\n'), 1);
    const std::string lines = good({"audit", "export", "--action", "group."});
    EXPECT_EQ(std::ranges::count(lines, '\n'), 5);
    EXPECT_THAT(lines, StartsWith(R"({"number":)"));
    EXPECT_THAT(good({"audit", "verify"}), HasSubstr("ok: everything fits"));
    EXPECT_THAT(good({"audit", "verify", "-o", "json"}), HasSubstr(R"("ok":true)"));
    const Ran csv = pollux({"audit", "export", "--format", "csv"});
    EXPECT_EQ(csv.status, 2);
    EXPECT_EQ(pollux({"audit", "ls", "--from", "yesterday"}).status, 1);
}

TEST_F(ApiCommands, AnExportLongerThanAPieceComesWhole) {
    log_in();
    constexpr int kChanges = 230;  // more than the server reads at once
    for (int i = 0; i < kChanges; ++i) {
        const Ran ran = pollux({"user", "set", "ada", "--display", "Ada " + std::to_string(i)});
        ASSERT_EQ(ran.status, 0) << ran.err;
    }
    const std::string lines = good({"audit", "export", "--action", "user.change"});
    EXPECT_EQ(std::ranges::count(lines, '\n'), kChanges);
    EXPECT_EQ(std::ranges::count(
                  good({"audit", "ls", "--action", "user.change", "--limit", "1000"}), '\n'),
              kChanges + 1);
}

TEST_F(ApiCommands, AddonsOfARunningServerComeAndGo) {
    log_in();
    const std::string file = pollux.folder().write(
        "door.yaml",
        "schema: pollux/1\nname: acme-door\nversion: 1.0.0\ntitle: Acme door\n"
        "description: Whether it is open.\nprotocol: http\ninterval: 60s\nhttp:\n"
        "  endpoints:\n    - {name: status, path: /status, format: json}\n"
        "metrics:\n  - {name: open, type: gauge, help: 1 when it is open., path: $.open}\n");
    EXPECT_THAT(good({"addon", "install", file, "--dry-run"}), HasSubstr("is good"));
    EXPECT_THAT(good({"addon", "install", file, "--reason", "new doors"}),
                HasSubstr("acme-door 1.0.0"));
    EXPECT_EQ(pollux({"addon", "install", file}).status, 1);  // it is there already
    good({"addon", "install", file, "--replace"});
    EXPECT_THAT(good({"addon", "disable", "acme-door", "--reason", "repairs"}),
                HasSubstr("not polled any more"));
    EXPECT_THAT(good({"addon", "ls", "--server"}),
                AllOf(HasSubstr("acme-door"), HasSubstr("disabled")));
    good({"addon", "enable", "acme-door"});
    EXPECT_THAT(good({"addon", "rm", "acme-door"}), HasSubstr("removed"));
    EXPECT_THAT(good({"addon", "ls", "--server"}), Not(HasSubstr("acme-door")));
    const Ran bad =
        pollux({"addon", "install", pollux.folder().write("bad.yaml", "schema: pollux/1\n")});
    EXPECT_EQ(bad.status, 1);
    EXPECT_THAT(bad.err, HasSubstr("bad.yaml"));
}

TEST_F(ApiCommands, WorkersAndQueuesAreShown) {
    log_in();
    // They are looked at each second.
    EXPECT_TRUE(eventually([&] { return good({"workers"}).contains("pollux-core"); }));
    EXPECT_THAT(good({"workers"}), HasSubstr("memory"));
    EXPECT_THAT(good({"regions"}), HasSubstr("(local)"));
    EXPECT_THAT(good({"queues", "-o", "json"}), HasSubstr("\"items\""));
}

TEST_F(ApiCommands, AProblemSaysWhatAndWhereAndWhichRequest) {
    log_in();
    const Ran wrong = pollux({"add", "target", "no-such-addon::x", "--address", "127.0.0.1"});
    EXPECT_EQ(wrong.status, 1);
    EXPECT_THAT(wrong.err, AllOf(HasSubstr("no addon"), Not(HasSubstr("request"))));
    const Ran loud = pollux({"get", "device", "nobody", "-v"});
    EXPECT_EQ(loud.status, 1);
    EXPECT_THAT(loud.err, AllOf(HasSubstr("there is no device \"nobody\""),
                                HasSubstr("status 404, request ")));
    EXPECT_EQ(pollux({"add", "target", "no-colons"}).status, 2);
    EXPECT_EQ(pollux({"set", "device", "nobody"}).status, 2) << "nothing to change";
    EXPECT_EQ(pollux({"get", "nonsense"}).status, 2);
    EXPECT_EQ(pollux({"get", "devices", "--origin", "nonsense"}).status, 2);
}

TEST_F(ApiCommands, WhoIsNotReachedOrNotAllowedIsCodeThree) {
    const std::string bad = pollux.folder().write("bad.token", "plx_wrong\n");
    chmod(bad.c_str(), 0600);
    EXPECT_EQ(pollux({"get", "targets", "--token-file", bad}).status, 3);
    EXPECT_EQ(pollux({"get", "targets", "--token-file", bad + ".none"}).status, 1);
    const std::string nowhere = "http://127.0.0.1:" + std::to_string(net::test::free_port());
    const Ran lost = test::ApiStage::run({"health", "--url", nowhere});
    EXPECT_EQ(lost.status, 3);
    EXPECT_THAT(lost.err, AllOf(HasSubstr(nowhere), HasSubstr("--url")));
    EXPECT_EQ(test::ApiStage::run({"health", "--url", "ftp://x"}).status, 2);
}

TEST_F(ApiCommands, TheTokenOfOneServerIsNotSentToAnother) {
    log_in();
    test::ApiStage other;
    // Where the token of the first lies.
    const Ran ran = other({"get", "targets"});
    EXPECT_EQ(ran.status, 3) << "the other stage has a folder of its own";
    std::filesystem::create_directories(other.folder().file("config/pollux"));
    std::filesystem::copy_file(pollux.token_file(), other.token_file());
    const Ran foreign = other({"get", "targets"});
    EXPECT_EQ(foreign.status, 3);
    EXPECT_THAT(foreign.err, HasSubstr("is for " + pollux.url()));
}

}  // namespace
}  // namespace pollux::app
