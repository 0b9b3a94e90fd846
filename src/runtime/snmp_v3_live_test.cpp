// A real agent asked by SNMPv3 through driver, extract and derive: a restart of the agent costs no
// poll, makes no false rate and raises no false alert.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "protocol/snmp/driver_test_support.hpp"
#include "protocol/snmp/test_snmpd.hpp"
#include "runtime/poll_reading.hpp"
#include "runtime/runtime_test_support.hpp"
#include "runtime/server.hpp"

namespace pollux::runtime {
namespace {

using protocol::snmp::test::DriverFixture;
using protocol::snmp::test::Snmpd;

// snmpInPkts counts what the agent received since it was started.
constexpr std::string_view kManifest = R"yaml(schema: pollux/1
name: agent
version: 1.0.0
protocol: snmp
snmp:
  version: 3
  gets:
    - {name: packets, oid: 1.3.6.1.2.1.11.1.0}
metrics:
  - {name: packets, type: counter, get: packets}
conditions:
  - {name: busy, metric: packets, trigger: "> 0"}
  - {name: flood, metric: packets, trigger: "> 1000000", severity: critical}
)yaml";

constexpr const char* kUser =
    "exactEngineID 0x80001f8804706f6c6c7578\n"
    "createUser pollux SHA-256 auth-pass-word AES priv-pass-word\nrouser pollux priv\n";

class AgentWatch {
  public:
    explicit AgentWatch(const Snmpd& agent) {
        auto user = std::make_shared<model::Credentials>();
        user->username = "pollux";
        user->snmp_auth = model::SnmpAuth::kSha256;
        user->snmp_auth_password = base::Secret("auth-pass-word");
        user->snmp_privacy = model::SnmpPrivacy::kAes128;
        user->snmp_privacy_password = base::Secret("priv-pass-word");
        extract::TargetBinding binding;
        binding.host = "127.0.0.1";
        binding.port = agent.port();
        binding.credentials = std::move(user);
        plan_.addon = test::compiled(kManifest);
        plan_.asks.push_back(plan_.addon->asks(0, binding).value());
    }

    PollReading poll() {
        std::vector<model::Reply> replies;
        for (const auto& ask : plan_.asks.at(0)) {
            replies.push_back(driver_.ask(ask));
        }
        PollReading reading = read_poll(plan_, replies, memory_, net::instant_now());
        model::PollSignals said;
        add_conditions(plan_, reading, memory_, said);
        for (const model::Signal& signal : said.signals) {
            if (!signal.clear) raised_.insert(signal.type);
        }
        return reading;
    }

    // Polls until a rate is there; what it is.
    double next_rate() {
        for (int i = 0; i < 1000; ++i) {
            const PollReading reading = poll();
            EXPECT_EQ(reading.outcome, model::Outcome::kOk) << reading.failure.message;
            if (!reading.observation.samples.empty()) return reading.observation.samples[0].value;
        }
        ADD_FAILURE() << "no rate";
        return 0;
    }

    const protocol::snmp::SnmpCounters& counters() { return driver_.driver().counters(); }
    // Types of what was raised at any time.
    const std::set<std::string>& raised() const { return raised_; }

  private:
    DriverFixture driver_;
    PollPlan plan_;
    derive::TargetMemory memory_;
    std::set<std::string> raised_;
};

void expect_no_false_rate(const std::function<void(Snmpd&)>& restart) {
    Snmpd agent(kUser);
    agent.restart();
    AgentWatch watch(agent);
    // Many packets, so that the counter falls by the restart, and an uptime that does too.
    const base::BootTime until = net::boot_now() + std::chrono::seconds(2);
    double highest = 0;
    while (net::boot_now() < until) highest = std::max(highest, watch.next_rate());
    EXPECT_GT(highest, 0);
    restart(agent);
    const PollReading reading = watch.poll();
    EXPECT_EQ(reading.outcome, model::Outcome::kOk) << reading.failure.message;
    EXPECT_TRUE(reading.observation.restarted);
    EXPECT_TRUE(reading.observation.samples.empty()) << "a rate over a restart means nothing";
    EXPECT_EQ(watch.counters().resyncs, 1U);
    // A counter that was taken to have wrapped would show millions per second.
    for (int i = 0; i < 20; ++i) EXPECT_LT(watch.next_rate(), 1e6);
    EXPECT_EQ(watch.raised(), std::set<std::string>{"busy"}) << "what is true, and nothing else";
}

TEST(SnmpV3Live, ARestartedAgentMakesNoFalseRate) {
    expect_no_false_rate([](Snmpd& agent) { agent.restart(); });
}

TEST(SnmpV3Live, AnAgentThatLostItsStateMakesNoFalseRate) {
    expect_no_false_rate([](Snmpd& agent) { agent.restart_wiped(); });
}

// The whole server: what was learned about the agent is in the store when it starts again.
class ServedAgent {
  public:
    explicit ServedAgent(const Snmpd& agent) : port_(agent.port()) {}

    // Runs a server until the agent answered; its metrics.
    std::string serve() {
        ServerOptions options;
        options.data = folder_.file("data");
        options.environment = {{"SNMP_AUTH", "auth-pass-word"}};
        options.addons = {{"agent", test::compiled(kManifest)}};
        options.version = "1.2.3";
        auto server = Server::start(*loop_, lines_.log(), std::move(options));
        EXPECT_TRUE(server) << server.error().message;
        const std::string fleet =
            "credentials:\n  c: {username: pollux, snmp_auth: sha256, snmp_auth_password: "
            "\"${SNMP_AUTH}\", snmp_privacy: aes128, snmp_privacy_password: priv-pass-word}\n"
            "devices:\n  d: {address: 127.0.0.1, port: " +
            std::to_string(port_) + ", addons: [agent], credentials: c, interval: 10s}\n";
        const auto applied = (*server)->apply({{"fleet.yaml", fleet}});
        EXPECT_TRUE(applied) << applied.error().message;
        std::string page;
        const auto end = std::chrono::steady_clock::now() + test::kPatience;
        while (std::chrono::steady_clock::now() < end) {
            page = metrics(**server);
            if (page.find("pollux_driver_asks_total{protocol=\"snmp\",code=\"ok\"}") !=
                std::string::npos) {
                break;
            }
        }
        (*server)->stop();
        return page;
    }

  private:
    std::string metrics(Server& server) {
        std::optional<std::string> page;
        server.metrics([&page](std::string text) { page = std::move(text); });
        const auto end = std::chrono::steady_clock::now() + test::kPatience;
        while (!page && std::chrono::steady_clock::now() < end) {
            loop_->run_once(std::chrono::milliseconds(10));
        }
        return page.value_or("");
    }

    std::uint16_t port_;
    net::test::TempDir folder_;
    test::LogLines lines_;
    std::unique_ptr<net::EventLoop> loop_ = net::EventLoop::create().value();
};

TEST(SnmpV3Live, ARestartedServerKnowsTheEnginesAndCountsWhatHappens) {
    const Snmpd agent(kUser);
    ServedAgent served(agent);
    const std::string first = served.serve();
    EXPECT_NE(first.find("\npollux_snmp_discoveries_total 1\n"), std::string::npos) << first;
    EXPECT_NE(first.find("pollux_snmp_reports_total{kind=\"unknown_engine\"} 1\n"),
              std::string::npos);
    const std::string second = served.serve();
    EXPECT_NE(second.find("\npollux_snmp_discoveries_total 0\n"), std::string::npos) << second;
    EXPECT_EQ(first.find("pass-word"), std::string::npos);
}

}  // namespace
}  // namespace pollux::runtime
