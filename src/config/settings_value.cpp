// The text form of each type of setting: parsing with its range, and writing.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "config/channel_url.hpp"
#include "config/network_text.hpp"
#include "config/settings_registry.hpp"
#include "document/map_reader.hpp"
#include "document/scalar.hpp"
#include "model/task_key.hpp"

namespace pollux::config {
namespace {

using base::config_error;
using base::Duration;
using base::format_duration;
using base::quoted;
using base::Result;

constexpr std::string_view kUnparsable = "settings.unparsable";
constexpr std::string_view kRange = "settings.range";
constexpr std::size_t kMaxListItems = 1000;
constexpr std::size_t kMaxListenAddresses = 16;
constexpr std::size_t kLongestLine = 100;

std::unexpected<base::Error> unparsable(std::string_view text, std::string_view right) {
    return config_error(std::string(kUnparsable),
                        fmt::format("{} is not understood: it must be {}", quoted(text), right));
}

// Of what must not be passed over in the environment either: nobody shall believe that we listen
// where we do not, or that a certificate is shown that is not.
std::unexpected<base::Error> unusable(std::string_view text, std::string_view right) {
    return config_error(std::string(kRange),
                        fmt::format("{} is not understood: it must be {}", quoted(text), right));
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> items;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        std::string_view item = text.substr(0, comma);
        while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
        while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
        if (!item.empty()) items.emplace_back(item);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return items;
}

// "https://monitor.example.org/pollux", without a slash at its end.
bool is_web_address(std::string_view url) {
    const std::size_t scheme = url.starts_with("https://")  ? 8
                               : url.starts_with("http://") ? 7
                                                            : std::string_view::npos;
    const bool plain = std::ranges::all_of(url, [](char c) { return c > ' ' && c < 127; });
    return scheme != std::string_view::npos && url.size() > scheme && plain &&
           url.find_first_of("?#@\"<>") == std::string_view::npos;
}

std::string without_slash(std::string_view url) {
    while (url.ends_with('/')) url.remove_suffix(1);
    return std::string(url);
}

std::string join_list(const std::vector<std::string>& items) {
    return fmt::format("{}", fmt::join(items, ","));
}

// Checks a number against the range of its row; durations come as seconds.
template <class Number>
Result<ParsedSetting> store_in_range(const SettingDef& definition, Number value, Number low,
                                     Number high, std::string_view shown, Number& field) {
    if (value >= low && value <= high) {
        field = value;
        return ParsedSetting{};
    }
    if (definition.out_of_range == OutOfRange::kClamp) {
        field = std::clamp(value, low, high);
        return ParsedSetting{.clamped = true};
    }
    return config_error(std::string(kRange), fmt::format("{} is out of range: it must be {}", shown,
                                                         describe_type(definition)));
}

Result<AdaptiveScope> parse_scope(std::string_view text) {
    constexpr std::string_view kForms =
        "all, classes:a,b, groups:a,b, targets:a::b,c::d or percent:10";
    if (text == "all") return AdaptiveScope{};
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return unparsable(text, kForms);
    const std::string_view word = text.substr(0, colon);
    const std::string_view rest = text.substr(colon + 1);
    if (word == "percent") {
        const auto percent = document::parse_number(rest);
        if (!percent || *percent < 0 || *percent > 100) {
            return unparsable(text, "percent: with a number from 0 to 100");
        }
        return AdaptiveScope{.kind = ScopeKind::kPercent, .names = {}, .percent = *percent};
    }
    AdaptiveScope scope;
    if (word == "classes")
        scope.kind = ScopeKind::kClasses;
    else if (word == "groups")
        scope.kind = ScopeKind::kGroups;
    else if (word == "targets")
        scope.kind = ScopeKind::kTargets;
    else
        return unparsable(text, kForms);
    const std::vector<std::string> names = split_list(rest);
    if (names.empty() || names.size() > kMaxListItems) {
        return unparsable(text, fmt::format("{}: with 1 to {} names", word, kMaxListItems));
    }
    std::set<std::string> sorted;
    for (const std::string& name : names) {
        auto normal = model::normalise_name("name", name);
        if (!normal) return std::unexpected(std::move(normal.error()));
        sorted.insert(std::move(*normal));
    }
    scope.names.assign(sorted.begin(), sorted.end());
    return scope;
}

std::string scope_text(const AdaptiveScope& scope) {
    switch (scope.kind) {
        case ScopeKind::kAll: return "all";
        case ScopeKind::kClasses: return "classes:" + join_list(scope.names);
        case ScopeKind::kGroups: return "groups:" + join_list(scope.names);
        case ScopeKind::kTargets: return "targets:" + join_list(scope.names);
        case ScopeKind::kPercent: return fmt::format("percent:{}", scope.percent);
    }
    return "all";
}

// Parses by the type of the field; overloads below, one per alternative of SettingField.
struct Parser {
    const SettingDef& definition;
    std::string_view text;
    Settings& settings;

