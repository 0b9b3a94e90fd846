#include "protocol/snmp/exchange.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "base/test_random.hpp"
#include "protocol/snmp/codec_test_support.hpp"
#include "protocol/snmp/scripted_agent.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::SnmpType;
using Step = Exchange::Step;
using Device = std::function<Pdu(const Pdu&)>;

// Request and answer go through their wire form, as they would.
Pdu request_of(const Exchange& exchange, std::int32_t id) {
    std::array<std::uint8_t, 4096> buffer;
    BerWriter writer(buffer);
    exchange.put_request(writer, id);
    EXPECT_TRUE(writer.ok());
    BerReader reader(writer.bytes());
    return *decode_pdu(*reader.next());
}

Step take(Exchange& exchange, const Pdu& response) {
    std::vector<std::uint8_t> buffer(kMaxMessageBytes);
    BerWriter writer(buffer);
    put_pdu(writer, response);
    EXPECT_TRUE(writer.ok());
    BerReader reader(writer.bytes());
    return exchange.take_response(*parse_pdu(*reader.next()));
}

Step run(Exchange& exchange, const model::SnmpAsk& ask, const Device& device,
         const DeviceProfile& profile = {}, ExchangeLimits limits = {}) {
    Step step = exchange.begin(ask, profile, limits);
    for (std::int32_t id = 1; step == Step::kAsk; ++id) {
        if (id > 100'000) {
            ADD_FAILURE() << "it never ends";
            break;
        }
        step = take(exchange, device(request_of(exchange, id)));
    }
    return step;
}

Device by(ScriptedAgent& agent) {
    return [&agent](const Pdu& request) { return agent.answer(request); };
}

model::SnmpAsk ask_of(std::vector<std::string> gets, std::vector<std::string> walks = {}) {
    model::SnmpAsk ask;
    for (const auto& text : gets) ask.gets.push_back(oid_of(text));
    for (const auto& text : walks) ask.walks.push_back(oid_of(text));
    return ask;
}

ScriptedAgent agent_with_table(int columns, int rows) {
    ScriptedAgent agent;
    for (int column = 1; column <= columns; ++column) {
        for (int row = 1; row <= rows; ++row) {
            agent.add("1.3.6.1.5." + std::to_string(column) + "." + std::to_string(row),
                      column * 1'000'000 + row);
        }
    }
    agent.add("1.3.6.2.1", 7);
    return agent;
}

TEST(Exchange, RefusesToAskNothing) {
    Exchange exchange;
    EXPECT_EQ(exchange.begin({}, {}), Step::kFailed);
    EXPECT_EQ(exchange.failure().code, "snmp.nothing_to_ask");
    EXPECT_EQ(exchange.failure().kind, model::FailureKind::kConfiguration);
}

TEST(Exchange, MergesGetsIntoOneRequest) {
    ScriptedAgent agent = agent_with_table(1, 20);
    model::SnmpAsk ask;
    for (int i = 20; i >= 1; --i) ask.gets.push_back(oid_of("1.3.6.1.5.1." + std::to_string(i)));
    ask.gets.push_back(oid_of("1.3.6.9.9"));
    Exchange exchange;
    ASSERT_EQ(run(exchange, ask, by(agent)), Step::kDone);
    EXPECT_EQ(agent.requests, 1U);
    const model::SnmpReply reply = exchange.take_reply();
    ASSERT_EQ(reply.gets.size(), 21U);
    for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(reply.gets[i].integer, 1'000'020 - static_cast<std::int64_t>(i));
    }
    EXPECT_EQ(reply.gets[20].type, SnmpType::kNoSuchObject);
}

TEST(Exchange, BoundsRequestsByVariablesAndBySize) {
    ScriptedAgent agent = agent_with_table(1, 100);
    model::SnmpAsk ask;
    for (int i = 1; i <= 100; ++i) ask.gets.push_back(oid_of("1.3.6.1.5.1." + std::to_string(i)));
    ask.max_varbinds = 40;
    Exchange by_count;
    ASSERT_EQ(run(by_count, ask, by(agent)), Step::kDone);
    EXPECT_EQ(agent.requests, 3U);
    EXPECT_EQ(agent.largest_request, 40U);

    agent.requests = 0;
    agent.largest_request = 0;
    ask.max_varbinds = 1000;
    Exchange by_size;
    ASSERT_EQ(run(by_size, ask, by(agent)), Step::kDone);
    EXPECT_GT(agent.requests, 1U);
    EXPECT_LT(agent.largest_request, 80U);
    EXPECT_EQ(by_size.take_reply().gets[99].integer, 1'000'100);
}

