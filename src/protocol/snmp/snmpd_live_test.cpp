// Our driver against a real agent, compared value by value with what net-snmp's own tools read.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "net/test_process.hpp"
#include "protocol/snmp/codec_test_support.hpp"
#include "protocol/snmp/driver_test_support.hpp"
#include "protocol/snmp/value.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::SnmpType;
using model::SnmpValue;
using model::SnmpVersion;
using net::test::Process;
using net::test::TempDir;
using test::answer_in;
using test::DriverFixture;
using test::failure_in;
using test::gets_of;
using test::make_ask;
using test::share;
using test::walks_of;

using Values = std::map<model::Oid, SnmpValue>;

// Tables of the agent that mirror what else happens on this machine: with thousands of connections
// of somebody else it would be busy for minutes.
constexpr const char* kLeftOut =
    "-tcpTable,tcpConnectionTable,tcpListenerTable,udpTable,udpEndpointTable,hr_swrun,"
    "hrSWRunTable,hrSWRunPerfTable";

constexpr std::string_view kCommunity = "t3st-community";

// One agent on both loopback addresses.
class Snmpd {
  public:
    Snmpd() : port_(net::test::free_port()) {
        folder_.write("snmpd.conf", "agentaddress udp:127.0.0.1:" + std::to_string(port_) +
                                        ",udp6:[::1]:" + std::to_string(port_) + "\nrocommunity " +
                                        std::string(kCommunity) + " 127.0.0.1\nrocommunity6 " +
                                        std::string(kCommunity) +
                                        " ::1\nsysLocation a room\nsysServices 72\n");
        process_ = std::make_unique<Process>(
            std::vector<std::string>{"/usr/sbin/snmpd", "-f", "-Lo", "-C", "-c",
                                     folder_.file("snmpd.conf"), "-I", kLeftOut},
            folder_, environment());
        Message probe;
        probe.community = kCommunity;
        probe.pdu.type = PduType::kGet;
        probe.pdu.varbinds.push_back({oid_of("1.3.6.1.2.1.1.3.0"), {}});
        const auto bytes = encoded(probe);
        const std::string_view question(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        EXPECT_TRUE(process_->wait_for_udp("127.0.0.1", port_, question)) << process_->output();
        EXPECT_TRUE(process_->wait_for_udp("::1", port_, question)) << process_->output();
    }

    std::uint16_t port() const { return port_; }
    void stop() { process_->stop(); }

    // What a tool of net-snmp reads: values by name.
    Values read_with(const std::string& tool, const std::string& version,
                     const std::string& address, const std::vector<std::string>& oids) {
        std::vector<std::string> command = {
            tool,  "-v" + version, "-c",   std::string(kCommunity), "-m", "", "-t", "30", "-On",
            "-Ox", "-Oe",          address};
        command.insert(command.end(), oids.begin(), oids.end());
        Process process(command, folder_, environment());
        if (!process.wait_for_end(std::chrono::seconds(120)) || process.exit_code() != 0) {
            ADD_FAILURE() << tool << " failed: " << process.output().substr(0, 500);
            return {};
        }
        return parse(process.output());
    }
    std::string v4() const { return "udp:127.0.0.1:" + std::to_string(port_); }
    std::string v6() const { return "udp6:[::1]:" + std::to_string(port_); }

  private:
    // Nothing of the machine's own configuration, state or MIBs.
    std::vector<std::pair<std::string, std::string>> environment() const {
        return {{"SNMP_PERSISTENT_DIR", folder_.file("state")},
                {"SNMPCONFPATH", folder_.path()},
                {"MIBS", ""}};
    }

    static SnmpValue parse_one(const std::string& text);
    static Values parse(const std::string& output);

    TempDir folder_;
    std::uint16_t port_;
    std::unique_ptr<Process> process_;
};

SnmpValue number(SnmpType type, const std::string& text) {
    SnmpValue value;
    value.type = type;
    if (type == SnmpType::kInteger) {
        value.integer = std::stoll(text);
    } else {
        value.unsigned_value = std::stoull(text);
    }
    return value;
}

SnmpValue Snmpd::parse_one(const std::string& text) {
    SnmpValue value;
    const std::size_t colon = text.find(": ");
    const std::string type = text.substr(0, colon);
    const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 2);
    if (type == "INTEGER") return number(SnmpType::kInteger, rest);
    if (type == "Counter32") return number(SnmpType::kCounter32, rest);
    if (type == "Gauge32") return number(SnmpType::kGauge32, rest);
    if (type == "Counter64") return number(SnmpType::kCounter64, rest);
    if (type == "Timeticks") return number(SnmpType::kTimeTicks, rest.substr(1));
    if (type == "OID") {
        value.type = SnmpType::kObjectId;
        value.oid = oid_of(rest);
    } else if (type == "IpAddress") {
        value.type = SnmpType::kIpAddress;
        std::istringstream parts(rest);
        for (std::string part; std::getline(parts, part, '.');) {
            value.bytes += static_cast<char>(std::stoi(part));
        }
    } else if (type == "Opaque") {
        EXPECT_TRUE(rest.starts_with("Float: ")) << text;
        value.type = SnmpType::kOpaque;
        value.bytes = opaque_float(std::stof(rest.substr(7)));
    } else if (type == "Hex-STRING" || text == "\"\"" || text == "\"\"\n") {
        const auto bytes = from_hex(rest);
        value.type = SnmpType::kOctetString;
        value.bytes.assign(bytes.begin(), bytes.end());
    } else if (text.starts_with("No Such Object")) {
        value.type = SnmpType::kNoSuchObject;
    } else if (text.starts_with("No Such Instance")) {
        value.type = SnmpType::kNoSuchInstance;
    } else {
        ADD_FAILURE() << "unknown output of the tool: " << text;
    }
    return value;
}

