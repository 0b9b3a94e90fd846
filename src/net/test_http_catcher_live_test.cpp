// The receiver of the tests, seen by curl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/test_http_catcher.hpp"

namespace pollux::net::test {
namespace {

using testing::HasSubstr;

constexpr int kCurlTimedOut = 28;
constexpr int kCurlGotNothing = 52;
constexpr int kCurlReceiveError = 56;

struct Curl {
    int exit_code = -1;
    std::string output;
};

Curl post(const std::string& url, const std::string& body, std::vector<std::string> more = {}) {
    const TempDir folder;
    std::vector<std::string> command = {"curl", "-sS", "-i", "--data-binary", body, url};
    command.insert(command.end(), more.begin(), more.end());
    Process process(std::move(command), folder);
    EXPECT_TRUE(process.wait_for_end());
    return {process.exit_code(), process.output()};
}

TEST(HttpCatcher, RemembersWhatCameAndAnswersAsTold) {
    HttpCatcher receiver;
    receiver.script({HttpCatcher::too_many(7), HttpCatcher::status(503)});
    const auto busy = post(receiver.url("/a?b=1"), "one", {"-H", "Idempotency-Key: k1"});
    EXPECT_THAT(busy.output, HasSubstr("HTTP/1.1 429 Too Many Requests"));
    EXPECT_THAT(busy.output, HasSubstr("Retry-After: 7"));
    EXPECT_THAT(post(receiver.url(), "two").output, HasSubstr("503"));
    EXPECT_THAT(post(receiver.url(), "three").output, HasSubstr("200 OK"));
    receiver.always(HttpCatcher::status(500));
    EXPECT_THAT(post(receiver.url(), "four").output, HasSubstr("500"));
    const auto requests = receiver.requests();
    ASSERT_EQ(requests.size(), 4U);
    EXPECT_EQ(requests[0].method, "POST");
    EXPECT_EQ(requests[0].target, "/a?b=1");
    EXPECT_EQ(requests[0].header("idempotency-key"), "k1");
    EXPECT_EQ(requests[0].body, "one");
    EXPECT_EQ(requests[3].body, "four");
}

TEST(HttpCatcher, TakesARequestAndBreaksOff) {
    HttpCatcher receiver;
    receiver.script({HttpCatcher::lost(), HttpCatcher::silence()});
    const auto lost = post(receiver.url(), "same");
    EXPECT_TRUE(lost.exit_code == kCurlReceiveError || lost.exit_code == kCurlGotNothing)
        << lost.exit_code << lost.output;
    EXPECT_EQ(post(receiver.url(), "same", {"--max-time", "3"}).exit_code, kCurlTimedOut);
    EXPECT_EQ(post(receiver.url(), "same").exit_code, 0);
    EXPECT_TRUE(receiver.wait_for(3)) << "it had them all, whatever it said";
    EXPECT_FALSE(receiver.wait_for(4, std::chrono::milliseconds(1)));
}

TEST(HttpCatcher, SeveralRequestsAndAPieceByPieceBodyOnOneConnection) {
    HttpCatcher receiver;
    const std::string large(200'000, 'x');
    const TempDir folder;
    const std::string file = folder.write("large", large);
    Process curl({"curl", "-sS", "-H", "Expect: 100-continue", "--data-binary", "@" + file,
                  receiver.url("/1"), "--next", "-sS", "-H", "Transfer-Encoding: chunked",
                  "--data-binary", "@" + file, receiver.url("/2")},
                 folder);
    ASSERT_TRUE(curl.wait_for_end());
    EXPECT_EQ(curl.output(), "ok\nok\n");
    const auto requests = receiver.requests();
    ASSERT_EQ(requests.size(), 2U);
    EXPECT_EQ(requests[0].body, large);
    EXPECT_EQ(requests[1].body, large);
}

TEST(HttpCatcher, ComesBackOnItsPort) {
    std::uint16_t port = 0;
    std::string url;
    {
        HttpCatcher receiver;
        port = receiver.port();
        url = receiver.url();
        EXPECT_EQ(post(url, "before").exit_code, 0);
    }
    EXPECT_NE(post(url, "down").exit_code, 0);
    HttpCatcher again(port);
    EXPECT_EQ(post(url, "after").exit_code, 0);
    EXPECT_EQ(again.requests().size(), 1U);
}

}  // namespace
}  // namespace pollux::net::test
