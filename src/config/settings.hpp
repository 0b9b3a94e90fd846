// Every setting of the server and the core as typed values, with where each one came from. Made by
// resolve_settings() (settings_resolve.hpp); the table behind it is settings_registry.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "model/settings.hpp"

namespace pollux::config {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };
inline constexpr std::array<std::string_view, 4> kLogLevelNames = {"debug", "info", "warning",
                                                                   "error"};
constexpr std::string_view to_string(LogLevel level) {
    return kLogLevelNames[static_cast<std::size_t>(level)];
}

enum class ScopeKind : std::uint8_t { kAll, kClasses, kGroups, kTargets, kPercent };

// Which targets adaptive polling applies to: `all`, `classes:pve,pbs`, `groups:lab`,
// `targets:pve::node1,pve::node2` or `percent:10` (by a stable hash of the key).
struct AdaptiveScope {
    ScopeKind kind = ScopeKind::kAll;
    std::vector<std::string> names;  // sorted; of kClasses, kGroups and kTargets
    double percent = 100;            // of kPercent
    bool operator==(const AdaptiveScope&) const = default;
};

// Where to listen: "127.0.0.1:1162", "[::1]:1162", or "systemd" for sockets that it hands over.
// Empty: nowhere. A port alone is one of 127.0.0.1.
struct ListenList {
    std::vector<std::string> items;
    bool operator==(const ListenList&) const = default;
};

// "https://monitor.example.org/pollux", without a slash at its end; empty: not given.
struct WebAddress {
    std::string text;
    bool operator==(const WebAddress&) const = default;
};

// An absolute path; empty: not given.
struct FilePath {
    std::string text;
    bool operator==(const FilePath&) const = default;
};

// Name of a field of an HTTP request; empty: not used.
struct HeaderName {
    std::string text;
    bool operator==(const HeaderName&) const = default;
};

// A host name or address, with or without a port; empty: not given.
struct HostText {
    std::string text;
    bool operator==(const HostText&) const = default;
};

// "pollux@example.org"; empty: not given.
struct MailText {
    std::string text;
    bool operator==(const MailText&) const = default;
};

// Name of a credential of the fleet; empty: none.
struct CredentialName {
    std::string text;
    bool operator==(const CredentialName&) const = default;
};

// A line of text for people; empty: not given.
struct LineText {
    std::string text;
    bool operator==(const LineText&) const = default;
};

// Names of groups of the fleet, in their order.
struct GroupNames {
    std::vector<std::string> items;
    bool operator==(const GroupNames&) const = default;
};

enum class SmtpSecurity : std::uint8_t { kNone, kStartTls, kTls };
inline constexpr std::array<std::string_view, 3> kSmtpSecurityNames = {"none", "starttls", "tls"};

// Whether somebody without a login may see the health of the scheduler.
enum class AnonymousHealth : std::uint8_t { kOff, kLoopback };
inline constexpr std::array<std::string_view, 2> kAnonymousHealthNames = {"off", "loopback"};

// The roles of access/role.hpp, by the same numbers and names: a test compares the two.
enum class ProxyRole : std::uint8_t { kViewer, kOperator, kAdmin, kAuditor };
inline constexpr std::array<std::string_view, 4> kAccessRoleNames = {"viewer", "operator", "admin",
                                                                     "auditor"};

// Which group of a proxy has which role: `wheel=admin,ops=operator`.
struct GroupRoles {
    std::vector<std::pair<std::string, std::string>> items;  // group, role; in their order
    bool operator==(const GroupRoles&) const = default;
};

// Where a value came from, in the order of precedence.
enum class ValueOrigin : std::uint8_t { kDefault, kStored, kEnvironment };
std::string_view to_string(ValueOrigin origin);

struct Settings {
    // Adaptive polling.
    bool adaptive_enabled = false;
    bool adaptive_shadow = false;
    AdaptiveScope adaptive_scope;
    base::Duration adaptive_base_interval = std::chrono::seconds(10);
    base::Duration adaptive_min_interval = std::chrono::seconds(5);
    base::Duration adaptive_max_interval = std::chrono::minutes(5);
    model::PolicyKind policy = model::PolicyKind::kOptimal;
    model::Preset preset = model::Preset::kBalanced;
    model::DegradedChoice degraded = model::DegradedChoice::kMeanFirst;
    base::Duration staleness_bound = std::chrono::seconds(60);

    // Intervals and time limits.
    base::Duration default_interval = std::chrono::seconds(300);
    base::Duration pve_interval = std::chrono::seconds(10);
    base::Duration pbs_interval = std::chrono::seconds(60);
    base::Duration pmg_interval = std::chrono::seconds(60);
    base::Duration connection_timeout = std::chrono::seconds(60);
    base::Duration max_poll_timeout = std::chrono::minutes(3);
    base::Duration http_timeout = std::chrono::seconds(30);
    base::Duration snmp_timeout = std::chrono::seconds(10);
    std::int64_t snmp_resends = 1;
    base::Duration command_timeout = std::chrono::seconds(30);
    base::Duration check_timeout = std::chrono::seconds(10);

    // Limits.
    double global_rate = 100;
    std::int64_t global_slots = 1024;
    double device_rate = 10;
    std::int64_t device_slots = 4;
    std::int64_t device_class_slots = 1;
    std::int64_t poll_task_workers = 0;  // 0: unset
    base::Duration aging_step = std::chrono::seconds(30);
    double budget_headroom = 0.98;
    std::int64_t max_starts_per_step = 100;
    std::int64_t io_threads = 0;  // 0: by the number of cores
    std::int64_t seed = 0;

