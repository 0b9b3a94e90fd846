// A real TCP server on the loop of the test, and nginx for a real conversation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/test_tcp_server.hpp"
#include "protocol/tcp/tcp_driver.hpp"
#include "protocol/test_bench.hpp"

namespace pollux::protocol {
namespace {

using test::answer_in;
using test::failure_in;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TcpDriverLive : public ::testing::Test {
  protected:
    model::Ask ask_of(std::uint16_t port, std::string send = "", std::string expect = "") {
        model::Ask ask;
        ask.host = "127.0.0.1";
        ask.port = port;
        ask.timeout = std::chrono::seconds(30);
        ask.request = model::TcpAsk{std::move(send), std::move(expect), 4096};
        return ask;
    }

    test::Bench bench;
    std::unique_ptr<net::Resolver> resolver = std::move(*net::Resolver::create(bench.loop(), {}));
    TcpDriver driver{bench.loop(), *resolver, std::make_shared<const net::EgressPolicy>()};
    net::test::TcpServer server{bench.loop()};
};

TEST_F(TcpDriverLive, ConnectsSpeaksAndListens) {
    const auto plain = bench.ask(driver, ask_of(server.port()));
    EXPECT_TRUE(plain.ok());
    EXPECT_GT(plain.phases.connect.count(), 0);
    server.on_accept = [](auto& peer) { peer.send("220 mail"); };
    server.on_data = [](auto& peer) {
        if (peer.received.ends_with("\r\n")) peer.send(" bye " + peer.received);
    };
    const auto reply = bench.ask(driver, ask_of(server.port(), "QUIT\r\n", "bye QUIT"), true);
    EXPECT_EQ(answer_in<model::TcpReply>(reply).received, "220 mail bye QUIT\r\n");
    EXPECT_EQ(reply.bytes_out, 6U);
    EXPECT_GT(reply.phases.first_byte.count(), 0);
}

TEST_F(TcpDriverLive, TellsWhatCameInstead) {
    server.on_accept = [](auto& peer) {
        peer.send("554 go away\r\n");
        peer.finish();
    };
    const auto closed = failure_in(bench.ask(driver, ask_of(server.port(), "", "220")));
    EXPECT_EQ(closed.code, "tcp.unexpected");
    EXPECT_THAT(closed.message, HasSubstr("554 go away"));
    server.on_accept = [](auto& peer) { peer.stream([] { return std::string(1000, 'x'); }); };
    EXPECT_EQ(failure_in(bench.ask(driver, ask_of(server.port(), "", "220"))).code,
              "tcp.unexpected");
}

TEST_F(TcpDriverLive, ClassifiesFailures) {
    EXPECT_EQ(failure_in(bench.ask(driver, ask_of(net::test::free_port()))).code, "tcp.refused");
    model::Ask denied = ask_of(80);
    denied.host = "169.254.169.254";
    EXPECT_EQ(failure_in(bench.ask(driver, denied)).code, "egress.denied");
    model::Ask mapped = ask_of(80);
    mapped.host = "::ffff:169.254.169.254";
    EXPECT_EQ(failure_in(bench.ask(driver, mapped)).code, "egress.denied");
    model::Ask unknown = ask_of(80);
    unknown.host = "no such name";
    EXPECT_EQ(failure_in(bench.ask(driver, unknown)).code, "tcp.dns");
}

TEST_F(TcpDriverLive, TriesTheNextAddressOfAName) {
    // localhost is ::1 and 127.0.0.1; only the second one listens.
    model::Ask ask = ask_of(server.port());
    ask.host = "localhost";
    EXPECT_TRUE(bench.ask(driver, ask).ok());
}

TEST_F(TcpDriverLive, KeepsTheContractOfDrivers) {
    EXPECT_THAT(
        test::contract_problems(bench, driver, ask_of(server.port(), "", "never"), "tcp.timeout"),
        ElementsAre());
}

}  // namespace
}  // namespace pollux::protocol
