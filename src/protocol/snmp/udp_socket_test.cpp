#include "protocol/snmp/udp_socket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "net/test_process.hpp"

namespace pollux::protocol::snmp {
namespace {

using net::test::Process;
using testing::HasSubstr;

constexpr std::size_t kBuffer = 1U << 20U;

Bytes bytes_of(const char* text) {
    return {reinterpret_cast<const std::uint8_t*>(text), std::strlen(text)};
}

bool wait_for(UdpSocket& socket, ReceiveBatch& batch) {
    return Process::wait_until(net::test::kPatience, [&] { return socket.receive(batch); });
}

TEST(UdpSocket, AnswersFromTheAddressThatWasAsked) {
    struct Case {
        const char* wildcard;
        const char* asked;
    };
    for (const Case& one : {Case{"0.0.0.0", "127.0.0.9"}, Case{"::", "::1"}}) {
        auto server = UdpSocket::listen(*parse_literal(one.wildcard, 0), kBuffer);
        ASSERT_TRUE(server) << server.error().message;
        const std::uint16_t port = server->local().port;
        ASSERT_GT(port, 0);
        auto client = UdpSocket::listen(*parse_literal(one.asked, 0), kBuffer);
        ASSERT_TRUE(client) << client.error().message;
        SendBatch out;
        std::memcpy(out.buffer().data(), "ask", 3);
        out.add(*parse_literal(one.asked, port), out.buffer().first(3));
        ASSERT_EQ(client->send(out, 0), 1);

        ReceiveBatch in(ReceiveBatch::Destinations::kKnown);
        ASSERT_TRUE(wait_for(*server, in));
        ASSERT_EQ(in.count, 1u);
        const Endpoint asked = in.destination(0);
        EXPECT_EQ(asked.address, parse_literal(one.asked, 0)->address);
        const auto from = from_sockaddr(in.from(0));
        ASSERT_TRUE(from);
        EXPECT_EQ(server->answer(asked, *from, bytes_of("answer")), 0);

        ReceiveBatch answer;
        ASSERT_TRUE(wait_for(*client, answer));
        EXPECT_EQ(answer.datagram(0).size(), 6u);
        EXPECT_EQ(from_sockaddr(answer.from(0)), parse_literal(one.asked, port));
        EXPECT_EQ(answer.destination(0).family, AF_UNSPEC) << "it was not asked for";
    }
}

TEST(UdpSocket, SaysWhatIsInTheWay) {
    auto first = UdpSocket::listen(*parse_literal("127.0.0.1", 0), kBuffer);
    ASSERT_TRUE(first);
    const auto second = UdpSocket::listen(first->local(), kBuffer);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, "snmp.listen");
    EXPECT_THAT(second.error().message, HasSubstr("another program holds the port"));
    const auto elsewhere = UdpSocket::listen(*parse_literal("192.0.2.1", 0), kBuffer);
    ASSERT_FALSE(elsewhere);
    EXPECT_THAT(elsewhere.error().message, HasSubstr("one of this machine?"));
}

TEST(UdpSocket, CountsWhatCameFasterThanItWasRead) {
    auto slow = UdpSocket::listen(*parse_literal("127.0.0.1", 0), 4096);
    ASSERT_TRUE(slow);
    EXPECT_EQ(slow->dropped(), 0u);
    auto sender = UdpSocket::listen(*parse_literal("127.0.0.1", 0), kBuffer);
    ASSERT_TRUE(sender);
    const std::vector<std::uint8_t> datagram(1000, 7);
    constexpr std::uint64_t kSent = 300;
    for (std::uint64_t i = 0; i < kSent; ++i) {
        ASSERT_EQ(sender->answer(sender->local(), slow->local(), datagram), 0);
    }
    ReceiveBatch in;
    std::uint64_t read = 0;
    while (slow->receive(in)) read += in.count;
    EXPECT_GT(slow->dropped(), 0u);
    EXPECT_EQ(read + slow->dropped(), kSent) << "nothing goes without being counted";
}

TEST(UdpSocket, TakesASocketThatSomebodyElseBound) {
    auto bound = UdpSocket::listen(*parse_literal("127.0.0.1", 0), kBuffer);
    ASSERT_TRUE(bound);
    const auto adopted = UdpSocket::adopt(dup(bound->fd()), kBuffer);
    ASSERT_TRUE(adopted) << adopted.error().message;
    EXPECT_EQ(adopted->local(), bound->local());
    EXPECT_FALSE(UdpSocket::adopt(-1, kBuffer));
}

}  // namespace
}  // namespace pollux::protocol::snmp
