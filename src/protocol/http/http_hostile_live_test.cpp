// The driver against servers that do everything wrong: bounded, classified, named, and gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/test_tcp_server.hpp"
#include "protocol/http/http_test_support.hpp"

namespace pollux::protocol {
namespace {

using model::FailureKind;
using net::test::TcpServer;
using std::chrono::milliseconds;
using test::answer_of;
using test::failure_of;
using test::HttpWorld;
using testing::HasSubstr;

class HttpHostile : public testing::Test {
  protected:
    // Answers every complete request with `bytes`.
    void answer_with(std::string bytes, bool close = false) {
        server.on_data = [bytes = std::move(bytes), close](TcpServer::Peer& peer) {
            if (peer.received.find("\r\n\r\n") == std::string::npos) return;
            peer.received.clear();
            peer.send(bytes);
            if (close) peer.finish();
        };
    }

    const model::PollFailure& fail(model::HttpAsk ask) {
        reply = world.ask(std::move(ask));
        EXPECT_FALSE(reply.ok());
        EXPECT_EQ(world.driver->in_flight(), 0U);
        return failure_of(reply);
    }
    const model::PollFailure& fail() { return fail(HttpWorld::get(server.url())); }

    HttpWorld world;
    TcpServer server{*world.loop};
    model::Reply reply;
};

TEST_F(HttpHostile, OneByteAtATimeEndsAtTheDeadline) {
    world.timeout = milliseconds(1500);
    TcpServer::Peer* slow = nullptr;
    server.on_data = [&](TcpServer::Peer& peer) {
        slow = &peer;
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    };
    net::Timer drip(*world.loop, [&] {
        if (slow != nullptr && server.peers() > 0) slow->send("x");
        drip.arm_in(milliseconds(50));
    });
    drip.arm_in(milliseconds(50));
    const auto start = net::boot_now();
    const model::PollFailure& failure = fail();
    EXPECT_GE(net::boot_now() - start, milliseconds(1500));
    EXPECT_EQ(failure.kind, FailureKind::kTimeout);
    EXPECT_EQ(failure.code, "http.timeout");
    EXPECT_THAT(failure.message, HasSubstr("was not complete within 1.5 s"));
    // The connection is closed and does not serve the next ask.
    EXPECT_TRUE(world.run_until([&] { return server.peers() == 0; }));
}

TEST_F(HttpHostile, SilenceEndsAtTheDeadline) {
    world.timeout = milliseconds(500);
    EXPECT_THAT(fail().message, HasSubstr("did not answer within 500 ms"));
    EXPECT_EQ(failure_of(reply).code, "http.timeout");
}

TEST_F(HttpHostile, ADripOfHeadersEndsAtTheDeadline) {
    world.timeout = milliseconds(400);
    TcpServer::Peer* slow = nullptr;
    server.on_data = [&](TcpServer::Peer& peer) { slow = &peer; };
    net::Timer drip(*world.loop, [&] {
        if (slow != nullptr && server.peers() > 0) slow->send("H");
        drip.arm_in(milliseconds(20));
    });
    drip.arm_in(milliseconds(20));
    const model::PollFailure& failure = fail();
    EXPECT_TRUE(failure.code == "http.timeout" || failure.code == "http.protocol") << failure.code;
}

TEST_F(HttpHostile, GarbageIsNoHttp) {
    answer_with("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", true);
    EXPECT_EQ(fail().code, "http.protocol");
    EXPECT_EQ(failure_of(reply).kind, FailureKind::kApi);
    answer_with(std::string("\x00\x01\x02\xFF\xFE garbage \r\n\r\n", 18), true);
    EXPECT_EQ(fail().code, "http.protocol");
    answer_with("HTTP/9.9 what\r\n\r\n", true);
    EXPECT_EQ(fail().code, "http.protocol");
}

TEST_F(HttpHostile, EndlessHeadersAreCut) {
    int line = 0;
    server.on_data = [&](TcpServer::Peer& peer) {
        peer.send("HTTP/1.1 200 OK\r\n");
        peer.stream([&] { return "X-Header-" + std::to_string(++line) + ": value\r\n"; });
    };
    EXPECT_EQ(fail().code, "http.headers_too_large");
    EXPECT_TRUE(world.run_until([&] { return server.peers() == 0; }));
}

TEST_F(HttpHostile, OneEndlessHeaderIsCut) {
    server.on_data = [&](TcpServer::Peer& peer) {
        peer.send("HTTP/1.1 200 OK\r\nX-Long: ");
        peer.stream([&] { return std::string(10'000, 'a'); });
    };
    const model::PollFailure& failure = fail();
    EXPECT_EQ(failure.code, "http.headers_too_large");
    EXPECT_LT(reply.bytes_in, 10'000'000U);
}

TEST_F(HttpHostile, EndlessInterimAnswersAreCut) {
    server.on_data = [&](TcpServer::Peer& peer) {
        peer.stream([&] { return std::string("HTTP/1.1 100 Continue\r\nA: b\r\n\r\n"); });
    };
    EXPECT_EQ(fail().code, "http.headers_too_large");
}

TEST_F(HttpHostile, AHugeBodyStopsAtTheLimit) {
    server.on_data = [&](TcpServer::Peer& peer) {
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
        peer.stream([&] { return std::string(65'536, 'x'); });
    };
    EXPECT_EQ(fail().code, "http.body_too_large");
    EXPECT_TRUE(world.run_until([&] { return server.peers() == 0; }));
    EXPECT_LT(server.sent(), 64U << 20U);  // the limit is 4 MiB; the rest is in buffers of sockets
}

TEST_F(HttpHostile, AHugeBodyInChunksStopsAtTheLimit) {
    server.on_data = [&](TcpServer::Peer& peer) {
        peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        peer.stream([&] { return "10000\r\n" + std::string(65'536, 'x') + "\r\n"; });
    };
    EXPECT_EQ(fail().code, "http.body_too_large");
}

TEST_F(HttpHostile, AGzipBombStopsAtTheLimit) {
    const net::test::TempDir folder;
    folder.write("zeros", std::string(100'000'000, '\0'));
    net::test::run_tool({"gzip", "-1", "zeros"}, folder);
    const std::string bomb = folder.read("zeros.gz");
    ASSERT_LT(bomb.size(), 1'000'000U);
    answer_with("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " +
                std::to_string(bomb.size()) + "\r\n\r\n" + bomb);
    EXPECT_EQ(fail().code, "http.body_too_large");
}

TEST_F(HttpHostile, ABodyThatIsNotWhatItSaysIsNamed) {
    answer_with("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello");
    EXPECT_EQ(fail().code, "http.encoding");
    answer_with("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n");
    EXPECT_FALSE(fail().code.empty());
}

TEST_F(HttpHostile, AConnectionLostInTheMiddleIsNamed) {
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", true);
    EXPECT_EQ(fail().code, "http.connection_lost");
    EXPECT_EQ(failure_of(reply).kind, FailureKind::kConnection);
    EXPECT_THAT(failure_of(reply).message, HasSubstr("4 bytes"));
    answer_with("", true);
    EXPECT_EQ(fail().code, "http.connection_lost");
}

TEST_F(HttpHostile, ARestedConnectionThatTheServerClosedIsReplaced) {
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    TcpServer::Peer* last = nullptr;
    server.on_accept = [&](TcpServer::Peer& peer) { last = &peer; };
    EXPECT_EQ(answer_of(world.ask(HttpWorld::get(server.url()))).body, "ok");
    last->finish();
    for (int i = 0; i < 5; ++i) world.loop->run_once(milliseconds(5));
    EXPECT_EQ(answer_of(world.ask(HttpWorld::get(server.url()))).body, "ok");
    EXPECT_EQ(server.accepted(), 2);
}

TEST_F(HttpHostile, ARefusedConnectionIsNamed) {
    const std::uint16_t nobody = net::test::free_port();
    const std::string url = "http://127.0.0.1:" + std::to_string(nobody) + "/";
    EXPECT_EQ(fail(HttpWorld::get(url)).code, "http.connect_refused");
    EXPECT_EQ(failure_of(reply).kind, FailureKind::kConnection);
    EXPECT_THAT(failure_of(reply).message, HasSubstr("127.0.0.1:" + std::to_string(nobody)));
}

// A listener whose queue is full answers no more connections: the nearest thing to a black hole
// that exists on loopback.
TEST_F(HttpHostile, ABlackHoleEndsAtTheDeadline) {
    const net::test::TestAddress any("127.0.0.1", 0);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(bind(listener, any.get(), any.length), 0);
    ASSERT_EQ(listen(listener, 0), 0);
    sockaddr_in bound{};
    socklen_t length = sizeof bound;
    getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &length);
    std::vector<int> fillers;
    for (int i = 0; i < 8; ++i) {
        fillers.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        connect(fillers.back(), reinterpret_cast<const sockaddr*>(&bound), length);
    }
    world.timeout = milliseconds(300);
    const model::PollFailure& failure =
        fail(HttpWorld::get("http://127.0.0.1:" + std::to_string(ntohs(bound.sin_port)) + "/"));
    EXPECT_EQ(failure.code, "http.timeout");
    EXPECT_THAT(failure.message, HasSubstr("did not accept a connection within 300 ms"));
    for (const int fd : fillers) close(fd);
    close(listener);
}

TEST_F(HttpHostile, PlainTextWhereTlsIsExpectedIsNamed) {
    answer_with("HTTP/1.1 400 Bad Request\r\n\r\n", true);
    server.on_accept = [](TcpServer::Peer& peer) { peer.send("HTTP/1.1 400 Bad Request\r\n\r\n"); };
    EXPECT_EQ(fail(HttpWorld::get("https://127.0.0.1:" + std::to_string(server.port()) + "/")).code,
              "http.tls_handshake");
    EXPECT_EQ(failure_of(reply).kind, FailureKind::kConnection);
}

TEST_F(HttpHostile, NamesThatDoNotExistAreNamed) {
    EXPECT_EQ(fail(HttpWorld::get("http://nothing.example/")).code, "http.dns_not_found");
    EXPECT_EQ(failure_of(reply).kind, FailureKind::kDns);
    world.names.names["broken.example"] = {.broken = true};
    EXPECT_EQ(fail(HttpWorld::get("http://broken.example/")).code, "http.dns_server_failure");
    world.names.names["silent.example"] = {.silent = true};
    world.timeout = milliseconds(200);
    EXPECT_EQ(fail(HttpWorld::get("http://silent.example/")).code, "http.timeout");
    EXPECT_THAT(failure_of(reply).message, HasSubstr("address of silent.example"));
}

TEST_F(HttpHostile, WhatCannotBeSentIsAFaultOfTheConfiguration) {
    model::HttpAsk ask = HttpWorld::get("ftp://127.0.0.1/");
    EXPECT_EQ(fail(ask).code, "http.bad_request");
    EXPECT_EQ(failure_of(reply).kind, FailureKind::kConfiguration);
    ask = HttpWorld::get(server.url());
    ask.headers = {{"X-Own", "a\r\nX-Injected: b"}};
    EXPECT_EQ(fail(ask).code, "http.bad_request");
    ask.headers = {{"X Own", "a"}};
    EXPECT_EQ(fail(ask).code, "http.bad_request");
    ask.headers = {};
    ask.tls.pin_sha256 = "abc";
    EXPECT_EQ(fail(ask).code, "http.bad_request");
    ask.tls.pin_sha256 = "";
    ask.auth = model::HttpAuth::kBearer;
    EXPECT_THAT(fail(ask).message, HasSubstr("needs a token"));
    ask.url = "http://user:hunter2@127.0.0.1/";
    EXPECT_THAT(fail(ask).message, testing::Not(HasSubstr("hunter2")));
    EXPECT_EQ(server.accepted(), 0);
}

TEST_F(HttpHostile, ACancelledAskEndsOnceAndAsCancelled) {
    std::vector<std::string> codes;
    const auto note = [&](model::Reply&& got) { codes.push_back(failure_of(got).code); };
    const std::uint64_t silent = world.start(HttpWorld::get(server.url()), note);
    world.names.names["silent.example"] = {.silent = true};
    const std::uint64_t nameless = world.start(HttpWorld::get("http://silent.example/"), note);
    world.driver->cancel(12'345);
    ASSERT_TRUE(world.run_until([&] { return server.accepted() == 1; }));
    world.driver->cancel(silent);
    world.driver->cancel(silent);
    world.driver->cancel(nameless);
    const std::uint64_t at_once = world.start(HttpWorld::get(server.url()), note);
    world.driver->cancel(at_once);
    EXPECT_TRUE(codes.empty());
    EXPECT_TRUE(world.run_until([&] { return codes.size() == 3; }));
    for (int i = 0; i < 5; ++i) world.loop->run_once(milliseconds(2));
    EXPECT_THAT(codes, testing::ElementsAre("http.cancelled", "http.cancelled", "http.cancelled"));
    EXPECT_EQ(world.driver->in_flight(), 0U);
}

TEST_F(HttpHostile, AsksUnderWayGoWithTheDriver) {
    bool called = false;
    world.start(HttpWorld::get(server.url()), [&](model::Reply&&) { called = true; });
    world.names.names["silent.example"] = {.silent = true};
    world.start(HttpWorld::get("http://silent.example/"), [&](model::Reply&&) { called = true; });
    world.start(HttpWorld::get("ftp://wrong/"), [&](model::Reply&&) { called = true; });
    ASSERT_TRUE(world.run_until([&] { return server.accepted() == 1; }));
    called = false;  // the wrong one may have been told
    world.driver.reset();
    for (int i = 0; i < 5; ++i) world.loop->run_once(milliseconds(2));
    EXPECT_FALSE(called);
}

TEST_F(HttpHostile, AnAskStartedFromInsideDoneWorks) {
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    int done = 0;
    std::function<void()> next = [&] {
        world.start(HttpWorld::get(server.url()), [&](model::Reply&& got) {
            EXPECT_EQ(answer_of(got).body, "ok");
            if (++done < 50) next();
        });
    };
    next();
    EXPECT_TRUE(world.run_until([&] { return done == 50; }));
    EXPECT_EQ(server.accepted(), 1);
}

TEST_F(HttpHostile, TooManyAsksAreTurnedAway) {
    net::HttpClientOptions options;
    options.max_in_flight = 2;
    HttpWorld small(net::default_egress_settings(), options);
    TcpServer silent(*small.loop);
    small.timeout = milliseconds(200);
    std::vector<std::string> codes;
    for (int i = 0; i < 3; ++i) {
        small.start(HttpWorld::get(silent.url()),
                    [&](model::Reply&& got) { codes.push_back(failure_of(got).code); });
    }
    EXPECT_TRUE(small.run_until([&] { return codes.size() == 3; }));
    EXPECT_THAT(codes, testing::ElementsAre("http.overloaded", "http.timeout", "http.timeout"));
}

TEST_F(HttpHostile, HostsThatAreNotAskedAreForgotten) {
    net::HttpClientOptions options;
    options.max_hosts = 3;
    HttpWorld small(net::default_egress_settings(), options);
    TcpServer one(*small.loop);
    TcpServer two(*small.loop);
    TcpServer three(*small.loop);
    TcpServer four(*small.loop);
    for (TcpServer* each : {&one, &two, &three, &four, &one}) {
        each->on_data = [](TcpServer::Peer& peer) {
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        };
        EXPECT_EQ(answer_of(small.ask(HttpWorld::get(each->url()))).body, "ok");
        EXPECT_LE(small.driver->client().counts().hosts, 3U);
    }
}

}  // namespace
}  // namespace pollux::protocol
