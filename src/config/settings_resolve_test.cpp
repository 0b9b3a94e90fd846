#include "config/settings_resolve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/settings_registry.hpp"

namespace pollux::config {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Resolved {
    Settings settings;
    document::Diagnostics diagnostics;
    std::string text() const { return diagnostics.text(); }
};

Resolved resolve_with(const Environment& environment, const std::string& json = "{}") {
    Resolved result;
    const SystemJson read = read_system_json(json, "system.json", result.diagnostics);
    result.settings = resolve_settings(environment, read.stored, result.diagnostics);
    return result;
}

TEST(ResolveSettings, EnvironmentBeatsStoredBeatsDefault) {
    const std::string json = R"({"pvePollingInterval": 30, "pbsPollingInterval": 120})";
    const Resolved r = resolve_with({{"PVE_POLLING_INTERVAL", "20s"}}, json);
    EXPECT_TRUE(r.diagnostics.ok()) << r.text();
    EXPECT_EQ(r.settings.pve_interval, 20s);
    EXPECT_EQ(origin_of(r.settings, "pve_polling_interval"), ValueOrigin::kEnvironment);
    EXPECT_EQ(r.settings.pbs_interval, 120s);
    EXPECT_EQ(origin_of(r.settings, "pbs_polling_interval"), ValueOrigin::kStored);
    EXPECT_EQ(r.settings.pmg_interval, 60s);
    EXPECT_EQ(origin_of(r.settings, "pmg_polling_interval"), ValueOrigin::kDefault);
}

TEST(ResolveSettings, AdaptivePollingIsOffUnlessSomebodyTurnsItOn) {
    EXPECT_EQ(resolve_with({}).settings.mode(), model::AdaptiveMode::kOff);
    const std::pair<const char*, model::AdaptiveMode> cases[] = {
        {"0", model::AdaptiveMode::kOff},   {"false", model::AdaptiveMode::kOff},
        {"No", model::AdaptiveMode::kOff},  {"OFF", model::AdaptiveMode::kOff},
        {"", model::AdaptiveMode::kOff},    {"1", model::AdaptiveMode::kOn},
        {"true", model::AdaptiveMode::kOn}, {"banana", model::AdaptiveMode::kOn},
    };
    for (const auto& [text, mode] : cases) {
        EXPECT_EQ(resolve_with({{"ADAPTIVE_POLLING_ENABLED", text}}).settings.mode(), mode) << text;
    }
    EXPECT_EQ(resolve_with({}, starter_system_json()).settings.mode(), model::AdaptiveMode::kOn);
    EXPECT_EQ(
        resolve_with({{"ADAPTIVE_POLLING_ENABLED", "off"}}, starter_system_json()).settings.mode(),
        model::AdaptiveMode::kOff);
    EXPECT_EQ(resolve_with({{"ADAPTIVE_POLLING_ENABLED", "1"}, {"POLLUX_ADAPTIVE_SHADOW", "1"}})
                  .settings.mode(),
              model::AdaptiveMode::kShadow);
}

struct VariableCase {
    const char* name;
    const char* value;
    bool ok;
    const char* complaint;  // empty: none
};

TEST(ResolveSettings, VariablesFollowTheirRules) {
    const VariableCase cases[] = {
        {"ADAPTIVE_POLLING_BASE_INTERVAL", "soon", true,
         "environment: ADAPTIVE_POLLING_BASE_INTERVAL: warning: \"soon\" is not understood: it "
         "must be a duration from 100 ms to 31 d; it is ignored"},
        {"ADAPTIVE_POLLING_BASE_INTERVAL", "0", true, "it is ignored"},
        {"ADAPTIVE_POLLING_MIN_INTERVAL", "-5s", true, "it is ignored"},
        {"PVE_POLLING_INTERVAL", "5s", false,
         "PVE_POLLING_INTERVAL: 5 s is out of range: it must be a duration from 10 s to 1 h"},
        {"PVE_POLLING_INTERVAL", "2h", false, "out of range"},
        {"PVE_POLLING_INTERVAL", "often", true, "it is ignored"},
        {"PBS_POLLING_INTERVAL", "5s", true, "was set to 10s"},
        {"PMG_POLLING_INTERVAL", "2h", true, "was set to 1h"},
        {"CONNECTION_TIMEOUT", "500ms", true, "it is ignored"},
        {"POLL_TASK_WORKERS", "129", true, "it is ignored"},
        {"POLL_TASK_WORKERS", "128", true, ""},
        {"POLLUX_GLOBAL_RATE", "0", false, "out of range"},
        {"POLLUX_TRAP_LISTEN", "nonsense", false, "must be an address with a port"},
        {"POLLUX_INBOUND_TLS_KEY", "key.pem", false, "must be an absolute path"},
        {"POLLUX_LOG_LEVEL", "loud", true, "debug, info, warning or error"},
        {"POLLUX_GLOBAL_RAT", "5", true, "did you mean POLLUX_GLOBAL_RATE?"},
        {"MAX_POLL_TIMEOUT", "90", true, ""},
    };
    for (const VariableCase& one : cases) {
        const Resolved r = resolve_with({{one.name, one.value}});
        EXPECT_EQ(r.diagnostics.ok(), one.ok) << one.name << "=" << one.value << "\n" << r.text();
        if (*one.complaint == '\0') {
            EXPECT_THAT(r.text(), IsEmpty()) << one.name << "=" << one.value;
        } else {
            EXPECT_THAT(r.text(), HasSubstr(one.complaint)) << one.name << "=" << one.value;
        }
    }
}

TEST(ResolveSettings, ClampedAndIgnoredValuesAreWhatTheyShouldBe) {
    const Resolved r = resolve_with({{"PBS_POLLING_INTERVAL", "5s"},
                                     {"PMG_POLLING_INTERVAL", "2h"},
                                     {"CONNECTION_TIMEOUT", "500ms"},
                                     {"POLL_TASK_WORKERS", "16"}});
    EXPECT_EQ(r.settings.pbs_interval, 10s);
    EXPECT_EQ(r.settings.pmg_interval, 1h);
    EXPECT_EQ(r.settings.connection_timeout, 60s);
    EXPECT_EQ(origin_of(r.settings, "connection_timeout"), ValueOrigin::kDefault);
    EXPECT_EQ(r.settings.core({}, {}).global_slots, 16U);
}

TEST(ResolveSettings, ImpossibleCombinationsNameTheSettings) {
    const Resolved r = resolve_with({{"ADAPTIVE_POLLING_MIN_INTERVAL", "20s"}},
                                    R"({"adaptivePollingMaxInterval": 8})");
    EXPECT_FALSE(r.diagnostics.ok());
    EXPECT_THAT(r.text(), HasSubstr("ADAPTIVE_POLLING_MIN_INTERVAL = 20s (environment) is greater "
                                    "than ADAPTIVE_POLLING_BASE_INTERVAL = 10s (default)"));
    EXPECT_THAT(r.text(), HasSubstr("ADAPTIVE_POLLING_BASE_INTERVAL = 10s (default) is greater "
                                    "than adaptivePollingMaxInterval = 8s (settings)"));
    EXPECT_FALSE(resolve_with({{"POLLUX_DEVICE_CLASS_SLOTS", "9"}}).diagnostics.ok());
    EXPECT_FALSE(resolve_with({{"POLLUX_HISTORY_RAW_DAYS", "90"}}).diagnostics.ok());
}

TEST(ResolveSettings, TheAliasCountsWhereTheNameIsNotSet) {
    EXPECT_EQ(resolve_with({{"PULSE_METRICS_PORT", "9000"}}).settings.metrics_port, 9000);
    EXPECT_EQ(resolve_with({{"PULSE_METRICS_PORT", "9000"}, {"POLLUX_METRICS_PORT", "9001"}})
                  .settings.metrics_port,
              9001);
}

TEST(ResolveSettings, ScopesReachTheCore) {
    EXPECT_EQ(resolve_with({{"POLLUX_ADAPTIVE_SCOPE", "percent:25"}})
                  .settings.core({}, {})
                  .adaptive_percent,
              25);
    EXPECT_EQ(resolve_with({{"POLLUX_ADAPTIVE_SCOPE", "classes:pve"}})
                  .settings.core({}, {})
                  .adaptive_percent,
              100);
}

TEST(SystemJson, KeepsWhatBelongsToOthers) {
    const std::string json =
        R"({"theme": {"dark": true}, "adaptivePollingEnabled": true, "autoUpdate": false})";
    document::Diagnostics diagnostics;
    const SystemJson read = read_system_json(json, "system.json", diagnostics);
    EXPECT_TRUE(diagnostics.ok());
    EXPECT_EQ(read.foreign, (std::vector<std::string>{"theme", "autoUpdate"}));
    const std::string written = write_system_json(read.stored);
    EXPECT_EQ(written,
              "{\n  \"adaptivePollingEnabled\": true,\n  \"autoUpdate\": false,\n  \"theme\": "
              "{\"dark\":true}\n}\n");
    EXPECT_EQ(read_system_json(written, "system.json", diagnostics).stored, read.stored);
    EXPECT_EQ(write_system_json({}), "{}\n");
}

TEST(SystemJson, ZeroKeepsTheDefault) {
    const Resolved r = resolve_with(
        {},
        R"({"adaptivePollingMinInterval": 0, "connectionTimeout": 0, "pvePollingInterval": 0})");
    EXPECT_THAT(r.text(), IsEmpty());
    EXPECT_EQ(r.settings.adaptive_min_interval, 5s);
    EXPECT_EQ(origin_of(r.settings, "pve_polling_interval"), ValueOrigin::kDefault);
}

TEST(SystemJson, ABadEditNamesItsLine) {
    const std::pair<const char*, const char*> cases[] = {
        {"{\n  \"pvePollingInterval\": \"often\"\n}",
         "system.json:2: pvePollingInterval: \"often\" "},
        {"{\n\n  \"adaptivePollingEnabled\": \"yes\"\n}",
         "system.json:3: adaptivePollingEnabled: \"\\\"yes\\\"\" is not understood: it must be "
         "true "
         "or false"},
        {"{\"pvePollingInterval\": 5}", "out of range: it must be a duration from 10 s to 1 h"},
        {"{\"egressDeny\": \"10.0.0.0/8\"}", "a list of address ranges"},
        {"{\"a\": 1,}", "system.json:1"},
        {"[1]", "one map of names and values"},
        {"{\"a\": 1, \"a\": 2}", "system.json:1"},
    };
    for (const auto& [text, complaint] : cases) {
        document::Diagnostics diagnostics;
        read_system_json(text, "system.json", diagnostics);
        EXPECT_FALSE(diagnostics.ok()) << text;
        EXPECT_THAT(diagnostics.text(), HasSubstr(complaint)) << text;
    }
}

TEST(SystemJson, AHandEditIsASetOfChanges) {
    StoredSettings before{{{"a", "1"}, {"b", "2"}, {"c", "3"}}};
    StoredSettings after{{{"b", "2"}, {"c", "4"}, {"d", "5"}}};
    EXPECT_EQ(changes(before, after),
              (std::vector<SettingChange>{{"a", "1", ""}, {"c", "3", "4"}, {"d", "", "5"}}));
    EXPECT_THAT(changes(after, after), IsEmpty());
}

TEST(SystemJson, SetsOneValue) {
    StoredSettings stored;
    ASSERT_TRUE(set_value(stored, "pve_polling_interval", "1m30s"));
    ASSERT_TRUE(set_value(stored, "adaptive_polling_enabled", "true"));
    ASSERT_TRUE(set_value(stored, "egress_deny", "10.0.0.0/8"));
    ASSERT_TRUE(set_value(stored, "adaptive_polling_scope", "percent:5"));
    ASSERT_TRUE(set_value(stored, "adaptive_preset", "fresh"));
    EXPECT_EQ(stored.values["pvePollingInterval"], "90");
    EXPECT_EQ(stored.values["egressDeny"], "[\"10.0.0.0/8\"]");
    const Resolved r = resolve_with({}, write_system_json(stored));
    EXPECT_EQ(r.settings.pve_interval, 90s);
    EXPECT_EQ(r.settings.preset, model::Preset::kFresh);
    EXPECT_EQ(r.settings.adaptive_scope.percent, 5);

    const auto unknown = set_value(stored, "pve_poling_interval", "10s");
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().message, HasSubstr("did you mean pve_polling_interval?"));
    EXPECT_FALSE(set_value(stored, "pve_polling_interval", "1s"));
    EXPECT_FALSE(set_value(stored, "poll_task_workers", "4"));
}

}  // namespace
}  // namespace pollux::config
