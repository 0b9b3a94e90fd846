// Secrets given in every way a fleet file knows, to devices that refuse, redirect and talk
// nonsense: not one of them may be found in anything that Pollux writes or says.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sodium.h>

#include "lab/fleet_server.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/pollux_server.hpp"

namespace pollux::live {
namespace {

using net::test::TempDir;
using testing::HasSubstr;

constexpr const char* kLiteral = "planted-literal-31415";
constexpr const char* kFromEnvironment = "planted-environment-27182";
constexpr const char* kFromFile = "planted-file-16180";
constexpr const char* kCommunity = "planted-community-14142";
constexpr const char* kMistyped = "planted-mistake-17320";

std::string base64(const std::string& text) {
    std::string out(sodium_base64_ENCODED_LEN(text.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
    sodium_bin2base64(out.data(), out.size(), reinterpret_cast<const unsigned char*>(text.data()),
                      text.size(), sodium_base64_VARIANT_ORIGINAL);
    out.resize(out.find('\0'));
    return out;
}

// As they are, and as they go over the wire.
std::vector<std::string> forbidden() {
    std::vector<std::string> texts = {kLiteral, kFromEnvironment, kFromFile, kCommunity, kMistyped};
    for (const char* secret : {kLiteral, kFromEnvironment, kFromFile}) {
        texts.push_back(base64(fmt::format("user:{}", secret)));
    }
    return texts;
}

void expect_clean(const std::string& where, const std::string& text) {
    EXPECT_FALSE(text.empty()) << where << " is empty: nothing was looked at";
    for (const std::string& secret : forbidden()) {
        EXPECT_EQ(text.find(secret), std::string::npos) << where << " has " << secret;
    }
}

// The same page behind each kind of login.
std::string addon(const std::string& auth) {
    return fmt::format(
        "schema: pollux/1\nname: json-{0}\nversion: 1.0.0\ntitle: A page behind {0}\n"
        "description: A page behind {0}.\ncategory: application\nprotocol: http\n"
        "http:\n  base: \"http://{{host}}:{{port}}\"\n  auth: {0}\n  endpoints:\n"
        "    - {{name: page, path: \"{{path}}\", format: json, redirects: 2}}\n"
        "parameters:\n  path: {{type: path, default: /status, description: Path.}}\n"
        "metrics:\n  - {{name: uptime, type: gauge, help: Uptime., path: $.uptime_seconds}}\n",
        auth);
}

class Secrets : public testing::Test {
  protected:
    Secrets() : fleet_(lab::FleetServer::start({.snmp = 1, .http = 20}).value()) {
        for (const char* auth : {"basic", "digest", "bearer", "api_key"}) {
            std::string name = auth;
            std::ranges::replace(name, '_', '-');
            std::string text = addon(auth);
            const std::size_t at = text.find("json-api_key");
            if (at != std::string::npos) text.replace(at, 12, "json-api-key");
            folder_.write("addons/json-" + name + "/manifest.yaml", text);
        }
        folder_.write("token", std::string(kFromFile) + "\n");
        write_fleet();
        server_ = std::make_unique<PolluxServer>(
            folder_, folder_.file("fleet.yaml"),
            Environment{{"PLANTED", kFromEnvironment}, {"POLLUX_LOG_LEVEL", "debug"}});
        server_->use_addons(folder_.file("addons"));
    }

    // Each login at each kind of trouble.
    void write_fleet() {
        std::string text = fmt::format(
            "defaults: {{interval: 10s, timeout: 5s}}\ncredentials:\n"
            "  literal: {{username: user, password: {}}}\n"
            "  environment: {{username: user, password: \"${{PLANTED}}\", token: "
            "\"${{PLANTED}}\"}}\n"
            "  file: {{username: user, password: \"file:{}\", token: \"file:{}\"}}\n"
            "  switch: {{community: {}}}\ndevices:\n",
            kLiteral, folder_.file("token"), folder_.file("token"), kCommunity);
        const std::pair<const char*, const char*> logins[] = {{"json-basic", "literal"},
                                                              {"json-basic", "environment"},
                                                              {"json-digest", "file"},
                                                              {"json-bearer", "environment"},
                                                              {"json-api-key", "file"}};
        std::size_t next = 0;
        for (const char* path : {"/as/basic/status", "/as/bearer/status", "/as/redirect/status",
                                 "/as/garbage/status"}) {
            for (const auto& [name, credential] : logins) {
                const lab::Device& device = fleet_->fleet().http()[next++];
                text += fmt::format(
                    "  {}: {{address: {}, port: {}, credentials: {}, addons: [{{name: {}, params: "
                    "{{path: {}}}}}]}}\n",
                    device.name(), lab::address_text(device.address()), fleet_->ports().http,
                    credential, name, path);
                keys_.push_back(fmt::format("{}::{}", name, device.name()));
            }
        }
        const lab::Device& device = fleet_->fleet().snmp()[0];
        text += fmt::format(
            "  {}: {{address: {}, port: {}, credentials: switch, addons: "
            "[snmp-system]}}\n",
            device.name(), lab::address_text(device.address()), fleet_->ports().snmp);
        keys_.push_back("snmp-system::" + device.name());
        folder_.write("fleet.yaml", text);
    }

    void expect_clean_files() const {
        for (const auto& entry : std::filesystem::directory_iterator(server_->data())) {
            if (!entry.is_regular_file() || entry.file_size() == 0) continue;
            std::ifstream in(entry.path(), std::ios::binary);
            expect_clean(entry.path().filename().string(),
                         {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()});
        }
    }

    TempDir folder_;
    std::unique_ptr<lab::FleetServer> fleet_;
    std::vector<std::string> keys_;
    std::unique_ptr<PolluxServer> server_;
};

TEST_F(Secrets, AreNowhereInWhatPolluxWritesOrSays) {
    ASSERT_NO_FATAL_FAILURE(server_->start());
    // Every target was asked, the refused ones as well.
    ASSERT_TRUE(eventually([&] {
        const MetricsPage page = server_->metrics();
        return std::ranges::all_of(keys_, [&](const std::string& key) {
            return page.sum("pulse_monitor_poll_total", target_labels(key)) >= 1;
        });
    })) << server_->log();
    EXPECT_THAT(server_->log(), HasSubstr("poll failed"));
    EXPECT_GE(server_->metrics().sum("pollux_driver_asks_total", {{"code", "http.auth"}}), 8);

    expect_clean("/metrics", server_->metrics().text());
    expect_clean("/metrics/devices", server_->device_metrics().text());
    for (const std::string& key : keys_) {
        expect_clean("explain", server_->ask_control("GET", "/explain?key=" + key).body);
    }
    expect_clean("pollux explain", server_->command({"explain", keys_[0]}).output);
    expect_clean("the status", server_->ask_control("GET", "/status?limit=100").body);
    const CommandResult exported = server_->command({"export"});
    EXPECT_EQ(exported.code, 0) << exported.output;
    expect_clean("export", exported.output);
    expect_clean_files();
    EXPECT_EQ(server_->stop(), 0);
    expect_clean("the log", server_->log());
    expect_clean_files();
}

TEST_F(Secrets, AreNotEchoedByErrors) {
    const std::string mistakes[] = {
        fmt::format("credentials:\n  shop: {{pasword: {}}}\n", kMistyped),
        fmt::format("credentials:\n  shop: {{password: [{}]}}\n", kMistyped),
        fmt::format("credentials:\n  shop: {{password: {}\n", kMistyped),
        fmt::format("credentials:\n  shop: {}\n", kMistyped),
        fmt::format("credentials:\n  shop: {{password: a, password: {}}}\n", kMistyped),
        fmt::format("devices:\n  x: {{address: 127.0.0.1, snmp: {{comunity: {}}}, addons: "
                    "[snmp-system]}}\n",
                    kMistyped),
    };
    for (const std::string& mistake : mistakes) {
        const std::string file = folder_.write("wrong.yaml", mistake);
        for (const char* command : {"check", "plan", "apply"}) {
            std::vector<std::string> arguments = {command, file};
            if (arguments[0] != "check")
                arguments.insert(arguments.end(), {"--data", server_->data()});
            const CommandResult result = run_pollux(folder_, arguments);
            EXPECT_NE(result.code, 0) << command << "\n" << mistake;
            expect_clean(command, result.output);
        }
    }
}

}  // namespace
}  // namespace pollux::live