    Result<ParsedSetting> operator()(bool Settings::* field) const {
        const std::string word = lower(text);
        settings.*field = word != "0" && word != "false" && word != "no" && word != "off";
        return ParsedSetting{};
    }
    Result<ParsedSetting> operator()(std::int64_t Settings::* field) const {
        const auto value = document::parse_integer(text);
        if (!value) return unparsable(text, describe_type(definition));
        return store_in_range(definition, *value, static_cast<std::int64_t>(definition.low),
                              static_cast<std::int64_t>(definition.high), text, settings.*field);
    }
    Result<ParsedSetting> operator()(double Settings::* field) const {
        const auto value = document::parse_number(text);
        if (!value) return unparsable(text, describe_type(definition));
        return store_in_range(definition, *value, definition.low, definition.high, text,
                              settings.*field);
    }
    Result<ParsedSetting> operator()(Duration Settings::* field) const {
        const auto value = document::parse_duration(text);
        if (!value) return unparsable(text, describe_type(definition));
        return store_in_range(definition, *value, base::from_seconds(definition.low),
                              base::from_seconds(definition.high), format_duration(*value),
                              settings.*field);
    }
    Result<ParsedSetting> operator()(std::string Settings::* field) const {
        // The only text so far is an address to listen on.
        if (!is_address(text)) return unparsable(text, "an IPv4 or IPv6 address without port");
        settings.*field = text;
        return ParsedSetting{};
    }
    Result<ParsedSetting> operator()(std::vector<std::string> Settings::* field) const {
        std::vector<std::string> items = split_list(text);
        if (items.size() > kMaxListItems) {
            return unparsable(text, fmt::format("at most {} entries", kMaxListItems));
        }
        for (std::string& item : items) {
            if (field == &Settings::alertmanager_urls) {
                item = without_slash(item);
                if (!is_web_address(item)) {
                    return unparsable(item, "a list of addresses such as http://alertmanager:9093");
                }
            } else if (definition.paths) {
                const bool path = item.starts_with('/') && !base::has_control(item);
                if (!path) return unparsable(item, "an absolute path");
            } else if (!is_address_range(item)) {
                return unparsable(item, "an address range such as 10.0.0.0/8 or fd00::/8");
            }
        }
        settings.*field = std::move(items);
        return ParsedSetting{};
    }
    Result<ParsedSetting> operator()(ListenList Settings::* field) const {
        ListenList list;
        for (const std::string& item : split_list(text)) {
            const bool port_alone = item.find_first_not_of("0123456789") == std::string::npos;
            const std::string address = port_alone ? "127.0.0.1:" + item : item;
            const auto split = split_listen_address(address);
            if (address != "systemd" && (!split || split->port < definition.low ||
                                         list.items.size() >= kMaxListenAddresses)) {
                return unusable(item,
                                "an address with a port, such as 127.0.0.1:1162 or [::1]:1162, "
                                "or systemd; at most 16 of them");
            }
            list.items.push_back(address);
        }
        settings.*field = std::move(list);
        return ParsedSetting{};
    }
    Result<ParsedSetting> operator()(WebAddress Settings::* field) const {
        std::string url = without_slash(text);
        if (!url.empty() && !is_web_address(url)) {
            return unparsable(text, "an address such as https://monitor.example.org/pollux");
        }
        (settings.*field).text = std::move(url);
        return ParsedSetting{};
    }
    Result<ParsedSetting> operator()(FilePath Settings::* field) const {
        const bool good = text.empty() || (text.starts_with('/') && !base::has_control(text));
        if (!good) return unusable(text, "an absolute path");
        (settings.*field).text = text;
        return ParsedSetting{};
    }
    Result<ParsedSetting> operator()(HeaderName Settings::* field) const {
        const bool good = text.size() <= 64 && std::ranges::all_of(text, [](char c) {
                              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                     (c >= '0' && c <= '9') || c == '-' || c == '_';
                          });
        if (!good) return unparsable(text, "the name of a header such as X-Forwarded-User");
        (settings.*field).text = text;
        return ParsedSetting{};
    }
    Result<ParsedSetting> operator()(HostText Settings::* field) const {
        if (!text.empty() && !is_address(text) && !is_host_name(text)) {
            return unparsable(text, "a host name or address, such as mail.example.org");
        }
        (settings.*field).text = text;
        return ParsedSetting{};
    }
    Result<ParsedSetting> operator()(MailText Settings::* field) const {
        if (!text.empty() && !is_mail_address(text)) {
            return unparsable(text, "a mail address such as pollux@example.org");
        }
        (settings.*field).text = text;
        return ParsedSetting{};
    }
    Result<ParsedSetting> operator()(CredentialName Settings::* field) const {
        std::string name;
        if (!text.empty()) {
            auto normal = model::normalise_name("credential", text);
            if (!normal) return std::unexpected(std::move(normal.error()));
            name = std::move(*normal);
        }
        (settings.*field).text = std::move(name);
        return ParsedSetting{};
    }
    Result<ParsedSetting> operator()(LineText Settings::* field) const {
        const bool good =
            text.size() <= kLongestLine && base::is_valid_utf8(text) && !base::has_control(text);
        if (!good) return unparsable(text, describe_type(definition));
        (settings.*field).text = text;
        return ParsedSetting{};
    }
    Result<ParsedSetting> operator()(GroupNames Settings::* field) const {
        GroupNames groups;
        for (const std::string& item : split_list(text)) {
            auto name = model::normalise_name("group", item);
            if (!name) return std::unexpected(std::move(name.error()));
            if (groups.items.size() >= kMaxListItems) {
                return unparsable(text, fmt::format("at most {} groups", kMaxListItems));
            }
            if (std::ranges::find(groups.items, *name) == groups.items.end()) {
                groups.items.push_back(std::move(*name));
            }
        }
        settings.*field = std::move(groups);
        return ParsedSetting{};
    }
    Result<ParsedSetting> operator()(GroupRoles Settings::* field) const {
        GroupRoles groups;
        for (const std::string& item : split_list(text)) {
            const std::size_t equals = item.rfind('=');
            const std::string role = equals == std::string::npos ? "" : item.substr(equals + 1);
            const bool known = std::ranges::find(kAccessRoleNames, role) != kAccessRoleNames.end();
            if (!known || equals == 0 || base::has_control(item) ||
                groups.items.size() >= kMaxListItems) {
                return unparsable(item, fmt::format("a group and its role, such as wheel=admin, "
                                                    "with a role of {}",
                                                    document::word_list(kAccessRoleNames)));
            }
            groups.items.emplace_back(item.substr(0, equals), role);
        }
        settings.*field = std::move(groups);
        return ParsedSetting{};
    }
    Result<ParsedSetting> operator()(AdaptiveScope Settings::* field) const {
        auto scope = parse_scope(text);
        if (!scope) return std::unexpected(std::move(scope.error()));
        settings.*field = std::move(*scope);
        return ParsedSetting{};
    }
    Result<ParsedSetting> operator()(const ChoiceField& field) const {
        const std::string word = lower(text);
        for (std::size_t i = 0; i < field.names.size(); ++i) {
            if (field.names[i] != word) continue;
            field.set(settings, i);
            return ParsedSetting{};
        }
        return unparsable(text, document::word_list(field.names));
    }
};

struct Formatter {
    const Settings& settings;

