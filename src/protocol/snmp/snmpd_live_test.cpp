// Our driver against a real agent, compared value by value with what net-snmp's own tools read.
#include <gtest/gtest.h>

#include "protocol/snmp/driver_test_support.hpp"
#include "protocol/snmp/test_snmpd.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::SnmpType;
using model::SnmpVersion;
using test::answer_in;
using test::differences;
using test::DriverFixture;
using test::failure_in;
using test::gets_of;
using test::kCommunity;
using test::make_ask;
using test::share;
using test::Snmpd;
using test::Values;
using test::values_of_walk;
using test::walks_of;

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
        return snmpd.read_with(tool, Snmpd::community_of(first_version ? "1" : "2c"), address,
                               {"1.3.6.1"});
    };
    reference();  // the agent fills its caches
    const Values before = reference();
    const model::Reply reply = fixture.ask(live_ask(snmpd, ask, host));
    const Values after = reference();
    const model::SnmpReply& answer = answer_in(reply);
    ASSERT_EQ(answer.walks.size(), 1U);
    EXPECT_EQ(differences(before, values_of_walk(ask, answer), after), "");
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
        const Values wanted = snmpd.read_with("snmpget", Snmpd::community_of("2c"),
                                              host == "::1" ? snmpd.v6() : snmpd.v4(), oids);
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

// The profile grows with the polls of a real agent, and what is read stays the same.
TEST(SnmpdLive, LearnsWhatARealAgentTakes) {
    Snmpd snmpd;
    SnmpOptions options;
    options.check_every = base::Duration::zero();
    DriverFixture fixture({}, options);
    model::SnmpAsk narrow = walks_of({"1.3.6.1.2.1.1.9.1.2", "1.3.6.1.2.1.1.9.1.3",
                                      "1.3.6.1.6.3.16.1.4.1.5", "1.3.6.1.2.1.2.2.1.2"});
    const auto learned = live_ask(snmpd, narrow);
    narrow.fixed = {.max_varbinds = 1, .max_repetitions = 1, .parallel = 0, .bulk = false};
    const model::SnmpReply expected = answer_in(fixture.ask(live_ask(snmpd, narrow)));
    ASSERT_EQ(expected.walks.size(), 4U);
    std::uint32_t pdus = 0;
    for (int i = 0; i < 4; ++i) {
        const model::SnmpReply got = answer_in(fixture.ask(learned));
        EXPECT_EQ(got.walks, expected.walks);
        pdus = got.pdus;
        EXPECT_TRUE(fixture.run_until([&] { return fixture.driver().in_flight() == 0; }));
    }
    EXPECT_GE(expected.pdus, 5 * pdus);
    EXPECT_GT(fixture.driver().counters().narrow_checks, 0U);
    EXPECT_EQ(fixture.driver().counters().differences, 0U) << "a real agent does not lie";
    EXPECT_EQ(fixture.driver().counters().steps_back, 0U);
}

}  // namespace
}  // namespace pollux::protocol::snmp
