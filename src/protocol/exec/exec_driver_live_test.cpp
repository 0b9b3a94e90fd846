// Real programs: shell scripts, the plugins of the distribution, and programs that misbehave.
#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "net/test_process.hpp"
#include "protocol/exec/exec_driver.hpp"
#include "protocol/test_bench.hpp"

namespace pollux::protocol {
namespace {

using test::answer_in;
using test::failure_in;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ExecDriverLive : public ::testing::Test {
  protected:
    ExecDriverLive()
        : driver(std::make_unique<ExecDriver>(
              bench.loop(), exec::ExecRules{{folder.path(), "/usr/lib/nagios/plugins"}, {}},
              std::make_shared<const net::EgressPolicy>())) {}

    void script(const std::string& name, const std::string& text) {
        const std::string path = folder.write(name, "#!/bin/sh\n" + text);
        ASSERT_EQ(chmod(path.c_str(), 0755), 0);
    }

    static model::Ask ask_of(std::vector<std::string> argv,
                             base::Duration timeout = std::chrono::seconds(55)) {
        model::ExecAsk exec;
        exec.argv = std::move(argv);
        model::Ask ask;
        ask.host = "127.0.0.1";
        ask.timeout = timeout;
        ask.request = std::move(exec);
        return ask;
    }

    model::Reply run(std::vector<std::string> argv,
                     base::Duration timeout = std::chrono::seconds(55)) {
        return bench.ask(*driver, ask_of(std::move(argv), timeout));
    }

    // Our own children that nobody reaped, or that still run.
    bool all_gone() {
        return bench.run_until([&] { return driver->processes() == 0; });
    }

    net::test::TempDir folder;
    test::Bench bench;
    std::unique_ptr<ExecDriver> driver;
};

TEST_F(ExecDriverLive, RunsAPluginOfTheDistribution) {
    const auto reply = answer_in<model::CommandReply>(run({"check_dummy", "1", "half full"}));
    EXPECT_EQ(reply.exit_status, 1);
    EXPECT_EQ(reply.out, "WARNING: half full\n");
    EXPECT_EQ(reply.error_out, "");
}

TEST_F(ExecDriverLive, PassesArgumentsAsTheyAre) {
    script("arguments", "for a in \"$@\"; do echo \"<$a>\"; done\n");
    const auto reply =
        answer_in<model::CommandReply>(run({"arguments", "two words", "$(id)", "'", "", "a;b"}));
    EXPECT_EQ(reply.out, "<two words>\n<$(id)>\n<'>\n<>\n<a;b>\n");
}

TEST_F(ExecDriverLive, StartsWithACleanMaskAndDefaultDispositionsWhateverTheParentDoes) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &all, &before), 0);
    auto* const ignored = signal(SIGPIPE, SIG_IGN);
    driver->set_rules({{folder.path()}, {"/bin/cat"}});
    const auto status = answer_in<model::CommandReply>(run({"/bin/cat", "/proc/self/status"})).out;
    signal(SIGPIPE, ignored);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    EXPECT_THAT(status, HasSubstr("SigBlk:\t0000000000000000\n"));
    // Signals 32 and 33 belong to the C library: nobody can set them but whoever started us.
    constexpr std::uint64_t kLibrary = 3ULL << 31U;
    const std::size_t at = status.find("SigIgn:");
    ASSERT_NE(at, std::string::npos);
    const std::uint64_t still_ignored = std::stoull(status.substr(at + 7, 18), nullptr, 16);
    EXPECT_EQ(still_ignored & ~kLibrary, 0U) << std::hex << still_ignored;
}

TEST_F(ExecDriverLive, GivesNothingOfItsOwnToTheProgram) {
    // Not close-on-exec, as a careless library may leave it.
    const int leaked = open("/dev/zero", O_RDONLY);  // NOLINT: on purpose without O_CLOEXEC
    ASSERT_GT(leaked, 2);
    setenv("POLLUX_TEST_SECRET", "s3cret", 1);
    script("world",
           "ls /proc/self/fd | tr '\\n' ' '; echo; pwd; env | sort; readlink /proc/self/fd/0\n"
           "cut -d' ' -f1,5,6 /proc/$$/stat\n");
    model::Ask ask = ask_of({"world"});
    std::get<model::ExecAsk>(ask.request).environment = {{"SITE", "north west"}};
    const auto out = answer_in<model::CommandReply>(bench.ask(*driver, ask)).out;
    close(leaked);
    unsetenv("POLLUX_TEST_SECRET");
    EXPECT_THAT(out, HasSubstr("0 1 2 3 \n/\n"));  // 3 is the folder that ls itself reads
    EXPECT_THAT(out, ::testing::Not(HasSubstr("s3cret")));
    EXPECT_THAT(out, HasSubstr("LC_ALL=C\nPATH=/usr/local/sbin:"));
    EXPECT_THAT(out, HasSubstr("SITE=north west\n"));
    EXPECT_THAT(out, HasSubstr("/dev/null\n"));
    // pid, process group and session are one number.
    std::istringstream last(out.substr(out.rfind('\n', out.size() - 2) + 1));
    long pid = 0;
    long group = 1;
    long session = 2;
    last >> pid >> group >> session;
    EXPECT_EQ(pid, group);
    EXPECT_EQ(pid, session);
    EXPECT_NE(pid, 0);
}

