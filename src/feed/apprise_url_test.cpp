#include "feed/apprise_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feed/channel.hpp"

namespace pollux::feed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

model::Channel channel_of(std::string_view url) {
    const auto expanded = expand_apprise_url(url);
    EXPECT_TRUE(expanded) << url << ": " << (expanded ? "" : expanded.error().message);
    return expanded ? expanded->channel : model::Channel{};
}

TEST(AppriseUrl, ServicesWithAFixedAddress) {
    const auto slack = channel_of("slack://pollux@{secret}/%23ops");
    EXPECT_EQ(slack.template_name, "slack");
    EXPECT_EQ(slack.url, "");
    EXPECT_THAT(slack.params,
                UnorderedElementsAre(Pair("channel", "#ops"), Pair("username", "pollux")));
    EXPECT_EQ(channel_of("discord://{secret}").template_name, "discord");
    const auto telegram = channel_of("tgram://{secret}/-100123?topic=7");
    EXPECT_THAT(telegram.params, UnorderedElementsAre(Pair("chat", "-100123"), Pair("topic", "7")));
    EXPECT_THAT(channel_of("pover://ukey@{secret}").params, ElementsAre(Pair("user_key", "ukey")));
    EXPECT_EQ(channel_of("pagerduty://{secret}?region=eu").url, "https://events.eu.pagerduty.com");
    EXPECT_EQ(channel_of("opsgenie://{secret}").url, "");
}

TEST(AppriseUrl, ServersOfOnesOwn) {
    const auto ntfy = channel_of("ntfys://joe:{secret}@push.example.org:8443/sub/alerts");
    EXPECT_EQ(ntfy.url, "https://push.example.org:8443/sub");
    EXPECT_THAT(ntfy.params, UnorderedElementsAre(Pair("topic", "alerts"), Pair("auth", "basic"),
                                                  Pair("user", "joe")));
    EXPECT_EQ(channel_of("ntfy://alerts").url, "https://ntfy.sh");
    EXPECT_EQ(channel_of("gotify://10.0.0.1:8080/{secret}").url, "http://10.0.0.1:8080");
    EXPECT_EQ(channel_of("gotifys://host/a/b/{secret}").url, "https://host/a/b");
    const auto matrix = channel_of("matrixs://{secret}@matrix.example.org/!abc:example.org");
    EXPECT_EQ(matrix.url, "https://matrix.example.org");
    EXPECT_THAT(matrix.params, ElementsAre(Pair("room", "!abc:example.org")));
    EXPECT_EQ(channel_of("mmosts://chat.example.org/{secret}?channel=ops").params.at("channel"),
              "ops");
    EXPECT_EQ(channel_of("msteams://prod-1.westus.logic.azure.com:443/0123/{secret}")
                  .params.at("workflow"),
              "0123");
    const auto json = channel_of("jsons://{secret}@host/in%20box?verify=no");
    EXPECT_EQ(json.url, "https://host/in%20box");
    EXPECT_THAT(json.params, UnorderedElementsAre(Pair("auth", "bearer"), Pair("verify", "no")));
}

TEST(AppriseUrl, Mail) {
    const auto mail =
        channel_of("mailtos://joe:{secret}@mail.example.org?to=a@x.org,b@x.org&from=me@x.org");
    EXPECT_EQ(mail.kind, model::ChannelKind::kEmail);
    EXPECT_EQ(mail.url, "smtp://mail.example.org");
    EXPECT_THAT(mail.to, ElementsAre("a@x.org", "b@x.org"));
    EXPECT_EQ(mail.from, "me@x.org");
    EXPECT_THAT(mail.params, UnorderedElementsAre(Pair("tls", "required"), Pair("user", "joe")));
    EXPECT_EQ(channel_of("mailto://joe:{secret}@mail.example.org:465?mode=ssl").url,
              "smtps://mail.example.org:465");
    EXPECT_THAT(channel_of("mailto://joe:{secret}@mail.example.org").to,
                ElementsAre("joe@mail.example.org"));
}

