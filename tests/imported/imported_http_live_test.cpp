// Manifests of api_poll, asked over real HTTP, and HTTPS through a real nginx.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "derive/signal_keeper.hpp"
#include "extract/time_text.hpp"
#include "net/test_nginx.hpp"
#include "tests/imported/imported_device.hpp"

namespace pollux::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::shared_ptr<const extract::CompiledAddon> addon_of(const std::string& name) {
    const extract::CompileResult result = load_imported(name);
    EXPECT_NE(result.addon, nullptr) << result.diagnostics.text();
    return result.addon;
}

// With a user, whom the devices do not look at.
extract::TargetBinding known_user(const ImportedDevice& device) {
    auto credentials = std::make_shared<model::Credentials>();
    credentials->username = "admin";
    credentials->password = base::Secret("secret");
    auto binding = device.binding();
    binding.credentials = std::move(credentials);
    return binding;
}

// nginx that speaks TLS in front of a device.
class TlsFront {
  public:
    explicit TlsFront(const ImportedDevice& device)
        : port_(net::test::free_port()),
          shown_(net::test::make_self_signed(folder_, "device", 30)),
          nginx_(folder_,
                 fmt::format("server {{ listen 127.0.0.1:{} ssl; ssl_certificate {}; "
                             "ssl_certificate_key {}; location / {{ proxy_pass "
                             "http://127.0.0.1:{}; }} }}\n",
                             port_, shown_.certificate, shown_.key, device.port()),
                 port_) {}

    extract::TargetBinding binding(const ImportedDevice& device) const {
        auto out = known_user(device);
        out.port = port_;
        return out;
    }
    const std::string& certificate() const { return shown_.certificate; }

  private:
    net::test::TempDir folder_;
    std::uint16_t port_;
    net::test::TestCertificate shown_;
    net::test::Nginx nginx_;
};

constexpr const char* kInfo = "/axis-cgi/basicdeviceinfo.cgi";

TEST(ImportedAxis, AsksItsEndpointsAndGoesOnAfterThoseThatMayFail) {
    const auto addon = addon_of("axis");
    EXPECT_EQ(addon->addon().name, "axis");
    EXPECT_EQ(addon->addon().interval, std::chrono::seconds(300));
    ImportedDevice camera;
    camera.pages[kInfo] = {200, "Brand=AXIS"};
    camera.pages["/axis-cgi/power-settings.cgi"] = {200, "{}"};
    const auto poll = camera.poll(*addon, camera.binding());
    EXPECT_FALSE(poll.failed);
    // Digest asks twice where it has a body to send.
    const auto twice = std::ranges::unique(camera.asked);
    camera.asked.erase(twice.begin(), twice.end());
    EXPECT_THAT(camera.asked,
                ElementsAre("GET /axis-cgi/basicdeviceinfo.cgi",
                            "GET /axis-cgi/temperaturecontrol.cgi?action=statusall",
                            "GET /axis-cgi/disks/list.cgi", "GET /axis-cgi/disks/gethealth.cgi",
                            "POST /axis-cgi/power-settings.cgi"));
    EXPECT_THAT(poll.told(), IsEmpty());
    EXPECT_THAT(poll.signals.settled, ElementsAre("endpoint reachability"));
}

TEST(ImportedAxis, RaisesItsFailureStopsAndClearsItOnSuccess) {
    const auto addon = addon_of("axis");
    ImportedDevice camera;
    camera.pages[kInfo] = {500, "no"};
    derive::SignalKeeper keeper;
    auto poll = camera.poll(*addon, camera.binding());
    EXPECT_TRUE(poll.failed);
    EXPECT_EQ(camera.asked.size(), 1U);
    ASSERT_THAT(poll.told(), ElementsAre("camera_offline critical"));
    EXPECT_EQ(poll.signals.signals[0].title, "Camera does not answer");
    EXPECT_THAT(poll.signals.signals[0].message, HasSubstr(kInfo));
    auto changes = keeper.apply(poll.signals, {1});
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].step, derive::SignalStep::kRaised);
    camera.pages[kInfo] = {200, "Brand=AXIS"};
    changes = keeper.apply(camera.poll(*addon, camera.binding()).signals, {2});
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].step, derive::SignalStep::kCleared);
    EXPECT_EQ(changes[0].signal.type, "camera_offline");
}

