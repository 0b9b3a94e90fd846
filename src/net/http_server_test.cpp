#include "net/http_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "net/http_test_support.hpp"

namespace pollux::net {
namespace {

using std::chrono::milliseconds;
using test::MemoryClient;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class HttpServerTest : public testing::Test {
  protected:
    void serve(HttpServer::Handler handler, HttpServerOptions options = {}) {
        server = std::make_unique<HttpServer>(*loop, options, std::move(handler));
    }
    std::unique_ptr<MemoryClient> connect(std::size_t capacity = 64 * 1024) {
        auto [ours, theirs] = MemoryStream::make_pair(*loop, capacity);
        server->adopt(std::move(theirs));
        return std::make_unique<MemoryClient>(std::move(ours));
    }
    static HttpServer::Handler echo() {
        return [](Request request, Responder responder) {
            responder.send(Response::text(
                200, request.method + " " + request.path + " " + request.body + "\n"));
        };
    }
    static std::string get(const std::string& path, const std::string& fields = "") {
        return "GET " + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
    }
    void turn() { test::turn(*loop); }

    std::unique_ptr<EventLoop> loop = EventLoop::create().value();
    std::unique_ptr<HttpServer> server;
};

TEST_F(HttpServerTest, BoundsABodyByItsHead) {
    HttpServerOptions options;
    options.body_limit = [](const Request& head) { return head.path == "/large" ? 10U : 2U; };
    serve(echo(), options);
    const auto ask = [&](const std::string& path, const std::string& body) {
        auto client = connect();
        client->send("POST " + path + " HTTP/1.1\r\nHost: a\r\n" + body);
        turn();
        return client->received.substr(9, 3);
    };
    EXPECT_EQ(ask("/large", "Content-Length: 10\r\n\r\n0123456789"), "200");
    EXPECT_EQ(ask("/large", "Content-Length: 11\r\n\r\n"), "413");
    EXPECT_EQ(ask("/small", "Content-Length: 2\r\n\r\n01"), "200");
    EXPECT_EQ(ask("/small", "Content-Length: 3\r\n\r\n"), "413");
    EXPECT_EQ(ask("/large", "Transfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n"),
              "200");
    EXPECT_EQ(ask("/small", "Transfer-Encoding: chunked\r\n\r\n2\r\n01\r\n1\r\n2\r\n"), "413");
}

TEST_F(HttpServerTest, AnswersAndKeepsTheConnection) {
    serve(echo());
    auto client = connect();
    client->send(get("/one"));
    turn();
    EXPECT_THAT(client->received, StartsWith("HTTP/1.1 200 OK\r\nDate: "));
    EXPECT_THAT(client->received, HasSubstr(" GMT\r\n"));
    EXPECT_THAT(client->received, HasSubstr("Content-Length: 10\r\n"));
    EXPECT_THAT(client->received, EndsWith("\r\n\r\nGET /one \n"));
    EXPECT_THAT(client->received, Not(HasSubstr("Connection:")));
    client->received.clear();
    client->send("POST /two HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
    turn();
    EXPECT_THAT(client->received, EndsWith("POST /two hi\n"));
    EXPECT_FALSE(client->closed);
    EXPECT_EQ(server->connections(), 1U);
    EXPECT_EQ(server->counters().requests, 2U);
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrderAlsoWhenTheFirstIsLate) {
    std::deque<std::pair<std::string, Responder>> waiting;
    serve([&](Request request, Responder responder) {
        waiting.emplace_back(request.path, std::move(responder));
    });
    auto client = connect();
    client->send(get("/1") + get("/2") + get("/3"));
    for (const char* path : {"/1", "/2", "/3"}) {
        turn();
        ASSERT_EQ(waiting.size(), 1U) << "one request of a connection at a time";
        EXPECT_EQ(waiting.front().first, path);
        waiting.front().second.send(Response::text(200, std::string("answer ") + path));
        waiting.pop_front();
    }
    turn();
    const std::size_t first = client->received.find("answer /1");
    const std::size_t third = client->received.find("answer /3");
    ASSERT_NE(third, std::string::npos);
    EXPECT_LT(first, third);
}

TEST_F(HttpServerTest, AnswersManyPipelinedRequestsWithoutStarving) {
    serve(echo());
    auto client = connect(1 << 20);
    std::string all;
    for (int i = 0; i < 1000; ++i) all += get("/" + std::to_string(i));
    client->send(all);
    EXPECT_TRUE(test::turn_until(
        *loop, [&] { return client->received.find("GET /999 ") != std::string::npos; }));
    EXPECT_EQ(server->counters().requests, 1000U);
}

TEST_F(HttpServerTest, ClosesWhenAskedTo) {
    serve(echo());
    for (const std::string& request :
         {get("/", "Connection: close\r\n"), std::string("GET / HTTP/1.0\r\n\r\n")}) {
        auto client = connect();
        client->send(request);
        turn();
        EXPECT_THAT(client->received, HasSubstr("Connection: close\r\n"));
        EXPECT_TRUE(client->closed);
        client.reset();
        turn();
        EXPECT_EQ(server->connections(), 0U);
    }
    auto old = connect();
    old->send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    turn();
    EXPECT_THAT(old->received, HasSubstr("Connection: keep-alive\r\n"));
    EXPECT_FALSE(old->closed);
}

TEST_F(HttpServerTest, SendsHeadsWithoutBodies) {
    serve([](Request request, Responder responder) {
        if (request.path == "/none")
            return responder.send({.status = 204, .headers = {}, .body = ""});
        if (request.path == "/stream") {
            responder.stream({}, [](std::string&) { return Fill::kDone; });
            return;
        }
        responder.send(Response::text(200, "12345"));
    });
    auto client = connect();
    client->send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n");
    turn();
    EXPECT_THAT(client->received, HasSubstr("Content-Length: 5\r\n"));
    EXPECT_THAT(client->received, EndsWith("\r\n\r\n"));
    client->received.clear();
    client->send("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    turn();
    EXPECT_THAT(client->received, EndsWith("Transfer-Encoding: chunked\r\n\r\n"));
    client->received.clear();
    client->send(get("/none"));
    turn();
    EXPECT_THAT(client->received, StartsWith("HTTP/1.1 204 No Content\r\n"));
    EXPECT_THAT(client->received, Not(HasSubstr("Content-Length")));
}

TEST_F(HttpServerTest, StreamsAtThePaceOfTheClient) {
    int calls = 0;
    serve([&](Request, Responder responder) {
        responder.stream({}, [&](std::string& out) {
            out.assign(1000, static_cast<char>('a' + calls));
            return ++calls == 20 ? Fill::kDone : Fill::kMore;
        });
    });
    auto client = connect(2000);
    client->pause();
    client->send(get("/"));
    client->pause();
    turn();
    EXPECT_LE(calls, 4) << "more was made than the client takes";
    client->go_on();
    ASSERT_TRUE(test::turn_until(*loop, [&] { return client->received.ends_with("0\r\n\r\n"); }));
    EXPECT_EQ(calls, 20);
    EXPECT_THAT(client->received, HasSubstr("Transfer-Encoding: chunked\r\n\r\n3e8\r\naaaa"));
    EXPECT_THAT(client->received, HasSubstr("ttt\r\n0\r\n\r\n"));
}

TEST_F(HttpServerTest, StreamsWithALengthOrToAnOldClientWithoutChunks) {
    serve([](Request request, Responder responder) {
        const bool counted = request.path == "/counted";
        responder.stream(
            {}, [](std::string& out) { return out = "12345", Fill::kDone; },
            counted ? std::optional<std::uint64_t>(5) : std::nullopt);
    });
    auto client = connect();
    client->send(get("/counted"));
    turn();
    EXPECT_THAT(client->received, HasSubstr("Content-Length: 5\r\n"));
    EXPECT_THAT(client->received, EndsWith("\r\n\r\n12345"));
    auto old = connect();
    old->send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    turn();
    EXPECT_THAT(old->received, EndsWith("\r\n\r\n12345"));
    EXPECT_TRUE(old->closed) << "the end of the connection is the end of the body";
}

TEST_F(HttpServerTest, AStreamMayWaitAndIsDestroyedWithItsConnection) {
    StreamHandle handle;
    auto life = std::make_shared<int>(0);
    serve([&](Request, Responder responder) {
        handle = responder.stream({}, [life](std::string& out) {
            out = std::to_string(++*life);
            return Fill::kWait;
        });
    });
    auto client = connect();
    client->send(get("/"));
    turn();
    EXPECT_THAT(client->received, EndsWith("1\r\n1\r\n"));
    handle.resume();
    turn();
    EXPECT_THAT(client->received, EndsWith("1\r\n2\r\n"));
    EXPECT_TRUE(handle.connected());
    client->stream->abort();
    turn();
    EXPECT_EQ(life.use_count(), 1);
    EXPECT_FALSE(handle.connected());
    handle.resume();  // harmless
    EXPECT_EQ(server->connections(), 0U);
}

TEST_F(HttpServerTest, ABrokenStreamIsSeenAsBroken) {
    serve([](Request, Responder responder) {
        responder.stream({}, [](std::string&) { return Fill::kAbort; });
    });
    auto client = connect();
    client->send(get("/"));
    turn();
    EXPECT_TRUE(client->failed);
    EXPECT_EQ(server->connections(), 0U);
}

TEST_F(HttpServerTest, ADroppedRequestIsAnswered) {
    serve([](Request, const Responder&) {});
    auto client = connect();
    client->send(get("/"));
    turn();
    EXPECT_THAT(client->received, StartsWith("HTTP/1.1 500 "));
}

TEST_F(HttpServerTest, ALateAnswerToAGoneClientIsHarmless) {
    std::optional<Responder> kept;
    serve([&](Request, Responder responder) { kept.emplace(std::move(responder)); });
    auto client = connect();
    client->send(get("/"));
    turn();
    ASSERT_TRUE(kept && kept->connected());
    client->stream->abort();
    turn();
    EXPECT_FALSE(kept->connected());
    kept->send(Response::text(200, "late"));
    kept.reset();
    auto second = connect();
    second->send(get("/"));
    turn();
    server.reset();
    EXPECT_FALSE(kept->connected());
}

TEST_F(HttpServerTest, RejectsBadRequestsAndCloses) {
    serve(echo());
    auto client = connect();
    client->send(
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
        "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
    turn();
    EXPECT_THAT(client->received, StartsWith("HTTP/1.1 400 Bad Request\r\n"));
    EXPECT_THAT(client->received, HasSubstr("Connection: close\r\n"));
    EXPECT_THAT(client->received, EndsWith("both Content-Length and Transfer-Encoding\n"));
    EXPECT_TRUE(client->closed);
    EXPECT_EQ(server->counters().requests, 0U);
    EXPECT_EQ(server->counters().rejected, 1U);
}

TEST_F(HttpServerTest, AsksForABodyThatWaits) {
    serve(echo());
    auto client = connect();
    client->send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    turn();
    EXPECT_EQ(client->received, "HTTP/1.1 100 Continue\r\n\r\n");
    client->send("ok");
    turn();
    EXPECT_THAT(client->received, EndsWith("POST / ok\n"));
}

TEST_F(HttpServerTest, TimesOut) {
    HttpServerOptions options;
    options.head_timeout = options.body_timeout = options.handler_timeout = milliseconds(20);
    options.idle_timeout = milliseconds(40);
    std::optional<Responder> kept;
    serve([&](Request, Responder responder) { kept.emplace(std::move(responder)); }, options);
    const auto waits_for = [&](MemoryClient& client, std::string_view text) {
        return test::turn_until(*loop,
                                [&] { return client.received.starts_with(text) && client.closed; });
    };
    auto slow_head = connect();
    slow_head->send("GET / HT");
    EXPECT_TRUE(waits_for(*slow_head, "HTTP/1.1 408 "));
    auto slow_body = connect();
    slow_body->send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1");
    EXPECT_TRUE(waits_for(*slow_body, "HTTP/1.1 408 "));
    auto slow_handler = connect();
    slow_handler->send(get("/"));
    EXPECT_TRUE(waits_for(*slow_handler, "HTTP/1.1 503 "));
    EXPECT_FALSE(kept->connected());
    auto idle = connect();
    EXPECT_TRUE(waits_for(*idle, ""));
    EXPECT_EQ(idle->received, "");
    EXPECT_EQ(server->counters().timeouts, 3U);
}

TEST_F(HttpServerTest, GivesUpOnAClientThatTakesNothing) {
    HttpServerOptions options;
    options.write_timeout = milliseconds(20);
    serve(
        [](Request, Responder responder) {
            responder.send(Response::text(200, std::string(100'000, 'x')));
        },
        options);
    auto client = connect(100);
    client->send(get("/"));
    client->pause();
    EXPECT_TRUE(test::turn_until(*loop, [&] { return server->connections() == 0; }));
    EXPECT_EQ(server->counters().timeouts, 1U);
}

TEST_F(HttpServerTest, RefusesOneConnectionTooMany) {
    HttpServerOptions options;
    options.max_connections = 2;
    serve(echo(), options);
    auto one = connect();
    auto two = connect();
    auto three = connect();
    three->send(get("/"));
    turn();
    EXPECT_THAT(three->received, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
    EXPECT_TRUE(three->closed);
    three.reset();
    one.reset();
    turn();
    auto four = connect();
    four->send(get("/"));
    turn();
    EXPECT_THAT(four->received, StartsWith("HTTP/1.1 200 "));
    EXPECT_EQ(server->counters().refused, 1U);
}

TEST_F(HttpServerTest, HandsTheStreamOverAfterAnUpgrade) {
    std::unique_ptr<ByteStream> taken;
    std::string unread;
    serve([&](Request request, Responder responder) {
        ASSERT_EQ(request.header("upgrade"), "echo");
        Response head{
            .status = 101, .headers = {{"Connection", "Upgrade"}, {"Upgrade", "echo"}}, .body = ""};
        responder.upgrade(std::move(head),
                          [&](std::unique_ptr<ByteStream> stream, std::string rest) {
                              taken = std::move(stream);
                              unread = std::move(rest);
                          });
    });
    auto client = connect();
    client->send(get("/", "Connection: Upgrade\r\nUpgrade: echo\r\n") + "first");
    turn();
    EXPECT_THAT(client->received, StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
    EXPECT_THAT(client->received, EndsWith("Upgrade: echo\r\n\r\n"));
    ASSERT_NE(taken, nullptr);
    EXPECT_EQ(unread, "first");
    EXPECT_EQ(server->connections(), 0U);
    const std::string hello = "hello";
    EXPECT_EQ(taken->write(hello).bytes, 5U);
    turn();
    EXPECT_THAT(client->received, EndsWith("\r\n\r\nhello"));
}

TEST_F(HttpServerTest, FieldsCannotWriteFurtherFields) {
    serve([](Request, Responder responder) {
        responder.send(Response::text(200, "").with("X-A", "1\r\nSet-Cookie: evil"));
    });
    auto client = connect();
    client->send(get("/"));
    turn();
    EXPECT_THAT(client->received, HasSubstr("X-A: 1??Set-Cookie: evil\r\n"));
}

TEST_F(HttpServerTest, AClientMayEndItsSideAndStillBeAnswered) {
    std::optional<Responder> kept;
    serve([&](Request, Responder responder) { kept.emplace(std::move(responder)); });
    auto client = connect();
    client->send(get("/"));
    client->stream->shutdown_write();
    turn();
    kept->send(Response::text(200, "still"));
    turn();
    EXPECT_THAT(client->received, EndsWith("still"));
    EXPECT_EQ(server->connections(), 0U);
}

TEST_F(HttpServerTest, DrainsGracefully) {
    std::optional<Responder> kept;
    serve([&](Request, Responder responder) { kept.emplace(std::move(responder)); });
    auto idle = connect();
    auto busy = connect();
    busy->send(get("/"));
    turn();
    bool drained = false;
    server->drain(std::chrono::seconds(30), [&] { drained = true; });
    turn();
    EXPECT_TRUE(idle->closed);
    EXPECT_FALSE(busy->closed);
    EXPECT_FALSE(drained);
    kept->send(Response::text(200, "last"));
    turn();
    EXPECT_THAT(busy->received, HasSubstr("Connection: close\r\n"));
    EXPECT_THAT(busy->received, EndsWith("last"));
    busy.reset();
    turn();
    EXPECT_TRUE(drained);
}

TEST_F(HttpServerTest, DrainsAtTheLatestWhenItsTimeIsOver) {
    std::optional<Responder> kept;
    serve([&](Request, Responder responder) { kept.emplace(std::move(responder)); });
    auto busy = connect();
    busy->send(get("/"));
    turn();
    bool drained = false;
    server->drain(milliseconds(10), [&] { drained = true; });
    EXPECT_TRUE(test::turn_until(*loop, [&] { return drained; }));
    EXPECT_EQ(server->connections(), 0U);
    turn();
    EXPECT_TRUE(busy->closed);
}

}  // namespace
}  // namespace pollux::net