TEST(AppriseUrl, ASecretNeverStays) {
    for (const auto& [url, secret] : std::vector<std::pair<std::string, std::string>>{
             {"slack://TAAA/BBBB/hushhush", "TAAA/BBBB/hushhush"},
             {"discord://123/hushhush", "123/hushhush"},
             {"tgram://123:hushhush/99", "123:hushhush"},
             {"gotify://host/hushhush", "hushhush"},
             {"mailtos://joe:hushhush@host", "hushhush"},
             {"matrixs://hushhush@host/!r:s", "hushhush"},
             {"pover://u@hushhush", "hushhush"}}) {
        const auto expanded = expand_apprise_url(url);
        ASSERT_TRUE(expanded) << url;
        EXPECT_EQ(expanded->secret.reveal(), secret);
        EXPECT_EQ(expanded->channel.url.find("hush"), std::string::npos);
        for (const auto& [name, value] : expanded->channel.params)
            EXPECT_EQ(value.find("hush"), std::string::npos);
        EXPECT_EQ(shown_channel_url(url).find("hush"), std::string::npos);

        // And a channel made of it cannot be used before it is moved.
        model::Channel channel;
        channel.name = "main";
        channel.url = url;
        const auto endpoint = make_endpoint(channel, nullptr, ChannelLibrary::shipped());
        ASSERT_TRUE(endpoint->problem);
        EXPECT_EQ(endpoint->problem->code, "feed.secret_in_url");
        EXPECT_EQ(endpoint->problem->message.find("hush"), std::string::npos);
        EXPECT_EQ(endpoint->channel.url, "");
    }
    EXPECT_EQ(shown_channel_url("slack://{secret}"), "slack://{secret}");
    EXPECT_EQ(shown_channel_url("https://host/x?key=hush"), "https://host/x");
}

TEST(AppriseUrl, MistakesNameTheForm) {
    for (const std::string_view url :
         {"tgram://{secret}", "gotify://host", "matrix://host/!r:s", "pover://{secret}", "slack://",
          "msteams://host/x", "mailto://host", "json://host?unknown=1", "gotify://ho st/{secret}",
          "slack://a%00b", "mailtos://h?to=a@b&mode=odd"}) {
        const auto expanded = expand_apprise_url(url);
        ASSERT_FALSE(expanded) << url;
        EXPECT_EQ(expanded.error().code, "feed.bad_channel_url");
        EXPECT_THAT(expanded.error().message, HasSubstr("it is written "));
    }
    EXPECT_THAT(expand_apprise_url("skype://x").error().message, HasSubstr("slack://, discord://"));
    EXPECT_FALSE(is_apprise_url("https://host"));
}

TEST(Endpoint, SaysWhatIsMissing) {
    const auto problem = [](model::Channel channel) {
        const auto made = make_endpoint(std::move(channel), nullptr, ChannelLibrary::shipped());
        return made->problem ? made->problem->message : std::string();
    };
    model::Channel channel;
    channel.name = "main";
    channel.url = "slack://{secret}";
    EXPECT_THAT(problem(channel), HasSubstr("needs a credential: the end of the webhook's URL"));
    channel.credentials = "gone";
    EXPECT_THAT(problem(channel), HasSubstr("names the credential \"gone\""));
    channel.credentials.clear();
    channel.url = "http://host/";
    EXPECT_EQ(problem(channel), "");
    channel.template_name = "alertmanger";
    EXPECT_THAT(problem(channel),
                HasSubstr("there is no template \"alertmanger\", did you mean alertmanager?; there "
                          "are alertmanager"));
    channel.template_name.clear();
    channel.params["prio"] = "1";
    EXPECT_THAT(problem(channel), HasSubstr("no parameter \"prio\""));
}

}  // namespace
}  // namespace pollux::feed