TEST(Exchange, HalvesWhatIsTooBigAndRemembersIt) {
    ScriptedAgent agent = agent_with_table(1, 24);
    agent.max_varbinds = 7;
    model::SnmpAsk ask;
    for (int i = 1; i <= 24; ++i) ask.gets.push_back(oid_of("1.3.6.1.5.1." + std::to_string(i)));
    Exchange exchange;
    ASSERT_EQ(run(exchange, ask, by(agent)), Step::kDone);
    EXPECT_EQ(exchange.profile().varbinds.now, 6U);
    EXPECT_EQ(exchange.profile().too_big, 2U);
    EXPECT_EQ(agent.requests, 2U + 4U);  // 24, 12, then four of 6
    const model::SnmpReply reply = exchange.take_reply();
    for (std::size_t i = 0; i < 24; ++i) {
        EXPECT_EQ(reply.gets[i].integer, 1'000'001 + static_cast<std::int64_t>(i));
    }
    agent.requests = 0;
    Exchange again;
    ASSERT_EQ(run(again, ask, by(agent), exchange.profile()), Step::kDone);
    EXPECT_EQ(agent.requests, 4U);
}

TEST(Exchange, GivesUpWhenOneVariableIsTooBig) {
    ScriptedAgent agent = agent_with_table(1, 4);
    agent.max_varbinds = 0;
    Exchange exchange;
    ASSERT_EQ(run(exchange, ask_of({"1.3.6.1.5.1.1", "1.3.6.1.5.1.2"}), by(agent)), Step::kFailed);
    EXPECT_EQ(exchange.failure().code, "snmp.error_status");
    EXPECT_NE(exchange.failure().message.find("tooBig for 1.3.6.1.5.1.1"), std::string::npos)
        << exchange.failure().message;
}

TEST(Exchange, AsksAgainForWhatAnAnswerLeftOut) {
    ScriptedAgent agent = agent_with_table(1, 10);
    agent.answers_at_most = 3;
    model::SnmpAsk ask;
    for (int i = 1; i <= 10; ++i) ask.gets.push_back(oid_of("1.3.6.1.5.1." + std::to_string(i)));
    Exchange exchange;
    ASSERT_EQ(run(exchange, ask, by(agent)), Step::kDone);
    EXPECT_EQ(agent.requests, 4U);
    EXPECT_EQ(exchange.take_reply().gets[9].integer, 1'000'010);
    agent.answers_at_most = 0;
    Exchange nothing;
    ASSERT_EQ(run(nothing, ask, by(agent)), Step::kFailed);
    EXPECT_EQ(nothing.failure().code, "snmp.malformed");
}

TEST(Exchange, VersionOneDropsTheVariableThatDoesNotExist) {
    ScriptedAgent agent = agent_with_table(1, 3);
    agent.version_one = true;
    model::SnmpAsk ask =
        ask_of({"1.3.9.1", "1.3.6.1.5.1.1", "1.3.9.2", "1.3.6.1.5.1.2", "1.3.9.3"});
    ask.version = model::SnmpVersion::kV1;
    Exchange exchange;
    ASSERT_EQ(run(exchange, ask, by(agent)), Step::kDone);
    EXPECT_EQ(agent.requests, 4U);
    const model::SnmpReply reply = exchange.take_reply();
    EXPECT_EQ(reply.gets[0].type, SnmpType::kNoSuchObject);
    EXPECT_EQ(reply.gets[1].integer, 1'000'001);
    EXPECT_EQ(reply.gets[2].type, SnmpType::kNoSuchObject);
    EXPECT_EQ(reply.gets[3].integer, 1'000'002);
    EXPECT_EQ(reply.gets[4].type, SnmpType::kNoSuchObject);
}

