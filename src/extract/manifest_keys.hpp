// The keys of each part of a manifest: what the reader accepts, and what the JSON Schema of the
// dialect must list (a test compares them).
#pragma once

#include <string_view>

namespace pollux::extract::keys {

inline constexpr std::string_view kSchemaName = "pollux/1";

inline constexpr std::string_view kManifest[] = {
    "schema",   "name",     "version", "title",        "description", "category",
    "protocol", "interval", "timeout", "groups",       "parameters",  "port",
    "http",     "snmp",     "metrics", "conditions",   "change",      "trap",
    "webhook",  "push",     "signals", "signal_types", "credentials", "ssh",
    "exec",     "tcp",      "tls",     "icmp",         "dns"};
// Of these only the one of the protocol may be there.
inline constexpr std::string_view kSections[] = {"http", "snmp", "ssh",  "exec",    "tcp", "tls",
                                                 "icmp", "dns",  "trap", "webhook", "push"};
inline constexpr std::string_view kCredentials[] = {"username", "password", "token", "community",
                                                    "ssh_key"};
inline constexpr std::string_view kParameter[] = {"type", "required", "default", "example",
                                                  "description"};
inline constexpr std::string_view kHttp[] = {"base",  "auth",    "tls",
                                             "http2", "headers", "endpoints"};
inline constexpr std::string_view kAuth[] = {"type", "header"};
inline constexpr std::string_view kTls[] = {"verify", "ca_file", "pin_sha256"};
inline constexpr std::string_view kEndpoint[] = {
    "name",      "path",       "method",      "headers",    "body",      "group",
    "interval",  "timeout",    "expect",      "redirects",  "max_body",  "format",
    "separator", "optional",   "rows",        "on_failure", "on_status", "table",
    "grok",      "instead_of", "when_status", "lenient"};
inline constexpr std::string_view kTextTable[] = {"separator", "columns", "fixed", "skip"};
inline constexpr std::string_view kGrok[] = {"pattern", "patterns", "fields", "whole"};
inline constexpr std::string_view kJsonRows[] = {"from", "name", "include", "exclude", "where"};
inline constexpr std::string_view kCommands[] = {"commands"};
inline constexpr std::string_view kSshCommand[] = {
    "name",      "command",  "group", "interval",   "timeout", "expect", "format",
    "separator", "optional", "rows",  "max_output", "table",   "grok",   "on_failure"};
inline constexpr std::string_view kExecCommand[] = {
    "name",       "command",     "group",     "interval", "timeout",
    "expect",     "format",      "separator", "optional", "rows",
    "max_output", "environment", "table",     "grok",     "on_failure"};
inline constexpr std::string_view kTcpCheck[] = {"send", "expect", "max_bytes"};
inline constexpr std::string_view kTlsCheck[] = {"starttls", "server_name", "ca_file",
                                                 "require_valid", "rows"};
inline constexpr std::string_view kIcmp[] = {"count", "spacing", "payload"};
inline constexpr std::string_view kDns[] = {"queries"};
inline constexpr std::string_view kDnsQuery[] = {"name",  "query",     "type",    "recursion",
                                                 "group", "interval",  "timeout", "optional",
                                                 "rows",  "on_failure"};
inline constexpr std::string_view kSnmp[] = {
    "version", "max_repetitions", "max_varbinds", "max_rows", "resends", "gets", "tables"};
inline constexpr std::string_view kGet[] = {"name", "oid", "group"};
inline constexpr std::string_view kTable[] = {"name",     "columns", "row",     "group",
                                              "interval", "include", "exclude", "where"};
inline constexpr std::string_view kFilter[] = {"include", "exclude"};
inline constexpr std::string_view kMetric[] = {
    "name", "type",  "unit",   "help",  "rows",    "get",      "column",   "endpoint",
    "path", "key",   "header", "fact",  "pattern", "matches",  "value",    "ratio",
    "map",  "scale", "offset", "valid", "bits",    "optional", "internal", "time_format"};
inline constexpr std::string_view kRatio[] = {"of", "to", "factor"};
inline constexpr std::string_view kValid[] = {"min", "max"};
inline constexpr std::string_view kCondition[] = {
    "name",     "metric",     "trigger",   "clear",           "severity",   "summary",      "rate",
    "show",     "window",     "absent",    "changed",         "severities", "explained_by", "for",
    "failures", "recoveries", "min_delta", "keep_firing_for", "after_clear"};
inline constexpr std::string_view kSignal[] = {"name",        "type",
                                               "rows",        "when",
                                               "clear_when",  "clear_suffix",
                                               "trap",        "clear_trap",
                                               "severity",    "category",
                                               "title",       "message",
                                               "clears",      "fingerprint_fields",
                                               "fields",      "device_address",
                                               "device_name", "time",
                                               "reconcile"};
inline constexpr std::string_view kSignalType[] = {
    "enabled", "severity", "category", "title", "message", "clears", "for", "keep_firing_for"};
inline constexpr std::string_view kTrap[] = {"enterprise", "varbinds"};
inline constexpr std::string_view kWebhook[] = {"format", "separator", "fields",
                                                "rows",   "table",     "grok"};
inline constexpr std::string_view kPush[] = {"interval", "grace"};
inline constexpr std::string_view kChange[] = {"metric", "tolerance"};

}  // namespace pollux::extract::keys
