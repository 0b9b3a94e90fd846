// What every ByteStream promises, for the pair in memory and for TCP; TLS is tested with real
// peers.
#include "net/byte_stream.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <tuple>

#include "net/http_test_support.hpp"
#include "net/memory_stream.hpp"
#include "net/tcp_listener.hpp"
#include "net/tcp_stream.hpp"

namespace pollux::net {
namespace {

using Ends = std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>>;

Ends memory_ends(EventLoop& loop) {
    auto [a, b] = MemoryStream::make_pair(loop, 10'000);
    return {std::move(a), std::move(b)};
}

Ends tcp_ends(EventLoop& loop) {
    std::unique_ptr<ByteStream> accepted;
    auto listener = TcpListener::listen(
                        loop, SocketAddress::loopback(0), {},
                        [&](std::unique_ptr<TcpStream> stream) { accepted = std::move(stream); })
                        .value();
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd, listener->address().data(), listener->address().length()), 0);
    EXPECT_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    auto connected = std::make_unique<TcpStream>(loop, fd, SocketAddress::local_of(fd),
                                                 SocketAddress::peer_of(fd));
    EXPECT_TRUE(test::turn_until(loop, [&] { return accepted != nullptr; }));
    EXPECT_EQ(accepted->peer().to_string(), connected->local().to_string());
    return {std::move(connected), std::move(accepted)};
}

struct Calls final : StreamHandler {
    void on_stream_ready() override { ++count; }
    int count = 0;
};

class ByteStreamTest : public testing::TestWithParam<Ends (*)(EventLoop&)> {
  protected:
    ByteStreamTest() {
        std::tie(a, b) = GetParam()(*loop);
        b->set_handler(&calls);
    }
    std::string read_some() {
        std::vector<char> buffer(1000);
        const IoResult result = b->read(buffer);
        last = result.state;
        return {buffer.data(), result.bytes};
    }
    bool called(int times) {
        return test::turn_until(*loop, [&] { return calls.count >= times; });
    }

    std::unique_ptr<EventLoop> loop = EventLoop::create().value();
    std::unique_ptr<ByteStream> a;
    std::unique_ptr<ByteStream> b;
    Calls calls;
    IoState last = IoState::kOk;
};

TEST_P(ByteStreamTest, MovesBytesAndTellsWhenThereAreSome) {
    EXPECT_EQ(read_some(), "");
    EXPECT_EQ(last, IoState::kWouldBlock);
    b->want(true, false);
    test::turn(*loop);
    EXPECT_EQ(calls.count, 0);
    const std::string hello = "hello";
    EXPECT_EQ(a->write(hello).bytes, 5U);
    EXPECT_TRUE(called(3)) << "a level: as long as nobody reads";
    EXPECT_EQ(read_some(), "hello");
    test::turn(*loop, 2);
    const int before = calls.count;
    test::turn(*loop);
    EXPECT_EQ(calls.count, before);
}

TEST_P(ByteStreamTest, CallsNobodyWhoWantsNothing) {
    const std::string hello = "hello";
    EXPECT_EQ(a->write(hello).bytes, 5U);
    test::turn(*loop);
    EXPECT_EQ(calls.count, 0);
    b->want(true, false);
    EXPECT_TRUE(called(1));
    b->want(false, false);
    const int before = calls.count;
    test::turn(*loop);
    EXPECT_EQ(calls.count, before);
}

TEST_P(ByteStreamTest, PushesBackWhenNobodyReads) {
    const std::string block(4000, 'x');
    std::size_t written = 0;
    for (int i = 0; i < 100'000; ++i) {
        const IoResult result = b->write(block);
        if (result.state == IoState::kWouldBlock) break;
        ASSERT_EQ(result.state, IoState::kOk);
        written += result.bytes;
    }
    EXPECT_EQ(b->write(block).state, IoState::kWouldBlock);
    b->want(false, true);
    test::turn(*loop, 3);
    EXPECT_EQ(calls.count, 0);
    std::size_t got = 0;
    std::vector<char> buffer(64 * 1024);
    EXPECT_TRUE(test::turn_until(*loop, [&] {
        const IoResult result = a->read(buffer);
        got += result.bytes;
        return calls.count > 0 && got == written;
    }));
}

TEST_P(ByteStreamTest, EndsOneSideInGoodOrder) {
    const std::string last_words = "bye";
    EXPECT_EQ(a->write(last_words).bytes, 3U);
    a->shutdown_write();
    b->want(true, false);
    EXPECT_TRUE(called(1));
    EXPECT_EQ(read_some(), "bye");
    EXPECT_TRUE(test::turn_until(*loop, [&] { return read_some(), last == IoState::kClosed; }));
    EXPECT_EQ(b->write(last_words).bytes, 3U) << "the other direction goes on";
    std::vector<char> buffer(10);
    EXPECT_TRUE(test::turn_until(*loop, [&] { return a->read(buffer).bytes == 3; }));
}

TEST_P(ByteStreamTest, TellsABreakFromAnEnd) {
    b->want(true, false);
    a->abort();
    EXPECT_TRUE(called(1));
    read_some();
    EXPECT_EQ(last, IoState::kFailed);
    EXPECT_NE(b->failure(), "");
    const std::string text = "x";
    EXPECT_EQ(a->write(text).state, IoState::kFailed);
    EXPECT_EQ(b->write(text).state, IoState::kFailed);
}

INSTANTIATE_TEST_SUITE_P(All, ByteStreamTest, testing::Values(memory_ends, tcp_ends),
                         [](const auto& each) { return each.index == 0 ? "Memory" : "Tcp"; });

}  // namespace
}  // namespace pollux::net
