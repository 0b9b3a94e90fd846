// Jobs of every type through the whole server, against real servers on loopback.
#include <gmock/gmock.h>

#include <filesystem>

#include "net/test_nginx.hpp"
#include "protocol/snmp/test_snmpd.hpp"
#include "protocol/ssh/test_sshd.hpp"
#include "runtime/jobs/discovery.hpp"
#include "runtime/runtime_test_support.hpp"
#include "runtime/server.hpp"
#include "store/sqlite/database.hpp"

namespace pollux::runtime {
namespace {

using model::JobPhase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

// One server block that listens on the port.
std::string serving(std::uint16_t port, const std::string& locations) {
    return "server { listen 127.0.0.1:" + std::to_string(port) + "; " + locations + " }\n";
}

class JobLive : public testing::Test {
  protected:
    void start(const std::string& fleet, config::Environment environment = {}) {
        ServerOptions options;
        options.data = folder.file("data");
        options.environment = std::move(environment);
        options.addons = {{"lamp", test::lamp_addon()}};
        options.version = "1.2.3";
        auto started = Server::start(*loop, lines.log(), std::move(options));
        ASSERT_TRUE(started) << started.error().message;
        server = std::move(*started);
        if (fleet.empty()) return;
        const auto applied = server->apply({{"fleet.yaml", fleet}});
        ASSERT_TRUE(applied) << applied.error().message;
    }
    void TearDown() override {
        if (server) server->stop();
    }
    template <class T, class Ask>
    base::Result<T> answer(Ask ask) {
        std::optional<base::Result<T>> box;
        ask([&box](base::Result<T> result) { box = std::move(result); });
        const auto end = std::chrono::steady_clock::now() + net::test::kPatience;
        while (!box && std::chrono::steady_clock::now() < end) loop->run_once(5ms);
        return std::move(box).value();
    }
    std::string submit(const std::string& text) {
        document::Diagnostics diagnostics;
        config::JobBatch batch = server->jobs()->read(text, "job.yaml", diagnostics);
        EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
        const auto done = answer<JobSubmitted>([&](auto then) {
            server->jobs()->submit(std::move(batch), "user:test", std::move(then));
        });
        EXPECT_TRUE(done) << (done ? "" : done.error().message);
        return done ? done->ids.front() : "";
    }
    JobView get(const std::string& id) {
        return answer<JobView>([&](auto then) { server->jobs()->get(id, std::move(then)); })
            .value();
    }
    // The last run of a job that has ended.
    model::JobRun finished(const std::string& text, JobPhase phase) {
        const std::string id = submit(text);
        const auto end = std::chrono::steady_clock::now() + net::test::kPatience;
        JobView view = get(id);
        while (!model::has_ended(view.phase) && std::chrono::steady_clock::now() < end) {
            view = get(id);
        }
        EXPECT_EQ(view.phase, phase) << view.failure << " " << view.verdict;
        while (std::chrono::steady_clock::now() < end) {
            const auto runs = server->jobs()->runs(id).value();
            if (!runs.empty() && runs.back().finished.us != 0) return runs.back();
        }
        return {};
    }