    // History.
    bool history_enabled = true;
    std::int64_t history_raw_days = 7;
    std::int64_t history_minute_days = 30;
    std::int64_t history_hour_days = 365;
    std::int64_t history_quota_megabytes = 10'240;

    // What the server shows and lets out.
    std::string metrics_bind = "127.0.0.1";
    std::int64_t metrics_port = 9091;
    std::int64_t metrics_target_limit = 2000;
    LogLevel log_level = LogLevel::kInfo;
    std::vector<std::string> egress_deny = {"169.254.169.254", "fd00:ec2::254"};
    std::vector<std::string> egress_allow;
    std::vector<std::string> egress_redirect_deny;
    std::vector<std::string> egress_redirect_allow;
    bool egress_redirect_same_class = true;
    std::vector<std::string> egress_loopback = {"127.0.0.0/8", "::1", "0.0.0.0/8", "::"};
    std::vector<std::string> egress_link_local = {"169.254.0.0/16", "fe80::/10"};
    std::vector<std::string> egress_private = {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
                                               "100.64.0.0/10", "fc00::/7"};

    // What may be run, and which hosts are trusted.
    std::vector<std::string> plugin_folders = {"/usr/lib/nagios/plugins",
                                               "/usr/lib/monitoring-plugins"};
    std::vector<std::string> exec_allow;
    bool ssh_strict_host_keys = false;
    // What devices send by themselves.
    ListenList trap_listen;
    std::vector<std::string> trap_forwarders;
    ListenList inbound_listen;
    FilePath inbound_tls_certificate;
    FilePath inbound_tls_key;
    WebAddress inbound_url;
    std::int64_t inbound_body_kilobytes = 256;
    double inbound_source_rate = 100;
    double inbound_rate = 2000;
    double inbound_confirm_rate = 10;
    base::Duration inbound_confirm_pause = std::chrono::seconds(10);
    std::int64_t inbound_keep_rows = 100'000;
    std::int64_t inbound_keep_rows_per_target = 10'000;
    std::int64_t inbound_keep_days = 30;

    // The API, and who may use it.
    ListenList api_listen = {{"127.0.0.1:7655"}};
    FilePath api_tls_certificate;
    FilePath api_tls_key;
    std::int64_t api_ws_clients = 1000;
    std::int64_t api_ws_clients_per_user = 50;
    AnonymousHealth anonymous_health = AnonymousHealth::kOff;
    std::int64_t session_hours = 24;
    std::vector<std::string> trusted_proxies;
    HeaderName proxy_auth_header;
    std::vector<std::string> proxy_auth_from;
    ProxyRole proxy_auth_role = ProxyRole::kViewer;
    HeaderName proxy_auth_group_header;
    GroupRoles proxy_auth_groups;
    bool status_page = false;
    LineText status_page_title;
    GroupNames status_page_groups;

    // The audit trail.
    std::int64_t audit_keep_days = 365;  // 0: for ever
    FilePath audit_checkpoint_file;      // empty: in the data folder

    // Jobs and upkeep.
    std::int64_t jobs_keep_days = 30;
    std::int64_t jobs_keep_rows = 50'000;
    base::Duration maintenance_interval = std::chrono::hours(24);
    std::int64_t backups_keep = 7;

    // Alerts, and who is told.
    FilePath channel_folder;  // definitions of channels of one's own; empty: none
    bool alerts_review = true;
    std::int64_t alerts_keep_days = 90;
    base::Duration alert_settle = std::chrono::seconds(2);
    base::Duration alert_verify_timeout = std::chrono::seconds(30);
    base::Duration alert_gather = std::chrono::minutes(1);
    double flap_high_percent = 30;
    double flap_low_percent = 25;
    base::Duration flap_cool_down = std::chrono::minutes(15);
    std::int64_t flap_notifications = 3;
    std::int64_t observer_least = 5;
    double observer_share = 0.2;
    base::Duration observer_window = std::chrono::minutes(1);
    bool self_monitoring = true;
    double self_backlog_share = 0.1;
    base::Duration self_start_lag = std::chrono::seconds(2);
    std::int64_t self_dead_letters = 10;
    base::Duration self_breaker_open = std::chrono::minutes(10);
    double self_success_ratio = 0.95;
    base::Duration self_average_poll = std::chrono::seconds(5);
    double self_worker_cpu = 0.9;
    HostText smtp_host;
    std::int64_t smtp_port = 587;
    SmtpSecurity smtp_security = SmtpSecurity::kStartTls;
    MailText smtp_from;
    CredentialName smtp_credentials;
    WebAddress external_url;
    WebAddress sentinel_url;
    base::Duration sentinel_interval = std::chrono::seconds(30);
    WebAddress sentinel_watch;
    std::vector<std::string> alertmanager_urls;
    CredentialName alertmanager_credentials;

    // Read and kept for Proxmox targets.
    bool backup_polling_enabled = true;
    base::Duration backup_polling_interval = base::Duration::zero();
    std::int64_t backup_polling_cycles = 10;
    base::Duration guest_metadata_refresh = std::chrono::minutes(2);
    base::Duration guest_metadata_jitter = std::chrono::seconds(45);
    base::Duration guest_metadata_backoff = std::chrono::seconds(30);
    std::int64_t guest_metadata_concurrency = 4;

    std::vector<ValueOrigin> origins;  // by row of the registry; empty: all are defaults

    bool operator==(const Settings&) const = default;

    model::AdaptiveMode mode() const;

    // What the core is given; classes and resources come from the fleet (Expansion).
    model::CoreSettings core(std::vector<model::ClassSettings> classes,
                             std::vector<model::ResourceSettings> resources) const;
};

// `key` as in the registry, such as "pve_polling_interval".
ValueOrigin origin_of(const Settings& settings, std::string_view key);

}  // namespace pollux::config