    std::string operator()(bool Settings::* field) const {
        return settings.*field ? "true" : "false";
    }
    std::string operator()(std::int64_t Settings::* field) const {
        return fmt::format("{}", settings.*field);
    }
    std::string operator()(double Settings::* field) const {
        return fmt::format("{}", settings.*field);
    }
    std::string operator()(Duration Settings::* field) const {
        return document::duration_text(settings.*field);
    }
    std::string operator()(std::string Settings::* field) const { return settings.*field; }
    std::string operator()(std::vector<std::string> Settings::* field) const {
        return join_list(settings.*field);
    }
    std::string operator()(ListenList Settings::* field) const {
        return join_list((settings.*field).items);
    }
    std::string operator()(WebAddress Settings::* field) const { return (settings.*field).text; }
    std::string operator()(FilePath Settings::* field) const { return (settings.*field).text; }
    std::string operator()(HeaderName Settings::* field) const { return (settings.*field).text; }
    std::string operator()(HostText Settings::* field) const { return (settings.*field).text; }
    std::string operator()(MailText Settings::* field) const { return (settings.*field).text; }
    std::string operator()(CredentialName Settings::* field) const {
        return (settings.*field).text;
    }
    std::string operator()(LineText Settings::* field) const { return (settings.*field).text; }
    std::string operator()(GroupNames Settings::* field) const {
        return join_list((settings.*field).items);
    }
    std::string operator()(GroupRoles Settings::* field) const {
        std::vector<std::string> items;
        for (const auto& [group, role] : (settings.*field).items) {
            items.push_back(fmt::format("{}={}", group, role));
        }
        return join_list(items);
    }
    std::string operator()(AdaptiveScope Settings::* field) const {
        return scope_text(settings.*field);
    }
    std::string operator()(const ChoiceField& field) const {
        return std::string(field.names[field.get(settings)]);
    }
};

struct TypeWords {
    const SettingDef& definition;

