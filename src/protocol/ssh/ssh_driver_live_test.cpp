// A real sshd, and what the ssh program says of the same host.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fstream>

#include "base/text.hpp"
#include "net/test_tcp_server.hpp"
#include "protocol/ssh/ssh_driver.hpp"
#include "protocol/ssh/test_sshd.hpp"
#include "protocol/test_bench.hpp"

namespace pollux::protocol {
namespace {

using ssh::HostKeys;
using ssh::test::make_key;
using ssh::test::Sshd;
using test::answer_in;
using test::failure_in;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SshDriverLive : public ::testing::Test {
  protected:
    SshDriverLive()
        : host_keys(std::make_shared<HostKeys>(folder.file("data/ssh_known_hosts"))),
          resolver(std::move(*net::Resolver::create(bench.loop(), {}))) {
        std::filesystem::create_directories(folder.file("data"));
        make_key(folder, "user_key", "ed25519");
        std::string keys = folder.read("user_key.pub");
        for (const auto& [name, type, passphrase] :
             {std::tuple{"rsa_key", "rsa", ""}, {"locked_key", "ed25519", "open sesame"}}) {
            make_key(folder, name, type, passphrase);
            keys += folder.read(std::string(name) + ".pub");
        }
        folder.write("authorized_keys", keys);
        make_driver();
    }

    void make_driver(bool strict = false, base::Duration idle = ssh::SshRules().idle) {
        driver = std::make_unique<SshDriver>(bench.loop(), *resolver,
                                             std::make_shared<const net::EgressPolicy>(),
                                             ssh::SshRules{host_keys, strict, idle});
    }

    model::Ask ask_of(std::string command, std::uint16_t port, std::string key = "user_key") {
        auto credentials = std::make_shared<model::Credentials>();
        credentials->username = "root";
        if (!key.empty()) credentials->ssh_key = folder.file(key);
        model::SshAsk request;
        request.command = std::move(command);
        request.good_exit = {{0, 255}};
        model::Ask ask;
        ask.host = "127.0.0.1";
        ask.port = port;
        ask.timeout = std::chrono::seconds(55);
        ask.credentials = std::move(credentials);
        ask.request = std::move(request);
        return ask;
    }

    static void change(model::Ask& ask, const std::function<void(model::Credentials&)>& edit) {
        auto credentials = std::make_shared<model::Credentials>(*ask.credentials);
        edit(*credentials);
        ask.credentials = std::move(credentials);
    }

    net::test::TempDir folder;
    test::Bench bench;
    std::shared_ptr<HostKeys> host_keys;
    std::unique_ptr<net::Resolver> resolver;
    std::unique_ptr<SshDriver> driver;
};

TEST_F(SshDriverLive, BringsWhatTheSshProgramBrings) {
    const Sshd sshd(folder);
    const std::string ask_pass = folder.write("ask_pass", "#!/bin/sh\necho 'correct horse'\n");
    ASSERT_EQ(chmod(ask_pass.c_str(), 0700), 0);
    struct Way {
        std::string user;
        std::string key;      // empty: by password
        std::string options;  // of the program
    };
    std::uint64_t logins = 0;
    for (const auto& [user, key, options] :
         {Way{"root", "user_key", "-o BatchMode=yes -i " + folder.file("user_key")},
          Way{"root", "rsa_key", "-o BatchMode=yes -i " + folder.file("rsa_key")},
          Way{"watcher", "", "-o PreferredAuthentications=password"}}) {
        for (const std::string command :
             {"echo hello", "printf 'a\\000b\\377\\n'; echo err >&2; exit 3", "cat /proc/version",
              "seq 1 50000", "true", "id -un", "echo \"$HOME\" | tr a-z A-Z"}) {
            model::Ask ask = ask_of(command, sshd.port(), key);
            change(ask, [&, name = user, password = key.empty()](auto& all) {
                all.username = name;
                if (password) all.password = base::Secret("correct horse");
            });
            const auto reply = answer_in<model::CommandReply>(bench.ask(*driver, ask));
            net::test::Process peer(
                {"sh", "-c",
                 fmt::format("ssh -F none -p {} {} -o StrictHostKeyChecking=no -o "
                             "UserKnownHostsFile=/dev/null -o LogLevel=ERROR {}@127.0.0.1 \"$0\" "
                             ">{} 2>{}",
                             sshd.port(), options, user, folder.file("out"), folder.file("err")),
                 command},
                folder, {{"SSH_ASKPASS", ask_pass}, {"SSH_ASKPASS_REQUIRE", "force"}});
            ASSERT_TRUE(peer.wait_for_end());
            EXPECT_EQ(reply.exit_status, peer.exit_code()) << user << " " << key << ": " << command;
            EXPECT_EQ(reply.out, folder.read("out")) << user << " " << key << ": " << command;
            EXPECT_EQ(reply.error_out, folder.read("err")) << user << " " << key << ": " << command;
        }
        EXPECT_EQ(driver->handshakes(), ++logins) << user << " " << key;
    }
    EXPECT_THAT(sshd.log(), HasSubstr("Accepted password for watcher"));
    EXPECT_THAT(sshd.log(), ::testing::ContainsRegex("Accepted publickey for root .* RSA "));
}

TEST_F(SshDriverLive, ReusesTheConnectionOfAHost) {
    const Sshd sshd(folder);
    for (int i = 0; i < 30; ++i) {
        EXPECT_TRUE(bench.ask(*driver, ask_of("true", sshd.port())).ok());
    }
    EXPECT_EQ(driver->handshakes(), 1U);
    EXPECT_EQ(sshd.logins(), 1U);
    // Several at once go over it side by side.
    std::vector<std::shared_ptr<std::optional<model::Reply>>> replies;
    for (int i = 0; i < 12; ++i) {
        replies.push_back(
            bench.begin(*driver, ask_of(fmt::format("sleep 0.2; echo {}", i), sshd.port())));
    }
    ASSERT_TRUE(bench.run_until([&] {
        return std::ranges::all_of(replies, [](const auto& one) { return one->has_value(); });
    }));
    for (int i = 0; i < 12; ++i) {
        EXPECT_EQ(answer_in<model::CommandReply>(**replies[static_cast<std::size_t>(i)]).out,
                  fmt::format("{}\n", i));
    }
    EXPECT_EQ(driver->handshakes(), 1U);
    // A fresh login is one.
    EXPECT_TRUE(bench.ask(*driver, ask_of("true", sshd.port()), false, true).ok());
    EXPECT_EQ(driver->handshakes(), 2U);
    EXPECT_EQ(driver->connections(), 1U);
}

TEST_F(SshDriverLive, ReplacesAConnectionThatTheServerClosed) {
    Sshd sshd(folder);
    EXPECT_TRUE(bench.ask(*driver, ask_of("true", sshd.port())).ok());
    // Ends the process of our own session, as an idle limit would.
    bench.ask(*driver, ask_of("kill -9 $PPID", sshd.port()));
    EXPECT_TRUE(bench.ask(*driver, ask_of("true", sshd.port())).ok());
    EXPECT_EQ(driver->handshakes(), 2U);
}

TEST_F(SshDriverLive, ClosesAConnectionThatNobodyUsedForLongerThanTheIdleTime) {
    const Sshd sshd(folder);
    make_driver(false, std::chrono::milliseconds(100));
    EXPECT_TRUE(bench.ask(*driver, ask_of("true", sshd.port())).ok());
    EXPECT_TRUE(bench.run_until([&] { return driver->connections() == 0; }));
    EXPECT_EQ(driver->handshakes(), 1U);
    EXPECT_TRUE(bench.ask(*driver, ask_of("true", sshd.port())).ok());
    EXPECT_EQ(driver->handshakes(), 2U);
    // A host may see one login an hour, however rarely it is polled.
    EXPECT_GT(ssh::SshRules().idle, std::chrono::hours(1));
}

TEST_F(SshDriverLive, LogsInByKeyPassphraseAndPassword) {
    const Sshd sshd(folder);
    EXPECT_TRUE(bench.ask(*driver, ask_of("true", sshd.port(), "rsa_key")).ok());
    model::Ask locked = ask_of("true", sshd.port(), "locked_key");
    EXPECT_EQ(failure_in(bench.ask(*driver, locked)).code, "ssh.key");
    change(locked, [](auto& all) { all.ssh_key_password = base::Secret("wrong"); });
    const auto wrong = failure_in(bench.ask(*driver, locked));
    EXPECT_EQ(wrong.code, "ssh.key");
    EXPECT_EQ(wrong.kind, model::FailureKind::kConfiguration);
    EXPECT_THAT(wrong.message, ::testing::Not(HasSubstr("wrong")));
    change(locked, [](auto& all) { all.ssh_key_password = base::Secret("open sesame"); });
    EXPECT_TRUE(bench.ask(*driver, locked).ok());

    model::Ask password = ask_of("id -un", sshd.port(), "");
    change(password, [](auto& all) {
        all.username = "watcher";
        all.password = base::Secret("correct horse");
    });
    EXPECT_EQ(answer_in<model::CommandReply>(bench.ask(*driver, password)).out, "watcher\n");
    change(password, [](auto& all) { all.password = base::Secret("battery staple"); });
    const auto refused = failure_in(bench.ask(*driver, password));
    EXPECT_EQ(refused.code, "ssh.auth");
    EXPECT_EQ(refused.kind, model::FailureKind::kAuth);
    EXPECT_THAT(refused.message, HasSubstr("publickey, password"));
    EXPECT_THAT(refused.message, ::testing::Not(HasSubstr("battery")));
}

// Many devices take passwords by keyboard-interactive only: they ask, we answer.
TEST_F(SshDriverLive, AnswersAServerThatAsksForThePassword) {
    constexpr const char* kOnce = "auth required pam_unix.so\n";
    constexpr const char* kRest =
        "account required pam_permit.so\nsession required pam_permit.so\n";
    for (const int questions : {1, 2}) {
        std::string pam = kRest;
        for (int i = 0; i < questions; ++i) pam = kOnce + pam;
        const Sshd sshd(folder, "", 0, "host_key", {"127.0.0.1"}, pam);
        model::Ask ask = ask_of("id -un", sshd.port(), "");
        change(ask, [](auto& all) {
            all.username = "watcher";
            all.password = base::Secret("correct horse");
        });
        const model::Reply good = bench.ask(*driver, ask);
        EXPECT_EQ(answer_in<model::CommandReply>(good).out, "watcher\n") << sshd.log();
        EXPECT_THAT(sshd.log(), HasSubstr("Accepted keyboard-interactive/pam for watcher"));
        change(ask, [](auto& all) { all.password = base::Secret("battery staple"); });
        const auto refused = failure_in(bench.ask(*driver, ask));
        EXPECT_EQ(refused.code, "ssh.auth");
        EXPECT_EQ(refused.kind, model::FailureKind::kAuth);
        EXPECT_THAT(refused.message, HasSubstr("tried: password (keyboard-interactive)"));
        EXPECT_THAT(refused.message, ::testing::Not(HasSubstr("battery")));
    }
}

TEST_F(SshDriverLive, LogsInByAgent) {
    const Sshd sshd(folder);
    const std::string socket = folder.file("agent.sock");
    net::test::Process agent({"ssh-agent", "-D", "-a", socket}, folder);
    ASSERT_TRUE(net::test::Process::wait_until(std::chrono::seconds(30),
                                               [&] { return access(socket.c_str(), F_OK) == 0; }));
    setenv("SSH_AUTH_SOCK", socket.c_str(), 1);
    // Of several keys the one that the server takes, whatever its kind.
    make_key(folder, "stranger", "ed25519");
    net::test::run_tool({"ssh-add", "-q", folder.file("stranger")}, folder);
    model::Ask ask = ask_of("echo by agent", sshd.port(), "");
    EXPECT_EQ(failure_in(bench.ask(*driver, ask)).code, "ssh.auth");
    change(ask, [](auto& all) { all.ssh_agent = true; });
    EXPECT_EQ(failure_in(bench.ask(*driver, ask)).code, "ssh.auth");
    for (const char* key : {"rsa_key", "user_key"}) {
        net::test::run_tool({"ssh-add", "-q", folder.file(key)}, folder);
        const auto reply = bench.ask(*driver, ask, false, true);
        EXPECT_EQ(answer_in<model::CommandReply>(reply).out, "by agent\n") << key;
        net::test::run_tool({"ssh-add", "-q", "-d", folder.file(key)}, folder);
    }
    EXPECT_EQ(sshd.logins(), 2U);
    unsetenv("SSH_AUTH_SOCK");
}

TEST_F(SshDriverLive, AnAgentThatDoesNotSignHoldsNobodyUp) {
    const Sshd sshd(folder);
    const std::string hold = folder.write("hold", "");
    const std::string confirm = folder.write(
        "confirm", "#!/bin/sh\nwhile [ -e " + hold + " ]; do sleep 0.1; done\nexit 0\n");
    ASSERT_EQ(chmod(confirm.c_str(), 0700), 0);
    const std::string socket = folder.file("agent.sock");
    net::test::Process agent(
        {"ssh-agent", "-D", "-a", socket}, folder,
        {{"SSH_ASKPASS", confirm}, {"SSH_ASKPASS_REQUIRE", "force"}, {"DISPLAY", ":0"}});
    ASSERT_TRUE(net::test::Process::wait_until(std::chrono::seconds(30),
                                               [&] { return access(socket.c_str(), F_OK) == 0; }));
    setenv("SSH_AUTH_SOCK", socket.c_str(), 1);
    net::test::run_tool({"ssh-add", "-q", "-c", folder.file("user_key")}, folder);
    model::Ask by_agent = ask_of("echo by agent", sshd.port(), "");
    change(by_agent, [](auto& all) { all.ssh_agent = true; });
    const auto waits = bench.begin(*driver, by_agent);
    // It lists its keys and then asks a person, who has not answered when all of this is over.
    EXPECT_EQ(
        answer_in<model::CommandReply>(bench.ask(*driver, ask_of("echo by key", sshd.port()))).out,
        "by key\n");
    ASSERT_TRUE(bench.run_until([&] { return waits->has_value(); }));
    EXPECT_EQ(failure_in(**waits).code, "ssh.agent");
    EXPECT_THAT(failure_in(**waits).message, HasSubstr("did not answer"));
    // Whoever waits for it can be cancelled, and thrown away with the driver.
    EXPECT_THAT(test::contract_problems(bench, *driver, by_agent, "ssh.timeout"), ElementsAre());
    const auto dropped = bench.begin(*driver, by_agent);
    bench.run_until([&] { return false; }, std::chrono::milliseconds(300));
    make_driver();
    EXPECT_FALSE(dropped->has_value());
    std::filesystem::remove(hold);
    EXPECT_EQ(answer_in<model::CommandReply>(bench.ask(*driver, by_agent)).out, "by agent\n");
    unsetenv("SSH_AUTH_SOCK");
}

// Whoever listens at a path and never answers, as an agent that hangs.
class MuteAgent {
  public:
    explicit MuteAgent(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(listen(fd_, 8), 0);
        setenv("SSH_AUTH_SOCK", path.c_str(), 1);
    }
    ~MuteAgent() {
        unsetenv("SSH_AUTH_SOCK");
        close(fd_);
    }