Values Snmpd::parse(const std::string& output) {
    Values values;
    std::istringstream lines(output);
    std::string name;
    std::string text;
    const auto keep = [&] {
        if (name.empty() || text.starts_with("No more variables")) return;
        values[oid_of(name)] = parse_one(text);
    };
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(".1.")) {  // long texts go on in the next line
            text += " " + line;
            continue;
        }
        keep();
        const std::size_t equals = line.find(" = ");
        name = line.substr(0, equals);
        text = line.substr(equals + 3);
    }
    keep();
    return values;
}

Values values_of_walk(const model::SnmpAsk& ask, const model::SnmpReply& reply) {
    Values values;
    for (std::size_t walk = 0; walk < reply.walks.size(); ++walk) {
        for (const model::SnmpRow& row : reply.walks[walk]) {
            model::Oid name = ask.walks[walk];
            name.arcs.insert(name.arcs.end(), row.index.arcs.begin(), row.index.arcs.end());
            EXPECT_FALSE(values.contains(name)) << model::to_string(name);
            values[name] = row.value;
        }
    }
    return values;
}

// The tool prints six digits.
bool same_opaque(const SnmpValue& a, const SnmpValue& b) {
    const auto first = opaque_number(a.bytes);
    const auto second = opaque_number(b.bytes);
    return first && second && std::abs(*first - *second) <= 1e-5 * std::abs(*first) + 1e-5;
}

std::string shown(const SnmpValue& value) {
    return std::string(to_string(value.type)) + " " + std::to_string(value.integer) + " " +
           std::to_string(value.unsigned_value) + " " + value.bytes + " " +
           model::to_string(value.oid);
}

// Ours was read between the two others. What did not change there must be equal; what did must
// have the type. Neighbours and routes come and go, so only names that are in both are required,
// and a few of ours may be in none. The agent's list of its own caches changes by being read.
void expect_same(const Values& before, const Values& ours, const Values& after) {
    const model::Oid caches = oid_of("1.3.6.1.4.1.8072.1.5.3");
    std::size_t stable = 0;
    for (const auto& [name, value] : before) {
        const auto later = after.find(name);
        if (later == after.end()) continue;
        const auto found = ours.find(name);
        if (found == ours.end()) {
            ADD_FAILURE() << "missing " << model::to_string(name);
            continue;
        }
        EXPECT_EQ(found->second.type, value.type) << model::to_string(name);
        if (later->second != value || name.starts_with(caches)) continue;
        ++stable;
        const bool same = value.type == SnmpType::kOpaque ? same_opaque(value, found->second)
                                                          : found->second == value;
        EXPECT_TRUE(same) << model::to_string(name) << ": " << shown(found->second) << " and not "
                          << shown(value);
    }
    EXPECT_GT(stable, before.size() / 2) << "nothing much was compared";
    std::size_t unknown = 0;
    for (const auto& [name, value] : ours) {
        if (!before.contains(name) && !after.contains(name)) ++unknown;
    }
    EXPECT_LE(unknown, ours.size() / 100);
    EXPECT_GT(ours.size(), 1000U);
}

