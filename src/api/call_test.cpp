#include "api/call.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "net/http_test_support.hpp"

namespace pollux::api {
namespace {

class Sink final : public CallSink {
  public:
    void finish(Call call, net::Response response) override {
        answers.push_back(std::to_string(response.status) + " " + call.request_id);
        bodies.push_back(response.body);
    }
    net::StreamHandle finish_stream(Call, net::Response, net::BodySource,
                                    std::optional<std::uint64_t>) override {
        answers.emplace_back("stream");
        return {};
    }
    void finish_upgrade(Call, net::Response, net::UpgradeTaker) override {
        answers.emplace_back("upgrade");
    }
    std::vector<std::string> answers;
    std::vector<std::string> bodies;
};

class CallTest : public testing::Test {
  protected:
    Call call(std::string id) {
        Call one(home, {}, net::Responder(nullptr, 0));
        one.request_id = std::move(id);
        one.route = &route;
        return one;
    }
    std::unique_ptr<net::EventLoop> loop = net::EventLoop::create().value();
    Sink sink;
    std::shared_ptr<CallHome> home = std::make_shared<CallHome>(*loop, sink);
    Route route{.method = "GET", .path = "/api/{first}/x/{second}"};
};

TEST_F(CallTest, IsAnsweredOnce) {
    Call one = call("a");
    one.json(200, "{}");
    one.json(201, "{}");
    EXPECT_TRUE(one.answered());
    EXPECT_EQ(sink.answers, std::vector<std::string>{"200 a"});
}

TEST_F(CallTest, ADroppedCallIsAProblem) {
    {
        const Call one = call("a");
    }
    Call two = call("b");
    two = call("c");
    EXPECT_EQ(sink.answers, (std::vector<std::string>{"500 a", "500 b"}));
    EXPECT_NE(sink.bodies[0].find("api.dropped"), std::string::npos);
}

TEST_F(CallTest, FindsParametersByName) {
    Call one = call("a");
    one.parameters = {"1", "2"};
    EXPECT_EQ(one.parameter("first"), "1");
    EXPECT_EQ(one.parameter("second"), "2");
    EXPECT_DEATH(static_cast<void>(one.parameter("third")), "no parameter of that name");
    one.json(200, "");
}

TEST_F(CallTest, ComesHomeFromOtherThreads) {
    Call answered = call("a");
    Call dropped = call("b");
    std::thread([one = std::move(answered)]() mutable { one.json(200, "{}"); }).join();
    std::thread([one = std::move(dropped)]() mutable { const Call gone = std::move(one); }).join();
    EXPECT_TRUE(sink.answers.empty());
    EXPECT_TRUE(net::test::turn_until(*loop, [&] { return sink.answers.size() == 2; }));
    EXPECT_EQ(sink.answers, (std::vector<std::string>{"200 a", "500 b"}));
}

TEST_F(CallTest, OutlivesItsServer) {
    Call here = call("a");
    Call elsewhere = call("b");
    home->close();
    loop.reset();
    here.json(200, "{}");
    std::thread([one = std::move(elsewhere)]() mutable { one.json(200, "{}"); }).join();
    EXPECT_TRUE(sink.answers.empty());
}

}  // namespace
}  // namespace pollux::api