TEST(Exchange, FindsTheMissingVariableIfTheDeviceDoesNotNameIt) {
    ScriptedAgent agent = agent_with_table(1, 3);
    agent.version_one = true;
    model::SnmpAsk ask = ask_of({"1.3.6.1.5.1.1", "1.3.6.1.5.1.2", "1.3.9.2", "1.3.6.1.5.1.3"});
    ask.version = model::SnmpVersion::kV1;
    Exchange exchange;
    ASSERT_EQ(run(exchange, ask,
                  [&](const Pdu& request) {
                      Pdu response = agent.answer(request);
                      response.error_index = 0;
                      return response;
                  }),
              Step::kDone);
    const model::SnmpReply reply = exchange.take_reply();
    EXPECT_EQ(reply.gets[2].type, SnmpType::kNoSuchObject);
    EXPECT_EQ(reply.gets[3].integer, 1'000'003);
    EXPECT_EQ(exchange.profile(), DeviceProfile{});
}

TEST(Exchange, NamesTheVariableOfAnError) {
    const model::SnmpAsk ask = ask_of({"1.3.6.1.1", "1.3.6.1.2"});
    Exchange exchange;
    ASSERT_EQ(run(exchange, ask,
                  [](const Pdu& request) {
                      Pdu response = request;
                      response.type = PduType::kResponse;
                      for (Varbind& varbind : response.varbinds) {
                          varbind.value.type = SnmpType::kInteger;
                          if (varbind.oid == oid_of("1.3.6.1.2")) response.error_status = 5;
                      }
                      response.error_index = static_cast<std::int32_t>(
                          response.error_status == 0 ? 0 : response.varbinds.size());
                      return response;
                  }),
              Step::kFailed);
    EXPECT_EQ(exchange.profile(), DeviceProfile{}) << "the size was not at fault";
    EXPECT_EQ(exchange.failure().code, "snmp.error_status");
    EXPECT_EQ(exchange.failure().kind, model::FailureKind::kApi);
    EXPECT_NE(exchange.failure().message.find("genErr for 1.3.6.1.2;"), std::string::npos)
        << exchange.failure().message;
}

TEST(Exchange, RefusedAccessIsAnAuthFailure) {
    for (const auto version : {model::SnmpVersion::kV2c, model::SnmpVersion::kV3}) {
        Exchange exchange;
        auto ask = ask_of({"1.3.6.1.1"});
        ask.version = version;
        ASSERT_EQ(run(exchange, ask,
                      [](const Pdu& request) {
                          Pdu response = request;
                          response.error_status = 16;
                          return response;
                      }),
                  Step::kFailed);
        EXPECT_EQ(exchange.failure().kind, model::FailureKind::kAuth);
        const bool level = exchange.failure().message.find("snmp_privacy") != std::string::npos;
        EXPECT_EQ(level, version == model::SnmpVersion::kV3) << exchange.failure().message;
    }
}

TEST(Exchange, RefusesAnswersAboutOtherVariables) {
    Exchange exchange;
    ASSERT_EQ(run(exchange, ask_of({"1.3.6.1.1"}),
                  [](const Pdu& request) {
                      Pdu response = request;
                      response.varbinds[0].oid = oid_of("1.3.6.1.2");
                      return response;
                  }),
              Step::kFailed);
    EXPECT_EQ(exchange.failure().code, "snmp.malformed");
}

class Walk : public ::testing::TestWithParam<model::SnmpVersion> {};

TEST_P(Walk, ReadsColumnsOfDifferentLengthsSideBySide) {
    ScriptedAgent agent = agent_with_table(3, 60);
    for (int row = 11; row <= 60; ++row) {
        agent.table.erase(oid_of("1.3.6.1.5.2." + std::to_string(row)));
    }
    agent.version_one = GetParam() == model::SnmpVersion::kV1;
    model::SnmpAsk ask =
        ask_of({"1.3.6.2.1"}, {"1.3.6.1.5.1", "1.3.6.1.5.2", "1.3.6.1.5.3", "1.3.6.8", "1.3.6.2"});
    ask.version = GetParam();
    Exchange exchange;
    ASSERT_EQ(run(exchange, ask, by(agent)), Step::kDone) << exchange.failure().message;
    const model::SnmpReply reply = exchange.take_reply();
    EXPECT_EQ(reply.gets[0].integer, 7);
    ASSERT_EQ(reply.walks.size(), 5U);
    EXPECT_EQ(reply.walks[0].size(), 60U);
    EXPECT_EQ(reply.walks[1].size(), 10U);
    EXPECT_EQ(reply.walks[2].size(), 60U);
    EXPECT_EQ(reply.walks[3].size(), 0U);
    ASSERT_EQ(reply.walks[4].size(), 1U);
    EXPECT_EQ(to_string(reply.walks[4][0].index), "1");
    for (std::size_t i = 0; i < 60; ++i) {
        EXPECT_EQ(to_string(reply.walks[2][i].index), std::to_string(i + 1));
        EXPECT_EQ(reply.walks[2][i].value.integer, 3'000'001 + static_cast<std::int64_t>(i));
    }
    const bool bulk = GetParam() == model::SnmpVersion::kV2c;
    EXPECT_LE(agent.requests, bulk ? 6U : 64U);
}

