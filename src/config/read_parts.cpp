// Reading of what several kinds of objects share: names, texts, intervals, poll settings.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "config/fleet_parts.hpp"
#include "document/scalar.hpp"
#include "model/task_key.hpp"
#include "model/validate.hpp"

namespace pollux::config::parts {

using base::Duration;
using base::quoted;
using document::Diagnostics;
using document::key_path;
using document::MapEntry;
using document::MapReader;
using document::Mark;
using document::Node;

namespace {

constexpr std::size_t kMaxTextBytes = 4096;
constexpr std::int64_t kMaxResends = 10;
constexpr std::int64_t kMaxSnmpVarbinds = 200;
constexpr std::int64_t kMaxSnmpRepetitions = 1000;
constexpr std::int64_t kMaxSnmpParallel = 64;
constexpr std::int64_t kMaxSlots = 1'000'000;
constexpr double kLeastRate = 0.001;
constexpr double kMaxRate = 1e7;

void check_order(MapReader& reader, std::string_view small_name,
                 const std::optional<Duration>& small, std::string_view large_name,
                 const std::optional<Duration>& large) {
    if (!small || !large || *small <= *large) return;
    reader.error(
        small_name,
        fmt::format("{} is greater than {} = {}; the rule is min <= base <= max",
                    base::format_duration(*small), large_name, base::format_duration(*large)));
}

TlsOverrides read_tls(MapReader& outer, Diagnostics& diagnostics) {
    TlsOverrides tls;
    const Node* node = outer.map("tls");
    if (node == nullptr) return tls;
    MapReader reader(*node, outer.path_of("tls"), diagnostics);
    tls.verify = reader.boolean("verify");
    tls.ca_file = reader.string("ca_file");
    if (tls.ca_file && !tls.ca_file->starts_with('/')) {
        reader.error("ca_file", "must be an absolute path, like /etc/pollux/ca.pem");
    }
    tls.pin_sha256 = reader.string("pin_sha256");
    const auto is_hex = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    };
    if (tls.pin_sha256) {
        std::string hex;
        std::copy_if(tls.pin_sha256->begin(), tls.pin_sha256->end(), std::back_inserter(hex),
                     [](char c) { return c != ':'; });
        if (hex.size() != 64 || !std::all_of(hex.begin(), hex.end(), is_hex)) {
            reader.error("pin_sha256",
                         "must be the 64 hexadecimal digits of the certificate's SHA-256, as "
                         "`openssl x509 -noout -fingerprint -sha256` prints it");
        }
        for (char& c : hex) c = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
        tls.pin_sha256 = std::move(hex);
    }
    reader.finish();
    return tls;
}

SnmpOverrides read_snmp(MapReader& outer, Diagnostics& diagnostics) {
    SnmpOverrides snmp;
    const Node* node = outer.map("snmp");
    if (node == nullptr) return snmp;
    MapReader reader(*node, outer.path_of("snmp"), diagnostics);
    snmp.version = reader.choice<model::SnmpVersion>("version", {{"1", model::SnmpVersion::kV1},
                                                                 {"2c", model::SnmpVersion::kV2c},
                                                                 {"3", model::SnmpVersion::kV3}});
    if (const auto text = reader.string("community")) {
        auto reference = parse_secret_reference(*text);
        if (!reference) {
            reader.error("community", reference.error().message);
        } else if (reference->kind == SecretKind::kLiteral && *text != "public") {
            reader.error("community",
                         "must not be written here, where it would be stored and shown in the "
                         "clear; write ${VARIABLE}, file:/path or vault:name, or put it into the "
                         "section `credentials` and name that with `credentials:`");
        } else {
            snmp.community = std::move(*reference);
        }
    }
    const auto count = [&](std::string_view key,
                           std::int64_t most) -> std::optional<std::uint32_t> {
        const auto value = reader.integer(key, 1, most);
        if (!value) return std::nullopt;
        return static_cast<std::uint32_t>(*value);
    };
    snmp.max_varbinds = count("max_varbinds", kMaxSnmpVarbinds);
    snmp.max_repetitions = count("max_repetitions", kMaxSnmpRepetitions);
    snmp.parallel = count("parallel", kMaxSnmpParallel);
    snmp.bulk = reader.boolean("bulk");
    reader.finish();
    return snmp;
}

template <class Value, class Read>
ByName<Value> read_map(MapReader& outer, std::string_view key, std::string_view kind,
                       Diagnostics& diagnostics, Read&& read) {
    ByName<Value> result;
    const Node* node = outer.map(key);
    if (node == nullptr) return result;
    const std::string path = outer.path_of(key);
    MapReader reader(*node, path, diagnostics);
    for (const MapEntry& entry : node->entries()) {
        const auto name =
            read_name(kind, entry.key, entry.key_mark, key_path(path, entry.key), diagnostics);
        const std::optional<Value> value = read(reader, entry.key);
        if (!name || !value) continue;
        if (!result.emplace(*name, *value).second) {
            reader.error(entry.key, fmt::format("{} {} is there twice", kind, quoted(*name)));
        }
    }
    return result;
}

}  // namespace

std::optional<std::string> read_name(std::string_view kind, std::string_view text, const Mark& mark,
                                     std::string_view field, Diagnostics& diagnostics) {
    auto name = model::normalise_name(kind, text);
    if (name) return std::move(*name);
    diagnostics.error(mark, std::string(field), name.error().message);
    return std::nullopt;
}

