// The driver against devices with limits and faults: whatever they are, the values read are those
// of one variable per request, and the next asks know better.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/test_random.hpp"
#include "protocol/snmp/device_test_support.hpp"
#include "protocol/snmp/driver_test_support.hpp"
#include "protocol/snmp/scripted_agent.hpp"

namespace pollux::protocol::snmp {
namespace {

using namespace std::chrono_literals;
using test::answer_in;
using test::DriverFixture;
using test::FakeDevice;
using test::gets_of;
using test::make_ask;
using test::share;
using test::walks_of;

constexpr const char* kDescription = "1.3.6.1.2.1.1.1.0";

SnmpOptions checked_always() {
    SnmpOptions options;
    options.check_every = base::Duration::zero();
    return options;
}

ScriptedAgent switch_of(int columns, int rows) {
    ScriptedAgent agent;
    for (int column = 1; column <= columns; ++column) {
        for (int row = 1; row <= rows; ++row) {
            agent.add("1.3.6.1.5." + std::to_string(column) + "." + std::to_string(row),
                      column * 1000 + row);
        }
    }
    agent.add("1.3.6.2.1", 7);
    return agent;
}

// What is wrong with a device beside the limits of its agent.
struct Faults {
    std::size_t drops_above = 100'000;  // variables of an answer, without a word
    bool no_bulk = false;               // silence
    bool bulk_error = false;            // genErr
    bool bulk_repeats = false;          // the first row comes again in the middle
};

FakeDevice::Handler device_of(ScriptedAgent& agent, const Faults& faults = {}) {
    return [&agent, faults](FakeDevice& self, const Message& request) {
        const bool bulk = request.pdu.type == PduType::kGetBulk;
        if (bulk && faults.no_bulk) return;
        Message response = request;
        response.pdu = agent.answer(request.pdu);
        if (response.pdu.varbinds.size() > faults.drops_above) return;
        if (bulk && faults.bulk_error) {
            response.pdu.error_status = 5;
            response.pdu.error_index = 0;
            response.pdu.varbinds = request.pdu.varbinds;
        }
        if (bulk && faults.bulk_repeats && response.pdu.varbinds.size() > 6) {
            response.pdu.varbinds[response.pdu.varbinds.size() / 2] = response.pdu.varbinds[0];
        }
        self.send(response);
    };
}

model::Ask ask_of(const FakeDevice& device, model::SnmpAsk snmp) {
    model::Ask ask = make_ask("127.0.0.1", device.port(), std::move(snmp));
    ask.timeout = 10s;
    ask.resends = 1;
    return ask;
}

// For devices that do not answer some requests at all. What is read is right however slow the
// machine is; what is learned of an answer that comes too late is not.
model::Ask impatient(model::Ask ask) {
    ask.timeout = 500ms;
    return ask;
}

model::SnmpAsk table_ask(int columns) {
    model::SnmpAsk ask;
    for (int i = 1; i <= columns; ++i) {
        ask.walks.push_back(*model::parse_oid("1.3.6.1.5." + std::to_string(i)));
    }
    return ask;
}

void expect_table(const model::SnmpReply& reply, int columns, int rows) {
    ASSERT_EQ(reply.walks.size(), static_cast<std::size_t>(columns));
    for (int column = 1; column <= columns; ++column) {
        const auto& walk = reply.walks[static_cast<std::size_t>(column) - 1];
        ASSERT_EQ(walk.size(), static_cast<std::size_t>(rows)) << "column " << column;
        for (int row = 1; row <= rows; ++row) {
            EXPECT_EQ(walk[static_cast<std::size_t>(row) - 1].value.integer, column * 1000 + row);
        }
    }
}

const DeviceProfile& profile_of(DriverFixture& fixture, const FakeDevice& device) {
    static const DeviceProfile none;
    const auto* found =
        fixture.driver().profiles().find(*parse_literal("127.0.0.1", device.port()));
    return found == nullptr ? none : *found;
}

TEST(SnmpProfile, GrowsWithRealPollsAndNeedsFewerRequests) {
    DriverFixture fixture;
    ScriptedAgent agent = switch_of(4, 200);
    FakeDevice device(fixture.loop(), device_of(agent));
    const auto shared = share(ask_of(device, table_ask(4)));
    const std::uint32_t first = answer_in(fixture.ask(shared)).pdus;
    std::uint32_t last = 0;
    for (int i = 0; i < 4; ++i) {
        const model::Reply reply = fixture.ask(shared);
        expect_table(answer_in(reply), 4, 200);
        last = answer_in(reply).pdus;
    }
    EXPECT_LT(last * 2, first);
    EXPECT_GT(profile_of(fixture, device).repetitions.now, 25U);
    EXPECT_EQ(profile_of(fixture, device).steps_back, 0U);
}

TEST(SnmpProfile, FindsTheSizeThatADeviceDropsSilently) {
    DriverFixture fixture;
    ScriptedAgent agent = switch_of(3, 40);
    FakeDevice device(fixture.loop(), device_of(agent, {.drops_above = 20}));
    model::SnmpAsk snmp = table_ask(3);
    for (int i = 1; i <= 30; ++i) {
        snmp.gets.push_back(*model::parse_oid("1.3.6.1.5.1." + std::to_string(i)));
    }
    const auto shared = share(impatient(ask_of(device, snmp)));
    std::uint32_t resends = 0;
    for (int i = 0; i < 6; ++i) {
        const auto before = fixture.driver().counters().resent;
        const model::Reply reply = fixture.ask(shared);
        expect_table(answer_in(reply), 3, 40);
        EXPECT_EQ(answer_in(reply).gets[29].integer, 1030);
        resends = static_cast<std::uint32_t>(fixture.driver().counters().resent - before);
    }
    EXPECT_EQ(resends, 0U) << "it knows by now";
    EXPECT_LE(profile_of(fixture, device).varbinds.now, 20U);
    EXPECT_TRUE(profile_of(fixture, device).uses_bulk());
    EXPECT_GT(profile_of(fixture, device).steps_back, 0U);
    EXPECT_EQ(fixture.driver().counters().steps_back, profile_of(fixture, device).steps_back);
}

TEST(SnmpProfile, WalksDevicesWhoseBulkDoesNotWork) {
    struct Case {
        Faults faults;
        Bulk bulk;
    };
    for (const Case& one :
         {Case{{.no_bulk = true}, Bulk::kFails}, Case{{.bulk_error = true}, Bulk::kFails},
          Case{{.bulk_repeats = true}, Bulk::kBroken}}) {
        std::vector<ProfileNews> news;
        DriverFixture fixture(
            {.allow = {}, .resolve = {}, .tell = [&](const ProfileNews& one_more) {
                 news.push_back(one_more);
             }});
        ScriptedAgent agent = switch_of(3, 12);
        FakeDevice device(fixture.loop(), device_of(agent, one.faults));
        const model::Ask ask = ask_of(device, table_ask(3));
        const auto shared = share(one.faults.no_bulk ? impatient(ask) : ask);
        for (int i = 0; i < 4; ++i) expect_table(answer_in(fixture.ask(shared)), 3, 12);
        EXPECT_EQ(profile_of(fixture, device).bulk, one.bulk);
        ASSERT_EQ(news.size(), 1U);
        EXPECT_EQ(news[0].kind, ProfileNews::Kind::kBulkOff);
        EXPECT_EQ(news[0].host, "127.0.0.1");
        const auto resent = fixture.driver().counters().resent;
        EXPECT_EQ(answer_in(fixture.ask(shared)).pdus, 13U) << "one per row and one for the end";
        EXPECT_EQ(fixture.driver().counters().resent, resent);
    }
}

TEST(SnmpProfile, BeginsAgainWithNewFirmware) {
    std::vector<ProfileNews> news;
    DriverFixture fixture(
        {.allow = {}, .resolve = {}, .tell = [&](const ProfileNews& one) { news.push_back(one); }});
    ScriptedAgent agent = switch_of(1, 20);
    const auto set_version = [&](std::string text) {
        model::SnmpValue value;
        value.type = model::SnmpType::kOctetString;
        value.bytes = std::move(text);
        agent.table[*model::parse_oid(kDescription)] = value;
    };
    set_version("switch 1.0");
    agent.max_varbinds = 5;
    FakeDevice device(fixture.loop(), device_of(agent));
    model::SnmpAsk snmp = gets_of({kDescription});
    for (int i = 1; i <= 19; ++i) {
        snmp.gets.push_back(*model::parse_oid("1.3.6.1.5.1." + std::to_string(i)));
    }
    const auto shared = share(ask_of(device, snmp));
    EXPECT_EQ(answer_in(fixture.ask(shared)).pdus, 6U);
    EXPECT_EQ(answer_in(fixture.ask(shared)).pdus, 4U);
    set_version("switch 2.0");
    agent.max_varbinds = 100;
    const model::Reply told = fixture.ask(shared, test::kFar, true);
    EXPECT_EQ(answer_in(told).pdus, 4U);
    EXPECT_TRUE(std::ranges::any_of(told.trace, [](const std::string& line) {
        return line.find("profile begins again") != std::string::npos;
    }));
    EXPECT_EQ(answer_in(fixture.ask(shared)).pdus, 1U);
    ASSERT_EQ(news.size(), 1U);
    EXPECT_EQ(news[0].kind, ProfileNews::Kind::kFirmwareChanged);
    EXPECT_EQ(profile_of(fixture, device).relearned, 1U);
    EXPECT_EQ(fixture.driver().counters().relearned, 1U);
}

// Nobody reads sysDescr here: the daily check asks for it.
TEST(SnmpProfile, FindsNewFirmwareByTheCheckToo) {
    for (const bool tables : {true, false}) {
        std::vector<ProfileNews> news;
        DriverFixture fixture({.allow = {},
                               .resolve = {},
                               .tell = [&](const ProfileNews& one) { news.push_back(one); }},
                              checked_always());
        ScriptedAgent agent = switch_of(2, 12);
        const auto set_version = [&](std::string text) {
            model::SnmpValue value;
            value.type = model::SnmpType::kOctetString;
            value.bytes = std::move(text);
            agent.table[*model::parse_oid(kDescription)] = value;
        };
        set_version("switch 1.0");
        FakeDevice device(fixture.loop(), device_of(agent));
        const auto shared =
            share(ask_of(device, tables ? table_ask(2) : gets_of({"1.3.6.1.5.1.1"})));
        const auto poll = [&] {
            EXPECT_TRUE(fixture.ask(shared).ok());
            EXPECT_TRUE(fixture.run_until([&] { return fixture.driver().in_flight() == 0; }));
        };
        poll();
        EXPECT_NE(profile_of(fixture, device).description, 0U);
        EXPECT_EQ(profile_of(fixture, device).relearned, 0U);
        poll();
        EXPECT_EQ(profile_of(fixture, device).relearned, 0U) << "the same is no news";
        set_version("switch 2.0");
        poll();
        EXPECT_EQ(profile_of(fixture, device).relearned, 1U);
        ASSERT_EQ(news.size(), 1U);
        EXPECT_EQ(news[0].kind, ProfileNews::Kind::kFirmwareChanged);
        EXPECT_EQ(fixture.driver().counters().differences, 0U);
    }
}

TEST(SnmpProfile, WhatAPersonFixedHolds) {
    DriverFixture fixture;
    ScriptedAgent agent = switch_of(3, 12);
    FakeDevice device(fixture.loop(), device_of(agent));
    model::SnmpAsk snmp = table_ask(3);
    snmp.fixed = {.max_varbinds = 2, .max_repetitions = 4, .parallel = 1, .bulk = {}};
    for (int i = 0; i < 3; ++i) {
        agent.largest_request = 0;
        const model::Reply reply = fixture.ask(share(ask_of(device, snmp)));
        expect_table(answer_in(reply), 3, 12);
        EXPECT_EQ(agent.largest_request, 2U);
        // Two columns by four rows, their end, then the third.
        EXPECT_EQ(answer_in(reply).pdus, 8U);
    }
    snmp.fixed.bulk = false;
    EXPECT_EQ(answer_in(fixture.ask(share(ask_of(device, snmp)))).pdus, 26U);
    EXPECT_EQ(profile_of(fixture, device).varbinds.now, 0U);
}

TEST(SnmpProfile, BoundsRequestsAtOnceAndAnswersAll) {
    DriverFixture fixture;
    ScriptedAgent agent = switch_of(1, 5);
    std::size_t held = 0;
    std::size_t most = 0;
    std::vector<Message> waiting;
    FakeDevice device(fixture.loop(), [&](FakeDevice&, const Message& request) {
        waiting.push_back(request);
        most = std::max(most, ++held);
    });
    model::Ask ask = ask_of(device, gets_of({"1.3.6.2.1"}));
    ask.timeout = 30s;
    const auto shared = share(ask);
    int done = 0;
    for (std::uint64_t id = 1; id <= 60; ++id) {
        fixture.driver().start({.id = id, .ask = shared, .deadline = net::boot_now() + test::kFar},
                               [&](model::Reply&& reply) { done += reply.ok() ? 1 : 0; });
    }
    ASSERT_TRUE(fixture.run_until([&] { return held == kFirstParallel; }));
    EXPECT_TRUE(fixture.run_until([&] {
        for (const Message& request : std::exchange(waiting, {})) {
            Message response = request;
            response.pdu = agent.answer(request.pdu);
            --held;
            device.send(response);
        }
        return done == 60;
    }));
    EXPECT_GT(profile_of(fixture, device).parallel.now, kFirstParallel) << "it keeps up";
    EXPECT_LE(most, kMostParallel);
}

TEST(SnmpProfile, SaysWhenADeviceIsSilentBeforeItIsAsked) {
    DriverFixture fixture;
    FakeDevice device(fixture.loop(), [](FakeDevice&, const Message&) {});
    model::Ask ask = ask_of(device, gets_of({"1.3.6.2.1"}));
    ask.timeout = 30s;
    std::vector<std::string> messages;
    // The last one ends first: it may not find a free place because the others ended.
    for (std::uint64_t id = 1; id <= 3; ++id) {
        const auto patience = id == 3 ? 150ms : 300ms;
        fixture.driver().start(
            {.id = id, .ask = share(ask), .deadline = net::boot_now() + patience},
            [&](model::Reply&& reply) {
                EXPECT_EQ(test::failure_in(reply).code, "snmp.timeout");
                messages.push_back(test::failure_in(reply).message);
            });
    }
    ASSERT_TRUE(fixture.run_until([&] { return messages.size() == 3; }));
    EXPECT_EQ(std::ranges::count_if(messages,
                                    [](const std::string& message) {
                                        return message.find("other requests to the device") !=
                                               std::string::npos;
                                    }),
              1);
}

// --- narrow checks -------------------------------------------------------------------------------

// A device whose bulk answers differ from what it says otherwise.
FakeDevice::Handler liar(ScriptedAgent& honest, ScriptedAgent& lies) {
    return [&](FakeDevice& self, const Message& request) {
        const bool bulk = request.pdu.type == PduType::kGetBulk;
        Message response = request;
        response.pdu = (bulk ? lies : honest).answer(request.pdu);
        self.send(response);
    };
}

TEST(SnmpProfile, FlagsDevicesThatLieInBulk) {
    using Spoil = std::function<void(ScriptedAgent&)>;
    const Spoil skips = [](ScriptedAgent& agent) {
        std::erase_if(agent.table, [](const auto& row) { return row.first.arcs.back() % 2 == 0; });
    };
    const Spoil ends_early = [](ScriptedAgent& agent) {
        std::erase_if(agent.table, [](const auto& row) { return row.first.arcs.back() > 8; });
    };
    const Spoil types = [](ScriptedAgent& agent) {
        for (auto& [name, value] : agent.table) value.type = model::SnmpType::kGauge32;
    };
    for (const Spoil& spoil : {skips, ends_early, types}) {
        std::vector<ProfileNews> news;
        DriverFixture fixture({.allow = {},
                               .resolve = {},
                               .tell = [&](const ProfileNews& one) { news.push_back(one); }},
                              checked_always());
        ScriptedAgent honest = switch_of(2, 12);
        ScriptedAgent lies = honest;
        spoil(lies);
        FakeDevice device(fixture.loop(), liar(honest, lies));
        const auto shared = share(ask_of(device, table_ask(2)));
        for (int i = 0; i < 3; ++i) {
            fixture.ask(shared);
            EXPECT_TRUE(fixture.run_until([&] { return fixture.driver().in_flight() == 0; }));
        }
        EXPECT_EQ(profile_of(fixture, device).bulk, Bulk::kLies);
        EXPECT_EQ(fixture.driver().profiles().liars(), 1U);
        ASSERT_EQ(news.size(), 1U);
        EXPECT_EQ(news[0].kind, ProfileNews::Kind::kLies);
        EXPECT_FALSE(news[0].detail.empty());
        expect_table(answer_in(fixture.ask(shared)), 2, 12);
    }
}

TEST(SnmpProfile, ALiarWithNewFirmwareGetsAnotherChance) {
    DriverFixture fixture({}, checked_always());
    ScriptedAgent honest = switch_of(2, 12);
    honest.add("1.3.6.1.2.1.1.2.0", 0);
    model::SnmpValue& firmware = honest.table[*model::parse_oid("1.3.6.1.2.1.1.2.0")];
    firmware.type = model::SnmpType::kObjectId;
    firmware.oid = *model::parse_oid("1.3.6.1.4.1.9.1");
    ScriptedAgent lies = honest;
    for (auto& [name, value] : lies.table) value.type = model::SnmpType::kGauge32;
    FakeDevice device(fixture.loop(), liar(honest, lies));
    const auto shared = share(ask_of(device, table_ask(2)));
    const auto poll = [&] {
        EXPECT_TRUE(fixture.ask(shared).ok());
        EXPECT_TRUE(fixture.run_until([&] { return fixture.driver().in_flight() == 0; }));
    };
    for (int i = 0; i < 4; ++i) poll();
    ASSERT_EQ(profile_of(fixture, device).bulk, Bulk::kLies);
    firmware.oid = *model::parse_oid("1.3.6.1.4.1.9.2");
    poll();
    EXPECT_EQ(profile_of(fixture, device).relearned, 1U);
    EXPECT_TRUE(profile_of(fixture, device).uses_bulk());
}

TEST(SnmpProfile, ChecksHonestDevicesAtABoundedCost) {
    DriverFixture fixture({}, checked_always());
    ScriptedAgent agent = switch_of(2, 30);
    for (auto& [name, value] : agent.table) value.type = model::SnmpType::kCounter32;
    FakeDevice device(fixture.loop(), [&](FakeDevice& self, const Message& request) {
        for (auto& [name, value] : agent.table) ++value.unsigned_value;  // they count on
        device_of(agent)(self, request);
    });
    const auto shared = share(ask_of(device, table_ask(2)));
    for (int i = 0; i < 3; ++i) {
        const std::uint32_t before = agent.requests;
        const std::uint32_t pdus = answer_in(fixture.ask(shared)).pdus;
        EXPECT_TRUE(fixture.run_until([&] { return fixture.driver().in_flight() == 0; }));
        EXPECT_LE(agent.requests - before - pdus, kCheckedValues + 1) << "one asks what it is";
        EXPECT_GT(agent.requests - before, pdus);
    }
    EXPECT_EQ(fixture.driver().counters().narrow_checks, 3U);
    EXPECT_EQ(fixture.driver().counters().differences, 0U);
    EXPECT_TRUE(profile_of(fixture, device).uses_bulk());
}

TEST(SnmpProfile, DoesNotCheckOnTheFirstDay) {
    DriverFixture fixture;
    ScriptedAgent agent = switch_of(2, 30);
    FakeDevice device(fixture.loop(), device_of(agent));
    fixture.ask(share(ask_of(device, table_ask(2))));
    fixture.ask(share(ask_of(device, table_ask(2))));
    EXPECT_LE(fixture.driver().counters().narrow_checks, 1U);
}

// Whatever the limits are, the values are those of one variable per request, in every poll.
TEST(SnmpProfile, ReadsTheSameWhateverTheLimitsAre) {
    DriverFixture fixture;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        base::TestRandom random(seed);
        const int columns = 1 + static_cast<int>(random.below(6));
        const int rows = static_cast<int>(random.below(40));
        ScriptedAgent agent = switch_of(columns, rows);
        if (random.one_in(2)) agent.max_varbinds = 1 + random.below(30);
        if (random.one_in(2)) agent.most_rows = 1 + random.below(60);
        if (random.one_in(3)) agent.answers_at_most = 1 + random.below(10);
        FakeDevice device(fixture.loop(), device_of(agent, {.bulk_error = random.one_in(6),
                                                            .bulk_repeats = random.one_in(6)}));
        model::SnmpAsk snmp = table_ask(columns);
        for (int row = 1; row <= rows; ++row) {
            snmp.gets.push_back(*model::parse_oid("1.3.6.1.5.1." + std::to_string(row)));
        }
        snmp.gets.push_back(*model::parse_oid("1.3.6.9"));
        model::Ask ask = ask_of(device, snmp);
        ask.timeout = 20s;
        model::SnmpAsk narrow = snmp;
        narrow.fixed = {.max_varbinds = 1, .max_repetitions = 1, .parallel = 0, .bulk = false};
        model::Ask reference = ask;
        reference.request = narrow;
        const model::SnmpReply expected = answer_in(fixture.ask(share(reference)));
        const auto shared = share(ask);
        for (int i = 0; i < 5; ++i) {
            const model::SnmpReply got = answer_in(fixture.ask(shared));
            ASSERT_EQ(got.gets, expected.gets) << "seed " << seed << " poll " << i;
            ASSERT_EQ(got.walks, expected.walks) << "seed " << seed << " poll " << i;
        }
    }
}

TEST(SnmpProfile, SurvivesARestart) {
    base::ByteWriter kept;
    ScriptedAgent agent = switch_of(1, 20);
    agent.max_varbinds = 5;
    model::SnmpAsk snmp;
    for (int i = 1; i <= 20; ++i) {
        snmp.gets.push_back(*model::parse_oid("1.3.6.1.5.1." + std::to_string(i)));
    }
    DriverFixture before;
    FakeDevice device(before.loop(), device_of(agent));
    const auto shared = share(ask_of(device, snmp));
    const std::uint64_t revision = before.driver().learned_revision();
    EXPECT_EQ(answer_in(before.ask(shared)).pdus, 6U);
    EXPECT_GT(before.driver().learned_revision(), revision);
    before.driver().learned(kept);
    DriverFixture after;
    base::ByteReader reader(kept.view());
    ASSERT_TRUE(after.driver().recall(reader).has_value());
    FakeDevice again(after.loop(), device_of(agent));
    EXPECT_EQ(profile_of(after, device).varbinds.now, 5U);
    EXPECT_EQ(answer_in(after.ask(share(ask_of(again, snmp)))).pdus, 6U) << "another device";
}

}  // namespace
}  // namespace pollux::protocol::snmp
