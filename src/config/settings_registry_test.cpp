#include "config/settings_registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace pollux::config {
namespace {

using ::testing::HasSubstr;

TEST(SettingsRegistry, NamesAreUnique) {
    std::set<std::string_view> keys;
    std::set<std::string_view> variables;
    std::set<std::string_view> json;
    for (const SettingDef& row : setting_definitions()) {
        EXPECT_TRUE(keys.insert(row.key).second) << row.key;
        EXPECT_TRUE(variables.insert(row.environment).second) << row.environment;
        if (!row.alias.empty()) {
            EXPECT_TRUE(variables.insert(row.alias).second) << row.alias;
        }
        if (!row.json.empty()) {
            EXPECT_TRUE(json.insert(row.json).second) << row.json;
        }
        EXPECT_FALSE(row.help.empty()) << row.key;
        EXPECT_EQ(find_setting(row.key), &row);
    }
}

TEST(SettingsRegistry, EveryDefaultIsAllowedAndReadsBack) {
    const Settings defaults;
    for (const SettingDef& row : setting_definitions()) {
        if (row.key == "poll_task_workers") continue;  // 0 is "not given"
        Settings copy;
        const auto parsed = parse_into(row, format_value(row, defaults), copy);
        ASSERT_TRUE(parsed) << row.key << ": " << parsed.error().message;
        EXPECT_FALSE(parsed->clamped) << row.key;
        EXPECT_EQ(copy, defaults) << row.key;
    }
}

TEST(SettingsRegistry, KnowsEverySettingOfOlderInstallations) {
    for (const std::string_view name :
         {"ADAPTIVE_POLLING_ENABLED", "ADAPTIVE_POLLING_BASE_INTERVAL",
          "ADAPTIVE_POLLING_MIN_INTERVAL", "ADAPTIVE_POLLING_MAX_INTERVAL", "PVE_POLLING_INTERVAL",
          "PBS_POLLING_INTERVAL", "PMG_POLLING_INTERVAL", "CONNECTION_TIMEOUT", "MAX_POLL_TIMEOUT",
          "POLL_TASK_WORKERS", "ENABLE_BACKUP_POLLING", "BACKUP_POLLING_INTERVAL",
          "BACKUP_POLLING_CYCLES", "GUEST_METADATA_MIN_REFRESH_INTERVAL",
          "GUEST_METADATA_REFRESH_JITTER", "GUEST_METADATA_RETRY_BACKOFF",
          "GUEST_METADATA_MAX_CONCURRENT"}) {
        bool found = false;
        for (const SettingDef& row : setting_definitions()) found |= row.environment == name;
        EXPECT_TRUE(found) << name;
    }
}

TEST(SettingsRegistry, ScopesReadBack) {
    const SettingDef& row = *find_setting("adaptive_polling_scope");
    for (const std::string_view text :
         {"all", "classes:pbs,pve", "groups:lab", "targets:pve::a,pve::b", "percent:12.5"}) {
        Settings settings;
        ASSERT_TRUE(parse_into(row, text, settings)) << text;
        EXPECT_EQ(format_value(row, settings), text);
    }
    for (const std::string_view text :
         {"", "some", "percent:", "percent:101", "percent:-1", "classes:", "class:pve"}) {
        Settings settings;
        EXPECT_FALSE(parse_into(row, text, settings)) << text;
    }
}

TEST(SettingsRegistry, AddressesAreChecked) {
    Settings settings;
    EXPECT_TRUE(parse_into(*find_setting("metrics_bind"), "::1", settings));
    EXPECT_EQ(settings.metrics_bind, "::1");
    EXPECT_FALSE(parse_into(*find_setting("metrics_bind"), "localhost:9091", settings));
    EXPECT_TRUE(parse_into(*find_setting("audit_checkpoint_file"), "/mnt/audit.log", settings));
    EXPECT_EQ(settings.audit_checkpoint_file.text, "/mnt/audit.log");
    EXPECT_FALSE(parse_into(*find_setting("audit_checkpoint_file"), "audit.log", settings));
    EXPECT_TRUE(parse_into(*find_setting("audit_checkpoint_file"), "", settings));
    EXPECT_TRUE(parse_into(*find_setting("egress_deny"), "10.0.0.0/8, fd00::/8", settings));
    EXPECT_EQ(settings.egress_deny, (std::vector<std::string>{"10.0.0.0/8", "fd00::/8"}));
    const auto wrong = parse_into(*find_setting("egress_deny"), "10.0.0.0/33", settings);
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().message, HasSubstr("10.0.0.0/33"));
}