std::shared_ptr<const model::Ask> live_ask(const Snmpd& snmpd, model::SnmpAsk snmp,
                                           const std::string& host = "127.0.0.1") {
    return share(make_ask(host, snmpd.port(), std::move(snmp), std::string(kCommunity)));
}

void compare_full_walk(SnmpVersion version, const std::string& host) {
    Snmpd snmpd;
    DriverFixture fixture;
    model::SnmpAsk ask = walks_of({"1.3.6.1"});
    ask.version = version;
    ask.max_rows = 1'000'000;
    const bool first_version = version == SnmpVersion::kV1;
    const std::string tool = first_version ? "snmpwalk" : "snmpbulkwalk";
    const std::string address = host == "::1" ? snmpd.v6() : snmpd.v4();
    const auto reference = [&] {
        return snmpd.read_with(tool, first_version ? "1" : "2c", address, {"1.3.6.1"});
    };
    reference();  // the agent fills its caches
    const Values before = reference();
    const model::Reply reply = fixture.ask(live_ask(snmpd, ask, host));
    const Values after = reference();
    const model::SnmpReply& answer = answer_in(reply);
    ASSERT_EQ(answer.walks.size(), 1U);
    expect_same(before, values_of_walk(ask, answer), after);
    EXPECT_GT(answer.pdus, answer.walks[0].size() / 26);
    EXPECT_GT(reply.bytes_in, reply.bytes_out);
    EXPECT_GT(reply.phases.total.count(), 0);
    EXPECT_EQ(fixture.driver().counters().malformed, 0U);
    EXPECT_EQ(fixture.driver().in_flight(), 0U);
}

TEST(SnmpdLive, FullWalkEqualsBulkwalk) { compare_full_walk(SnmpVersion::kV2c, "127.0.0.1"); }
TEST(SnmpdLive, FullWalkOverIpv6EqualsBulkwalk) { compare_full_walk(SnmpVersion::kV2c, "::1"); }
TEST(SnmpdLive, FullWalkOfVersionOneEqualsWalk) {
    compare_full_walk(SnmpVersion::kV1, "127.0.0.1");
}

TEST(SnmpdLive, ColumnsSideBySideEqualEachAlone) {
    Snmpd snmpd;
    DriverFixture fixture;
    const std::vector<std::string> columns = {"1.3.6.1.2.1.2.2.1.1", "1.3.6.1.2.1.2.2.1.2",
                                              "1.3.6.1.2.1.2.2.1.3", "1.3.6.1.2.1.1.9.1.3",
                                              "1.3.6.1.2.1.99.99",   "1.3.6.1.6.3.16.1.5.2.1.6"};
    const model::Reply together = fixture.ask(live_ask(snmpd, walks_of(columns)));
    ASSERT_EQ(answer_in(together).walks.size(), columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const model::Reply alone = fixture.ask(live_ask(snmpd, walks_of({columns[i]})));
        ASSERT_EQ(answer_in(alone).walks.size(), 1U);
        EXPECT_EQ(answer_in(together).walks[i], answer_in(alone).walks[0]) << columns[i];
        EXPECT_EQ(answer_in(alone).walks[0].empty(), i == 4) << columns[i];
    }
}

TEST(SnmpdLive, GetsEqualSnmpget) {
    Snmpd snmpd;
    const std::vector<std::string> oids = {"1.3.6.1.2.1.1.1.0",         "1.3.6.1.2.1.1.2.0",
                                           "1.3.6.1.2.1.1.6.0",         "1.3.6.1.2.1.1.7.0",
                                           "1.3.6.1.2.1.2.2.1.5.1",     "1.3.6.1.2.1.99.1.0",
                                           "1.3.6.1.2.1.2.2.1.2.999999"};
    for (const std::string& host : {std::string("127.0.0.1"), std::string("::1")}) {
        DriverFixture fixture;
        const Values wanted =
            snmpd.read_with("snmpget", "2c", host == "::1" ? snmpd.v6() : snmpd.v4(), oids);
        const model::Reply reply = fixture.ask(live_ask(snmpd, gets_of(oids), host));
        ASSERT_EQ(answer_in(reply).gets.size(), oids.size());
        for (std::size_t i = 0; i < oids.size(); ++i) {
            EXPECT_EQ(answer_in(reply).gets[i], wanted.at(oid_of(oids[i]))) << oids[i];
        }
        EXPECT_EQ(answer_in(reply).pdus, 1U);
        EXPECT_EQ(answer_in(reply).gets[2].bytes, "a room");
    }
}