TEST(ImportedAxis, ItsCatalogueIsComplete) {
    std::vector<std::string> types;
    const auto axis = addon_of("axis");
    for (const auto& type : axis->addon().alert_types) types.push_back(type.name);
    EXPECT_THAT(types,
                ElementsAre("auth_failed", "camera_offline", "fan_failure", "heater_failure",
                            "power_warning", "ptz_not_ready", "sd_card_wear_critical",
                            "storage_disconnected", "storage_failure", "storage_full",
                            "storage_readonly", "temperature_critical", "temperature_warning"));
}

TEST(ImportedAxis, TakesItsDefaultCredentials) {
    const auto asks = addon_of("axis")->asks(0, ImportedDevice().binding());
    ASSERT_TRUE(asks.has_value());
    ASSERT_NE(asks->front()->credentials, nullptr);
    EXPECT_EQ(asks->front()->credentials->username, "root");
    EXPECT_TRUE(asks->front()->credentials->password.empty());
    const auto& request = std::get<model::HttpAsk>(asks->front()->request);
    EXPECT_EQ(request.auth, model::HttpAuth::kDigest);
    EXPECT_FALSE(request.tls.verify);
}

extract::TargetBinding router(const ImportedDevice& device) {
    auto binding = known_user(device);
    binding.parameters["router_id"] = "42 x";
    return binding;
}

TEST(ImportedCradlepoint, ReadsTheFirstEventAndFillsInItsPath) {
    const auto addon = addon_of("cradlepoint");
    ImportedDevice device;
    const std::string path = "/api/v2/routers/42%20x/";
    device.pages[path] = {200, R"({"name": "truck 7", "modem": {"dbm": -90},
        "events": [{"type": "wan_primary_down", "text": "no carrier"}]})"};
    auto poll = device.poll(*addon, router(device));
    EXPECT_THAT(device.asked, ElementsAre("GET " + path));
    ASSERT_THAT(poll.told(), ElementsAre("wan_primary_down major"));
    EXPECT_EQ(poll.signals.signals[0].title, "WAN of truck 7 is down");
    EXPECT_EQ(poll.signals.signals[0].message, "no carrier");
    EXPECT_EQ(poll.signals.signals[0].device_name, "truck 7");
    EXPECT_EQ(poll.signals.signals[0].category, "wireless");
    EXPECT_THAT(poll.signals.signals[0].fields,
                ElementsAre(Pair("alert_type", "wan_primary_down"), Pair("message", "no carrier"),
                            Pair("device_name", "truck 7"), Pair("signal", "-90")));
    // Absence on a later poll ends it.
    derive::SignalKeeper keeper;
    keeper.apply(poll.signals, {1});
    device.pages[path] = {200, R"({"name": "truck 7", "events": []})"};
    poll = device.poll(*addon, router(device));
    EXPECT_THAT(poll.told(), IsEmpty());
    EXPECT_EQ(keeper.apply(poll.signals, {2}).size(), 1U);
}

TEST(ImportedCradlepoint, ItsDuplicateRowsCountAsTheyDid) {
    const auto addon = addon_of("cradlepoint");
    ImportedDevice device;
    const auto event = [&](const std::string& type) {
        device.pages["/api/v2/routers/42%20x/"] = {
            200, R"({"modem": {"dbm": -120}, "events": [{"type": ")" + type + "\"}]}"};
        return device.poll(*addon, router(device));
    };
    EXPECT_THAT(event("wan_failover").told(), IsEmpty());  // the first row disables it
    const auto poll = event("signal_critical");            // the last enabled row says how it looks
    ASSERT_THAT(poll.told(), ElementsAre("signal_critical critical"));
    EXPECT_EQ(poll.signals.signals[0].title, "Signal of -120 dBm");
    EXPECT_THAT(event("not_listed").told(), IsEmpty());
}

TEST(ImportedCradlepoint, ItsRecoveriesEndWhatTheyAreNamedAfter) {
    const auto addon = addon_of("cradlepoint");
    ImportedDevice device;
    const auto event = [&](const std::string& type) {
        device.pages["/api/v2/routers/42%20x/"] = {200,
                                                   R"({"events": [{"type": ")" + type + "\"}]}"};
        return device.poll(*addon, router(device)).told();
    };
    EXPECT_THAT(event("temperature_high"), ElementsAre("temperature_high warning"));
    EXPECT_THAT(event("temperature_normal"), ElementsAre("clear temperature_high clear"));
    EXPECT_THAT(event("vpn_tunnel_up"), ElementsAre("clear vpn_tunnel_down clear"));
    EXPECT_THAT(event("signal_normal"),
                ElementsAre("clear signal_critical clear", "clear signal_low clear"));
    EXPECT_THAT(event("config_changed"), IsEmpty());
    EXPECT_THAT(load_imported("cradlepoint").diagnostics.text(),
                HasSubstr("modem_working: warning: is a recovery that names no alert it ends"));
}

