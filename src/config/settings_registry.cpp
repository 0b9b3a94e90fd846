#include "config/settings_registry.hpp"

#include <algorithm>
#include <array>

namespace pollux::config {
namespace {

constexpr std::array<std::string_view, 2> kDegradedNames = {"mean", "tail"};
// `oracle` knows the true rates of a simulation: nothing a server can be set to.
constexpr std::span<const std::string_view> kServerPolicies =
    std::span(model::kPolicyNames).first(4);

template <auto Member>
constexpr ChoiceField choice(std::span<const std::string_view> names) {
    using Enum = std::remove_cvref_t<decltype(std::declval<Settings>().*Member)>;
    return {names, [](const Settings& s) { return static_cast<std::size_t>(s.*Member); },
            [](Settings& s, std::size_t value) { s.*Member = static_cast<Enum>(value); }};
}

constexpr double kDay = 86'400;
constexpr double kLongest = 31 * kDay;
constexpr double kMaxRate = 1e7;
constexpr auto kIgnore = OutOfRange::kIgnore;
constexpr auto kClamp = OutOfRange::kClamp;
constexpr auto kRefuse = OutOfRange::kRefuse;
constexpr auto kLive = Applies::kLive;
constexpr auto kRestart = Applies::kRestart;
constexpr auto kKept = Applies::kKept;

constexpr SettingDef kAdaptive[] = {
    {"adaptive_polling_enabled", "adaptivePollingEnabled", "ADAPTIVE_POLLING_ENABLED", "",
     &Settings::adaptive_enabled, 0, 0, kRefuse, false, kLive,
     "Adaptive polling. Off: every target is asked at its fixed interval. Breakers, dead letters, "
     "limits and health work in both."},
    {"adaptive_polling_shadow", "adaptivePollingShadow", "POLLUX_ADAPTIVE_SHADOW", "",
     &Settings::adaptive_shadow, 0, 0, kRefuse, false, kLive,
     "While adaptive polling is on: compute and report the adaptive intervals, but keep to the "
     "fixed ones."},
    {"adaptive_polling_scope", "adaptivePollingScope", "POLLUX_ADAPTIVE_SCOPE", "",
     &Settings::adaptive_scope, 0, 0, kRefuse, false, kLive,
     "Which targets it applies to: `all`, `classes:a,b`, `groups:a,b`, `targets:a::b,c::d` or "
     "`percent:10` (always the same ones, by a hash of the key)."},
    {"adaptive_polling_base_interval", "adaptivePollingBaseInterval",
     "ADAPTIVE_POLLING_BASE_INTERVAL", "", &Settings::adaptive_base_interval, 0.1, kLongest,
     kIgnore, true, kLive,
     "Base interval of adaptive pve targets, where nothing nearer sets one. Not given: "
     "PVE_POLLING_INTERVAL."},
    {"adaptive_polling_min_interval", "adaptivePollingMinInterval", "ADAPTIVE_POLLING_MIN_INTERVAL",
     "", &Settings::adaptive_min_interval, 0.1, kLongest, kIgnore, true, kLive,
     "Shortest adaptive interval of pve, pbs and pmg targets."},
    {"adaptive_polling_max_interval", "adaptivePollingMaxInterval", "ADAPTIVE_POLLING_MAX_INTERVAL",
     "", &Settings::adaptive_max_interval, 0.1, kLongest, kIgnore, true, kLive,
     "Longest adaptive interval of pve, pbs and pmg targets."},
    {"adaptive_policy", "adaptivePolicy", "POLLUX_ADAPTIVE_POLICY", "",
     choice<&Settings::policy>(kServerPolicies), 0, 0, kRefuse, false, kLive,
     "How adaptive intervals are chosen, where a class does not say otherwise."},
    {"adaptive_preset", "adaptivePreset", "POLLUX_ADAPTIVE_PRESET", "",
     choice<&Settings::preset>(model::kPresetNames), 0, 0, kRefuse, false, kLive,
     "What `optimal` aims at: balanced (nobody waits longer than 1.5 x base), fresh (lowest mean "
     "delay, up to 3 x base), economy (half of the polls)."},
    {"adaptive_degraded", "adaptiveDegraded", "POLLUX_ADAPTIVE_DEGRADED", "",
     choice<&Settings::degraded>(kDegradedNames), 0, 0, kRefuse, false, kLive,
     "What to keep when the budget cannot hold every staleness bound: a low mean delay or a short "
     "tail."},
    {"staleness_bound", "stalenessBound", "POLLUX_STALENESS_BOUND", "", &Settings::staleness_bound,
     0.1, kLongest, kRefuse, true, kLive,
     "How old the data of a target may become; where its base is above 30 s, 2 x base."},
};

constexpr SettingDef kIntervals[] = {
    {"default_interval", "defaultPollingInterval", "POLLUX_DEFAULT_INTERVAL", "",
     &Settings::default_interval, 1, kDay, kRefuse, true, kLive,
     "Interval of targets for which nothing else sets one."},
    {"pve_polling_interval", "pvePollingInterval", "PVE_POLLING_INTERVAL", "",
     &Settings::pve_interval, 10, 3600, kRefuse, true, kLive, "Interval of class pve."},
    {"pbs_polling_interval", "pbsPollingInterval", "PBS_POLLING_INTERVAL", "",
     &Settings::pbs_interval, 10, 3600, kClamp, true, kLive, "Interval of class pbs."},
    {"pmg_polling_interval", "pmgPollingInterval", "PMG_POLLING_INTERVAL", "",
     &Settings::pmg_interval, 10, 3600, kClamp, true, kLive, "Interval of class pmg."},
    {"connection_timeout", "connectionTimeout", "CONNECTION_TIMEOUT", "",
     &Settings::connection_timeout, 1, 3600, kIgnore, true, kLive,
     "Time limit of one poll of classes pve, pbs and pmg, where nothing nearer sets one."},
    {"max_poll_timeout", "maxPollTimeout", "MAX_POLL_TIMEOUT", "", &Settings::max_poll_timeout, 1,
     3600, kIgnore, true, kLive, "Longest time limit of any poll, whatever else is set."},
    {"http_timeout", "httpTimeout", "POLLUX_HTTP_TIMEOUT", "", &Settings::http_timeout, 0.1, 3600,
     kRefuse, true, kLive,
     "Time limit of one HTTP poll with all its requests, where nothing nearer sets one."},
    {"snmp_timeout", "snmpTimeout", "POLLUX_SNMP_TIMEOUT", "", &Settings::snmp_timeout, 0.1, 3600,
     kRefuse, true, kLive,
     "Time limit of one SNMP poll with its resends, where nothing nearer sets one."},
    {"snmp_resends", "snmpResends", "POLLUX_SNMP_RESENDS", "", &Settings::snmp_resends, 0, 10,
     kRefuse, false, kLive, "How often an SNMP request without an answer is sent again."},
    {"command_timeout", "commandTimeout", "POLLUX_COMMAND_TIMEOUT", "", &Settings::command_timeout,
     0.1, 3600, kRefuse, true, kLive,
     "Time limit of one command over SSH and of one plugin, where nothing nearer sets one."},
    {"check_timeout", "checkTimeout", "POLLUX_CHECK_TIMEOUT", "", &Settings::check_timeout, 0.1,
     3600, kRefuse, true, kLive,
     "Time limit of one tcp, tls, icmp or dns check, where nothing nearer sets one."},
};

constexpr SettingDef kLimits[] = {
    {"global_rate", "globalRate", "POLLUX_GLOBAL_RATE", "", &Settings::global_rate, 0.001, kMaxRate,
     kRefuse, true, kLive, "Polls started per second, over everything."},
    {"global_slots", "globalSlots", "POLLUX_GLOBAL_SLOTS", "", &Settings::global_slots, 1,
     1'000'000, kRefuse, true, kLive, "Polls under way at once, over everything."},
    {"device_rate", "deviceRate", "POLLUX_DEVICE_RATE", "", &Settings::device_rate, 0.001, kMaxRate,
     kRefuse, true, kLive, "Polls started per second for one device."},
    {"device_slots", "deviceSlots", "POLLUX_DEVICE_SLOTS", "", &Settings::device_slots, 1, 1000,
     kRefuse, true, kLive, "Polls under way at once for one device."},
    {"device_class_slots", "deviceClassSlots", "POLLUX_DEVICE_CLASS_SLOTS", "",
     &Settings::device_class_slots, 1, 1000, kRefuse, true, kLive,
     "Polls under way at once for one device and class."},
    {"poll_task_workers", "", "POLL_TASK_WORKERS", "", &Settings::poll_task_workers, 1, 128,
     kIgnore, false, kLive,
     "Polls under way at once, as older installations limit them. Given, it lowers global_slots; 0 "
     "is not given."},
    {"aging_step", "agingStep", "POLLUX_AGING_STEP", "", &Settings::aging_step, 0.001, kLongest,
     kRefuse, true, kLive, "A task that waits this long counts one tier higher."},
    {"budget_headroom", "budgetHeadroom", "POLLUX_BUDGET_HEADROOM", "", &Settings::budget_headroom,
     0.01, 1, kRefuse, true, kLive,
     "Share of global_rate that the interval policies may plan with."},
    {"max_starts_per_step", "maxStartsPerStep", "POLLUX_MAX_STARTS_PER_STEP", "",
     &Settings::max_starts_per_step, 1, 100'000, kRefuse, true, kLive,
     "Polls started in one turn of the core."},
    {"io_threads", "ioThreads", "POLLUX_IO_THREADS", "", &Settings::io_threads, 0, 64, kRefuse,
     false, kRestart,
     "Threads that talk to devices; 0: one less than cores, 2 to 8 (1 on a single core)."},
    {"seed", "seed", "POLLUX_SEED", "", &Settings::seed, 0, 9e15, kRefuse, false, kRestart,
     "Seed of phases, jitter and percentages."},
};

constexpr SettingDef kServer[] = {
    {"history_enabled", "historyEnabled", "POLLUX_HISTORY", "", &Settings::history_enabled, 0, 0,
     kRefuse, false, kRestart, "Keep what was polled."},
    {"history_raw_days", "historyRawDays", "POLLUX_HISTORY_RAW_DAYS", "",
     &Settings::history_raw_days, 1, 3650, kRefuse, true, kRestart,
     "Days that every sample is kept."},
    {"history_minute_days", "historyMinuteDays", "POLLUX_HISTORY_MINUTE_DAYS", "",
     &Settings::history_minute_days, 1, 3650, kRefuse, true, kRestart,
     "Days that one row per minute is kept."},
    {"history_hour_days", "historyHourDays", "POLLUX_HISTORY_HOUR_DAYS", "",
     &Settings::history_hour_days, 1, 36'500, kRefuse, true, kRestart,
     "Days that one row per hour is kept."},
    {"history_quota_megabytes", "historyQuotaMegabytes", "POLLUX_HISTORY_QUOTA_MB", "",
     &Settings::history_quota_megabytes, 16, 1e9, kRefuse, true, kRestart,
     "Size of the history on disk; above it the oldest samples go first."},
    {"metrics_bind", "metricsBindAddress", "POLLUX_METRICS_BIND", "PULSE_METRICS_BIND_ADDRESS",
     &Settings::metrics_bind, 0, 0, kRefuse, false, kRestart,
     "Address that Prometheus scrapes, without port."},
    {"metrics_port", "metricsPort", "POLLUX_METRICS_PORT", "PULSE_METRICS_PORT",
     &Settings::metrics_port, 0, 65'535, kRefuse, false, kRestart,
     "Port of the metrics; 0: any free one."},
    {"metrics_target_limit", "metricsTargetLimit", "POLLUX_METRICS_TARGET_LIMIT", "",
     &Settings::metrics_target_limit, 0, 1'000'000, kRefuse, false, kLive,
     "Up to this many targets each has its own series; above it there are aggregates and the 50 "
     "worst."},
    {"log_level", "logLevel", "POLLUX_LOG_LEVEL", "LOG_LEVEL",
     choice<&Settings::log_level>(kLogLevelNames), 0, 0, kRefuse, false, kLive,
     "Least urgent line that is logged."},
    {"egress_deny", "egressDeny", "POLLUX_EGRESS_DENY", "", &Settings::egress_deny, 0, 0, kRefuse,
     false, kLive,
     "Address ranges that are never connected to, whatever name led there, in every form of the "
     "address (IPv4-mapped, NAT64). The defaults are the metadata services of clouds."},
    {"egress_allow", "egressAllow", "POLLUX_EGRESS_ALLOW", "", &Settings::egress_allow, 0, 0,
     kRefuse, false, kLive, "Exceptions from egress_deny."},
    {"egress_redirect_deny", "egressRedirectDeny", "POLLUX_EGRESS_REDIRECT_DENY", "",
     &Settings::egress_redirect_deny, 0, 0, kRefuse, false, kLive,
     "Address ranges that a redirect may not lead to, beside egress_deny."},
    {"egress_redirect_allow", "egressRedirectAllow", "POLLUX_EGRESS_REDIRECT_ALLOW", "",
     &Settings::egress_redirect_allow, 0, 0, kRefuse, false, kLive,
     "Address ranges that a redirect may always lead to."},
    {"egress_redirect_same_class", "egressRedirectSameClass", "POLLUX_EGRESS_REDIRECT_SAME_CLASS",
     "", &Settings::egress_redirect_same_class, 0, 0, kRefuse, false, kLive,
     "A redirect must stay in the class of address it came from: loopback, link-local, private or "
     "public."},
    {"egress_loopback", "egressLoopback", "POLLUX_EGRESS_LOOPBACK", "", &Settings::egress_loopback,
     0, 0, kRefuse, false, kLive, "What counts as loopback."},
    {"egress_link_local", "egressLinkLocal", "POLLUX_EGRESS_LINK_LOCAL", "",
     &Settings::egress_link_local, 0, 0, kRefuse, false, kLive, "What counts as link-local."},
    {"egress_private", "egressPrivate", "POLLUX_EGRESS_PRIVATE", "", &Settings::egress_private, 0,
     0, kRefuse, false, kLive, "What counts as private."},
};

constexpr SettingDef kCommands[] = {
    {"plugin_folders", "pluginFolders", "POLLUX_PLUGIN_FOLDERS", "", &Settings::plugin_folders, 0,
     0, kRefuse, false, kLive,
     "Folders in which addons of protocol exec find their programs. Every program directly in one "
     "of them may be run.",
     true},
    {"exec_allow", "execAllow", "POLLUX_EXEC_ALLOW", "", &Settings::exec_allow, 0, 0, kRefuse,
     false, kLive,
     "Absolute paths of single programs that addons of protocol exec may run beside those of "
     "plugin_folders. Nothing else is ever run.",
     true},
    {"ssh_strict_host_keys", "sshStrictHostKeys", "POLLUX_SSH_STRICT_HOST_KEYS", "",
     &Settings::ssh_strict_host_keys, 0, 0, kRefuse, false, kLive,
     "Refuse SSH hosts whose key is not recorded yet. Off: the key of a new host is recorded and "
     "believed from then on. A changed key is refused in both."},
};

constexpr SettingDef kInbound[] = {
    {"trap_listen", "trapListen", "POLLUX_TRAP_LISTEN", "", &Settings::trap_listen, 1, 0, kRefuse,
     false, kRestart,
     "Where SNMP traps and informs are heard, such as `127.0.0.1:1162,[::1]:1162`; a port alone is "
     "one of 127.0.0.1. Empty: nowhere. Port 162 needs CAP_NET_BIND_SERVICE, or `systemd` here and "
     "a socket unit."},
    {"trap_forwarders", "trapForwarders", "POLLUX_TRAP_FORWARDERS", "", &Settings::trap_forwarders,
     0, 0, kRefuse, false, kLive,
     "Senders that forward traps of others: what they say about the first sender (the agent "
     "address of v1, snmpTrapAddress.0) is believed."},
    {"inbound_listen", "inboundListen", "POLLUX_INBOUND_LISTEN", "", &Settings::inbound_listen, 1,
     0, kRefuse, false, kRestart,
     "Where webhooks and pushes are heard over HTTP, such as `127.0.0.1:7656`. Empty: nowhere. "
     "Reachable from elsewhere, it should have TLS, here or in a proxy: tokens are in the "
     "addresses."},
    {"inbound_tls_certificate", "inboundTlsCertificate", "POLLUX_INBOUND_TLS_CERTIFICATE", "",
     &Settings::inbound_tls_certificate, 0, 0, kRefuse, false, kRestart,
     "File with the certificate that senders of webhooks and pushes are shown, and those above it "
     "(PEM). With inbound_tls_key: they must speak TLS."},
    {"inbound_tls_key", "inboundTlsKey", "POLLUX_INBOUND_TLS_KEY", "", &Settings::inbound_tls_key,
     0, 0, kRefuse, false, kRestart,
     "File with the key of that certificate (PEM); refused when others than its owner and group "
     "can read it."},
    {"inbound_url", "inboundUrl", "POLLUX_INBOUND_URL", "", &Settings::inbound_url, 0, 0, kRefuse,
     false, kLive,
     "The beginning of the addresses that senders are given, if it is another than where we "
     "listen: behind a proxy, say."},
    {"inbound_body_kilobytes", "inboundBodyKilobytes", "POLLUX_INBOUND_BODY_KB", "",
     &Settings::inbound_body_kilobytes, 1, 16'384, kRefuse, true, kRestart,
     "Longest body of a webhook."},
    {"inbound_source_rate", "inboundSourceRate", "POLLUX_INBOUND_SOURCE_RATE", "",
     &Settings::inbound_source_rate, 0.1, 1e6, kRefuse, true, kLive,
     "Messages per second of one sender; twice as many at once. What comes above is dropped and "
     "counted; over HTTP it is answered with 429."},
    {"inbound_rate", "inboundRate", "POLLUX_INBOUND_RATE", "", &Settings::inbound_rate, 1, 1e6,
     kRefuse, true, kLive,
     "Messages per second of all senders; twice as many at once. Traps and what comes over HTTP "
     "may have so many each."},
    {"inbound_confirm_rate", "inboundConfirmRate", "POLLUX_INBOUND_CONFIRM_RATE", "",
     &Settings::inbound_confirm_rate, 0.01, 10'000, kRefuse, true, kLive,
     "Devices per second that messages may let be polled at once (`confirm: true`)."},
    {"inbound_confirm_pause", "inboundConfirmPause", "POLLUX_INBOUND_CONFIRM_PAUSE", "",
     &Settings::inbound_confirm_pause, 1, 3600, kRefuse, true, kLive,
     "Least time between two such polls of one device."},
    {"inbound_keep_rows", "inboundKeepRows", "POLLUX_INBOUND_KEEP_ROWS", "",
     &Settings::inbound_keep_rows, 100, 1e8, kRefuse, true, kLive,
     "Messages of devices that are kept; the oldest go first."},
    {"inbound_keep_rows_per_target", "inboundKeepRowsPerTarget",
     "POLLUX_INBOUND_KEEP_ROWS_PER_TARGET", "", &Settings::inbound_keep_rows_per_target, 10, 1e8,
     kRefuse, true, kLive, "Messages of one target that are kept."},
    {"inbound_keep_days", "inboundKeepDays", "POLLUX_INBOUND_KEEP_DAYS", "",
     &Settings::inbound_keep_days, 1, 3650, kRefuse, true, kLive,
     "Days that messages of devices are kept."},
};

constexpr SettingDef kAccess[] = {
    {"api_listen", "apiListen", "POLLUX_API_LISTEN", "", &Settings::api_listen, 0, 0, kRefuse,
     false, kRestart,
     "Where the API listens, such as `127.0.0.1:7655,[::1]:7655`; a port alone is one of "
     "127.0.0.1, port 0 is any free one. Empty: nowhere. Reachable from elsewhere, it should have "
     "TLS, here or in a "
     "proxy."},
    {"api_tls_certificate", "apiTlsCertificate", "POLLUX_API_TLS_CERTIFICATE", "",
     &Settings::api_tls_certificate, 0, 0, kRefuse, false, kRestart,
     "File with the certificate of the API and those above it (PEM). With api_tls_key: the API "
     "speaks TLS only."},
    {"api_tls_key", "apiTlsKey", "POLLUX_API_TLS_KEY", "", &Settings::api_tls_key, 0, 0, kRefuse,
     false, kRestart,
     "File with the key of that certificate (PEM); refused when others than its owner and group "
     "can read it."},
    {"api_ws_clients", "apiWsClients", "POLLUX_API_WS_CLIENTS", "", &Settings::api_ws_clients, 0,
     100'000, kRefuse, false, kLive,
     "Connections that may follow live events at once; each may hold 64 KiB of what its client has "
     "not read. 0: nobody."},
    {"api_ws_clients_per_user", "apiWsClientsPerUser", "POLLUX_API_WS_CLIENTS_PER_USER", "",
     &Settings::api_ws_clients_per_user, 1, 100'000, kRefuse, false, kLive,
     "Connections of one user, with all sessions and tokens, that may follow live events at once."},
    {"anonymous_health", "anonymousHealth", "POLLUX_ANONYMOUS_HEALTH", "",
     choice<&Settings::anonymous_health>(kAnonymousHealthNames), 0, 0, kRefuse, false, kLive,
     "`loopback`: a direct connection from this machine may read the health of the scheduler "
     "without a login. Requests that came through a proxy may not."},
    {"session_hours", "sessionHours", "POLLUX_SESSION_HOURS", "", &Settings::session_hours, 1, 720,
     kRefuse, true, kLive,
     "Hours until a session ends: without a request, and in all unless the user asked to be "
     "remembered (then 30 days in all)."},
    {"trusted_proxies", "trustedProxies", "POLLUX_TRUSTED_PROXIES", "", &Settings::trusted_proxies,
     0, 0, kRefuse, false, kLive,
     "Address ranges of proxies whose X-Forwarded-For is believed; the client is the last address "
     "in it that is none of them."},
    {"proxy_auth_header", "proxyAuthHeader", "POLLUX_PROXY_AUTH_HEADER", "",
     &Settings::proxy_auth_header, 0, 0, kRefuse, false, kLive,
     "Header in which a proxy names the user it has logged in, such as `X-Forwarded-User`. Empty: "
     "off. Believed from proxy_auth_from only."},
    {"proxy_auth_from", "proxyAuthFrom", "POLLUX_PROXY_AUTH_FROM", "", &Settings::proxy_auth_from,
     0, 0, kRefuse, false, kLive,
     "Address ranges of the proxies that may log users in. Everybody on such an address can be "
     "anybody: name single hosts."},
    {"proxy_auth_role", "proxyAuthRole", "POLLUX_PROXY_AUTH_ROLE", "",
     choice<&Settings::proxy_auth_role>(kAccessRoleNames), 0, 0, kRefuse, false, kLive,
     "Role of users that a proxy logged in and that have no account here."},
    {"proxy_auth_group_header", "proxyAuthGroupHeader", "POLLUX_PROXY_AUTH_GROUP_HEADER", "",
     &Settings::proxy_auth_group_header, 0, 0, kRefuse, false, kLive,
     "Header in which such a proxy names the groups of the user, with commas. Empty: not used."},
    {"proxy_auth_groups", "proxyAuthGroups", "POLLUX_PROXY_AUTH_GROUPS", "",
     &Settings::proxy_auth_groups, 0, 0, kRefuse, false, kLive,
     "Roles by those groups, such as `wheel=admin,ops=operator`; a user has all roles of his "
     "groups, and proxy_auth_role if there is none."},
    {"status_page", "statusPage", "POLLUX_STATUS_PAGE", "", &Settings::status_page, 0, 0, kRefuse,
     false, kLive,
     "A status page at `/status` that everybody may read who reaches the API: names and uptime of "
     "groups, and the public notes of incidents. It names no device, address or error."},
    {"status_page_title", "statusPageTitle", "POLLUX_STATUS_PAGE_TITLE", "",
     &Settings::status_page_title, 0, 0, kRefuse, false, kLive,
     "What stands above the status page, such as the name of a company. Empty: Status."},
    {"status_page_groups", "statusPageGroups", "POLLUX_STATUS_PAGE_GROUPS", "",
     &Settings::status_page_groups, 0, 0, kRefuse, false, kLive,
     "Groups that the status page shows, in this order. Empty: all."},
};

constexpr SettingDef kAudit[] = {
    {"audit_keep_days", "auditKeepDays", "POLLUX_AUDIT_KEEP_DAYS", "", &Settings::audit_keep_days,
     0, 36'500, kRefuse, false, kLive,
     "Days that records of the audit trail are kept; 0: for ever. What goes is recorded."},
    {"audit_checkpoint_file", "auditCheckpointFile", "POLLUX_AUDIT_CHECKPOINT_FILE", "",
     &Settings::audit_checkpoint_file, 0, 0, kRefuse, false, kRestart,
     "File for the signed checkpoints of the audit trail, best on another disk or host; empty: "
     "`audit-checkpoints.log` in the data folder."},
};

constexpr SettingDef kJobs[] = {
    {"jobs_keep_days", "jobsKeepDays", "POLLUX_JOBS_KEEP_DAYS", "", &Settings::jobs_keep_days, 1,
     3650, kRefuse, true, kLive, "Days that ended jobs are kept with their results."},
    {"jobs_keep_rows", "jobsKeepRows", "POLLUX_JOBS_KEEP_ROWS", "", &Settings::jobs_keep_rows, 10,
     100'000, kRefuse, true, kLive, "Ended jobs that are kept; the oldest go first."},
    {"maintenance_interval", "maintenanceInterval", "POLLUX_MAINTENANCE_INTERVAL", "",
     &Settings::maintenance_interval, 0, kLongest, kRefuse, false, kLive,
     "Time between two jobs of upkeep (retention, compaction, backup of the state); 0: never."},
    {"backups_keep", "backupsKeep", "POLLUX_BACKUPS_KEEP", "", &Settings::backups_keep, 1, 1000,
     kRefuse, true, kLive, "Copies of the state in `backups/` of the data folder that are kept."},
};

constexpr SettingDef kAlerts[] = {
    {"alerts_review", "alertsReview", "POLLUX_ALERTS_REVIEW", "", &Settings::alerts_review, 0, 0,
     kRefuse, false, kLive,
     "Review first: alerts are raised and shown, and what would be sent is recorded as held, "
     "but nothing is sent. On in a new installation; switch it off when the alerts are as they "
     "should be: what is open then is told."},
    {"alerts_keep_days", "alertsKeepDays", "POLLUX_ALERTS_KEEP_DAYS", "",
     &Settings::alerts_keep_days, 1, 3650, kRefuse, false, kLive,
     "Days that resolved alerts and incidents are kept."},
    {"alert_settle", "alertSettle", "POLLUX_ALERT_SETTLE", "", &Settings::alert_settle, 0, 300,
     kRefuse, false, kLive,
     "How long an alert waits after the last verification of what it depends on, so that a "
     "common cause is found before anything is told."},
    {"alert_verify_timeout", "alertVerifyTimeout", "POLLUX_ALERT_VERIFY_TIMEOUT", "",
     &Settings::alert_verify_timeout, 1, 600, kRefuse, false, kLive,
     "How long the verification of a parent may take before an alert is told without it."},
    {"alert_gather", "alertGather", "POLLUX_ALERT_GATHER", "", &Settings::alert_gather, 0, 3600,
     kRefuse, false, kLive,
     "Alerts of one type that a target raises within so long of the first one share its incident, "
     "such as the ports of a line card; 0: each is an incident of its own."},
    {"flap_high_percent", "flapHighPercent", "POLLUX_FLAP_HIGH_PERCENT", "",
     &Settings::flap_high_percent, 1, 100, kRefuse, false, kLive,
     "Share of changes among the last states from which an alert is flapping."},
    {"flap_low_percent", "flapLowPercent", "POLLUX_FLAP_LOW_PERCENT", "",
     &Settings::flap_low_percent, 0, 100, kRefuse, false, kLive,
     "Share of changes below which it is not flapping any more."},
    {"flap_cool_down", "flapCoolDown", "POLLUX_FLAP_COOL_DOWN", "", &Settings::flap_cool_down, 60,
     kDay, kRefuse, false, kLive,
     "In any time of this length, at most `flap_notifications` messages about one alert that "
     "keeps coming back go to a receiver; the rest is told in one digest afterwards."},
    {"flap_notifications", "flapNotifications", "POLLUX_FLAP_NOTIFICATIONS", "",
     &Settings::flap_notifications, 1, 100, kRefuse, false, kLive,
     "Messages about one alert that keeps coming back, per `flap_cool_down`."},
    {"observer_least", "observerLeast", "POLLUX_OBSERVER_LEAST", "", &Settings::observer_least, 2,
     100'000, kRefuse, false, kLive,
     "So many unrelated devices must fail together before we suspect ourselves."},
    {"observer_share", "observerShare", "POLLUX_OBSERVER_SHARE", "", &Settings::observer_share,
     0.01, 1, kRefuse, false, kLive,
     "Share of the devices that must fail together before we suspect ourselves."},
    {"observer_window", "observerWindow", "POLLUX_OBSERVER_WINDOW", "", &Settings::observer_window,
     1, 3600, kRefuse, false, kLive, "What fails within this time fails together."},
    {"self_monitoring", "selfMonitoring", "POLLUX_SELF_MONITORING", "", &Settings::self_monitoring,
     0, 0, kRefuse, false, kLive,
     "Raise alerts about this server itself (`self_overloaded` and others). Switched off, those "
     "that are open are resolved."},
    {"self_backlog_share", "selfBacklogShare", "POLLUX_SELF_BACKLOG_SHARE", "",
     &Settings::self_backlog_share, 0.01, 1, kRefuse, false, kLive,
     "`self_overloaded`: share of the targets that may be ready and wait, and always a hundred."},
    {"self_start_lag", "selfStartLag", "POLLUX_SELF_START_LAG", "", &Settings::self_start_lag, 1,
     3600, kRefuse, false, kLive,
     "`self_overloaded`: how late polls may start, 95 % of those of the last minutes."},
    {"self_dead_letters", "selfDeadLetters", "POLLUX_SELF_DEAD_LETTERS", "",
     &Settings::self_dead_letters, 0, 1'000'000, kRefuse, false, kLive,
     "`self_dead_letters`: how many more dead letters there may be than the fewest of the last "
     "day."},
    {"self_breaker_open", "selfBreakerOpen", "POLLUX_SELF_BREAKER_OPEN", "",
     &Settings::self_breaker_open, 10, kDay, kRefuse, false, kLive,
     "`self_breaker_open`: how long the breaker of a target may be open of whose failure no alert "
     "tells."},
    {"self_success_ratio", "selfSuccessRatio", "POLLUX_SELF_SUCCESS_RATIO", "",
     &Settings::self_success_ratio, 0, 1, kRefuse, false, kLive,
     "`self_success_ratio`: share of the polls that must succeed; well again is when a fifth of "
     "the rest fails, 99 % for 95 %."},
    {"self_average_poll", "selfAveragePoll", "POLLUX_SELF_AVERAGE_POLL", "",
     &Settings::self_average_poll, 1, 600, kRefuse, false, kLive,
     "`self_slow_polls`: how long polls that succeed may take on average; well again are two "
     "fifths of it."},
    {"self_worker_cpu", "selfWorkerCpu", "POLLUX_SELF_WORKER_CPU", "", &Settings::self_worker_cpu,
     0.1, 1, kRefuse, false, kLive,
     "`self_worker_cpu`: share of a CPU that the busiest worker may use; well again are seven "
     "ninths of it."},
    {"smtp_host", "smtpHost", "POLLUX_SMTP_HOST", "", &Settings::smtp_host, 0, 0, kRefuse, false,
     kLive, "Mail server for e-mail channels that name none."},
    {"smtp_port", "smtpPort", "POLLUX_SMTP_PORT", "", &Settings::smtp_port, 1, 65535, kRefuse,
     false, kLive, "Port of the mail server."},
    {"smtp_security", "smtpSecurity", "POLLUX_SMTP_SECURITY", "",
     choice<&Settings::smtp_security>(kSmtpSecurityNames), 0, 0, kRefuse, false, kLive,
     "How the connection to the mail server is protected: `starttls` is required when it is "
     "set, `tls` is encrypted from the first byte, `none` only for a server on this machine."},
    {"smtp_from", "smtpFrom", "POLLUX_SMTP_FROM", "", &Settings::smtp_from, 0, 0, kRefuse, false,
     kLive, "Sender of mail, for e-mail channels that name none."},
    {"smtp_credentials", "smtpCredentials", "POLLUX_SMTP_CREDENTIALS", "",
     &Settings::smtp_credentials, 0, 0, kRefuse, false, kLive,
     "Credential with user name and password for the mail server."},
    {"external_url", "externalUrl", "POLLUX_EXTERNAL_URL", "", &Settings::external_url, 0, 0,
     kRefuse, false, kLive,
     "Address under which people reach this server; links in notifications begin with it."},
    {"sentinel_url", "sentinelUrl", "POLLUX_SENTINEL_URL", "", &Settings::sentinel_url, 0, 0,
     kRefuse, false, kLive,
     "Heartbeat to outside: this address is asked every `sentinel_interval`, so that somebody "
     "else notices when this server is dead."},
    {"sentinel_interval", "sentinelInterval", "POLLUX_SENTINEL_INTERVAL", "",
     &Settings::sentinel_interval, 1, 3600, kRefuse, false, kLive,
     "How often the heartbeat is sent, and how often the other server is asked."},
    {"sentinel_watch", "sentinelWatch", "POLLUX_SENTINEL_WATCH", "", &Settings::sentinel_watch, 0,
     0, kRefuse, false, kLive,
     "Address of another Pollux that this one watches; three missed answers raise an alert."},
    {"channel_folder", "channelFolder", "POLLUX_CHANNEL_FOLDER", "", &Settings::channel_folder, 0,
     0, kRefuse, false, kLive,
     "Folder with templates of channels of your own: `<name>.yaml` and `<name>/channel.yaml`. One "
     "with the name of a shipped template takes its place. Read at the start and at every reload."},
    {"alertmanager_urls", "alertmanagerUrls", "POLLUX_ALERTMANAGER_URLS", "",
     &Settings::alertmanager_urls, 0, 0, kRefuse, false, kLive,
     "Alertmanagers that are kept told of the open alerts, such as `http://alertmanager:9093`. All "
     "of them are told everything that people may be told; routing is theirs."},
    {"alertmanager_credentials", "alertmanagerCredentials", "POLLUX_ALERTMANAGER_CREDENTIALS", "",
     &Settings::alertmanager_credentials, 0, 0, kRefuse, false, kLive,
     "Credential for these: a token, or user name and password."},
};

constexpr SettingDef kProxmox[] = {
    {"backup_polling_enabled", "backupPollingEnabled", "ENABLE_BACKUP_POLLING", "",
     &Settings::backup_polling_enabled, 0, 0, kRefuse, false, kKept, "Ask for backups."},
    {"backup_polling_interval", "backupPollingInterval", "BACKUP_POLLING_INTERVAL", "",
     &Settings::backup_polling_interval, 0, kLongest, kIgnore, false, kKept,
     "Interval of asking for backups; 0: by cycles."},
    {"backup_polling_cycles", "", "BACKUP_POLLING_CYCLES", "", &Settings::backup_polling_cycles, 1,
     1'000'000, kIgnore, false, kKept, "Polls between two questions for backups."},
    {"guest_metadata_refresh", "", "GUEST_METADATA_MIN_REFRESH_INTERVAL", "",
     &Settings::guest_metadata_refresh, 0.1, kLongest, kIgnore, false, kKept,
     "Least time between two questions to a guest agent."},
    {"guest_metadata_jitter", "", "GUEST_METADATA_REFRESH_JITTER", "",
     &Settings::guest_metadata_jitter, 0, kLongest, kIgnore, false, kKept,
     "Spread of these questions."},
    {"guest_metadata_backoff", "", "GUEST_METADATA_RETRY_BACKOFF", "",
     &Settings::guest_metadata_backoff, 0.1, kLongest, kIgnore, false, kKept,
     "Wait after a guest agent failed."},
    {"guest_metadata_concurrency", "", "GUEST_METADATA_MAX_CONCURRENT", "",
     &Settings::guest_metadata_concurrency, 1, 1000, kIgnore, false, kKept,
     "Guest agents asked at once."},
};

constexpr std::size_t kRows = std::size(kAdaptive) + std::size(kIntervals) + std::size(kLimits) +
                              std::size(kServer) + std::size(kCommands) + std::size(kInbound) +
                              std::size(kAccess) + std::size(kAudit) + std::size(kJobs) +
                              std::size(kAlerts) + std::size(kProxmox);

constexpr std::array<SettingDef, kRows> all_rows() {
    std::array<SettingDef, kRows> rows{};
    std::size_t at = 0;
    for (const SettingDef& row : kAdaptive) rows[at++] = row;
    for (const SettingDef& row : kIntervals) rows[at++] = row;
    for (const SettingDef& row : kLimits) rows[at++] = row;
    for (const SettingDef& row : kServer) rows[at++] = row;
    for (const SettingDef& row : kCommands) rows[at++] = row;
    for (const SettingDef& row : kInbound) rows[at++] = row;
    for (const SettingDef& row : kAccess) rows[at++] = row;
    for (const SettingDef& row : kAudit) rows[at++] = row;
    for (const SettingDef& row : kJobs) rows[at++] = row;
    for (const SettingDef& row : kAlerts) rows[at++] = row;
    for (const SettingDef& row : kProxmox) rows[at++] = row;
    return rows;
}

constexpr std::array<SettingDef, kRows> kDefinitions = all_rows();

const SettingDef* find_by(std::string_view SettingDef::* name, std::string_view text) {
    if (text.empty()) return nullptr;
    const auto found = std::find_if(kDefinitions.begin(), kDefinitions.end(),
                                    [&](const SettingDef& row) { return row.*name == text; });
    return found == kDefinitions.end() ? nullptr : &*found;
}

}  // namespace

std::string_view to_string(Applies applies) {
    switch (applies) {
        case Applies::kLive: return "live";
        case Applies::kRestart: return "restart";
        case Applies::kKept: return "kept, no effect yet";
    }
    return "unknown";
}

std::span<const SettingDef> setting_definitions() { return kDefinitions; }

const SettingDef* find_setting(std::string_view key) { return find_by(&SettingDef::key, key); }

const SettingDef* find_setting_by_json(std::string_view json) {
    return find_by(&SettingDef::json, json);
}

std::size_t row_of(const SettingDef& definition) {
    return static_cast<std::size_t>(&definition - kDefinitions.data());
}

}  // namespace pollux::config