TEST(SettingsRegistry, PlacesToListenHaveAPortAndAreLoopbackUnlessSaid) {
    Settings settings;
    const SettingDef& row = *find_setting("trap_listen");
    EXPECT_TRUE(settings.trap_listen.items.empty()) << "off unless somebody decides";
    ASSERT_TRUE(parse_into(row, "1162, [::1]:1162,0.0.0.0:162,systemd", settings));
    EXPECT_EQ(settings.trap_listen.items,
              (std::vector<std::string>{"127.0.0.1:1162", "[::1]:1162", "0.0.0.0:162", "systemd"}));
    EXPECT_EQ(format_value(row, settings), "127.0.0.1:1162,[::1]:1162,0.0.0.0:162,systemd");
    for (const char* text : {"127.0.0.1", "localhost:162", "::1:162", "1.2.3.4:0", "70000", "x"}) {
        EXPECT_FALSE(parse_into(row, text, settings)) << text;
    }
    ASSERT_TRUE(parse_into(row, "", settings));
    EXPECT_TRUE(settings.trap_listen.items.empty());
}

TEST(SettingsRegistry, TheAddressForSendersIsAWebAddress) {
    Settings settings;
    const SettingDef& row = *find_setting("inbound_url");
    ASSERT_TRUE(parse_into(row, "https://monitor.example.org/pollux//", settings));
    EXPECT_EQ(settings.inbound_url.text, "https://monitor.example.org/pollux");
    for (const char* text : {"monitor.example.org", "ftp://x", "http://", "http://a b",
                             "http://user@host", "http://x/?y"}) {
        EXPECT_FALSE(parse_into(row, text, settings)) << text;
    }
}

TEST(SettingsRegistry, WhatTheApiIsToldIsChecked) {
    Settings settings;
    EXPECT_EQ(settings.api_listen.items, std::vector<std::string>{"127.0.0.1:7655"});
    const auto takes = [&](std::string_view key, std::string_view text) {
        const SettingDef& row = *find_setting(key);
        const auto parsed = parse_into(row, text, settings);
        EXPECT_TRUE(!parsed || format_value(row, settings) == text) << key;
        return parsed.has_value();
    };
    EXPECT_TRUE(takes("api_listen", ""));
    EXPECT_TRUE(takes("api_listen", "127.0.0.1:0,[::1]:0")) << "any free port";
    EXPECT_TRUE(takes("api_tls_key", "/etc/pollux/key.pem"));
    EXPECT_TRUE(takes("api_tls_key", ""));
    EXPECT_FALSE(takes("api_tls_key", "key.pem"));
    EXPECT_TRUE(takes("proxy_auth_header", "X-Forwarded-User"));
    EXPECT_TRUE(takes("proxy_auth_header", ""));
    EXPECT_FALSE(takes("proxy_auth_header", "X Forwarded"));
    EXPECT_FALSE(takes("proxy_auth_header", "Host: x"));
    EXPECT_TRUE(takes("proxy_auth_groups", "wheel=admin,cn=ops=operator"));
    EXPECT_EQ(settings.proxy_auth_groups.items[1].first, "cn=ops");
    EXPECT_TRUE(takes("proxy_auth_groups", ""));
    EXPECT_FALSE(takes("proxy_auth_groups", "wheel"));
    EXPECT_FALSE(takes("proxy_auth_groups", "wheel=root"));
    EXPECT_FALSE(takes("proxy_auth_groups", "=admin"));
    EXPECT_TRUE(takes("proxy_auth_role", "operator"));
    EXPECT_EQ(settings.proxy_auth_role, ProxyRole::kOperator);
    EXPECT_FALSE(takes("proxy_auth_role", "root"));
    EXPECT_TRUE(takes("anonymous_health", "loopback"));
    EXPECT_FALSE(takes("anonymous_health", "everybody"));
    EXPECT_TRUE(takes("session_hours", "12"));
    EXPECT_FALSE(takes("session_hours", "721"));
    EXPECT_FALSE(takes("trusted_proxies", "proxy.example.org"));
}

TEST(SettingsRegistry, TheStatusPageHasALineAndNamesOfGroups) {
    Settings settings;
    EXPECT_FALSE(settings.status_page) << "nothing is public unless somebody says so";
    const auto takes = [&](std::string_view key, std::string_view text) {
        return parse_into(*find_setting(key), text, settings).has_value();
    };
    EXPECT_TRUE(takes("status_page_title", "H\xc3\xa4user & Co, <Berlin>"));
    EXPECT_EQ(format_value(*find_setting("status_page_title"), settings),
              "H\xc3\xa4user & Co, <Berlin>");
    for (const std::string& wrong :
         {std::string("two\nlines"), std::string(101, 'x'), std::string("\xff")}) {
        EXPECT_FALSE(takes("status_page_title", wrong)) << wrong;
    }
    EXPECT_TRUE(takes("status_page_groups", "bonn, berlin,bonn"));
    EXPECT_EQ(settings.status_page_groups.items, (std::vector<std::string>{"bonn", "berlin"}));
    EXPECT_EQ(format_value(*find_setting("status_page_groups"), settings), "bonn,berlin");
    EXPECT_FALSE(takes("status_page_groups", "a\tb"));
    EXPECT_TRUE(takes("status_page_groups", ""));
    EXPECT_TRUE(settings.status_page_groups.items.empty());
}

TEST(SettingsRegistry, TheReferencePageIsCurrent) {
    std::ifstream file("docs/settings-reference.md");
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), settings_reference_markdown())
        << "write it again: pollux settings reference > docs/settings-reference.md";
}

}  // namespace
}  // namespace pollux::config