INSTANTIATE_TEST_SUITE_P(Versions, Walk,
                         ::testing::Values(model::SnmpVersion::kV1, model::SnmpVersion::kV2c));

// Whatever the sizes, limits and cuts are, a walk brings the whole table.
TEST(Exchange, WalksAreCompleteUnderAnyLimits) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        base::TestRandom random(seed);
        const int columns = 1 + static_cast<int>(random.below(6));
        const int rows = static_cast<int>(random.below(50));
        ScriptedAgent agent = agent_with_table(columns, rows);
        agent.version_one = random.one_in(3);
        agent.most_rows = 1 + random.below(40);
        agent.max_varbinds = random.one_in(2) ? 1 + random.below(20) : 1000;
        model::SnmpAsk ask;
        ask.version = agent.version_one ? model::SnmpVersion::kV1 : model::SnmpVersion::kV2c;
        ask.max_repetitions = static_cast<std::uint32_t>(random.below(30));
        ask.max_varbinds = static_cast<std::uint32_t>(random.below(8));
        for (int i = 1; i <= columns; ++i) {
            ask.walks.push_back(oid_of("1.3.6.1.5." + std::to_string(i)));
        }
        Exchange exchange;
        ASSERT_EQ(run(exchange, ask, by(agent)), Step::kDone)
            << "seed " << seed << ": " << exchange.failure().message;
        const model::SnmpReply reply = exchange.take_reply();
        for (int i = 0; i < columns; ++i) {
            const auto& walk = reply.walks[static_cast<std::size_t>(i)];
            ASSERT_EQ(walk.size(), static_cast<std::size_t>(rows)) << "seed " << seed;
            for (std::size_t row = 0; row < walk.size(); ++row) {
                EXPECT_EQ(walk[row].value.integer,
                          (i + 1) * 1'000'000 + static_cast<std::int64_t>(row) + 1);
            }
        }
    }
}

TEST(Exchange, LowersRepetitionsThatAreTooBig) {
    ScriptedAgent agent = agent_with_table(2, 30);
    agent.max_varbinds = 13;
    Exchange exchange;
    ASSERT_EQ(run(exchange, ask_of({}, {"1.3.6.1.5.1", "1.3.6.1.5.2"}), by(agent)), Step::kDone);
    EXPECT_EQ(exchange.profile().repetitions.now, 6U);  // 25, 12, 6
    EXPECT_EQ(exchange.profile().varbinds.now, 0U);
    EXPECT_EQ(exchange.take_reply().walks[1].size(), 30U);
}

TEST(Exchange, StopsAtNamesThatDoNotIncrease) {
    ScriptedAgent agent = agent_with_table(1, 30);
    for (const std::string_view wrong : {"1.3.6.1.5.1.3", "1.3.6.1.5.1.10", "1.3.6.1.4"}) {
        model::SnmpAsk ask = ask_of({}, {"1.3.6.1.5.1"});
        ask.fixed.bulk = false;
        Exchange exchange;
        ASSERT_EQ(run(exchange, ask,
                      [&](const Pdu& request) {
                          Pdu response = agent.answer(request);
                          if (request.varbinds[0].oid == oid_of("1.3.6.1.5.1.10")) {
                              response.varbinds[0].oid = oid_of(wrong);
                          }
                          return response;
                      }),
                  Step::kFailed);
        EXPECT_EQ(exchange.failure().code, "snmp.not_increasing");
        EXPECT_NE(exchange.failure().message.find(wrong), std::string::npos);
    }
}

