// The driver against devices in the same loop that lose, double, forge and damage their answers.
#include "protocol/snmp/snmp_driver.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <map>

#include "net/test_process.hpp"
#include "protocol/snmp/codec_test_support.hpp"
#include "protocol/snmp/device_test_support.hpp"
#include "protocol/snmp/driver_test_support.hpp"
#include "protocol/snmp/scripted_agent.hpp"

namespace pollux::protocol::snmp {
namespace {

using namespace std::chrono_literals;
using model::FailureKind;
using test::answer_in;
using test::DriverFixture;
using test::failure_in;
using test::FakeDevice;
using test::gets_of;
using test::make_ask;
using test::share;
using test::walks_of;

constexpr const char* kUptime = "1.3.6.1.2.1.1.3.0";

ScriptedAgent& agent() {
    static ScriptedAgent made = [] {
        ScriptedAgent filling;
        filling.add(kUptime, 4711);
        for (int i = 1; i <= 40; ++i) filling.add("1.3.6.1.5.1." + std::to_string(i), i);
        return filling;
    }();
    return made;
}

Message answer_to(const Message& request) {
    Message response = request;
    response.pdu = agent().answer(request.pdu);
    return response;
}

void answers(FakeDevice& device, const Message& request) { device.send(answer_to(request)); }
void keeps_silent(FakeDevice&, const Message&) {}

model::Ask quick_ask(const FakeDevice& device, std::uint32_t resends = 1) {
    model::Ask ask = make_ask("127.0.0.1", device.port(), gets_of({kUptime}));
    ask.timeout = 200ms * (resends + 1);
    ask.resends = resends;
    return ask;
}

TEST(SnmpDriver, AnswersAGet) {
    DriverFixture fixture;
    FakeDevice device(fixture.loop(), answers);
    const model::Reply reply = fixture.ask(share(quick_ask(device)), test::kFar, true);
    EXPECT_EQ(answer_in(reply).gets.at(0).integer, 4711);
    EXPECT_EQ(answer_in(reply).pdus, 1U);
    EXPECT_GT(reply.bytes_in, 40U);
    EXPECT_GT(reply.bytes_out, 40U);
    EXPECT_GT(reply.phases.first_byte.count(), 0);
    EXPECT_GE(reply.phases.total, reply.phases.first_byte);
    EXPECT_EQ(reply.phases.dns.count(), 0);
    ASSERT_EQ(reply.trace.size(), 3U);
    EXPECT_NE(reply.trace[0].find("profile: "), std::string::npos) << reply.trace[0];
    EXPECT_NE(reply.trace[1].find("sent GetRequest for 1 variables to 127.0.0.1:"),
              std::string::npos)
        << reply.trace[1];
    EXPECT_NE(reply.trace[2].find("noError"), std::string::npos) << reply.trace[2];
    EXPECT_EQ(fixture.driver().in_flight(), 0U);
}

TEST(SnmpDriver, SpeaksIpv6) {
    DriverFixture fixture;
    FakeDevice device(fixture.loop(), answers, "::1");
    model::Ask ask = quick_ask(device);
    ask.host = "::1";
    EXPECT_EQ(answer_in(fixture.ask(share(ask))).gets.at(0).integer, 4711);
}

TEST(SnmpDriver, ResendsWhatWasLost) {
    DriverFixture fixture;
    FakeDevice device(fixture.loop(), [](FakeDevice& self, const Message& request) {
        if (self.received() > 2) answers(self, request);
    });
    const model::Reply reply = fixture.ask(share(quick_ask(device, 3)));
    EXPECT_EQ(answer_in(reply).gets.at(0).integer, 4711);
    EXPECT_EQ(answer_in(reply).pdus, 3U);
    EXPECT_EQ(fixture.driver().counters().resent, 2U);
}

TEST(SnmpDriver, TakesALateAnswerToTheFirstCopy) {
    DriverFixture fixture;
    std::optional<Message> first;
    FakeDevice device(fixture.loop(), [&](FakeDevice& self, const Message& request) {
        if (!first) {
            first = request;
            return;
        }
        self.send(answer_to(*first));
        self.send(answer_to(request));
    });
    EXPECT_TRUE(fixture.ask(share(quick_ask(device))).ok());
    EXPECT_TRUE(fixture.run_until([&] { return fixture.driver().counters().unmatched == 1; }));
}

TEST(SnmpDriver, IgnoresDoubledAnswers) {
    DriverFixture fixture;
    FakeDevice device(fixture.loop(), [](FakeDevice& self, const Message& request) {
        answers(self, request);
        answers(self, request);
    });
    model::Ask ask = quick_ask(device);
    ask.request = walks_of({"1.3.6.1.5.1"});
    const model::Reply reply = fixture.ask(share(ask));
    EXPECT_EQ(answer_in(reply).walks.at(0).size(), 40U);
    EXPECT_EQ(answer_in(reply).pdus, 2U);
    EXPECT_TRUE(fixture.run_until([&] { return fixture.driver().counters().unmatched == 2; }));
}

TEST(SnmpDriver, IgnoresWrongIdsAndWrongSources) {
    DriverFixture fixture;
    FakeDevice stranger(fixture.loop(), keeps_silent);
    FakeDevice device(fixture.loop(), [&](FakeDevice& self, const Message& request) {
        Message forged = answer_to(request);
        forged.pdu.varbinds[0].value.integer = 666;
        stranger.send_as_stranger(self, forged);
        forged.pdu.request_id ^= 1;
        self.send(forged);
        Message not_an_answer = request;
        self.send(not_an_answer);
        // Asked again it answers; until then the three above had their chance.
        if (self.received() == 2) answers(self, request);
    });
    const model::Reply reply = fixture.ask(share(quick_ask(device)));
    EXPECT_EQ(answer_in(reply).gets.at(0).integer, 4711);
    EXPECT_GE(fixture.driver().counters().wrong_source, 1U);
    EXPECT_GE(fixture.driver().counters().unmatched, 2U);
}

TEST(SnmpDriver, SaysWhenAnAnswerIsBroken) {
    DriverFixture fixture;
    FakeDevice device(fixture.loop(), [](FakeDevice& self, const Message& request) {
        auto bytes = encoded(answer_to(request));
        if (self.received() == 1) {
            for (int cut = 0; cut < 3; ++cut) bytes.pop_back();
        } else {
            bytes[bytes.size() - 4] = 0x7B;  // a type that does not exist
        }
        self.send(bytes);
    });
    for (int i = 0; i < 2; ++i) {
        model::Ask ask = quick_ask(device);
        ask.timeout = 30s;
        const model::Reply reply = fixture.ask(share(ask));
        EXPECT_EQ(failure_in(reply).code, "snmp.malformed") << failure_in(reply).message;
        EXPECT_GT(reply.bytes_in, 0U);
    }
    EXPECT_EQ(fixture.driver().counters().malformed, 1U);
}

TEST(SnmpDriver, IgnoresGarbage) {
    DriverFixture fixture;
    FakeDevice device(fixture.loop(), [](FakeDevice& self, const Message& request) {
        self.send(from_hex("de ad be ef"));
        self.send(std::vector<std::uint8_t>{});
        answers(self, request);
    });
    EXPECT_TRUE(fixture.ask(share(quick_ask(device))).ok());
    EXPECT_EQ(fixture.driver().counters().malformed, 2U);
}

// The value asked for, as a text that fills the largest datagram there is.
Message largest_answer_to(const Message& request) {
    Message response = answer_to(request);
    model::SnmpValue& value = response.pdu.varbinds.at(0).value;
    value = {};
    value.type = model::SnmpType::kOctetString;
    value.bytes.assign(65'000, 'x');
    value.bytes.resize(65'000 + kMaxMessageBytes - encoded(response).size(), 'x');
    return response;
}

// Rows of the table that is walked, or the same one again and again.
Message answer_of_rows(const Message& request, int rows, bool same = false) {
    Message response = request;
    response.pdu = agent().answer(request.pdu);
    response.pdu.varbinds.clear();
    for (int i = 1; i <= rows; ++i) {
        Varbind& row = response.pdu.varbinds.emplace_back();
        row.oid = oid_of("1.3.6.1.5.1." + std::to_string(same ? 1 : i));
        row.value.type = model::SnmpType::kInteger;
        row.value.integer = i;
    }
    return response;
}

// Nothing is left of an ask that ended, and the next one works.
void expect_slot_freed(DriverFixture& fixture) {
    EXPECT_EQ(fixture.driver().in_flight(), 0U);
    EXPECT_EQ(fixture.driver().waiting(), 0U);
    FakeDevice good(fixture.loop(), answers);
    EXPECT_EQ(answer_in(fixture.ask(share(quick_ask(good)))).gets.at(0).integer, 4711);
}

TEST(SnmpDriver, TakesTheLargestDatagramWhole) {
    DriverFixture fixture;
    FakeDevice device(fixture.loop(), [](FakeDevice& self, const Message& request) {
        const auto bytes = encoded(largest_answer_to(request));
        EXPECT_EQ(bytes.size(), 65'507U);
        self.send(bytes);
    });
    model::Ask ask = quick_ask(device);
    ask.timeout = 30s;
    const model::Reply reply = fixture.ask(share(ask));
    EXPECT_EQ(reply.bytes_in, 65'507U);
    EXPECT_GT(answer_in(reply).gets.at(0).bytes.size(), 65'400U);
    EXPECT_EQ(answer_in(reply).gets.at(0).bytes.find_first_not_of('x'), std::string::npos);
    EXPECT_EQ(fixture.driver().counters().malformed, 0U);
    expect_slot_freed(fixture);
}

TEST(SnmpDriver, NamesWhatIsWrongInTheLargestDatagram) {
    DriverFixture fixture;
    FakeDevice device(fixture.loop(), [](FakeDevice& self, const Message& request) {
        Message response = largest_answer_to(request);
        if (self.received() == 1) response.pdu.varbinds.at(0).oid = oid_of("1.3.6.1.2.1.1.4.0");
        auto bytes = encoded(response);
        EXPECT_EQ(bytes.size(), 65'507U);
        // The last byte that the lengths before it announce is not there.
        if (self.received() == 2) bytes.pop_back();
        self.send(bytes);
    });
    for (const std::string_view what : {"another variable", "a byte too few"}) {
        model::Ask ask = quick_ask(device);
        ask.timeout = 30s;
        const auto failure = failure_in(fixture.ask(share(ask)));
        EXPECT_EQ(failure.code, "snmp.malformed") << what;
        EXPECT_LT(failure.message.size(), 500U);
        expect_slot_freed(fixture);
    }
}

TEST(SnmpDriver, BoundsAnswersWithThousandsOfVariables) {
    constexpr int kRows = 4000;
    DriverFixture fixture;
    bool same = false;
    FakeDevice device(fixture.loop(), [&](FakeDevice& self, const Message& request) {
        const auto bytes = encoded(answer_of_rows(request, kRows, same));
        EXPECT_GT(bytes.size(), 50'000U);
        self.send(bytes);
    });
    model::Ask ask = quick_ask(device);
    ask.timeout = 30s;
    // More rows than were asked for at once, and more than are allowed.
    model::SnmpAsk walk = walks_of({"1.3.6.1.5.1"});
    walk.max_rows = kRows - 1;
    ask.request = walk;
    const auto too_many = failure_in(fixture.ask(share(ask)));
    EXPECT_EQ(too_many.code, "snmp.too_many_rows") << too_many.message;
    expect_slot_freed(fixture);
    same = true;
    const auto again = failure_in(fixture.ask(share(ask)));
    EXPECT_EQ(again.code, "snmp.not_increasing") << again.message;
    expect_slot_freed(fixture);
    // To a question for one variable: the first is the answer if it is that one.
    ask.request = gets_of({"1.3.6.1.5.1.1"});
    EXPECT_EQ(answer_in(fixture.ask(share(ask))).gets.size(), 1U);
    ask.request = gets_of({"1.3.6.1.5.1.2"});
    EXPECT_EQ(failure_in(fixture.ask(share(ask))).code, "snmp.malformed");
    expect_slot_freed(fixture);
}

TEST(SnmpDriver, EndsByTheDeadlineEvenIfTheTimeoutIsLater) {
    DriverFixture fixture;
    FakeDevice device(fixture.loop(), keeps_silent);
    model::Ask ask = quick_ask(device);
    ask.timeout = 1h;
    const model::Reply reply = fixture.ask(share(ask), 250ms);
    EXPECT_EQ(failure_in(reply).code, "snmp.timeout");
    EXPECT_EQ(failure_in(reply).kind, FailureKind::kTimeout);
    EXPECT_GE(reply.phases.total, 250ms);
    EXPECT_EQ(device.received(), 1);
}

TEST(SnmpDriver, EndsAWalkThatStallsHalfWay) {
    DriverFixture fixture;
    FakeDevice device(fixture.loop(), [](FakeDevice& self, const Message& request) {
        if (self.received() == 1) answers(self, request);
    });
    model::Ask ask = quick_ask(device, 0);
    ask.request = walks_of({"1.3.6.1.5.1"});
    const model::Reply reply = fixture.ask(share(ask));
    EXPECT_EQ(failure_in(reply).code, "snmp.timeout");
    EXPECT_NE(failure_in(reply).message.find("not everything"), std::string::npos);
}

TEST(SnmpDriver, EndsWithAPastDeadline) {
    DriverFixture fixture;
    FakeDevice device(fixture.loop(), keeps_silent);
    EXPECT_FALSE(fixture.ask(share(quick_ask(device)), -5s).ok());
}

TEST(SnmpDriver, CancelsOnceAndNeverFromInside) {
    DriverFixture fixture;
    FakeDevice device(fixture.loop(), keeps_silent);
    int ended = 0;
    Order order{.id = 7, .ask = share(quick_ask(device)), .deadline = net::boot_now() + test::kFar};
    fixture.driver().start(std::move(order), [&](model::Reply&& reply) {
        ++ended;
        EXPECT_EQ(failure_in(reply).kind, FailureKind::kCancelled);
    });
    EXPECT_EQ(fixture.driver().in_flight(), 1U);
    fixture.driver().cancel(99);
    fixture.driver().cancel(7);
    fixture.driver().cancel(7);
    EXPECT_EQ(ended, 0);
    EXPECT_TRUE(fixture.run_until([&] { return ended == 1; }));
    fixture.driver().cancel(7);
    fixture.run_until([] { return false; }, 300ms);
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(fixture.driver().in_flight(), 0U);
    EXPECT_EQ(device.received(), 0) << "a cancelled ask is not sent";
}

TEST(SnmpDriver, DropsAsksWithoutDoneWhenItGoes) {
    int ended = 0;
    Resolved answer;
    DriverFixture fixture({.allow = {}, .resolve = [&](const std::string&, Resolved resolved) {
                               answer = std::move(resolved);
                           }});
    FakeDevice device(fixture.loop(), keeps_silent);
    model::Ask named = quick_ask(device);
    named.host = "switch-1";
    for (const model::Ask& ask : {quick_ask(device), named}) {
        fixture.driver().start(
            {.id = ask.host.size(), .ask = share(ask), .deadline = net::boot_now() + test::kFar},
            [&](model::Reply&&) { ++ended; });
    }
    fixture.run_until([&] { return device.received() == 1; });
    fixture.drop_driver();
    answer(base::internal_error("dns", "too late"));
    fixture.run_until([] { return false; }, 100ms);
    EXPECT_EQ(ended, 0);
}

sockaddr_storage address_of(const std::string& literal) {
    sockaddr_storage address{};
    to_sockaddr(*parse_literal(literal, 0), address);
    return address;
}

TEST(SnmpDriver, ResolvesNamesAndUsesTheFirstAllowedAddress) {
    std::vector<std::string> asked;
    DriverFixture fixture(
        {.allow = [](const sockaddr_storage& address) -> base::Status {
             if (to_string(*from_sockaddr(address)).starts_with("127.9.")) {
                 return base::config_error("egress.denied", "not there");
             }
             return {};
         },
         .resolve =
             [&](const std::string& host, Resolved resolved) {
                 asked.push_back(host);
                 resolved(std::vector{address_of("127.9.9.9"), address_of("127.0.0.1")});
             }});
    FakeDevice device(fixture.loop(), answers);
    model::Ask ask = quick_ask(device);
    ask.host = "switch-1.example";
    const model::Reply reply = fixture.ask(share(ask), test::kFar, true);
    EXPECT_TRUE(reply.ok());
    EXPECT_EQ(asked, std::vector<std::string>{"switch-1.example"});
    EXPECT_GT(reply.phases.dns.count(), 0);
    ask.host = "127.0.0.1";
    EXPECT_TRUE(fixture.ask(share(ask)).ok());
    EXPECT_EQ(asked.size(), 1U) << "literals are never looked up";
    ask.host = "127.9.9.9";
    const model::Reply denied = fixture.ask(share(ask));
    EXPECT_EQ(failure_in(denied).code, "egress.denied");
    EXPECT_EQ(failure_in(denied).kind, FailureKind::kConfiguration);
}

TEST(SnmpDriver, SaysWhenANameHasNoAddress) {
    Resolved kept;
    DriverFixture fixture({.allow = {}, .resolve = [&](const std::string& host, Resolved resolved) {
                               if (host == "silent") {
                                   kept = std::move(resolved);
                               } else {
                                   resolved(base::internal_error("dns.none", "NXDOMAIN"));
                               }
                           }});
    model::Ask ask = make_ask("nowhere", 161, gets_of({kUptime}));
    const model::Reply unknown = fixture.ask(share(ask));
    EXPECT_EQ(failure_in(unknown).code, "snmp.dns");
    EXPECT_EQ(failure_in(unknown).kind, FailureKind::kDns);
    EXPECT_NE(failure_in(unknown).message.find("NXDOMAIN"), std::string::npos);
    ask.host = "silent";
    const model::Reply silent = fixture.ask(share(ask), 200ms);
    EXPECT_EQ(failure_in(silent).code, "snmp.dns") << failure_in(silent).message;
    kept(std::vector{address_of("127.0.0.1")});  // nobody waits any more
    DriverFixture without;
    EXPECT_EQ(failure_in(without.ask(share(ask))).code, "snmp.dns");
}

TEST(SnmpDriver, RefusesWhatItCannotAsk) {
    DriverFixture fixture;
    model::Ask ask = make_ask("127.0.0.1", 161, gets_of({kUptime}));
    std::get<model::SnmpAsk>(ask.request).version = model::SnmpVersion::kV3;
    EXPECT_EQ(failure_in(fixture.ask(share(ask))).code, "snmp.no_user");
    ask.request = model::SnmpAsk{};
    EXPECT_EQ(failure_in(fixture.ask(share(ask))).code, "snmp.nothing_to_ask");
    ask.request = model::HttpAsk{};
    EXPECT_EQ(failure_in(fixture.ask(share(ask))).code, "snmp.not_snmp");
    EXPECT_EQ(failure_in(fixture.ask(nullptr)).code, "snmp.not_snmp");
    ask = make_ask("127.0.0.1", 161, gets_of({kUptime}), std::string(300, 'c'));
    EXPECT_EQ(failure_in(fixture.ask(share(ask))).code, "snmp.long_community");
    model::SnmpAsk endless;
    endless.gets.emplace_back().arcs.assign(1000, 4'000'000'000U);
    ask = make_ask("127.0.0.1", 161, endless);
    EXPECT_EQ(failure_in(fixture.ask(share(ask))).code, "snmp.long_oid");
    EXPECT_EQ(fixture.driver().in_flight(), 0U);
}

TEST(SnmpDriver, RemembersWhatADeviceTakes) {
    DriverFixture fixture;
    std::size_t largest = 0;
    FakeDevice device(fixture.loop(), [&](FakeDevice& self, const Message& request) {
        largest = std::max(largest, request.pdu.varbinds.size());
        Message response = answer_to(request);
        if (request.pdu.varbinds.size() > 5) {
            response.pdu.error_status = 1;
            response.pdu.varbinds.clear();
        }
        self.send(response);
    });
    model::Ask ask = quick_ask(device);
    model::SnmpAsk snmp;
    for (int i = 1; i <= 20; ++i) snmp.gets.push_back(oid_of("1.3.6.1.5.1." + std::to_string(i)));
    ask.request = snmp;
    const auto shared = share(ask);
    EXPECT_EQ(answer_in(fixture.ask(shared)).pdus, 2U + 4U);
    largest = 0;
    EXPECT_EQ(answer_in(fixture.ask(shared)).pdus, 4U);
    EXPECT_EQ(largest, 5U);
}

// One device stands for many, so it may be asked as often at once.
model::SnmpAsk as_many_devices(const model::Ask& ask) {
    model::SnmpAsk snmp = std::get<model::SnmpAsk>(ask.request);
    snmp.fixed.parallel = 100'000;
    return snmp;
}

// Thousands at once, each starting another when it is done: paced, all answered, none twice.
TEST(SnmpDriver, AnswersAFloodOfAsks) {
    SnmpOptions options;
    options.transport.window = 64;
    options.transport.burst = 50;
    DriverFixture fixture({}, options);
    FakeDevice device(fixture.loop(), answers);
    model::Ask ask = quick_ask(device);
    ask.timeout = 30s;
    ask.request = as_many_devices(ask);
    const auto shared = share(ask);
    constexpr std::uint64_t kAsks = 6000;
    std::map<std::uint64_t, int> ended;
    std::uint64_t next = 0;
    std::function<void()> start_one = [&] {
        const std::uint64_t id = next++;
        fixture.driver().start({.id = id, .ask = shared, .deadline = net::boot_now() + test::kFar},
                               [&, id](model::Reply&& reply) {
                                   EXPECT_TRUE(reply.ok());
                                   ++ended[id];
                                   if (next < kAsks) start_one();
                               });
    };
    for (std::uint64_t i = 0; i < kAsks / 2; ++i) start_one();
    EXPECT_EQ(fixture.driver().waiting(), kAsks / 2);
    EXPECT_TRUE(fixture.run_until([&] { return ended.size() == kAsks; }));
    for (const auto& [id, times] : ended) EXPECT_EQ(times, 1) << id;
    EXPECT_EQ(fixture.driver().counters().sent, kAsks + fixture.driver().counters().resent);
    EXPECT_EQ(fixture.driver().in_flight(), 0U);
    EXPECT_EQ(fixture.driver().waiting(), 0U);
}

TEST(SnmpDriver, ManySilentDevicesDoNotHoldUpTheOthers) {
    SnmpOptions options;
    options.transport.window = 16;
    options.transport.window_age = 5ms;
    DriverFixture fixture({}, options);
    FakeDevice silent(fixture.loop(), keeps_silent);
    FakeDevice device(fixture.loop(), answers);
    int timeouts = 0;
    bool answered = false;
    std::uint64_t id = 0;
    model::Ask dead = quick_ask(silent, 0);
    dead.timeout = 1h;
    dead.request = as_many_devices(dead);
    const auto dead_ask = share(dead);
    for (int i = 0; i < 500; ++i) {
        fixture.driver().start({.id = ++id, .ask = dead_ask, .deadline = net::boot_now() + 4s},
                               [&](model::Reply&& reply) {
                                   EXPECT_EQ(failure_in(reply).code, "snmp.timeout");
                                   ++timeouts;
                               });
    }
    fixture.driver().start(
        {.id = ++id, .ask = share(quick_ask(device)), .deadline = net::boot_now() + test::kFar},
        [&](model::Reply&& reply) { answered = reply.ok(); });
    EXPECT_TRUE(fixture.run_until([&] { return answered; }));
    EXPECT_TRUE(fixture.run_until([&] { return timeouts == 500; }));
}

TEST(SnmpDriver, ClosedPortsAreRefusedForEveryAsk) {
    DriverFixture fixture;
    const std::uint16_t closed = net::test::free_port();
    int refused = 0;
    std::uint64_t id = 0;
    for (int i = 0; i < 300; ++i) {
        for (const std::string host : {"127.0.0.1", "::1"}) {
            model::Ask ask = make_ask(host, closed, gets_of({kUptime}));
            ask.timeout = 10s;
            fixture.driver().start(
                {.id = ++id, .ask = share(ask), .deadline = net::boot_now() + test::kFar},
                [&](model::Reply&& reply) {
                    EXPECT_EQ(failure_in(reply).code, "snmp.refused");
                    EXPECT_EQ(failure_in(reply).kind, FailureKind::kConnection);
                    ++refused;
                });
        }
    }
    EXPECT_TRUE(fixture.run_until([&] { return refused == 600; })) << refused;
}

TEST(SnmpDriver, NeverTracesTheCommunity) {
    DriverFixture fixture;
    FakeDevice device(fixture.loop(), [](FakeDevice& self, const Message& request) {
        EXPECT_EQ(request.community, "s3cret");
        answers(self, request);
    });
    model::Ask ask = make_ask("127.0.0.1", device.port(), gets_of({kUptime}), "s3cret");
    ask.request = walks_of({"1.3.6.1.5.1"});
    const model::Reply reply = fixture.ask(share(ask), test::kFar, true);
    EXPECT_EQ(reply.trace.size(), 6U);
    for (const std::string& line : reply.trace) {
        EXPECT_EQ(line.find("s3cret"), std::string::npos) << line;
    }
}

TEST(SnmpDriver, BoundsTraces) {
    SnmpOptions options;
    options.max_trace_lines = 5;
    DriverFixture fixture({}, options);
    FakeDevice device(fixture.loop(), answers);
    model::Ask ask = quick_ask(device);
    model::SnmpAsk walk = walks_of({"1.3.6.1.5.1"});
    walk.max_repetitions = 1;
    ask.request = walk;
    const model::Reply reply = fixture.ask(share(ask), test::kFar, true);
    EXPECT_TRUE(reply.ok());
    ASSERT_EQ(reply.trace.size(), 6U);
    EXPECT_NE(reply.trace.back().find("not shown"), std::string::npos);
}

}  // namespace
}  // namespace pollux::protocol::snmp
