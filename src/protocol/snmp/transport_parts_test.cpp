// The small parts below the driver: addresses, hints, the window.
#include <gtest/gtest.h>

#include <map>

#include "base/test_random.hpp"
#include "protocol/snmp/endpoint.hpp"
#include "protocol/snmp/send_window.hpp"

namespace pollux::protocol::snmp {
namespace {

using namespace std::chrono_literals;

TEST(Endpoint, ReadsLiteralsAndNothingElse) {
    EXPECT_EQ(to_string(parse_literal("127.0.0.1", 161).value()), "127.0.0.1:161");
    EXPECT_EQ(to_string(parse_literal("2001:db8::1", 161).value()), "[2001:db8::1]:161");
    const auto scoped = parse_literal("fe80::1%lo", 161);
    ASSERT_TRUE(scoped.has_value());
    EXPECT_NE(scoped->scope, 0U);
    for (const char* text : {"", "switch-1", "127.0.0.1.", "127.1", "1.2.3.4.5", "::g", "[::1]"}) {
        EXPECT_FALSE(parse_literal(text, 1).has_value()) << text;
    }
}

TEST(Endpoint, SurvivesTheFormOfTheKernel) {
    for (const char* text : {"127.0.0.1", "::1", "fe80::1%lo"}) {
        const Endpoint endpoint = parse_literal(text, 16100).value();
        sockaddr_storage address{};
        EXPECT_GT(to_sockaddr(endpoint, address), 0U);
        EXPECT_EQ(from_sockaddr(address), endpoint);
    }
    sockaddr_storage local{};
    local.ss_family = AF_UNIX;
    EXPECT_FALSE(from_sockaddr(local).has_value());
}

TEST(SendWindow, OpensWithAnswersAndWithTime) {
    SendWindow window(3, 50ms);
    const base::BootTime start{1'000'000'000};
    const std::uint64_t first = window.add(start);
    const std::uint64_t second = window.add(start + 10ms);
    window.add(start + 20ms);
    EXPECT_EQ(window.room(), 0U);
    window.settle(second);
    window.settle(second);
    EXPECT_EQ(window.room(), 1U);
    EXPECT_EQ(window.next_expiry(), start + 50ms);
    window.expire(start + 49ms);
    EXPECT_EQ(window.room(), 1U);
    window.expire(start + 50ms);
    EXPECT_EQ(window.room(), 2U);
    window.settle(first);
    EXPECT_EQ(window.room(), 2U);
    window.expire(start + 1h);
    EXPECT_EQ(window.room(), 3U);
    EXPECT_EQ(window.next_expiry(), base::BootTime::max());
}

TEST(SendWindow, AgreesWithANaiveModel) {
    base::TestRandom random(3);
    SendWindow window(20, 50ms);
    std::map<std::uint64_t, base::BootTime> model;
    base::BootTime now{0};
    for (int i = 0; i < 20'000; ++i) {
        now += std::chrono::milliseconds(random.below(8));
        window.expire(now);
        std::erase_if(model, [&](const auto& entry) { return entry.second + 50ms <= now; });
        if (window.room() > 0 && random.one_in(2)) model[window.add(now)] = now;
        if (!model.empty() && random.one_in(3)) {
            const auto victim =
                std::next(model.begin(), static_cast<long>(random.below(model.size())));
            window.settle(victim->first);
            model.erase(victim);
        }
        ASSERT_EQ(window.room(), 20 - model.size());
    }
}

}  // namespace
}  // namespace pollux::protocol::snmp