  private:
    int fd_;
};

TEST_F(SshDriverLive, AnAgentThatHangsHoldsNobodyUp) {
    const Sshd sshd(folder);
    const MuteAgent agent(folder.file("mute.sock"));
    model::Ask ask = ask_of("true", sshd.port(), "");
    change(ask, [](auto& all) { all.ssh_agent = true; });
    const auto alone = failure_in(bench.ask(*driver, ask));
    EXPECT_EQ(alone.code, "ssh.agent");
    EXPECT_THAT(alone.message, HasSubstr("did not answer"));
    // With another way in, it is only one way less.
    model::Ask both = ask_of("echo by key", sshd.port());
    change(both, [](auto& all) { all.ssh_agent = true; });
    EXPECT_EQ(answer_in<model::CommandReply>(bench.ask(*driver, both)).out, "by key\n");
}

TEST_F(SshDriverLive, SaysThatThereIsNoAgent) {
    const Sshd sshd(folder);
    unsetenv("SSH_AUTH_SOCK");
    model::Ask ask = ask_of("true", sshd.port(), "");
    change(ask, [](auto& all) { all.ssh_agent = true; });
    EXPECT_THAT(failure_in(bench.ask(*driver, ask)).message, HasSubstr("SSH_AUTH_SOCK is not set"));
    setenv("SSH_AUTH_SOCK", folder.file("nobody.sock").c_str(), 1);
    EXPECT_THAT(failure_in(bench.ask(*driver, ask)).message, HasSubstr("No such file"));
    unsetenv("SSH_AUTH_SOCK");
}

TEST_F(SshDriverLive, RecordsANewHostAndRefusesAChangedKey) {
    std::uint16_t port = 0;
    {
        const Sshd sshd(folder);
        port = sshd.port();
        EXPECT_TRUE(bench.ask(*driver, ask_of("true", port)).ok());
        const auto known = host_keys->list();
        ASSERT_TRUE(known);
        ASSERT_EQ(known->size(), 1U);
        EXPECT_EQ((*known)[0].host, fmt::format("[127.0.0.1]:{}", port));
        EXPECT_THAT(folder.read("host_key.pub"), HasSubstr((*known)[0].key));
    }
    make_key(folder, "other_key", "ed25519");
    const Sshd impostor(folder, "", port, "other_key");
    make_driver();
    const auto failure = failure_in(bench.ask(*driver, ask_of("true", port)));
    EXPECT_EQ(failure.code, "ssh.host_key_changed");
    EXPECT_EQ(failure.kind, model::FailureKind::kCertificate);
    for (const char* key : {"host_key.pub", "other_key.pub"}) {
        const std::string shown =
            net::test::run_tool({"ssh-keygen", "-l", "-f", folder.file(key)}, folder);
        const std::size_t at = shown.find("SHA256:");
        EXPECT_THAT(failure.message, HasSubstr(shown.substr(at, shown.find(' ', at) - at)));
    }
    EXPECT_THAT(failure.message, HasSubstr("pollux ssh host-keys forget 127.0.0.1"));
    EXPECT_EQ(impostor.logins(), 0U);  // nothing was shown to it
    // Another process forgets the key; the driver sees that.
    HostKeys other(host_keys->path());
    EXPECT_EQ(*other.forget("127.0.0.1"), 1U);
    EXPECT_TRUE(bench.ask(*driver, ask_of("true", port)).ok());
}

TEST_F(SshDriverLive, AsksForTheKindOfKeyThatIsRecorded) {
    make_key(folder, "rsa_host", "rsa");
    const Sshd sshd(folder, fmt::format("HostKey {}\n", folder.file("rsa_host")));
    const std::string pub = folder.read("rsa_host.pub");
    ASSERT_TRUE(host_keys->remember({fmt::format("[127.0.0.1]:{}", sshd.port()), "ssh-rsa",
                                     pub.substr(8, pub.find(' ', 8) - 8)}));
    EXPECT_TRUE(bench.ask(*driver, ask_of("true", sshd.port())).ok());
}

TEST_F(SshDriverLive, LogsInNowhereWhileTheKeysOfHostsCannotBeRead) {
    const Sshd sshd(folder);
    std::filesystem::create_directory(host_keys->path());
    const auto refused = failure_in(bench.ask(*driver, ask_of("true", sshd.port())));
    EXPECT_EQ(refused.code, "ssh.host_keys");
    EXPECT_EQ(refused.kind, model::FailureKind::kConfiguration);
    EXPECT_THAT(refused.message, HasSubstr(host_keys->path()));
    EXPECT_EQ(sshd.logins(), 0U);
    std::filesystem::remove(host_keys->path());
    EXPECT_TRUE(bench.ask(*driver, ask_of("true", sshd.port())).ok());
}

TEST_F(SshDriverLive, RefusesAHashedHostWithAnotherKeyAndARevokedKey) {
    const Sshd sshd(folder);
    make_key(folder, "other_key", "ed25519");
    const std::string host = fmt::format("[127.0.0.1]:{}", sshd.port());
    folder.write("data/ssh_known_hosts", host + " " + folder.read("other_key.pub"));
    net::test::run_tool({"ssh-keygen", "-q", "-H", "-f", host_keys->path()}, folder);
    EXPECT_EQ(failure_in(bench.ask(*driver, ask_of("true", sshd.port()))).code,
              "ssh.host_key_changed");
    folder.write("data/ssh_known_hosts", "\n@revoked * " + folder.read("host_key.pub"));
    const auto revoked = failure_in(bench.ask(*driver, ask_of("true", sshd.port())));
    EXPECT_EQ(revoked.code, "ssh.host_key_revoked");
    EXPECT_EQ(revoked.kind, model::FailureKind::kCertificate);
    EXPECT_THAT(revoked.message, HasSubstr("line 2 of " + host_keys->path()));
    EXPECT_EQ(sshd.logins(), 0U);
}

TEST_F(SshDriverLive, RefusesUnknownHostsWhenStrict) {
    const Sshd sshd(folder);
    make_driver(true);
    EXPECT_EQ(failure_in(bench.ask(*driver, ask_of("true", sshd.port()))).code,
              "ssh.host_key_unknown");
    const std::string pub = folder.read("host_key.pub");
    // As ssh-keyscan writes it, by hand into the file.
    folder.write("data/ssh_known_hosts",
                 fmt::format("# ours\n[127.0.0.1]:{} {}", sshd.port(), pub));
    EXPECT_TRUE(bench.ask(*driver, ask_of("true", sshd.port())).ok());
}

TEST_F(SshDriverLive, TellsHowACommandEnded) {
    const Sshd sshd(folder);
    model::Ask ask = ask_of("echo 'disk full' >&2; exit 9", sshd.port());
    std::get<model::SshAsk>(ask.request).good_exit = {{0, 0}};
    const auto status = failure_in(bench.ask(*driver, ask));
    EXPECT_EQ(status.code, "ssh.exit_status");
    EXPECT_THAT(status.message, HasSubstr("status 9: \"disk full\""));
    EXPECT_EQ(failure_in(bench.ask(*driver, ask_of("kill -9 $$", sshd.port()))).code, "ssh.signal");
    EXPECT_EQ(driver->handshakes(), 1U);
}

TEST_F(SshDriverLive, ShowsNothingThatTerminalsObey) {
    const Sshd sshd(folder);
    const std::string command =
        "printf '\\033]0;title\\007\\033[31;1mdisk\\033[0m is \\033[2Jfull\\r\\033M\\n' >&2; exit "
        "9";
    model::Ask ask = ask_of(command, sshd.port());
    std::get<model::SshAsk>(ask.request).good_exit = {{0, 0}};
    const model::Reply reply = bench.ask(*driver, ask, true);
    EXPECT_EQ(failure_in(reply).code, "ssh.exit_status");
    EXPECT_THAT(failure_in(reply).message, HasSubstr("status 9: \"disk is full\""));
    EXPECT_FALSE(base::has_control(failure_in(reply).message)) << failure_in(reply).message;
    for (const std::string& line : reply.trace) EXPECT_FALSE(base::has_control(line)) << line;
}

TEST_F(SshDriverLive, BoundsTheOutput) {
    const Sshd sshd(folder);
    model::Ask ask = ask_of("head -c 3000000 /dev/zero | tr '\\0' x", sshd.port());
    const auto reply = answer_in<model::CommandReply>(bench.ask(*driver, ask));
    EXPECT_TRUE(reply.truncated);
    EXPECT_EQ(reply.out.size(), 1U << 20U);
    EXPECT_EQ(failure_in(bench.ask(*driver, ask_of("yes", sshd.port()))).code,
              "ssh.output_too_large");
}

TEST_F(SshDriverLive, WorksOverIpv6AndNames) {
    const Sshd sshd(folder);
    for (const char* host : {"::1", "localhost"}) {
        model::Ask ask = ask_of("echo yes", sshd.port());
        ask.host = host;
        EXPECT_EQ(answer_in<model::CommandReply>(bench.ask(*driver, ask)).out, "yes\n") << host;
    }
}

TEST_F(SshDriverLive, ChecksAddressAndUser) {
    model::Ask ask = ask_of("true", 22);
    ask.host = "169.254.169.254";
    EXPECT_EQ(failure_in(bench.ask(*driver, ask)).code, "egress.denied");
    EXPECT_EQ(failure_in(bench.ask(*driver, ask_of("true", net::test::free_port()))).code,
              "ssh.refused");
    ask = ask_of("true", 22);
    ask.credentials = nullptr;
    EXPECT_EQ(failure_in(bench.ask(*driver, ask)).code, "ssh.no_user");
}

TEST_F(SshDriverLive, KeepsTheContractOfDrivers) {
    const Sshd sshd(folder);
    EXPECT_TRUE(bench.ask(*driver, ask_of("true", sshd.port())).ok());
    EXPECT_THAT(
        test::contract_problems(bench, *driver, ask_of("sleep 300", sshd.port()), "ssh.timeout"),
        ElementsAre());
    const auto dropped = bench.begin(*driver, ask_of("sleep 300", sshd.port()));
    bench.run_until([&] { return false; }, std::chrono::milliseconds(300));
    driver.reset();
    EXPECT_FALSE(dropped->has_value());
}

TEST_F(SshDriverLive, EndsAtTheDeadlineWhereverAServerStalls) {
    // Silent at once, after its name, and with an endless one.
    net::test::TcpServer server(bench.loop());
    for (const std::string_view greeting : {"", "SSH-2.0-Stalls\r\n", "SSH-2.0-"}) {
        server.on_accept = [&](auto& peer) { peer.send(greeting); };
        EXPECT_THAT(
            test::contract_problems(bench, *driver, ask_of("true", server.port()), "ssh.timeout"),
            ElementsAre())
            << greeting;
        EXPECT_EQ(driver->connections(), 0U);
    }
    for (const std::string_view line : {"HTTP/1.1 400 Bad\r\n", "banner banner banner\r\n"}) {
        server.on_accept = [&](auto& peer) { peer.stream([line] { return std::string(line); }); };
        model::Ask ask = ask_of("true", server.port());
        ask.timeout = std::chrono::seconds(2);
        const auto failure = failure_in(bench.ask(*driver, ask));
        EXPECT_THAT(failure.code, ::testing::AnyOf("ssh.handshake", "ssh.timeout"));
        EXPECT_EQ(driver->connections(), 0U);
    }
    server.on_accept = [](auto& peer) {
        peer.send("SSH-2.0-Junk\r\n");
        peer.send(std::string(4096, '\xff'));
    };
    EXPECT_EQ(failure_in(bench.ask(*driver, ask_of("true", server.port()))).code, "ssh.handshake");
}

TEST_F(SshDriverLive, EachWaitsForALoginAsLongAsItsOwnTimeAllows) {
    const Sshd sshd(folder);
    kill(sshd.pid(), SIGSTOP);  // the kernel still takes connections
    model::Ask hasty = ask_of("true", sshd.port());
    hasty.timeout = std::chrono::milliseconds(300);
    const auto first = bench.begin(*driver, hasty);
    const auto joined = bench.begin(*driver, ask_of("echo joined", sshd.port()));
    ASSERT_TRUE(bench.run_until([&] { return first->has_value(); }));
    EXPECT_EQ(failure_in(**first).code, "ssh.timeout");
    EXPECT_FALSE(joined->has_value());
    EXPECT_EQ(driver->handshakes(), 1U);
    // A login that did not come about in somebody's time is not joined any more.
    const auto later = bench.begin(*driver, ask_of("echo later", sshd.port()));
    EXPECT_EQ(driver->handshakes(), 2U);
    kill(sshd.pid(), SIGCONT);
    ASSERT_TRUE(bench.run_until([&] { return joined->has_value() && later->has_value(); }));
    EXPECT_EQ(answer_in<model::CommandReply>(**joined).out, "joined\n");
    EXPECT_EQ(answer_in<model::CommandReply>(**later).out, "later\n");
    EXPECT_EQ(driver->connections(), 1U);
}

TEST_F(SshDriverLive, FreesTheSlotOfAServerThatStallsAfterTheLogin) {
    const Sshd sshd(folder);
    const auto pid =
        answer_in<model::CommandReply>(bench.ask(*driver, ask_of("echo $PPID", sshd.port())));
    const pid_t session = static_cast<pid_t>(std::stol("0" + pid.out));
    ASSERT_GT(session, 1);
    kill(session, SIGSTOP);
    model::Ask ask = ask_of("true", sshd.port());
    ask.timeout = std::chrono::milliseconds(500);
    EXPECT_EQ(failure_in(bench.ask(*driver, ask)).code, "ssh.timeout");
    EXPECT_EQ(driver->in_flight(), 0U);
    kill(session, SIGKILL);
    EXPECT_TRUE(bench.ask(*driver, ask_of("true", sshd.port())).ok());
}

}  // namespace
}  // namespace pollux::protocol
