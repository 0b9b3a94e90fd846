#include "runtime/source_keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "net/http_server.hpp"
#include "net/http_test_support.hpp"
#include "net/test_process.hpp"
#include "runtime/runtime_test_support.hpp"

namespace pollux::runtime {
namespace {

using net::test::turn_until;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SourceKeeperTest : public testing::Test {
  protected:
    SourceKeeperTest() {
        server_ = std::make_unique<net::HttpServer>(
            *loop_, net::HttpServerOptions{}, [this](net::Request request, net::Responder answer) {
                requests_.push_back(std::move(request));
                if (hold_) {
                    held_.push_back(std::move(answer));
                    return;
                }
                answer.send(net::Response::json(status_, body_));
            });
        port_ = server_->listen(net::SocketAddress::loopback(0)).value().port();
    }

    static config::Source files(std::string pattern) {
        config::Source source;
        source.paths = {std::move(pattern)};
        source.addons = {"http-status"};
        source.refresh = std::chrono::milliseconds(20);
        return source;
    }
    config::Source web(const std::string& path) const {
        config::Source source;
        source.kind = config::SourceKind::kHttp;
        source.url = "http://127.0.0.1:" + std::to_string(port_) + path;
        source.addons = {"http-status"};
        source.refresh = std::chrono::milliseconds(20);
        return source;
    }

    // Names of all devices that were told last.
    std::vector<std::string> told() const {
        std::vector<std::string> names;
        for (const auto& [source, devices] : last_) {
            for (const auto& [name, device] : devices) names.push_back(name);
        }
        return names;
    }
    bool wait_for(std::vector<std::string> names) {
        return turn_until(*loop_, [&] { return times_ > 0 && told() == names; });
    }

    net::test::TempDir folder_;
    test::LogLines log_;
    std::unique_ptr<net::EventLoop> loop_ = net::EventLoop::create().value();
    std::vector<net::Request> requests_;
    std::vector<net::Responder> held_;
    bool hold_ = false;
    int status_ = 200;
    std::string body_ = R"([{"targets": ["10.0.0.9"]}])";
    std::unique_ptr<net::HttpServer> server_;
    std::uint16_t port_ = 0;
    SourceKeeper::Devices last_;
    int times_ = 0;
    SourceKeeper keeper_{*loop_, log_.log(),
                         [](const config::SecretReference&) -> base::Result<base::Secret> {
                             return base::Secret("the-list-token");
                         },
                         std::make_shared<const net::EgressPolicy>(),
                         [this](const SourceKeeper::Devices& found) {
                             last_ = found;
                             ++times_;
                         }};
};

TEST_F(SourceKeeperTest, FollowsTheFilesOfAPattern) {
    folder_.write("one.json", R"([{"targets": ["10.0.0.1", "10.0.0.2"]}])");
    keeper_.set({{"lists", files(folder_.file("*.json"))}}, {});
    ASSERT_TRUE(wait_for({"10.0.0.1", "10.0.0.2"})) << log_.text();
    folder_.write("two.json", R"([{"targets": ["10.0.0.3"]}])");
    ASSERT_TRUE(wait_for({"10.0.0.1", "10.0.0.2", "10.0.0.3"}));
    std::filesystem::remove(folder_.file("one.json"));
    ASSERT_TRUE(wait_for({"10.0.0.3"}));
}

TEST_F(SourceKeeperTest, TellsAListOnceAsLongAsItSaysTheSame) {
    folder_.write("one.yml", "- targets: [10.0.0.1]\n");
    keeper_.set({{"lists", files(folder_.file("one.yml"))}, {"served", web("/sd")}}, {});
    ASSERT_TRUE(turn_until(*loop_, [&] { return requests_.size() >= 5; }));
    EXPECT_EQ(times_, 1);
    EXPECT_THAT(told(), ElementsAre("10.0.0.1", "10.0.0.9"));
}

TEST_F(SourceKeeperTest, ABrokenOrMissingListKeepsWhatItSaidBefore) {
    folder_.write("one.json", R"([{"targets": ["10.0.0.1"]}])");
    keeper_.set({{"lists", files(folder_.file("one.json"))}}, {});
    ASSERT_TRUE(wait_for({"10.0.0.1"}));
    folder_.write("one.json", R"([{"targets": 5}])");
    ASSERT_TRUE(turn_until(*loop_, [&] {
        return log_.text().find("a list of devices is broken") != std::string::npos;
    }));
    std::filesystem::remove(folder_.file("one.json"));
    ASSERT_TRUE(turn_until(*loop_, [&] {
        return log_.text().find("a list of devices is not there") != std::string::npos;
    }));
    EXPECT_EQ(times_, 1);
    EXPECT_THAT(told(), ElementsAre("10.0.0.1"));
}

TEST_F(SourceKeeperTest, SaysNothingUntilEveryListIsKnown) {
    status_ = 503;
    folder_.write("one.json", R"([{"targets": ["10.0.0.1"]}])");
    keeper_.set({{"lists", files(folder_.file("one.json"))}, {"served", web("/sd")}}, {});
    ASSERT_TRUE(turn_until(*loop_, [&] { return requests_.size() >= 3; }));
    EXPECT_EQ(times_, 0);
    EXPECT_THAT(log_.text(), HasSubstr("status 503"));
    status_ = 200;
    ASSERT_TRUE(wait_for({"10.0.0.1", "10.0.0.9"}));
}

TEST_F(SourceKeeperTest, AsksAServerWithItsCredentialsAndNeverShowsThem) {
    config::Source source = web("/sd");
    source.credentials = "lists";
    config::Credential credential;
    credential.token = config::parse_secret_reference("${LIST_TOKEN}").value();
    status_ = 403;
    keeper_.set({{"served", source}}, {{"lists", credential}});
    ASSERT_TRUE(turn_until(*loop_, [&] { return requests_.size() >= 2; }));
    EXPECT_EQ(requests_[0].header("Authorization"), "Bearer the-list-token");
    EXPECT_EQ(requests_[0].header("Accept"), "application/json");
    EXPECT_THAT(log_.text(), testing::Not(HasSubstr("the-list-token")));
}

TEST_F(SourceKeeperTest, AnAnswerOfAPlaceThatIsNoLongerAskedCountsForNothing) {
    hold_ = true;
    keeper_.set({{"served", web("/old")}}, {});
    ASSERT_TRUE(turn_until(*loop_, [&] { return held_.size() == 1; }));
    hold_ = false;
    body_ = R"([{"targets": ["10.0.0.2"]}])";
    keeper_.set({{"served", web("/new")}}, {});
    ASSERT_TRUE(wait_for({"10.0.0.2"}));
    held_[0].send(net::Response::json(200, R"([{"targets": ["10.0.0.1"]}])"));
    net::test::turn(*loop_, 50);
    EXPECT_THAT(told(), ElementsAre("10.0.0.2"));
    EXPECT_EQ(times_, 1);
}

TEST_F(SourceKeeperTest, DevicesOfARemovedSourceGo) {
    folder_.write("one.json", R"([{"targets": ["10.0.0.1"]}])");
    keeper_.set({{"lists", files(folder_.file("one.json"))}}, {});
    ASSERT_TRUE(wait_for({"10.0.0.1"}));
    keeper_.set({}, {});
    EXPECT_THAT(told(), IsEmpty());
    EXPECT_EQ(times_, 2);
}

}  // namespace
}  // namespace pollux::runtime
