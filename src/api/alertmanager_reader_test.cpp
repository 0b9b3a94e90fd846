#include "api/alertmanager_reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::api {
namespace {

using model::MatchOperator;
using testing::HasSubstr;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr base::WallTime kNow{1'700'000'000'000'000};  // 2023-11-14T22:13:20Z

TEST(AlertmanagerReader, ReadsAlertsAsPrometheusSendsThem) {
    const auto alerts = read_posted_alerts(
        R"([{"labels":{"alertname":"Down","severity":"page","empty":""},)"
        R"("annotations":{"summary":"gone"},"startsAt":"2023-11-14T22:10:00.123456789Z",)"
        R"("endsAt":"2023-11-14T23:14:00+01:00","generatorURL":"http://p/g"}])",
        kNow);
    ASSERT_TRUE(alerts) << alerts.error().message;
    ASSERT_THAT(*alerts, SizeIs(1));
    const alert::External& one = alerts->front();
    EXPECT_EQ(one.labels, (model::AlertLabels{{"alertname", "Down"}, {"severity", "page"}}))
        << "an empty label is none";
    EXPECT_EQ(one.annotations.at("summary"), "gone");
    EXPECT_EQ(base::format_utc(one.starts), "2023-11-14T22:10:00.123Z");
    EXPECT_EQ(base::format_utc(one.ends), "2023-11-14T22:14:00.000Z");
}

TEST(AlertmanagerReader, AnAlertWithoutTimesBeginsNowAndEndsUnlessItIsRepeated) {
    for (const char* times : {"", R"(,"startsAt":"0001-01-01T00:00:00.000Z","endsAt":null)"}) {
        const auto alerts = read_posted_alerts(
            fmt::format(R"([{{"labels":{{"alertname":"Down"}}{}}}])", times), kNow);
        ASSERT_TRUE(alerts) << alerts.error().message;
        EXPECT_EQ(alerts->front().starts, kNow);
        EXPECT_EQ(alerts->front().ends, kNow + kPostedAlertLife);
    }
}

TEST(AlertmanagerReader, SaysWhatIsWrongWithAlerts) {
    const auto wrong = [](std::string_view body) {
        const auto alerts = read_posted_alerts(body, kNow);
        return alerts ? std::string("taken") : alerts.error().message;
    };
    EXPECT_THAT(wrong("{}"), HasSubstr("a list of at most 5000"));
    EXPECT_THAT(wrong("["), HasSubstr("body"));
    EXPECT_THAT(wrong("[1]"), HasSubstr("alert 0: an object"));
    EXPECT_THAT(wrong(R"([{"labels":{"a":"b"}}])"), HasSubstr("alertname"));
    EXPECT_THAT(wrong(R"([{"labels":{"alertname":"x","a-b":"c"}}])"), HasSubstr("a-b"));
    EXPECT_THAT(wrong(R"([{"labels":{"alertname":["x"]}}])"), HasSubstr("must be a text"));
    EXPECT_THAT(wrong(R"([{"labels":{"alertname":"x"},"startsAt":"soon"}])"),
                HasSubstr("startsAt"));
    EXPECT_THAT(wrong(R"([{"labels":{"alertname":"x"},"startsAt":"2023-11-14T22:10:00Z",)"
                      R"("endsAt":"2023-11-14T22:09:00Z"}])"),
                HasSubstr("before startsAt"));
    std::string many = R"([{"labels":{"alertname":"x")";
    for (int i = 0; i < 64; ++i) many += fmt::format(R"(,"l{}":"v")", i);
    EXPECT_THAT(wrong(many + "}}]"), HasSubstr("more than 64"));
    std::string list = "[";
    for (std::size_t i = 0; i <= kMostPostedAlerts; ++i) list += i == 0 ? "1" : ",1";
    EXPECT_THAT(wrong(list + "]"), HasSubstr("at most 5000"));
}

std::string silence(std::string_view matchers,
                    std::string_view times = R"("startsAt":"2023-11-14T22:13:20.000Z",)"
                                             R"("endsAt":"2023-11-14T23:13:20.000Z")",
                    std::string_view who = R"("createdBy":"eve","comment":"work")") {
    return fmt::format(R"({{"matchers":[{}],{},{}}})", matchers, times, who);
}

TEST(AlertmanagerReader, ReadsSilencesAsAmtoolSendsThem) {
    const auto read =
        read_posted_silence(silence(R"({"name":"a","value":"b","isRegex":false,"isEqual":true},)"
                                    R"({"name":"c","value":"d.*","isRegex":true},)"
                                    R"({"name":"e","value":"","isRegex":false,"isEqual":false},)"
                                    R"({"name":"f","value":"x|y","isRegex":true,"isEqual":false})"),
                            kNow);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_THAT(read->matchers, SizeIs(4));
    EXPECT_EQ(read->matchers[0], (model::LabelMatcher{"a", MatchOperator::kEqual, "b"}));
    EXPECT_EQ(read->matchers[1], (model::LabelMatcher{"c", MatchOperator::kMatches, "d.*"}));
    EXPECT_EQ(read->matchers[2], (model::LabelMatcher{"e", MatchOperator::kNotEqual, ""}));
    EXPECT_EQ(read->matchers[3], (model::LabelMatcher{"f", MatchOperator::kNotMatches, "x|y"}));
    EXPECT_EQ(read->owner, "eve");
    EXPECT_EQ(read->reason, "work");
    EXPECT_EQ(read->from, kNow);
    EXPECT_EQ(read->until, kNow + 1h);
    EXPECT_TRUE(read->id.empty());
}

TEST(AlertmanagerReader, SaysWhatIsWrongWithSilences) {
    const auto wrong = [](std::string_view body) {
        const auto read = read_posted_silence(body, kNow);
        return read ? std::string("taken") : read.error().message;
    };
    const std::string good = R"({"name":"a","value":"b"})";
    EXPECT_EQ(wrong(silence(good)), "taken");
    EXPECT_THAT(wrong(silence("")), HasSubstr("1 to 64 matchers"));
    EXPECT_THAT(wrong(silence(R"({"name":"a b","value":"b"})")), HasSubstr("no name of a label"));
    EXPECT_THAT(wrong(silence(R"({"name":"a","value":"(","isRegex":true})")), HasSubstr("("));
    EXPECT_THAT(wrong(silence(good, R"("endsAt":"2023-11-14T22:00:00Z")")),
                HasSubstr("in the future"));
    EXPECT_THAT(wrong(silence(good, R"("startsAt":1)")), HasSubstr("times such as"));
    EXPECT_THAT(wrong(silence(good, R"("endsAt":"2023-11-14T23:13:20Z")", R"("comment":"x")")),
                HasSubstr("createdBy"));
    EXPECT_THAT(wrong("[]"), HasSubstr("an object"));
}

TEST(AlertmanagerReader, ReadsFilters) {
    const auto all = read_filters({R"(alertname="Down")", R"(site=~"b.*")", "a!=b"});
    ASSERT_TRUE(all) << all.error().message;
    ASSERT_THAT(*all, SizeIs(3));
    EXPECT_EQ((*all)[1], (model::LabelMatcher{"site", MatchOperator::kMatches, "b.*"}));
    EXPECT_FALSE(read_filters({"="}));
    EXPECT_FALSE(read_filters(std::vector<std::string_view>(65, "a=b")));
}

}  // namespace
}  // namespace pollux::api