TEST(SnmpdLive, VersionOneLeavesOutWhatDoesNotExist) {
    Snmpd snmpd;
    DriverFixture fixture;
    model::SnmpAsk ask = gets_of(
        {"1.3.6.1.2.1.99.1.0", "1.3.6.1.2.1.1.6.0", "1.3.6.1.2.1.99.2.0", "1.3.6.1.2.1.1.7.0"});
    ask.version = SnmpVersion::kV1;
    const model::Reply reply = fixture.ask(live_ask(snmpd, ask));
    ASSERT_EQ(answer_in(reply).gets.size(), 4U);
    EXPECT_EQ(answer_in(reply).gets[0].type, SnmpType::kNoSuchObject);
    EXPECT_EQ(answer_in(reply).gets[1].bytes, "a room");
    EXPECT_EQ(answer_in(reply).gets[2].type, SnmpType::kNoSuchObject);
    EXPECT_EQ(answer_in(reply).gets[3].type, SnmpType::kInteger);
    EXPECT_EQ(answer_in(reply).pdus, 3U);
}

TEST(SnmpdLive, ManyGetsAreMergedAndComeInOrder) {
    Snmpd snmpd;
    DriverFixture fixture;
    model::SnmpAsk ask;
    for (int i = 0; i < 200; ++i) ask.gets.push_back(oid_of("1.3.6.1.2.1.1.7.0"));
    ask.gets[150] = oid_of("1.3.6.1.2.1.1.6.0");
    const model::Reply reply = fixture.ask(live_ask(snmpd, ask));
    ASSERT_EQ(answer_in(reply).gets.size(), 200U);
    EXPECT_EQ(answer_in(reply).pdus, 9U);  // 200 / 24
    for (std::size_t i = 0; i < 200; ++i) {
        EXPECT_EQ(answer_in(reply).gets[i].type,
                  i == 150 ? SnmpType::kOctetString : SnmpType::kInteger);
    }
}

TEST(SnmpdLive, AWrongCommunityIsATimeoutThatSaysSo) {
    Snmpd snmpd;
    DriverFixture fixture;
    model::Ask ask = make_ask("127.0.0.1", snmpd.port(), gets_of({"1.3.6.1.2.1.1.3.0"}), "w0rng");
    ask.timeout = std::chrono::milliseconds(300);
    const model::Reply reply = fixture.ask(share(ask), test::kFar, true);
    const model::PollFailure& failure = failure_in(reply);
    EXPECT_EQ(failure.kind, model::FailureKind::kTimeout);
    EXPECT_EQ(failure.code, "snmp.timeout");
    EXPECT_NE(failure.message.find("community"), std::string::npos);
    EXPECT_NE(failure.message.find("127.0.0.1:"), std::string::npos) << failure.message;
    EXPECT_GE(reply.phases.total, ask.timeout);
    EXPECT_EQ(fixture.driver().counters().resent, 1U);
    for (const std::string& line : reply.trace) {
        EXPECT_EQ(line.find("w0rng"), std::string::npos) << line;
    }
    EXPECT_EQ(failure.message.find("w0rng"), std::string::npos);
    EXPECT_GE(reply.trace.size(), 3U);
}

TEST(SnmpdLive, AStoppedAgentRefusesAtOnce) {
    Snmpd snmpd;
    DriverFixture fixture;
    for (const std::string& host : {std::string("127.0.0.1"), std::string("::1")}) {
        EXPECT_TRUE(fixture.ask(live_ask(snmpd, gets_of({"1.3.6.1.2.1.1.3.0"}), host)).ok());
    }
    snmpd.stop();
    for (const std::string& host : {std::string("127.0.0.1"), std::string("::1")}) {
        const model::Reply reply =
            fixture.ask(live_ask(snmpd, gets_of({"1.3.6.1.2.1.1.3.0"}), host));
        EXPECT_EQ(failure_in(reply).code, "snmp.refused") << failure_in(reply).message;
        EXPECT_EQ(failure_in(reply).kind, model::FailureKind::kConnection);
    }
    EXPECT_EQ(fixture.driver().counters().icmp_errors, 2U);
}

}  // namespace
}  // namespace pollux::protocol::snmp