    const net::test::TempDir folder;
    std::unique_ptr<net::EventLoop> loop = net::EventLoop::create().value();
    test::LogLines lines;
    std::unique_ptr<Server> server;
};

TEST_F(JobLive, AnHttpJobSendsItsRequestWithTheCredentialsItNames) {
    const std::uint16_t web = net::test::free_port();
    const net::test::Nginx nginx(
        folder,
        serving(web,
                "location /hello { if ($http_authorization != 'Bearer t0ken') { return 403; } "
                "return 200 'well done'; } location /broken { return 503; }"),
        web);
    start("credentials:\n  web: {token: \"${WEB_TOKEN}\"}\n", {{"WEB_TOKEN", "t0ken"}});
    const std::string url = "http://127.0.0.1:" + std::to_string(web);
    const auto run =
        finished("{type: http, arguments: {credentials: web, url: \"" + url + "/hello\"}}",
                 JobPhase::kCompleted);
    EXPECT_EQ(run.output, "well done");
    EXPECT_EQ(run.exit_status, 200);
    const auto refused =
        finished("{type: http, arguments: {url: \"" + url + "/hello\"}}", JobPhase::kFailed);
    EXPECT_EQ(refused.exit_status, 403);
    const auto broken = finished(
        "{type: http, retry: {attempts: 2, backoff: 1ms}, arguments: "
        "{url: \"" +
            url + "/broken\"}}",
        JobPhase::kFailed);
    EXPECT_EQ(broken.attempt, 2U);
    EXPECT_THAT(broken.message, Not(HasSubstr("t0ken")));
    const auto nobody =
        finished("{type: http, arguments: {credentials: other, url: \"" + url + "/hello\"}}",
                 JobPhase::kFailed);
    EXPECT_THAT(nobody.message, HasSubstr("there is no credential \"other\""));
}

TEST_F(JobLive, AnSshJobRunsItsCommandOnTheDevice) {
    const std::string key = protocol::ssh::test::make_key(folder, "user_key", "ed25519");
    folder.write("authorized_keys", folder.read("user_key.pub"));
    const protocol::ssh::test::Sshd sshd(folder);
    start("credentials:\n  c: {username: root, ssh_key: " + key +
          "}\ndevices:\n  d: {address: 127.0.0.1, credentials: c}\n");
    const std::string port = std::to_string(sshd.port());
    const auto run = finished("{type: ssh, device: d, arguments: {port: " + port +
                                  ", command: \"echo out; echo err >&2\"}}",
                              JobPhase::kCompleted);
    EXPECT_THAT(run.output, HasSubstr("out"));
    EXPECT_THAT(run.output, HasSubstr("err"));
    const auto failed = finished(
        "{type: ssh, device: d, arguments: {port: " + port + ", command: \"echo no; exit 3\"}}",
        JobPhase::kFailed);
    EXPECT_EQ(failed.exit_status, 3);
    EXPECT_THAT(failed.output, HasSubstr("no"));
    EXPECT_THAT(failed.message, HasSubstr("status 3"));
}

TEST_F(JobLive, AnExecJobRunsOnlyWhatIsAllowed) {
    folder.write("plugins/good", "#!/bin/sh\necho \"hello $1 $NAME\"\nexit ${2:-0}\n");
    std::filesystem::permissions(folder.file("plugins/good"), std::filesystem::perms::owner_all);
    start("", {{"POLLUX_PLUGIN_FOLDERS", folder.file("plugins")}});
    const auto run =
        finished("{type: exec, arguments: {argv: [good, you], environment: {NAME: there}}}",
                 JobPhase::kCompleted);
    EXPECT_EQ(run.output, "hello you there\n");
    const auto failed =
        finished("{type: exec, arguments: {argv: [good, you, \"2\"]}}", JobPhase::kFailed);
    EXPECT_EQ(failed.exit_status, 2);
    const auto refused =
        finished("{type: exec, arguments: {argv: [/bin/sh, -c, \"true\"]}}", JobPhase::kFailed);
    EXPECT_EQ(refused.code, "exec.not_allowed");
}

TEST_F(JobLive, APollJobTakesTheOutcomeOfItsTarget) {
    const std::uint16_t web = net::test::free_port();
    const net::test::Nginx nginx(
        folder,
        serving(web,
                "location /main { default_type application/json; return 200 '{\"level\": 1, "
                "\"turns\": 2, "
                "\"mood\": \"x\"}'; } location /extra { default_type application/json; return 200 "
                "'{\"dust\": 1}'; }"),
        web);
    start("devices:\n  d: {address: 127.0.0.1, port: " + std::to_string(web) +
          ", addons: [lamp], interval: 1h}\n  dark: {address: 127.9.9.1, port: 9, addons: [lamp], "
          "interval: 1h}\n");
    const auto run = finished("{type: poll, target: \"lamp::d\"}", JobPhase::kCompleted);
    EXPECT_THAT(run.output, HasSubstr("ok"));
    const auto failed = finished("{type: poll, target: \"lamp::dark\"}", JobPhase::kFailed);
    EXPECT_THAT(failed.message, HasSubstr("127.9.9.1"));
    document::Diagnostics diagnostics;
    server->jobs()->check(
        server->jobs()->read("{type: poll, target: \"lamp::nobody\"}", "j", diagnostics),
        diagnostics);
    EXPECT_THAT(diagnostics.text(), HasSubstr("there is no target \"lamp::nobody\""));
}

TEST_F(JobLive, MaintenanceCopiesTheStateAndKeepsTheNewestCopies) {
    start("devices:\n  d: {address: 127.9.9.1, port: 9, addons: [lamp]}\n",
          {{"POLLUX_BACKUPS_KEEP", "2"}});
    for (int i = 0; i < 3; ++i) {
        const auto run = finished("{type: maintenance}", JobPhase::kCompleted);
        EXPECT_EQ(run.output, "3 steps done");
    }
    std::vector<std::string> copies;
    for (const auto& entry : std::filesystem::directory_iterator(folder.file("data/backups"))) {
        copies.push_back(entry.path().string());
    }
    ASSERT_EQ(copies.size(), 2U);
    auto copy = store::Database::open(copies.front(), {false, true, "", ""}).value();
    EXPECT_EQ(copy->integer("SELECT count(*) FROM object WHERE name = 'd'").value(), 1);
    EXPECT_GE(copy->integer("SELECT count(*) FROM job").value(), 1);
}

TEST_F(JobLive, JobsGoOnAfterARestartOfTheServer) {
    folder.write("plugins/good", "#!/bin/sh\necho done\n");
    std::filesystem::permissions(folder.file("plugins/good"), std::filesystem::perms::owner_all);
    const config::Environment environment = {{"POLLUX_PLUGIN_FOLDERS", folder.file("plugins")}};
    start("", environment);
    const std::string id = submit("{type: exec, hold: true, arguments: {argv: [good]}}");
    server->stop();
    server.reset();
    start("", environment);
    EXPECT_TRUE(get(id).held);
    EXPECT_TRUE(answer<void>([&](auto then) { server->jobs()->release(id, std::move(then)); }));
    const auto end = std::chrono::steady_clock::now() + net::test::kPatience;
    while (get(id).phase != JobPhase::kCompleted && std::chrono::steady_clock::now() < end) {
    }
    EXPECT_EQ(get(id).phase, JobPhase::kCompleted);
}

TEST_F(JobLive, ASweepProposesWhatAnswersAndAppliesNothing) {
    const std::uint16_t web = net::test::free_port();
    const net::test::Nginx nginx(
        folder,
        serving(web,
                "location / { default_type text/html; return 200 '<html><TITLE>My "
                "page</TITLE></html>'; }"),
        web);
    const protocol::snmp::test::Snmpd snmpd("sysName box-1\nsysDescr A small box\n");
    const protocol::ssh::test::Sshd sshd(folder, "", 0, "host_key", {"127.0.0.1"});
    start(
        "credentials:\n  wrong: {community: \"${WRONG}\"}\n  snmp: {community: \"${SNMP}\"}\n"
        "devices:\n  d: {address: 127.0.0.5}\n",
        {{"SNMP", std::string(protocol::snmp::test::kCommunity)},
         {"WRONG", "wr0ng"},
         {"POLLUX_EGRESS_DENY", "127.0.0.9"}});
    const std::size_t objects = server->objects().size();
    const auto run = finished(
        "{type: discovery, arguments: {network: 127.0.0.0/28, rate: 200, probe_timeout: 1s, "
        "credentials: [wrong, snmp], methods: [snmp, ssh, http, https], ssh_port: " +
            std::to_string(sshd.port()) + ", http_port: " + std::to_string(web) +
            ", https_port: " + std::to_string(net::test::free_port()) +
            ", snmp_port: " + std::to_string(snmpd.port()) + "}}",
        JobPhase::kCompleted);
    EXPECT_THAT(run.output, HasSubstr("devices:"));
    EXPECT_THAT(run.output, HasSubstr("box-1:"));
    EXPECT_THAT(run.output, HasSubstr("address: \"127.0.0.1\""));
    EXPECT_THAT(run.output, HasSubstr("A small box"));
    EXPECT_THAT(run.output, HasSubstr("SSH-2.0-OpenSSH"));
    EXPECT_THAT(run.output, HasSubstr("My page"));
    EXPECT_THAT(run.output, HasSubstr("credentials: snmp"));
    EXPECT_THAT(run.output, Not(HasSubstr("127.0.0.2")));
    EXPECT_THAT(run.output, Not(HasSubstr(std::string(protocol::snmp::test::kCommunity))));
    const std::string log = testing::PrintToString(run.log);
    EXPECT_THAT(log, HasSubstr("1 addresses are denied"));
    EXPECT_THAT(log, HasSubstr("1 of 14 addresses answer"));
    EXPECT_EQ(server->objects().size(), objects) << "nothing is applied";
    document::Diagnostics diagnostics;
    const std::vector<config::FileText> files = {{"proposal.yaml", run.output}};
    const auto read = config::read_fleet(files, diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
    EXPECT_EQ(read.fleet.devices.size(), 1U);
}

TEST(Discovery, ANetworkIsBoundedAndWithoutItsEnds) {
    EXPECT_EQ(addresses_of("10.0.0.0/28").value().size(), 14U);
    EXPECT_EQ(addresses_of("10.0.0.0/28").value().front().to_string(), "10.0.0.1");
    EXPECT_EQ(addresses_of("10.0.0.4/31").value().size(), 2U);
    EXPECT_EQ(addresses_of("10.0.0.4").value().size(), 1U);
    const auto large = addresses_of("10.1.0.0/16").value();
    EXPECT_EQ(large.size(), kMostSwept - 2);
    EXPECT_EQ(large.back().to_string(), "10.1.255.254");
    EXPECT_EQ(addresses_of("fd00::/120").value().size(), 256U);
    EXPECT_EQ(addresses_of("fd00::/120").value().back().to_string(), "fd00::ff");
    for (const char* wrong : {"10.0.0.0/15", "10.0.0.1/28", "fd00::/64", "host", ""}) {
        EXPECT_FALSE(addresses_of(wrong)) << wrong;
    }
}

TEST(Discovery, NamesAreUniqueAndWhatIsKnownIsLeftOut) {
    config::Fleet fleet;
    fleet.devices["box"].addresses = {"10.0.0.1"};
    std::vector<Fingerprint> found(4);
    for (std::size_t i = 0; i < found.size(); ++i) {
        found[i].address = "10.0.0." + std::to_string(i + 1);
        found[i].ping = i != 3;
        found[i].system_name = "box";
    }
    const Proposal proposal = propose(found, fleet, "job");
    EXPECT_EQ(proposal.known, 1U);
    EXPECT_EQ(proposal.devices, 2U);
    EXPECT_THAT(proposal.yaml, HasSubstr("host-10-0-0-2:"));
    EXPECT_THAT(proposal.yaml, HasSubstr("host-10-0-0-3:"));
    EXPECT_THAT(proposal.yaml, HasSubstr("icmp-ping"));
    EXPECT_THAT(proposal.yaml, Not(HasSubstr("10.0.0.4")));
    std::vector<Fingerprint> many(5000);
    for (std::size_t i = 0; i < many.size(); ++i) {
        many[i].address = "10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250);
        many[i].ping = true;
    }
    const Proposal large = propose(many, fleet, "job");
    EXPECT_LE(large.yaml.size(), model::kMostJobOutput);
    EXPECT_EQ(large.devices + large.left_out, many.size());
    EXPECT_GT(large.left_out, 0U);
}

// A manifest for the JSON of one value, in one line.
std::string door(const std::string& auth) {
    return R"(schema: pollux/1\nname: door\nversion: 1.0.0\ntitle: Door\ndescription: Open.\n)"
           R"(protocol: http\ninterval: 60s\nhttp:\n  auth: )" +
           auth +
           R"(\n  endpoints:\n)"
           R"(    - {name: status, path: /status, format: json}\nmetrics:\n)"
           R"(  - {name: open, type: gauge, help: Open., path: $.open}\nconditions:\n)"
           R"(  - {name: is_open, metric: open, trigger: '== 1', severity: warning, summary: Open.}\n)";
}

TEST_F(JobLive, ATrialAsksADeviceAsAManifestSaysThatIsNotInForce) {
    const std::uint16_t web = net::test::free_port();
    const net::test::Nginx nginx(
        folder,
        serving(web,
                "default_type application/json; location /status { return 200 "
                "'{\"open\": 1, \"heard\": \"$http_authorization\"}'; }"),
        web);
    start(
        "credentials:\n  web: {token: \"${WEB_TOKEN}\"}\ndevices:\n  hall: {address: 127.0.0.1, "
        "port: " +
            std::to_string(web) + ", credentials: web}\n",
        {{"WEB_TOKEN", "t0ken-of-the-hall"}});
    const auto trial = [](const std::string& device, const std::string& manifest) {
        return "{type: trial, device: " + device + ", arguments: {manifest: \"" + manifest + "\"}}";
    };
    const auto run = finished(trial("hall", door("bearer")), JobPhase::kCompleted);
    EXPECT_THAT(run.output, HasSubstr(R"("readings":{"open":"1"})"));
    EXPECT_THAT(run.output, HasSubstr(R"("conditions":{"is_open":"triggered"})"));
    EXPECT_THAT(run.output, HasSubstr("http://127.0.0.1:" + std::to_string(web) + "/status"));
    EXPECT_THAT(run.output, HasSubstr(R"(\"heard\": \"Bearer [hidden]\")")) << "it says it again";
    EXPECT_THAT(run.output, Not(HasSubstr("t0ken")));
    EXPECT_FALSE(server->view()->addons->contains("door"));

    for (const std::string& text : {trial("attic", door("bearer")), trial("hall", "name: [no")}) {
        document::Diagnostics wrong;
        const auto batch = server->jobs()->read(text, "job.yaml", wrong);
        server->jobs()->check(batch, wrong);
        EXPECT_FALSE(wrong.ok()) << text;
    }
}

TEST_F(JobLive, ATrialOfADeviceThatDoesNotAnswerSaysSo) {
    start("devices:\n  hall: {address: 127.0.0.1, port: " + std::to_string(net::test::free_port()) +
          "}\n");
    const auto run =
        finished("{type: trial, device: hall, arguments: {manifest: \"" + door("none") + "\"}}",
                 JobPhase::kFailed);
    EXPECT_THAT(run.message, HasSubstr("refused"));
    EXPECT_THAT(run.output, HasSubstr(R"("failed":true)"));
    EXPECT_THAT(run.output, HasSubstr(R"("readings":{})"));
}

}  // namespace
}  // namespace pollux::runtime
