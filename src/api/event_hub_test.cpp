#include "api/event_hub.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/event_digest.hpp"
#include "net/http_test_support.hpp"

namespace pollux::api {
namespace {

using net::MemoryStream;
using net::test::MemoryClient;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using enum EventType;

constexpr base::WallTime kNow{1'700'000'000'000'000};

// Targets as (key, site); those of berlin are in the group `racks`.
std::shared_ptr<const runtime::FleetView> fleet(
    const std::vector<std::pair<std::string, std::string>>& targets) {
    auto image = std::make_shared<runtime::FleetImage>();
    for (const auto& [key, site] : targets) {
        config::TargetPlanInput target;
        target.key = key;
        target.target = key.substr(0, key.find('#'));
        target.labels = {{"site", site}};
        if (site == "berlin") target.groups = {"racks"};
        image->expansion.targets.push_back(std::move(target));
    }
    auto view = std::make_shared<runtime::FleetView>();
    view->image = std::move(image);
    return view;
}

access::Principal viewer(std::string selector = {}) {
    access::Principal one;
    one.kind = "user";
    one.name = one.owner = "vera";
    one.grants = {{access::Role::kViewer, std::move(selector)}};
    return one;
}

// A follower at the other end of a stream in memory.
struct Follower {
    std::unique_ptr<MemoryClient> client;
    std::uint16_t close_code = 0;

    void say(std::string_view text) {
        std::string out;
        net::append_masked_frame(out, net::WebSocketOpcode::kText, text, 0xA1B2C3D4);
        client->send(out);
    }
    // What came since the last call.
    std::vector<std::string> got() {
        std::vector<std::string> all;
        std::string_view bytes = client->received;
        net::WebSocketDecoder decoder(false, 1'000'000);
        using Event = net::WebSocketDecoder::Event;
        for (auto event = decoder.next(bytes); event != Event::kNeedMore;
             event = decoder.next(bytes)) {
            if (event == Event::kClose) {
                close_code = decoder.close_code();
                break;
            }
            EXPECT_EQ(event, Event::kText);
            all.push_back(decoder.payload());
        }
        client->received.clear();
        return all;
    }
};

class EventHubTest : public testing::Test {
  protected:
    void SetUp() override { make({}); }
    void make(EventHubOptions options) {
        options.epoch = 7;
        options.digest = base::Duration::zero();
        options.gather = base::Duration::zero();
        EventHubPorts ports;
        ports.view = [this] { return view; };
        ports.wall = [] { return kNow; };
        ports.login = [](const access::Principal& one) { return "login of " + one.name; };
        ports.renew = [this](const access::Principal& one,
                             const std::string& login) -> std::optional<access::Principal> {
            EXPECT_EQ(login, "login of " + one.name);
            return renewed ? renewed(one) : one;
        };
        ports.interest_changed = [this] { ++interest_changes; };
        hub = std::make_unique<EventHub>(*loop, std::move(ports), options);
    }
    Follower connect(access::Principal principal = viewer(), std::size_t capacity = 1 << 20) {
        auto [ours, theirs] = MemoryStream::make_pair(*loop, capacity);
        hub->adopt(std::move(principal), std::move(theirs), {});
        Follower follower{std::make_unique<MemoryClient>(std::move(ours))};
        turn();
        return follower;
    }
    Follower subscribed(std::string_view message = R"({"type":"subscribe"})",
                        access::Principal principal = viewer()) {
        Follower follower = connect(std::move(principal));
        follower.say(message);
        turn();
        EXPECT_THAT(follower.got(), SizeIs(2));
        return follower;
    }
    std::vector<std::string> told(Follower& follower) {
        turn();
        return follower.got();
    }
    std::uint64_t change(std::string key) {
        return hub->publish(kTaskStateChanged, std::move(key), "{}");
    }
    static std::string event(std::uint64_t number, std::string_view key,
                             std::string_view type = "task_state_changed") {
        return fmt::format(
            R"({{"type":"{}","seq":{},"at":"2023-11-14T22:13:20.000Z","key":"{}","data":{{}}}})",
            type, number, key);
    }
    void turn() { net::test::turn(*loop); }

    static constexpr std::uint64_t kFirst = (7ULL << 32U) + 1;
    std::unique_ptr<net::EventLoop> loop = net::EventLoop::create().value();
    std::shared_ptr<const runtime::FleetView> view =
        fleet({{"http::a", "berlin"}, {"http::b", "hamburg"}, {"http::b#slow", "hamburg"}});
    std::function<std::optional<access::Principal>(const access::Principal&)> renewed;
    int interest_changes = 0;
    std::unique_ptr<EventHub> hub;
};

TEST_F(EventHubTest, GreetsThenSendsWhatIsSubscribedTo) {
    hub->set_status(R"({"status":"ok"})");
    Follower follower = connect();
    EXPECT_THAT(
        follower.got(),
        ElementsAre(
            R"({"type":"connected","seq":30064771072,"epoch":7,"status":{"status":"ok"}})"));
    change("http::a");
    EXPECT_THAT(told(follower), IsEmpty()) << "nothing was asked for";
    follower.say(R"({"type":"subscribe","event_types":["task_state_changed"]})");
    EXPECT_THAT(told(follower),
                ElementsAre(R"({"type":"subscribed","seq":30064771073,"subscriptions":[)"
                            R"({"event_types":["task_state_changed"]}]})"));
    change("http::a");
    hub->publish(kPollResult, "http::a", "{}");
    EXPECT_THAT(told(follower), ElementsAre(event(kFirst + 1, "http::a")));
    follower.say(R"({"type":"ping"})");
    EXPECT_THAT(told(follower), ElementsAre(R"({"type":"pong","seq":30064771075})"));
    follower.say(R"({"type":"unsubscribe"})");
    EXPECT_THAT(told(follower), ElementsAre(HasSubstr(R"("subscriptions":[])")));
    change("http::a");
    EXPECT_THAT(told(follower), IsEmpty());
}

TEST_F(EventHubTest, FiltersByTargetPatternAndGroup) {
    Follower by_target = subscribed(R"({"type":"subscribe","targets":["http::b"]})");
    Follower by_pattern = subscribed(R"({"type":"subscribe","targets":["*::a"]})");
    Follower by_group = subscribed(R"({"type":"subscribe","groups":["racks"]})");
    const std::uint64_t a = change("http::a");
    const std::uint64_t slow = change("http::b#slow");
    EXPECT_THAT(told(by_target), ElementsAre(event(slow, "http::b#slow"))) << "tasks of a target";
    EXPECT_THAT(told(by_pattern), ElementsAre(event(a, "http::a")));
    EXPECT_THAT(told(by_group), ElementsAre(event(a, "http::a")));
    hub->publish(kSystemStatus, "", "{}");
    EXPECT_THAT(told(by_target), SizeIs(1)) << "what is about the whole goes by its type";
}

TEST_F(EventHubTest, AViewerOfAPartSeesThatPartAsTheFleetIsNow) {
    Follower follower = subscribed(R"({"type":"subscribe"})", viewer("site=berlin"));
    Follower other = subscribed(R"({"type":"subscribe"})", viewer("site!=berlin"));
    const std::uint64_t first = change("http::a");
    const std::uint64_t second = change("http::b");
    change("http::gone");
    hub->publish(kAddonStatus, "http", "{}");
    hub->publish(kJobChanged, "sweep", "{}");
    EXPECT_THAT(told(follower), ElementsAre(event(first, "http::a")));
    EXPECT_THAT(told(other), ElementsAre(event(second, "http::b"))) << "not what nobody knows";
    view = fleet({{"http::a", "hamburg"}, {"http::b", "berlin"}});
    const std::uint64_t third = change("http::b");
    EXPECT_THAT(told(follower), ElementsAre(event(third, "http::b")));
    EXPECT_THAT(told(other), IsEmpty());
    Follower whole = subscribed();
    const std::uint64_t gone = change("http::gone");
    EXPECT_THAT(told(whole), ElementsAre(event(gone, "http::gone")));
}

TEST_F(EventHubTest, EventsOfAlertsGoByWhatTheAlertSays) {
    Follower berlin = subscribed(R"({"type":"subscribe"})", viewer("site=berlin"));
    Follower not_berlin = subscribed(R"({"type":"subscribe"})", viewer("site!=berlin"));
    Follower racks = subscribed(R"({"type":"subscribe","groups":["racks"]})");
    Follower one = subscribed(R"({"type":"subscribe","targets":["http::a"]})");
    const auto scope = [](std::string site, std::vector<std::string> groups) {
        return std::make_shared<const EventScope>(access::Labels{{"site", std::move(site)}},
                                                  std::move(groups));
    };
    const std::uint64_t first =
        hub->publish(kAlertCreated, "http::gone", "{}", scope("berlin", {"racks"}));
    EXPECT_THAT(told(berlin), ElementsAre(event(first, "http::gone", "alert_created")))
        << "the fleet need not know its target any more";
    EXPECT_THAT(told(not_berlin), IsEmpty());
    EXPECT_THAT(told(racks), SizeIs(1));
    EXPECT_THAT(told(one), IsEmpty());
    hub->publish(kAlertResolved, "http::a", "{}", scope("rome", {}));
    EXPECT_THAT(told(one), SizeIs(1));
    EXPECT_THAT(told(not_berlin), SizeIs(1));
    // Of no target and no device: about us.
    hub->publish(kAlertUpdated, "", "{}", scope("rome", {}));
    EXPECT_THAT(told(one), IsEmpty()) << "an alert is never about the whole";
    EXPECT_THAT(told(not_berlin), SizeIs(1));
    hub->publish(kIncidentChanged, "i-1", "{}");
    EXPECT_THAT(told(not_berlin), IsEmpty()) << "no label is no proof";
    Follower whole = subscribed();
    hub->publish(kIncidentChanged, "i-1", "{}");
    EXPECT_THAT(told(whole), SizeIs(1));
}

TEST_F(EventHubTest, ResumesWhereItWasOrSaysThatItCannot) {
    make({.ring = {.events = 5}});
    const std::uint64_t first = change("http::a");
    change("http::b");
    Follower follower = connect();
    follower.say(fmt::format(R"({{"type":"resume","seq":{}}})", first));
    follower.say(R"({"type":"subscribe"})");
    EXPECT_THAT(told(follower),
                ElementsAre(HasSubstr("connected"), HasSubstr(R"("resumed","seq":30064771073)"),
                            HasSubstr("subscribed"), event(first + 1, "http::b")));
    for (int i = 0; i < 10; ++i) change("http::a");
    EXPECT_THAT(told(follower), SizeIs(10));
    follower.say(fmt::format(R"({{"type":"resume","seq":{}}})", first));
    EXPECT_THAT(told(follower), ElementsAre(R"({"type":"resync","seq":30064771084})"));
    follower.say(R"({"type":"resume","seq":25769803777})");
    EXPECT_THAT(told(follower), ElementsAre(HasSubstr("resync"))) << "of an earlier life";
    const std::uint64_t last = change("http::b");
    EXPECT_THAT(told(follower), ElementsAre(event(last, "http::b")));
    EXPECT_EQ(hub->counts().resyncs, 2U);
}

TEST_F(EventHubTest, WhoReadsSlowlyGetsTheNewestResultsThenCatchesUp) {
    make({.send_limit = 8 * 1024});
    Follower follower = connect(viewer(), 1024);
    follower.say(R"({"type":"subscribe"})");
    turn();
    follower.got();
    follower.client->pause();
    for (int i = 0; i < 1000; ++i) hub->publish(kPollResult, "http::a", std::to_string(i));
    turn();
    EXPECT_EQ(hub->ring().size(), 1U);
    const std::uint64_t last = change("http::a");
    follower.client->go_on();
    net::test::turn(*loop, 2000);
    const auto got = follower.got();
    ASSERT_FALSE(got.empty());
    EXPECT_LT(got.size(), 200U) << "what was replaced is not sent";
    EXPECT_EQ(got.back(), event(last, "http::a"));
    EXPECT_THAT(got[got.size() - 2], HasSubstr("\"data\":999"));
    EXPECT_EQ(hub->counts().resyncs, 0U);
}

TEST_F(EventHubTest, WhoDoesNotReadAtAllCostsOneBufferAndIsToldToStartOver) {
    make({.ring = {.events = 100}, .send_limit = 8 * 1024});
    Follower follower = connect(viewer(), 1024);
    follower.say(R"({"type":"subscribe"})");
    turn();
    follower.got();
    follower.client->pause();
    for (int i = 0; i < 5000; ++i) {
        change("http::a");
        if (i % 500 == 0) turn();
    }
    EXPECT_LE(hub->ring().size(), 100U);
    EXPECT_LT(hub->counts().sent, 200U);
    follower.client->go_on();
    net::test::turn(*loop, 2000);
    const auto got = follower.got();
    ASSERT_FALSE(got.empty());
    EXPECT_THAT(got.back(), HasSubstr(R"("type":"resync")"));
    const std::uint64_t next = change("http::b");
    EXPECT_THAT(told(follower), ElementsAre(event(next, "http::b")));
}

TEST_F(EventHubTest, ALossBeforeTheHubMakesEverybodyStartOver) {
    Follower follower = subscribed();
    change("http::a");
    told(follower);
    hub->lost();
    EXPECT_THAT(told(follower), ElementsAre(HasSubstr("resync")));
    change("http::a");
    EXPECT_THAT(told(follower), SizeIs(1));
}

TEST_F(EventHubTest, AnEndedLoginEndsItsConnections) {
    make({.look_at_logins = std::chrono::milliseconds(20)});
    Follower berlin = subscribed(R"({"type":"subscribe"})", viewer("site=berlin"));
    Follower whole = subscribed();
    renewed = [](const access::Principal& one) -> std::optional<access::Principal> {
        if (one.grants[0].selector.empty()) return std::nullopt;
        access::Principal now = one;
        now.grants = {{access::Role::kViewer, "site=hamburg"}};
        return now;
    };
    EXPECT_TRUE(net::test::turn_until(*loop, [&] {
        whole.got();
        return whole.close_code == net::kClosePolicy;
    }));
    const std::uint64_t b = change("http::b");
    change("http::a");
    EXPECT_THAT(told(berlin), ElementsAre(event(b, "http::b"))) << "with its grants of now";
}

TEST_F(EventHubTest, TheNumberOfClientsIsBounded) {
    hub->set_client_limits(1, 50);
    Follower first = subscribed();
    Follower second = connect();
    second.got();
    EXPECT_EQ(second.close_code, net::kCloseTryLater);
    EXPECT_EQ(hub->counts().refused, 1U);
    change("http::a");
    EXPECT_THAT(told(first), SizeIs(1));
}

TEST_F(EventHubTest, OneUserDoesNotTakeThePlacesOfAll) {
    hub->set_client_limits(10, 2);
    const auto token = [](std::string name, std::string owner) {
        access::Principal one = viewer();
        one.kind = "token";
        one.name = std::move(name);
        one.owner = std::move(owner);
        return one;
    };
    Follower session = connect();
    auto of_token = std::make_unique<Follower>(connect(token("ci", "vera")));
    Follower third = connect(token("lab", "vera"));
    third.got();
    EXPECT_EQ(third.close_code, net::kCloseTryLater) << "tokens count for their owner";
    EXPECT_EQ(hub->counts().refused, 1U);
    Follower other = connect(token("ci", "willy"));
    other.got();
    EXPECT_EQ(other.close_code, 0) << "others have places of their own";
    of_token.reset();
    turn();
    Follower again = connect(token("lab", "vera"));
    again.got();
    EXPECT_EQ(again.close_code, 0) << "a place that was left is free";
}

TEST_F(EventHubTest, KnowsWhatIsWanted) {
    EXPECT_FALSE(hub->wanted(kPollResult));
    {
        Follower follower = subscribed(R"({"type":"subscribe","event_types":["poll_result"]})");
        EXPECT_TRUE(hub->wanted(kPollResult));
        EXPECT_FALSE(hub->wanted(kSchedulerStats));
        EXPECT_EQ(interest_changes, 1);
    }
    turn();
    EXPECT_EQ(hub->clients(), 0U);
    EXPECT_FALSE(hub->wanted(kPollResult));
    EXPECT_EQ(interest_changes, 2);
}

TEST_F(EventHubTest, SaysWhatIsWrongWithAMessageAndKeepsTheRest) {
    Follower follower = subscribed();
    const auto answer = [&](std::string_view message) {
        follower.say(message);
        const auto got = told(follower);
        return got.size() == 1 ? got[0] : fmt::format("{} messages", got.size());
    };
    EXPECT_THAT(answer("hello"), HasSubstr(R"({"type":"error","code":"event.message")"));
    EXPECT_THAT(answer("[1]"), HasSubstr("error"));
    EXPECT_THAT(answer(R"({"type":"shout"})"), HasSubstr("subscribe"));
    EXPECT_THAT(answer(R"({"type":"subscribe","event_types":["weather"]})"),
                HasSubstr("task_state_changed, poll_result"));
    EXPECT_THAT(answer(R"({"type":"subscribe","colour":1})"), HasSubstr("colour"));
    EXPECT_THAT(answer(R"({"type":"resume"})"), HasSubstr("seq"));
    EXPECT_THAT(answer(R"({"type":"subscribe","targets":[""]})"), HasSubstr("1 to 300 bytes"));
    std::string many = R"({"type":"subscribe","targets":["x")";
    for (int i = 0; i < 600; ++i) many += fmt::format(R"(,"{}")", i);
    EXPECT_THAT(answer(many + "]}"), HasSubstr("event.subscriptions"));
    change("http::a");
    EXPECT_THAT(told(follower), SizeIs(1)) << "the subscription is as it was";
}

TEST_F(EventHubTest, WhoTalksTooMuchIsLetGo) {
    make({.messages = 10});
    Follower follower = subscribed();
    for (int i = 0; i < 20; ++i) follower.say(R"({"type":"ping"})");
    turn();
    EXPECT_THAT(follower.got(), SizeIs(9));
    EXPECT_EQ(follower.close_code, net::kClosePolicy);
}

TEST_F(EventHubTest, WhatIsTooLargeIsLeftOut) {
    Follower follower = subscribed();
    hub->publish(kJobChanged, "sweep", '"' + std::string(20'000, 'x') + '"');
    EXPECT_THAT(told(follower), ElementsAre(HasSubstr(R"("data":{"left_out":"too large"})")));
}

TEST_F(EventHubTest, WhatIsLeftOutStillSaysWhichOneItIs) {
    Follower follower = subscribed();
    const std::string message(20'000, 'x');
    hub->publish(kAlertUpdated, "http::a",
                 R"({"id":"0190a5e0","version":7,"device_name":"core \"1\"","labels":{"a":"b"},)"
                 R"("status":"active","message":")" +
                     message + "\"}");
    EXPECT_THAT(
        told(follower),
        ElementsAre(HasSubstr(R"("data":{"id":"0190a5e0","version":7,"device_name":"core \"1\"",)"
                              R"("status":"active","left_out":"too large"})")));
}

TEST(EventFilter, UnsubscribesFromTypesAndNames) {
    EventFilter filter;
    ASSERT_TRUE(
        filter.add({.types = Subscription::kAllTypes, .targets = {"a", "b"}, .groups = {}}));
    ASSERT_TRUE(filter.add({.types = Subscription::bit(kPollResult), .targets = {}, .groups = {}}));
    const auto text = [&] {
        std::string out;
        document::JsonWriter json(out);
        filter.write(json);
        return out;
    };
    filter.remove({.types = Subscription::kAllTypes, .targets = {"a"}, .groups = {}});
    EXPECT_THAT(text(), HasSubstr(R"("targets":["b"]})"));
    filter.remove({.types = Subscription::bit(kPollResult), .targets = {}, .groups = {}});
    EXPECT_FALSE(filter.wants(kPollResult));
    EXPECT_TRUE(filter.wants(kJobChanged));
    filter.remove({.types = Subscription::kAllTypes, .targets = {"b"}, .groups = {}});
    EXPECT_TRUE(filter.empty());
}

TEST_F(EventHubTest, ResultsComeTogetherForWhoAsksForThat) {
    Follower page = subscribed(R"({"type":"subscribe","gather":true})");
    Follower other = subscribed();
    runtime::PollNews good;
    good.key = "http::a";
    good.at = kNow;
    good.duration = std::chrono::microseconds(12'300);
    good.next_due = kNow + std::chrono::seconds(60);
    runtime::PollNews bad = good;
    bad.key = "http::b#slow";
    bad.outcome = model::Outcome::kTransient;
    bad.failures = 2;
    bad.code = "http.timeout";
    bad.next_due = {};
    bad.lag = std::chrono::milliseconds(1500);
    for (const runtime::PollNews* one : {&good, &bad}) {
        hub->publish(kPollResult, one->key, "{}", nullptr, brief_of(*one));
    }
    change("http::a");
    const auto at = kNow.us / 1000;
    EXPECT_THAT(
        told(page),
        ElementsAre(
            fmt::format(
                R"({{"type":"poll_results","seq":{0},"data":{{"http":[["a",{1},13,60000,0],)"
                R"(["b#slow",{1},13,0,1500,"transient",2,"http.timeout"]]}}}})",
                kFirst + 1, at),
            event(kFirst + 2, "http::a")))
        << "in the order of their numbers";
    EXPECT_THAT(told(other), ElementsAre(event(kFirst, "http::a", "poll_result"),
                                         event(kFirst + 1, "http::b#slow", "poll_result"),
                                         event(kFirst + 2, "http::a")));
}

TEST_F(EventHubTest, ALongListOfResultsIsToldInParts) {
    Follower page = subscribed(R"({"type":"subscribe","gather":true})");
    runtime::PollNews news;
    news.at = kNow;
    constexpr int kResults = 5000;
    for (int i = 0; i < kResults; ++i) {
        news.key = fmt::format("http::device-{}", i);
        hub->publish(kPollResult, news.key, "{}", nullptr, brief_of(news));
    }
    std::size_t rows = 0;
    std::size_t messages = 0;
    for (int i = 0; i < 20 && rows < kResults; ++i) {
        for (const std::string& text : told(page)) {
            EXPECT_LT(text.size(), 32U * 1024);
            for (std::size_t at = text.find("[\"device"); at != std::string::npos;
                 at = text.find("[\"device", at + 1)) {
                ++rows;
            }
            ++messages;
        }
    }
    EXPECT_EQ(rows, kResults);
    EXPECT_GT(messages, 3U);
}

}  // namespace
}  // namespace pollux::api
