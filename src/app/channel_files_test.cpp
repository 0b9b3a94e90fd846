#include "app/channel_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/fleet_workspace.hpp"
#include "net/test_process.hpp"

namespace pollux::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kBridge = R"(channel: signal-bridge
title: Signal bridge
about: Our bridge to Signal.
url: /v2/send
format: json
params: {number: who is called}
body: '{"number": "{{ param.number }}", "message": "{{ incident.title }}"}'
)";

class ChannelFiles : public ::testing::Test {
  protected:
    ChannelFiles() {
        fs::create_directories(channels());
        settings_.channel_folder.text = channels();
    }
    std::string channels() const { return folder_.path() + "/channels"; }
    void write(const std::string& name, const std::string& text) {
        fs::create_directories(fs::path(channels() + "/" + name).parent_path());
        std::ofstream(channels() + "/" + name) << text;
    }
    CommandOutput check(const std::string& fleet) {
        const std::string path = folder_.path() + "/fleet.yaml";
        std::ofstream(path) << fleet;
        FleetPorts ports;
        ports.environment.emplace("POLLUX_CHANNEL_FOLDER", settings_.channel_folder.text);
        return run_check({{path}, "", ""}, ports);
    }
    static std::string fleet_with(const std::string& name) {
        return "receivers:\n  ops:\n    channels:\n      - url: https://bridge.example.org\n"
               "        template: " +
               name + "\n        params: {number: \"1\"}\nroutes: {all: {receivers: [ops]}}\n";
    }

    net::test::TempDir folder_;
    config::Settings settings_;
};

TEST_F(ChannelFiles, TemplatesOfOnesOwnStandBesideAndInPlaceOfTheShippedOnes) {
    write("bridge.yaml", kBridge);
    write("chat/channel.yaml",
          "channel: slack\ntitle: Ours\nabout: ours\nformat: text\nurl: /x\nbody: hello\n");
    write(".hidden.yaml", "no template");
    write("README.md", "nor this");
    const auto rules = load_channels(settings_);
    ASSERT_TRUE(rules) << rules.error().message;
    const feed::ChannelLibrary& library = library_of(rules->get());
    EXPECT_TRUE(library.find("signal-bridge"));
    EXPECT_EQ((*library.find("slack"))->title, "Ours");
    EXPECT_TRUE(library.find("ntfy"));
    EXPECT_FALSE(feed::ChannelLibrary::shipped().find("signal-bridge"));
}

TEST_F(ChannelFiles, AFleetMayUseThem) {
    EXPECT_EQ(check(fleet_with("signal-bridge")).status, 1) << "not there yet";
    write("bridge.yaml", kBridge);
    const auto output = check(fleet_with("signal-bridge"));
    EXPECT_EQ(output.status, 0) << output.err;
}

TEST_F(ChannelFiles, AnUnknownTemplateIsRefusedWithItsLineAndWhatIsThere) {
    write("bridge.yaml", kBridge);
    const auto output = check(fleet_with("signal-brigde"));
    EXPECT_EQ(output.status, 1);
    EXPECT_THAT(output.err,
                AllOf(HasSubstr("fleet.yaml:5: receivers.ops.channels[0].template: there is no "
                                "template \"signal-brigde\", did you mean signal-bridge?"),
                      HasSubstr("alertmanager"), HasSubstr("channel_folder")));
}

TEST_F(ChannelFiles, AParameterThatATemplateDoesNotTakeIsRefused) {
    const auto output = check(fleet_with("alertmanager"));
    EXPECT_EQ(output.status, 1);
    EXPECT_THAT(output.err, HasSubstr("fleet.yaml:6: receivers.ops.channels[0].params: the "));
}

TEST_F(ChannelFiles, MistakesAreToldWithFileAndLine) {
    write("a.yaml", "channel: a\ntitle: A\nabout: a\nformat: jsn\nbody: x\n");
    write("b.yaml", "channel: b\ntitle: B\nabout: b\nformat: json\nbody: '{{ incidnt }}'\n");
    const auto rules = load_channels(settings_);
    ASSERT_FALSE(rules);
    EXPECT_EQ(rules.error().code, "channel.invalid");
    EXPECT_THAT(rules.error().message,
                AllOf(HasSubstr("a.yaml:4: format"), HasSubstr("b.yaml:5: body")));
    EXPECT_THAT(check("devices: {}").err, HasSubstr("a.yaml:4: format"));
}

TEST_F(ChannelFiles, OneNameIsDescribedOnce) {
    write("a.yaml", kBridge);
    write("b.yaml", kBridge);
    const auto rules = load_channels(settings_);
    ASSERT_FALSE(rules);
    EXPECT_THAT(rules.error().message, AllOf(HasSubstr("b.yaml:1"), HasSubstr("a.yaml already")));
}

TEST_F(ChannelFiles, AFolderThatIsNotThereIsAnError) {
    settings_.channel_folder.text = channels() + "/nowhere";
    const auto rules = load_channels(settings_);
    ASSERT_FALSE(rules);
    EXPECT_THAT(rules.error().message, HasSubstr("nowhere: is no folder"));
}

// Above the limit of a channel people get a digest; what keeps tickets must hear of every end.
TEST_F(ChannelFiles, WhoReadsAChannelDecidesAboutDigests) {
    write("bridge.yaml", kBridge);
    write("chat.yaml",
          "channel: chat\ntitle: C\nabout: c\nformat: text\ndigests: true\nbody: hello\n");
    const auto rules = load_channels(settings_);
    ASSERT_TRUE(rules) << rules.error().message;
    const auto digests = [&](const std::string& url, const std::string& name = "") {
        model::Channel channel;
        channel.url = url;
        channel.template_name = name;
        if (url.find("{secret}") != std::string::npos) channel.credentials = "x";
        return (*rules)->digests(channel);
    };
    for (const char* url :
         {"slack://{secret}", "discord://{secret}", "msteams://h/w/{secret}", "tgram://{secret}/1",
          "ntfys://h/topic", "gotifys://h/{secret}", "pover://me@{secret}",
          "matrixs://{secret}@h/!r:s", "mmosts://h/{secret}", "mailtos://h?to=a@example.org"}) {
        EXPECT_TRUE(digests(url)) << url;
    }
    for (const char* url :
         {"pagerduty://{secret}", "opsgenie://{secret}", "jsons://h/x", "https://h/alertmanager"}) {
        EXPECT_FALSE(digests(url)) << url;
    }
    EXPECT_FALSE(digests("https://h/x", "signal-bridge"));
    EXPECT_TRUE(digests("https://h/x", "chat"));
    model::Channel mail;
    mail.kind = model::ChannelKind::kEmail;
    EXPECT_TRUE((*rules)->digests(mail));
    model::Channel program;
    program.kind = model::ChannelKind::kExec;
    EXPECT_FALSE((*rules)->digests(program));
}

}  // namespace
}  // namespace pollux::app