    std::string operator()(bool Settings::*) const { return "true or false"; }
    std::string operator()(std::int64_t Settings::*) const {
        return fmt::format("a whole number from {:.0f} to {:.0f}", definition.low, definition.high);
    }
    std::string operator()(double Settings::*) const {
        return fmt::format("a number from {} to {:.0f}", definition.low, definition.high);
    }
    std::string operator()(Duration Settings::*) const {
        return fmt::format("a duration from {} to {}",
                           format_duration(base::from_seconds(definition.low)),
                           format_duration(base::from_seconds(definition.high)));
    }
    std::string operator()(std::string Settings::*) const { return "an address"; }
    std::string operator()(std::vector<std::string> Settings::* field) const {
        if (field == &Settings::alertmanager_urls) return "a list of http or https addresses";
        return definition.paths ? "a list of absolute paths" : "a list of address ranges";
    }
    std::string operator()(ListenList Settings::*) const {
        return "a list of addresses with ports";
    }
    std::string operator()(WebAddress Settings::*) const { return "an http or https address"; }
    std::string operator()(FilePath Settings::*) const { return "an absolute path"; }
    std::string operator()(HeaderName Settings::*) const { return "the name of a header"; }
    std::string operator()(HostText Settings::*) const { return "a host name or address"; }
    std::string operator()(MailText Settings::*) const { return "a mail address"; }
    std::string operator()(CredentialName Settings::*) const { return "a name of a credential"; }
    std::string operator()(LineText Settings::*) const {
        return fmt::format("a line of text of at most {} bytes", kLongestLine);
    }
    std::string operator()(GroupNames Settings::*) const { return "a list of names of groups"; }
    std::string operator()(GroupRoles Settings::*) const { return "a list of group=role"; }
    std::string operator()(AdaptiveScope Settings::*) const { return "a scope"; }
    std::string operator()(const ChoiceField& field) const {
        return document::word_list(field.names);
    }
};

}  // namespace

Result<ParsedSetting> parse_into(const SettingDef& definition, std::string_view text,
                                 Settings& settings) {
    return std::visit(Parser{definition, text, settings}, definition.field);
}

std::string format_value(const SettingDef& definition, const Settings& settings) {
    return std::visit(Formatter{settings}, definition.field);
}

std::string describe_type(const SettingDef& definition) {
    return std::visit(TypeWords{definition}, definition.field);
}

}  // namespace pollux::config