TEST_F(ExecDriverLive, RefusesWhatTheOperatorDidNotAllow) {
    EXPECT_EQ(failure_in(run({"/bin/sh", "-c", "true"})).code, "exec.not_allowed");
    EXPECT_EQ(failure_in(run({"../bin/sh"})).code, "exec.not_allowed");
    EXPECT_EQ(failure_in(run({"/usr/lib/nagios/plugins/../../../bin/true"})).code,
              "exec.not_allowed");
    EXPECT_EQ(failure_in(run({".."})).code, "exec.not_allowed");
    EXPECT_EQ(failure_in(run({"check_nothing_of_this_name"})).code, "exec.not_found");
    folder.write("data", "no program");
    EXPECT_EQ(failure_in(run({"data"})).code, "exec.not_found");
    const auto refused = failure_in(run({"/bin/sh"}));
    EXPECT_EQ(refused.kind, model::FailureKind::kConfiguration);
    EXPECT_THAT(refused.message, HasSubstr("exec_allow"));
    driver->set_rules({{}, {"/bin/true"}});
    EXPECT_TRUE(run({"/bin/true"}).ok());
    EXPECT_EQ(failure_in(run({"/bin/false"})).code, "exec.not_allowed");
}

TEST_F(ExecDriverLive, ChecksTheAddressOfTheTarget) {
    model::Ask ask = ask_of({"check_dummy", "0"});
    ask.host = "169.254.169.254";
    EXPECT_EQ(failure_in(bench.ask(*driver, ask)).code, "egress.denied");
}

TEST_F(ExecDriverLive, TellsHowAProgramEnded) {
    script("bad", "echo out; echo 'no route' >&2; exit 7\n");
    const auto status = failure_in(run({"bad"}));
    EXPECT_EQ(status.code, "exec.exit_status");
    EXPECT_THAT(status.message, HasSubstr("status 7: \"no route\""));
    script("killed", "kill -SEGV $$\n");
    const auto by_signal = failure_in(run({"killed"}));
    EXPECT_EQ(by_signal.code, "exec.signal");
    EXPECT_THAT(by_signal.message, HasSubstr("signal 11"));
    script("broken", "");
    folder.write("broken", "#!/no/such/interpreter\n");
    EXPECT_EQ(failure_in(run({"broken"})).code, "exec.cannot_start");
}

TEST_F(ExecDriverLive, KillsAProgramThatIgnoresItsEnd) {
    script("stubborn", "trap '' TERM INT HUP; echo $$ > " + folder.file("pid") +
                           "; (trap '' TERM; sleep 300) & while :; do sleep 1; done\n");
    const auto failure = failure_in(run({"stubborn"}, std::chrono::milliseconds(500)));
    EXPECT_EQ(failure.code, "exec.timeout");
    EXPECT_EQ(failure.kind, model::FailureKind::kTimeout);
    EXPECT_EQ(driver->in_flight(), 0U);
    const pid_t group = static_cast<pid_t>(std::stol(folder.read("pid")));
    EXPECT_TRUE(all_gone());
    EXPECT_TRUE(bench.run_until([&] { return kill(-group, 0) != 0; })) << "children live on";
}

// Whether the process whose number stands in the file is there, and no zombie.
bool lives(const std::string& number) {
    std::ifstream file("/proc/" + std::to_string(std::stol("0" + number)) + "/stat");
    std::string pid;
    std::string name;
    std::string state;
    return file >> pid >> name >> state && state != "Z" && state != "X";
}

