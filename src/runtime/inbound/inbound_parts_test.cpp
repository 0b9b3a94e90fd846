// The parts of the desk that need no sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/inbound/confirm_gate.hpp"
#include "runtime/inbound/inbound_memory.hpp"
#include "runtime/inbound/inform_memory.hpp"
#include "runtime/inbound/message_text.hpp"
#include "runtime/inbound/push_watch.hpp"
#include "runtime/inbound/source_limiter.hpp"
#include "runtime/inbound/token_table.hpp"
#include "runtime/inbound/unknown_senders.hpp"

namespace pollux::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr base::BootTime kStart{1'000'000'000'000};
constexpr base::WallTime kWall{1'700'000'000'000'000};

// --- tokens -------------------------------------------------------------------------------------

InboundTargetPtr with_token(const std::string& token, model::ProtocolKind kind) {
    auto target = std::make_shared<InboundTarget>();
    target->key = token + "::x";
    target->kind = kind;
    target->token = base::Secret(token);
    return target;
}

TEST(TokenTable, FindsTheWholeTokenOfItsKind) {
    TokenTable table({1, 2});
    const auto push = with_token("abcdefgh-0123456789", model::ProtocolKind::kPush);
    table.add(push);
    EXPECT_EQ(table.find("abcdefgh-0123456789", model::ProtocolKind::kPush), push);
    EXPECT_EQ(table.find("abcdefgh-0123456789", model::ProtocolKind::kWebhook), nullptr);
    EXPECT_EQ(table.find("abcdefgh-012345678", model::ProtocolKind::kPush), nullptr);
    EXPECT_EQ(table.find("abcdefgh-01234567890", model::ProtocolKind::kPush), nullptr);
    EXPECT_EQ(table.find("", model::ProtocolKind::kPush), nullptr);
    EXPECT_EQ(table.find(std::string(100'000, 'a'), model::ProtocolKind::kPush), nullptr);
    table.clear();
    EXPECT_EQ(table.find("abcdefgh-0123456789", model::ProtocolKind::kPush), nullptr);
}

TEST(TokenTable, DerivedTokensAreUsableAndEachAnother) {
    const base::Secret one = derived_token({7, 8}, "id-1");
    EXPECT_TRUE(is_usable_token(one.reveal()));
    EXPECT_EQ(one.reveal().size(), 32u);
    EXPECT_EQ(one, derived_token({7, 8}, "id-1")) << "an address stays good";
    EXPECT_NE(one, derived_token({7, 8}, "id-2"));
    EXPECT_NE(one, derived_token({7, 9}, "id-1"));
    EXPECT_FALSE(is_usable_token("short"));
    EXPECT_FALSE(is_usable_token("with a blank inside"));
    EXPECT_FALSE(is_usable_token("with/slash/inside/it"));
}

// --- measures -----------------------------------------------------------------------------------

TEST(SourceLimiter, ALoudSenderDoesNotTakeFromOthers) {
    SourceLimiter limiter({.source = 10, .all = 1000});
    const auto loud = *net::IpAddress::parse("192.0.2.1");
    int admitted = 0;
    for (int i = 0; i < 5000; ++i) admitted += limiter.admit(loud, kStart) ? 1 : 0;
    EXPECT_EQ(admitted, 20) << "twice its rate at once";
    EXPECT_TRUE(limiter.admit(*net::IpAddress::parse("192.0.2.2"), kStart));
    EXPECT_FALSE(limiter.admit(loud, kStart + 50ms));
    EXPECT_TRUE(limiter.admit(loud, kStart + 100ms));
}

TEST(SourceLimiter, ANetworkOfIpv6IsOneSender) {
    SourceLimiter limiter({.source = 1, .all = 1000});
    EXPECT_TRUE(limiter.admit(*net::IpAddress::parse("2001:db8::1"), kStart));
    EXPECT_TRUE(limiter.admit(*net::IpAddress::parse("2001:db8::2"), kStart));
    EXPECT_FALSE(limiter.admit(*net::IpAddress::parse("2001:db8::3"), kStart));
    EXPECT_TRUE(limiter.admit(*net::IpAddress::parse("2001:db8:0:1::3"), kStart));
    EXPECT_EQ(limiter.sources(), 2u);
}

TEST(SourceLimiter, IsBoundedAndTheRestShares) {
    SourceLimiter limiter({.source = 1, .all = 1e6});
    const auto address = [](std::size_t i) {
        return net::IpAddress::v4({10, static_cast<std::uint8_t>(i >> 16U),
                                   static_cast<std::uint8_t>(i >> 8U),
                                   static_cast<std::uint8_t>(i)});
    };
    std::size_t admitted = 0;
    for (std::size_t i = 0; i < SourceLimiter::kMostSources + 100; ++i) {
        if (limiter.admit(address(i), kStart)) ++admitted;
    }
    EXPECT_EQ(limiter.sources(), SourceLimiter::kMostSources);
    EXPECT_EQ(admitted, SourceLimiter::kMostSources + 2);
    EXPECT_TRUE(limiter.admit(address(999'999), kStart + 10s)) << "those that were quiet made room";
    EXPECT_EQ(limiter.sources(), 1u);
}

TEST(ConfirmGate, HoldsBackDevicesAndAllTogether) {
    ConfirmGate gate(2, 10s);
    EXPECT_TRUE(gate.admit("a", kStart));
    EXPECT_FALSE(gate.admit("a", kStart + 9s));
    EXPECT_TRUE(gate.admit("a", kStart + 10s));
    EXPECT_FALSE(gate.admit("b", kStart + 10s)) << "two a second, over all devices";
    EXPECT_TRUE(gate.admit("b", kStart + 10500ms));
}

TEST(InformMemory, KnowsRepetitionsForAWhile) {
    using enum InformMemory::Known;
    InformMemory memory;
    const auto sender = *protocol::snmp::parse_literal("192.0.2.1", 5000);
    const auto other = *protocol::snmp::parse_literal("192.0.2.1", 5001);
    EXPECT_EQ(memory.meet(sender, 7, kStart), kNew);
    EXPECT_EQ(memory.meet(sender, 7, kStart), kPending);
    EXPECT_EQ(memory.meet(other, 7, kStart), kNew);
    memory.stored(sender, 7);
    EXPECT_EQ(memory.meet(sender, 7, kStart + 1s), kStored);
    memory.lost(other, 7);
    EXPECT_EQ(memory.meet(other, 7, kStart + 1s), kNew);
    EXPECT_EQ(memory.meet(sender, 7, kStart + 121s), kNew);
    for (std::int32_t i = 0; i < 20'000; ++i) memory.meet(sender, 1000 + i, kStart + 122s);
    EXPECT_LE(memory.size(), InformMemory::kMost + 1);
}

TEST(UnknownSenders, KeepsTheLatest) {
    UnknownSenders senders;
    for (std::uint8_t i = 0; i < 250; ++i) {
        senders.add(net::IpAddress::v4({192, 0, 2, i}), kWall + std::chrono::seconds(i), "why",
                    "1.3");
    }
    EXPECT_EQ(senders.size(), UnknownSenders::kMost);
    const auto all = senders.latest_first();
    EXPECT_EQ(all.front().source.to_string(), "192.0.2.249");
    EXPECT_EQ(all.back().source.to_string(), "192.0.2.50");
    senders.add(net::IpAddress::v4({192, 0, 2, 50}), kWall + 1h, "other", "1.4");
    EXPECT_EQ(senders.latest_first().front().messages, 2u);
    EXPECT_EQ(senders.latest_first().front().reason, "other");
}

// --- silence ------------------------------------------------------------------------------------

constexpr PushTiming kMinute{60s, 10s};

PushRecord heard(base::Duration ago, PushState state = PushState::kUp) {
    PushRecord record;
    record.state = state;
    record.last = kWall - ago;
    return record;
}

TEST(PushStart, ARestartDoesNotMoveTheDeadline) {
    const PushStart start = start_of(heard(20s), kMinute, {kStart, kWall});
    EXPECT_EQ(start.state, PushState::kUp);
    EXPECT_EQ(start.deadline, kStart + 50s) << "70 s after the heartbeat, exactly";
}

TEST(PushStart, WhatMayHaveBeenMissedIsUnknownForAFullInterval) {
    for (const base::Duration ago :
         {base::Duration(50s), base::Duration(65s), base::Duration(1h)}) {
        const PushStart start = start_of(heard(ago), kMinute, {kStart, kWall});
        EXPECT_EQ(start.state, PushState::kUnknown) << base::format_duration(ago);
        EXPECT_EQ(start.deadline, kStart + 70s);
    }
    const PushStart never = start_of({}, kMinute, {kStart, kWall});
    EXPECT_EQ(never.state, PushState::kUnknown);
    EXPECT_EQ(never.deadline, kStart + 70s);
}

TEST(PushStart, DownStaysDown) {
    PushRecord silent = heard(1h, PushState::kDown);
    silent.silent = true;
    PushStart start = start_of(silent, kMinute, {kStart, kWall});
    EXPECT_EQ(start.state, PushState::kDown);
    EXPECT_EQ(start.deadline, base::BootTime::max()) << "it was told already";
    start = start_of(heard(1h, PushState::kDown), kMinute, {kStart, kWall});
    EXPECT_EQ(start.state, PushState::kDown) << "it said so itself";
    EXPECT_EQ(start.deadline, kStart + 70s);
}

TEST(PushStart, AClockThatWasSetBackMakesNoHeartbeatOfTheFuture) {
    const PushStart start = start_of(heard(-1h), kMinute, {kStart, kWall});
    EXPECT_EQ(start.deadline, kStart + 70s);
}

TEST(PushWatch, TellsEachLateTargetOnce) {
    PushWatch watch;
    EXPECT_EQ(watch.next(), base::BootTime::max());
    watch.expect("a", kStart + 10s);
    watch.expect("b", kStart + 5s);
    watch.expect("b", kStart + 20s);
    EXPECT_EQ(watch.next(), kStart + 10s);
    EXPECT_THAT(watch.take_late(kStart + 10s - 1ns), IsEmpty()) << "never early";
    EXPECT_THAT(watch.take_late(kStart + 30s), ElementsAre("a", "b"));
    EXPECT_THAT(watch.take_late(kStart + 30s), IsEmpty());
    EXPECT_EQ(watch.deadline("a"), base::BootTime::max());
}

TEST(InboundMemory, ReadsBackWhatItWrote) {
    InboundMemory memory;
    memory.push = heard(5s, PushState::kDown);
    memory.push.message = "disk full";
    memory.push.value = 2.5;
    memory.push.silent = true;
    model::Signal signal;
    signal.type = "x";
    memory.signals.apply(std::span(&signal, 1), kWall);
    const std::string bytes = memory.encode("id-1");
    const auto back = InboundMemory::decode(bytes, "id-1");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->push, memory.push);
    EXPECT_EQ(back->signals.raised(), memory.signals.raised());
    EXPECT_FALSE(InboundMemory::decode(bytes, "id-2")) << "another target of the same name";
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        EXPECT_FALSE(InboundMemory::decode(std::string_view(bytes).substr(0, cut), "id-1"));
    }
}

// --- text ---------------------------------------------------------------------------------------

TEST(MessageText, IsBoundedAndReadable) {
    model::InboundMessage message;
    model::WebhookMessage hook;
    hook.body = std::string(kMostTextBytes - 1, 'a') + "\xC3\xBC" + "tail";
    message.content = hook;
    std::string text = text_of(message);
    EXPECT_EQ(text, std::string(kMostTextBytes - 1, 'a') + "…") << "cut between two characters";
    hook.body = std::string("binary\0\x01", 8);
    message.content = hook;
    EXPECT_EQ(text_of(message), "\"binary\\x00\\x01\"");
    message.content = model::PushMessage{false, "disk full", 3.5};
    EXPECT_EQ(text_of(message), "down: disk full (value 3.5)");
}

}  // namespace
}  // namespace pollux::runtime
