#include "net/http_request_parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pollux::net {
namespace {

using State = RequestParser::State;

RequestParser parsed(std::string_view bytes, RequestLimits limits = {}) {
    RequestParser parser(limits);
    parser.consume(bytes);
    return parser;
}

int status_of(std::string_view bytes, RequestLimits limits = {}) {
    RequestParser parser = parsed(bytes, limits);
    return parser.state() == State::kFailed ? parser.status() : 0;
}

std::string with_head(std::string_view fields) {
    return "POST /x HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n";
}

TEST(HttpRequestParser, ReadsARequestInPiecesOfAnySize) {
    const std::string text =
        "POST /a/b?x=1&y HTTP/1.1\r\nHost: example\r\nX-Two:  words here \t\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
        "4\r\nWiki\r\nA;name=value\r\n0123456789\r\n0\r\nChecksum: 1\r\n\r\nGET / HTTP/1.1\r\n";
    for (std::size_t piece = 1; piece < text.size(); ++piece) {
        RequestParser parser(RequestLimits{});
        std::size_t used = 0;
        while (used < text.size() && parser.state() != State::kComplete) {
            used += parser.consume(std::string_view(text).substr(used, piece));
            ASSERT_NE(parser.state(), State::kFailed) << parser.reason() << " by " << piece;
        }
        ASSERT_EQ(parser.state(), State::kComplete);
        EXPECT_EQ(text.substr(used), "GET / HTTP/1.1\r\n") << piece;
        const Request& request = parser.request();
        EXPECT_EQ(request.method, "POST");
        EXPECT_EQ(request.path, "/a/b");
        EXPECT_EQ(request.query, "x=1&y");
        EXPECT_EQ(request.header("x-two"), "words here");
        EXPECT_EQ(request.body, "Wiki0123456789");
        EXPECT_TRUE(request.keep_alive);
    }
}

TEST(HttpRequestParser, ReadsCountedBodiesAndLeavesTheRest) {
    RequestParser parser(RequestLimits{});
    const std::string text = with_head("Content-Length: 3\r\n") + "abcdef";
    EXPECT_EQ(parser.consume(text), text.size() - 3);
    EXPECT_EQ(parser.state(), State::kComplete);
    EXPECT_EQ(parser.request().body, "abc");
    parser.start_over();
    EXPECT_EQ(parser.state(), State::kHead);
    EXPECT_FALSE(parser.started());
}

TEST(HttpRequestParser, KnowsWhatTheClientWishesForTheConnection) {
    EXPECT_FALSE(parsed("GET / HTTP/1.0\r\n\r\n").request().keep_alive);
    EXPECT_TRUE(parsed("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").request().keep_alive);
    EXPECT_FALSE(
        parsed("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n").request().keep_alive);
    RequestParser waiting = parsed(with_head("Content-Length: 3\r\nExpect: 100-Continue\r\n"));
    EXPECT_EQ(waiting.state(), State::kBody);
    EXPECT_TRUE(waiting.expects_continue());
}

TEST(HttpRequestParser, TakesTheFormsOfTargets) {
    EXPECT_EQ(parsed("GET http://a:1/b?c HTTP/1.1\r\nHost: a\r\n\r\n").request().path, "/b");
    EXPECT_EQ(parsed("GET http://a?c HTTP/1.1\r\nHost: a\r\n\r\n").request().path, "/");
    EXPECT_EQ(parsed("GET http://a?c HTTP/1.1\r\nHost: a\r\n\r\n").request().query, "c");
    EXPECT_EQ(parsed("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").request().path, "*");
    for (const std::string target : {"*", "a", "http:///x", "/a#b", "/\x01", "/\xC3\xA4", ""}) {
        EXPECT_EQ(status_of("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n"), 400) << target;
    }
}

TEST(HttpRequestParser, RefusesWhatTwoReadersCouldUnderstandDifferently) {
    const std::string chunked = "Transfer-Encoding: chunked\r\n";
    const std::vector<std::pair<std::string, int>> shapes = {
        {with_head("Content-Length: 3\r\n" + chunked), 400},
        {with_head(chunked + "Content-Length: 3\r\n"), 400},
        {with_head("Content-Length: 3\r\nContent-Length: 3\r\n"), 400},
        {with_head("Content-Length: 3, 3\r\n"), 400},
        {with_head("Content-Length: +3\r\n"), 400},
        {with_head("Content-Length: -3\r\n"), 400},
        {with_head("Content-Length: 0x3\r\n"), 400},
        {with_head("Content-Length:\r\n"), 400},
        {with_head("Content-Length: 99999999999999999999999\r\n"), 400},
        {with_head("Content-Length : 3\r\n"), 400},
        {with_head(chunked + chunked), 400},
        {with_head("Transfer-Encoding: identity\r\n"), 501},
        {with_head("Transfer-Encoding: chunked, gzip\r\n"), 501},
        {with_head("Transfer-Encoding: xchunked\r\n"), 501},
        {with_head("Transfer-Encoding:\vchunked\r\n"), 400},
        {"POST / HTTP/1.0\r\n" + chunked + "\r\n", 400},
        {with_head("X: a\r\n b\r\n"), 400},               // folded
        {with_head("X: a\r\n\tb\r\n"), 400},              // folded
        {with_head(" X: a\r\n"), 400},                    // folded into nothing
        {with_head(std::string("X: a\0b\r\n", 8)), 400},  // NUL
        {with_head(std::string("X\0: a\r\n", 7)), 400},
        {with_head("X: a\rb\r\n"), 400},     // bare CR
        {with_head("X: a\nY: b\r\n"), 400},  // bare LF
        {"GET / HTTP/1.1\nHost: a\n\n", 400},
        {with_head("no colon\r\n"), 400},
        {with_head(": no name\r\n"), 400},
        {with_head("Host: b\r\n"), 400},
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
        {"GET / http/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.10\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
        {"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"G<T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /\r\n\r\n", 400},
        {"\r\n\r\n\r\nGET / HTTP/1.1\r\n", 400},
        {with_head("Expect: 200-ok\r\n"), 417},
    };
    for (const auto& [text, status] : shapes) EXPECT_EQ(status_of(text), status) << text;
}

TEST(HttpRequestParser, RefusesBrokenChunks) {
    const std::string head = with_head("Transfer-Encoding: chunked\r\n");
    for (const std::string body :
         {"g\r\n", "-1\r\n", "0x1\r\na\r\n", " 1\r\na\r\n", "1 \r\na\r\n", "\r\n", "1\na\r\n",
          "1\r\nab\r\n", "1\r\na\n", "1\r\na\rX", "1\r\na\r\r\n", "1\r\r\na\r\n",
          "1;a\x01\r\na\r\n", "FFFFFFFFFFFFFFFFF\r\n", "0\r\n folded\r\n\r\n",
          "0\r\nno colon\r\n\r\n", "0\r\nX: a\n\r\n", ";a=b\r\n"}) {
        EXPECT_EQ(status_of(head + body), 400) << body;
    }
    EXPECT_EQ(status_of(head + "1;" + std::string(300, 'x')), 400);
}

TEST(HttpRequestParser, HoldsItsLimits) {
    const RequestLimits limits{.head_bytes = 200, .target_bytes = 50, .fields = 3, .body_bytes = 8};
    EXPECT_EQ(status_of("GET /" + std::string(60, 'a') + " HTTP/1.1\r\n", limits), 414);
    EXPECT_EQ(status_of("GET /" + std::string(300, 'a'), limits), 414);
    EXPECT_EQ(status_of(with_head("X: " + std::string(200, 'a')), limits), 431);
    EXPECT_EQ(status_of(with_head("A: 1\r\nB: 1\r\nC: 1\r\n"), limits), 431);
    EXPECT_EQ(status_of(with_head("Content-Length: 9\r\n"), limits), 413);
    EXPECT_EQ(status_of(with_head("Content-Length: 8\r\n"), limits), 0);
    const std::string head = with_head("Transfer-Encoding: chunked\r\n");
    EXPECT_EQ(status_of(head + "9\r\n", limits), 413);
    EXPECT_EQ(status_of(head + "5\r\n12345\r\n4\r\n", limits), 413);
    EXPECT_EQ(status_of(head + "0\r\nX: " + std::string(200, 'a'), limits), 431);
}

TEST(HttpMessage, DecodesQueries) {
    EXPECT_EQ(query_parameter("a=1&b=x+y%2B&b=2", "b"), "x y+");
    EXPECT_EQ(query_parameter("a", "a"), "");
    EXPECT_EQ(query_parameter("a=1", "c"), std::nullopt);
    EXPECT_EQ(query_parameter("a=%zz", "a"), std::nullopt);
    EXPECT_EQ(percent_decode("%00"), std::nullopt);
    EXPECT_EQ(percent_decode("a%2"), std::nullopt);
    EXPECT_TRUE(list_has("a, Keep-Alive ,b", "keep-alive"));
    EXPECT_FALSE(list_has("keep-alive-not", "keep-alive"));
}

}  // namespace
}  // namespace pollux::net