TEST(ImportedUbiquiti, ReadsOneRecordPerDeviceOfTheList) {
    const auto addon = addon_of("ubiquiti");
    EXPECT_EQ(addon->addon().version, "1.0.0");
    ImportedDevice device;
    device.pages["/api/s/default/stat/device"] = {200, R"({"data": [
        {"event": "Lost Contact", "name": "roof", "text": "gone", "time": "03.02.2026 04:05"},
        {"event": "HIGH_CPU", "name": "hall"},
        {"event": "interface_up", "name": "attic"},
        {"event": "interface_down", "name": "yard", "time": "soon"}]})"};
    const auto poll = device.poll(*addon, known_user(device));
    ASSERT_THAT(poll.told(), ElementsAre("outage/ROOF critical", "clear interface_down/ATTIC clear",
                                         "interface_down/YARD major"));
    const model::Signal& outage = poll.signals.signals[0];
    EXPECT_EQ(outage.title, "Ubiquiti: Outage on 127.0.0.1");
    EXPECT_EQ(outage.device_name, "ROOF");
    EXPECT_EQ(outage.fields.back(),
              (std::pair<std::string, std::string>("seen", "2026-02-03T04:05:00Z")));
    EXPECT_EQ(poll.signals.signals[2].fields.back().second, "soon");  // unreadable: unchanged
}

TEST(ImportedMcp, TakesTheVendorsSeverityAsType) {
    const auto addon = addon_of("mcp");
    ImportedDevice device;
    const TlsFront front(device);
    auto target = front.binding(device);
    target.tls_ca_file = front.certificate();
    const auto alarm = [&](const std::string& body) {
        device.pages["/nsi/api/v1/alarms"] = {200, body};
        return device.poll(*addon, target);
    };
    auto poll = alarm(R"({"alarms": [{"severity": "MAJOR", "description": "loss of light",
        "state": "raised", "raised": "2026-02-03T04:05:06.000Z"}]})");
    ASSERT_THAT(poll.told(), ElementsAre("MAJOR major"));
    ASSERT_TRUE(poll.signals.signals[0].at.has_value());
    EXPECT_EQ(extract::iso_time(*poll.signals.signals[0].at), "2026-02-03T04:05:06Z");
    EXPECT_THAT(poll.signals.settled, ElementsAre("endpoint alarms"));  // cleared by content only
    poll = alarm(R"({"alarms": [{"severity": "MAJOR", "state": "CLEARED"}]})");
    EXPECT_THAT(poll.told(), ElementsAre("clear MAJOR major"));
    poll = alarm(R"({"alarms": [{"severity": "CLEAR"}]})");
    EXPECT_THAT(poll.told(),
                ElementsAre("clear CRITICAL clear", "clear INFO clear", "clear MAJOR clear",
                            "clear MINOR clear", "clear WARNING clear"));
    EXPECT_THAT(alarm(R"({"alarms": []})").told(), IsEmpty());
    EXPECT_THAT(alarm(R"([])").told(), IsEmpty());
}

TEST(ImportedMcp, DoesNotTellItsPasswordToAStranger) {
    const auto addon = addon_of("mcp");
    ImportedDevice device;
    device.pages["/nsi/api/v1/alarms"] = {200, R"({"alarms": []})"};
    const TlsFront front(device);
    auto poll = device.poll(*addon, front.binding(device));  // whose certificate nobody vouches for
    EXPECT_TRUE(poll.failed);
    EXPECT_THAT(poll.told(), ElementsAre("device_offline critical"));
    EXPECT_THAT(device.asked, IsEmpty());
    auto target = front.binding(device);
    target.tls_verify = false;
    poll = device.poll(*addon, target);
    EXPECT_FALSE(poll.failed);
    EXPECT_THAT(poll.told(), IsEmpty());
    EXPECT_EQ(device.asked.size(), 1U);
}

}  // namespace
}  // namespace pollux::tests