std::vector<std::string> read_names(MapReader& reader, std::string_view key, std::string_view kind,
                                    Diagnostics& diagnostics) {
    std::vector<std::string> names;
    const Node* node = reader.any(key);
    if (node == nullptr) return names;
    std::set<std::string> seen;
    const auto take = [&](const Node& item, const std::string& path) {
        if (!item.is_scalar()) {
            diagnostics.error(
                item.mark(), path,
                fmt::format("is {}; the name of a {} is wanted", document::kind_name(item), kind));
            return;
        }
        auto name = read_name(kind, item.scalar(), item.mark(), path, diagnostics);
        if (!name) return;
        if (!seen.insert(*name).second) {
            diagnostics.error(item.mark(), path, fmt::format("{} is there twice", quoted(*name)));
            return;
        }
        names.push_back(std::move(*name));
    };
    const std::string path = reader.path_of(key);
    if (!node->is_sequence()) {
        take(*node, path);
        return names;
    }
    for (std::size_t i = 0; i < node->items().size(); ++i) {
        take(node->items()[i], document::item_path(path, i));
    }
    return names;
}

ByName<std::string> read_texts(MapReader& reader, std::string_view key, Diagnostics& diagnostics) {
    return read_map<std::string>(
        reader, key, "name", diagnostics,
        [](MapReader& inner, std::string_view name) -> std::optional<std::string> {
            if (inner.node().find(name)->is_null()) return std::string();
            auto text = inner.string(name);
            if (text && text->size() > kMaxTextBytes) {
                inner.error(name, fmt::format("has {} bytes, at most {} are allowed", text->size(),
                                              kMaxTextBytes));
                return std::nullopt;
            }
            return text;
        });
}

IntervalRange read_interval(MapReader& outer, Diagnostics& diagnostics) {
    IntervalRange interval;
    const Node* node = outer.any("interval");
    if (node == nullptr) return interval;
    if (!node->is_map()) {
        interval.base =
            outer.duration("interval", model::kShortestInterval, model::kLongestInterval);
        return interval;
    }
    MapReader reader(*node, outer.path_of("interval"), diagnostics);
    const auto get = [&](std::string_view key) {
        return reader.duration(key, model::kShortestInterval, model::kLongestInterval);
    };
    interval = {get("min"), get("base"), get("max")};
    check_order(reader, "min", interval.min, "base", interval.base);
    check_order(reader, "base", interval.base, "max", interval.max);
    if (!interval.base) check_order(reader, "min", interval.min, "max", interval.max);
    reader.finish();
    return interval;
}

void read_poll(MapReader& reader, Diagnostics& diagnostics, Reach reach, PollSettings& settings) {
    settings.enabled = reader.boolean("enabled");
    settings.adaptive = reader.boolean("adaptive");
    if (const auto tier = reader.one_of("tier", model::kTierNames)) {
        settings.tier = static_cast<model::Tier>(*tier);
    }
    settings.interval = read_interval(reader, diagnostics);
    settings.staleness_bound =
        reader.duration("staleness_bound", model::kShortestInterval, model::kLongestInterval);
    settings.timeout =
        reader.duration("timeout", std::chrono::milliseconds(10), std::chrono::hours(1));
    if (const auto resends = reader.integer("resends", 0, kMaxResends)) {
        settings.resends = static_cast<std::uint32_t>(*resends);
    }
    settings.failure_profile = reader.choice<model::FailureProfile>(
        "failure_profile", {{"ladder", model::FailureProfile::kLadder},
                            {"pulse", model::FailureProfile::kPulse},
                            {"opsconductor", model::FailureProfile::kOpsconductor}});
    if (const auto port = reader.integer("port", 1, 65'535)) {
        settings.port = static_cast<std::uint16_t>(*port);
    }
    if (const auto text = reader.string("credentials")) {
        settings.credentials = read_name("credential", *text, reader.any("credentials")->mark(),
                                         reader.path_of("credentials"), diagnostics);
    }
    settings.grace = reader.duration("grace", Duration::zero(), model::kLongestInterval);
    settings.confirm = reader.boolean("confirm");
    settings.failure_alert = reader.choice<model::FailureAlert>(
        "failure_alert", {{"first", model::FailureAlert::kFirst},
                          {"confirmed", model::FailureAlert::kConfirmed},
                          {"never", model::FailureAlert::kOff}});
    settings.tls = read_tls(reader, diagnostics);
    settings.snmp = read_snmp(reader, diagnostics);
    settings.alerts = read_alerts(reader, diagnostics);
    settings.params = read_texts(reader, "params", diagnostics);
    if (reach == Reach::kOneAddon)
        settings.group_intervals = read_map<Duration>(
            reader, "group_intervals", "poll group", diagnostics,
            [](MapReader& inner, std::string_view name) {
                return inner.duration(name, model::kShortestInterval, model::kLongestInterval);
            });
    settings.resources = read_map<std::int64_t>(
        reader, "resources", "resource", diagnostics,
        [](MapReader& inner, std::string_view name) { return inner.amount(name); });
}

void read_device_settings(MapReader& outer, Diagnostics& diagnostics, DeviceSettings& settings) {
    if (const auto text = outer.string("region")) {
        settings.region = read_name("region", *text, outer.any("region")->mark(),
                                    outer.path_of("region"), diagnostics);
    }
    const Node* node = outer.map("limits");
    if (node == nullptr) return;
    MapReader reader(*node, outer.path_of("limits"), diagnostics);
    settings.rate = reader.number("rate", kLeastRate, kMaxRate);
    const auto count = [&](std::string_view key) -> std::optional<std::uint32_t> {
        const auto value = reader.integer(key, 1, kMaxSlots);
        if (!value) return std::nullopt;
        return static_cast<std::uint32_t>(*value);
    };
    settings.slots = count("slots");
    settings.slots_per_class = count("slots_per_class");
    reader.finish();
}

}  // namespace pollux::config::parts