TEST_F(ExecDriverLive, KillsWhatLeftTheGroupOfAProgramThatIsStopped) {
    // In a session of its own, deaf to a kind word, below a process that is in none of ours either.
    script("deaf", "trap '' TERM; echo $$ > " + folder.file("deaf") + ".new; mv " +
                       folder.file("deaf") + ".new " + folder.file("deaf") +
                       ".pid; while :; do sleep 1; done\n");
    script("leaver", "setsid -w setsid -w " + folder.file("deaf") + "\n");
    const auto reply = bench.begin(*driver, ask_of({"leaver"}, std::chrono::seconds(50)));
    ASSERT_TRUE(bench.run_until([&] { return !folder.read("deaf.pid").empty(); }));
    ASSERT_TRUE(lives(folder.read("deaf.pid")));
    driver->cancel(bench.last_id());
    ASSERT_TRUE(bench.run_until([&] { return reply->has_value(); }));
    EXPECT_TRUE(all_gone());
    EXPECT_TRUE(bench.run_until([&] { return !lives(folder.read("deaf.pid")); }));
}

// What docs/plugins.md says of daemons: an orphan cannot be told from the processes of others.
TEST_F(ExecDriverLive, LeavesADaemonThatLeftItsGroupAndItsParent) {
    script("daemon", "(setsid sh -c 'echo $$ > " + folder.file("new") + "; mv " +
                         folder.file("new") + " " + folder.file("pid") +
                         "; exec sleep 300 >/dev/null 2>&1' &)\nwhile [ ! -e " +
                         folder.file("pid") + " ]; do sleep 0.1; done\n");
    EXPECT_TRUE(run({"daemon"}).ok());
    EXPECT_TRUE(all_gone());
    const std::string pid = folder.read("pid");
    EXPECT_TRUE(lives(pid));
    kill(static_cast<pid_t>(std::stol(pid)), SIGKILL);
}

TEST_F(ExecDriverLive, DoesNotWaitForChildrenThatKeepThePipe) {
    script("forker", "echo done; sleep 300 &\nexit 0\n");
    const base::BootTime before = net::boot_now();
    const auto reply = answer_in<model::CommandReply>(run({"forker"}, std::chrono::seconds(50)));
    EXPECT_EQ(reply.out, "done\n");
    EXPECT_LT(net::boot_now() - before, std::chrono::seconds(40));
    EXPECT_EQ(driver->processes(), 0U);
}

TEST_F(ExecDriverLive, KeepsWhatIsAllowedOfALongOutputAndStopsAFlood) {
    script("long", "head -c 1000000 /dev/zero | tr '\\0' 'x'\n");
    const auto reply = answer_in<model::CommandReply>(run({"long"}));
    EXPECT_TRUE(reply.truncated);
    EXPECT_EQ(reply.out.size(), 65'536U);
    script("flood", "head -c 64000000 /dev/zero\n");
    EXPECT_EQ(failure_in(run({"flood"})).code, "exec.output_too_large");
    script("endless", "yes >&2\n");
    EXPECT_EQ(failure_in(run({"endless"})).code, "exec.output_too_large");
    EXPECT_TRUE(all_gone());
}

TEST_F(ExecDriverLive, MakesBinaryOutputValid) {
    script("binary", "printf 'a\\377\\000b'\n");
    const auto reply = answer_in<model::CommandReply>(run({"binary"}));
    EXPECT_EQ(reply.out, std::string("a\xEF\xBF\xBD\0b", 6));
}

TEST_F(ExecDriverLive, LeavesNoZombiesAndReapsNobodyElse) {
    const pid_t other = fork();
    if (other == 0) _exit(5);
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(run({"check_dummy", "0"}).ok());
    EXPECT_TRUE(all_gone());
    int status = 0;
    EXPECT_EQ(waitpid(other, &status, 0), other);
    EXPECT_EQ(WEXITSTATUS(status), 5);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // no child is left
}

TEST_F(ExecDriverLive, RunsABoundedNumberAtOnce) {
    script("nap", "sleep 0.1\n");
    std::vector<std::shared_ptr<std::optional<model::Reply>>> replies;
    for (std::size_t i = 0; i < kMaxProcesses + 40; ++i) {
        replies.push_back(bench.begin(*driver, ask_of({"nap"})));
    }
    std::size_t most = 0;
    EXPECT_TRUE(bench.run_until([&] {
        most = std::max(most, driver->processes());
        return std::ranges::all_of(replies, [](const auto& one) { return one->has_value(); });
    }));
    EXPECT_LE(most, kMaxProcesses);
    for (const auto& reply : replies) EXPECT_TRUE((*reply)->ok());
}

TEST_F(ExecDriverLive, KeepsTheContractOfDrivers) {
    script("slow", "sleep 300\n");
    EXPECT_THAT(test::contract_problems(bench, *driver, ask_of({"slow"}), "exec.timeout"),
                ElementsAre());
    const auto dropped = bench.begin(*driver, ask_of({"slow"}));
    bench.run_until([&] { return driver->processes() > 0; });
    driver.reset();
    EXPECT_FALSE(dropped->has_value());
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace pollux::protocol