TEST(Exchange, OrdersNamesByArcsAndNotByBytes) {
    ScriptedAgent agent;
    // 16383 is FF 7F and 16384 is 81 80 00 on the wire.
    for (const char* index : {"127", "128", "16383", "16384", "2097151", "4294967295"}) {
        agent.add(std::string("1.3.6.1.5.1.") + index, 1);
    }
    Exchange exchange;
    ASSERT_EQ(run(exchange, ask_of({}, {"1.3.6.1.5.1"}), by(agent)), Step::kDone);
    EXPECT_EQ(exchange.take_reply().walks[0].size(), 6U);
}

// A device that invents rows without end.
Pdu endless(const Pdu& request, std::uint32_t& row) {
    Pdu response = request;
    response.type = PduType::kResponse;
    response.error_status = 0;
    response.error_index = 0;
    for (Varbind& varbind : response.varbinds) {
        varbind.oid = oid_of("1.3.6.1.5.1");
        varbind.oid.arcs.push_back(++row);
        varbind.value.type = SnmpType::kInteger;
    }
    return response;
}

TEST(Exchange, BoundsEndlessWalks) {
    const model::SnmpAsk ask = ask_of({}, {"1.3.6.1.5.1"});
    std::uint32_t row = 0;
    Exchange rows;
    ASSERT_EQ(run(rows, ask, [&](const Pdu& request) { return endless(request, row); }),
              Step::kFailed);
    EXPECT_EQ(rows.failure().code, "snmp.too_many_rows");
    EXPECT_EQ(row, 10'001U);

    row = 0;
    Exchange requests;
    ASSERT_EQ(run(requests, ask, [&](const Pdu& request) { return endless(request, row); }, {},
                  {.max_requests = 50}),
              Step::kFailed);
    EXPECT_EQ(requests.failure().code, "snmp.too_many_requests");
    EXPECT_EQ(row, 50U);
    EXPECT_EQ(requests.requests(), 50U);
}

TEST(Exchange, AsksForSmallerPiecesAfterSilence) {
    ScriptedAgent agent = agent_with_table(1, 30);
    const model::SnmpAsk ask = ask_of({}, {"1.3.6.1.5.1"});
    Exchange exchange;
    ASSERT_EQ(exchange.begin(ask, {}), Step::kAsk);
    EXPECT_EQ(request_of(exchange, 1).error_index, 25);
    exchange.before_resend();
    EXPECT_EQ(request_of(exchange, 1).error_index, 12);
    exchange.before_resend();
    EXPECT_EQ(request_of(exchange, 1).error_index, 6);
    ASSERT_EQ(take(exchange, agent.answer(request_of(exchange, 1))), Step::kAsk);
    EXPECT_EQ(request_of(exchange, 2).error_index, 25) << "one lost packet says little";
    EXPECT_EQ(exchange.profile(), DeviceProfile{});
}

TEST(Exchange, SurvivesAnyAnswer) {
    const model::SnmpAsk ask = ask_of({"1.3.6.1.5.1.1"}, {"1.3.6.1.5.1", "1.3.6.1.5.2"});
    std::size_t ended = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        base::TestRandom random(seed);
        ScriptedAgent agent = agent_with_table(2, 20);
        Exchange exchange;
        Step step = exchange.begin(ask, {}, {.max_requests = 100});
        while (step == Step::kAsk) {
            std::vector<std::uint8_t> buffer(kMaxMessageBytes);
            BerWriter writer(buffer);
            put_pdu(writer, agent.answer(request_of(exchange, 1)));
            std::vector<std::uint8_t> bytes(writer.bytes().begin(), writer.bytes().end());
            if (random.one_in(2)) {
                bytes[random.below(bytes.size())] = static_cast<std::uint8_t>(random.below(256));
            }
            BerReader reader(bytes);
            const auto element = reader.next();
            if (!element) break;
            const auto pdu = parse_pdu(*element);
            if (!pdu) break;
            step = exchange.take_response(*pdu);
        }
        if (step == Step::kFailed) {
            EXPECT_FALSE(exchange.failure().code.empty());
            EXPECT_FALSE(exchange.failure().message.empty());
        }
        if (step == Step::kDone) ++ended;
    }
    EXPECT_GT(ended, 100U);
}

}  // namespace
}  // namespace pollux::protocol::snmp
