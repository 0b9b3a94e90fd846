// Export and import, objects and back: the same fleet, whatever it holds.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "config/config_test_support.hpp"
#include "config/fleet_export.hpp"
#include "config/membership.hpp"
#include "config/objects.hpp"

namespace pollux::config {
namespace {

using testing::read;

// Words that YAML would take for something else belong among the names.
const std::vector<std::string> kNames = {
    "a",           "web-1",      "true",        "null", "~",     "1.10",   "0x1F",   "- x",
    "a: b",        "#c",         "caf\xC3\xA9", "[x]",  "{y}",   "'q'",    "\"qq\"", "*",
    "&z",          "|",          "a::b",        "no",   " lead", "trail ", "%tag",   "@at",
    "back\\slash", "2026-01-01", "1e3",         ".",    "=",     "<<"};
const std::vector<std::string> kAddons = {"snmp-system", "http-json", "pve", "0", "true"};

rc::Gen<std::string> name() { return rc::gen::elementOf(kNames); }

rc::Gen<base::Duration> duration() {
    return rc::gen::map(rc::gen::inRange<std::int64_t>(100, 2'000'000'000), [](std::int64_t ms) {
        return base::Duration(std::chrono::milliseconds(ms));
    });
}

template <class T>
std::optional<T> maybe(const rc::Gen<T>& gen) {
    if (*rc::gen::inRange(0, 3) != 0) return std::nullopt;
    return *gen;
}

std::vector<std::string> some_names() {
    std::set<std::string> names;
    const int count = *rc::gen::inRange(0, 4);
    for (int i = 0; i < count; ++i) names.insert(*name());
    return {names.begin(), names.end()};
}

ByName<std::string> some_texts() {
    ByName<std::string> texts;
    for (const std::string& key : some_names()) {
        texts[key] = *rc::gen::oneOf(name(), rc::gen::just(std::string()));
    }
    return texts;
}

SecretReference some_reference() {
    const auto kind =
        *rc::gen::element(SecretKind::kEnvironment, SecretKind::kFile, SecretKind::kVault);
    if (kind == SecretKind::kEnvironment) return {kind, "SOME_VARIABLE", {}};
    if (kind == SecretKind::kFile) return {kind, "/run/" + *name(), {}};
    return {kind, *name(), {}};
}

model::AlertOverride some_override() {
    model::AlertOverride out;
    const auto limit = rc::gen::map(rc::gen::inRange(-1'000'000, 1'000'000),
                                    [](int value) { return value / 8.0; });
    out.enabled = maybe(rc::gen::arbitrary<bool>());
    out.trigger = maybe(limit);
    out.clear = maybe(limit);
    out.severity = maybe(rc::gen::element(model::Severity::kInfo, model::Severity::kCritical));
    const auto patience =
        rc::gen::map(rc::gen::inRange<std::int64_t>(0, 600'000),
                     [](std::int64_t ms) { return base::Duration(std::chrono::milliseconds(ms)); });
    out.sustained = maybe(patience);
    out.keep_firing_for = maybe(patience);
    return out;
}

ByName<AlertSettings> some_alerts() {
    ByName<AlertSettings> alerts;
    for (const std::string& type : some_names()) {
        AlertSettings& settings = alerts[type];
        settings.all = some_override();
        for (const std::string& row : some_names()) settings.rows[row] = some_override();
    }
    return alerts;
}

PollSettings some_poll(bool one_addon) {
    PollSettings poll;
    poll.enabled = maybe(rc::gen::arbitrary<bool>());
    poll.adaptive = maybe(rc::gen::arbitrary<bool>());
    poll.tier = maybe(rc::gen::element(model::Tier::kLow, model::Tier::kCritical));
    poll.interval.base = maybe(duration());
    if (poll.interval.base) {
        if (*rc::gen::arbitrary<bool>()) poll.interval.min = base::Duration(100ULL * 1'000'000);
        if (*rc::gen::arbitrary<bool>()) poll.interval.max = *poll.interval.base;
    }
    poll.staleness_bound = maybe(duration());
    poll.timeout = maybe(rc::gen::just(base::Duration(std::chrono::milliseconds(1500))));
    poll.resends = maybe(rc::gen::inRange<std::uint32_t>(0, 10));
    poll.failure_profile = maybe(
        rc::gen::element(model::FailureProfile::kLadder, model::FailureProfile::kOpsconductor));
    poll.port = maybe(rc::gen::inRange<std::uint16_t>(1, 65'535));
    poll.credentials = maybe(name());
    poll.grace = maybe(duration());
    poll.confirm = maybe(rc::gen::arbitrary<bool>());
    poll.failure_alert =
        maybe(rc::gen::element(model::FailureAlert::kFirst, model::FailureAlert::kOff));
    if (*rc::gen::inRange(0, 3) == 0) poll.alerts = some_alerts();
    poll.tls.verify = maybe(rc::gen::arbitrary<bool>());
    poll.tls.ca_file = maybe(rc::gen::just(std::string("/etc/ca.pem")));
    poll.tls.pin_sha256 = maybe(rc::gen::just(std::string(64, '7')));
    poll.snmp.version = maybe(rc::gen::element(model::SnmpVersion::kV1, model::SnmpVersion::kV2c));
    if (*rc::gen::inRange(0, 4) == 0) poll.snmp.community = some_reference();
    poll.snmp.max_varbinds = maybe(rc::gen::inRange(1U, 201U));
    poll.snmp.max_repetitions = maybe(rc::gen::inRange(1U, 1001U));
    poll.snmp.parallel = maybe(rc::gen::inRange(1U, 65U));
    poll.snmp.bulk = maybe(rc::gen::arbitrary<bool>());
    poll.params = some_texts();
    for (const std::string& resource : some_names()) {
        poll.resources[resource] = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000);
    }
    if (!one_addon) return poll;
    for (const std::string& group : some_names()) poll.group_intervals[group] = *duration();
    return poll;
}

DeviceSettings some_device_settings() {
    DeviceSettings settings;
    settings.region = maybe(name());
    settings.rate = maybe(
        rc::gen::map(rc::gen::inRange(1, 1'000'000), [](int value) { return value / 1000.0; }));
    settings.slots = maybe(rc::gen::inRange<std::uint32_t>(1, 100));
    settings.slots_per_class = maybe(rc::gen::inRange<std::uint32_t>(1, 100));
    return settings;
}

ByName<PollSettings> some_addons() {
    ByName<PollSettings> addons;
    for (const std::string& addon : kAddons) {
        if (*rc::gen::inRange(0, 3) == 0) addons[addon] = some_poll(true);
    }
    return addons;
}

Device some_device() {
    Device device;
    device.addresses =
        *rc::gen::element(std::vector<std::string>{}, std::vector<std::string>{"192.0.2.1"},
                          std::vector<std::string>{"2001:db8::1", "web.example"});
    device.labels = some_texts();
    device.groups = some_names();
    for (const std::string& parent : some_names()) device.parents.push_back({parent});
    if (const auto any_of = some_names(); !any_of.empty()) device.parents.push_back(any_of);
    device.behind = *rc::gen::element(Behind::kNetwork, Behind::kConnection);
    device.addons = some_addons();
    device.device = some_device_settings();
    device.poll = some_poll(false);
    return device;
}

Group some_group() {
    Group group;
    group.parent = maybe(name()).value_or("");
    group.members = some_names();
    for (const std::string& label : some_names()) {
        const auto values = some_names();
        group.match[label] = values.empty() ? std::vector<std::string>{"*"} : values;
    }
    group.addons = some_addons();
    group.device = some_device_settings();
    group.poll = some_poll(false);
    return group;
}

Source some_source() {
    Source source;
    source.kind = *rc::gen::element(SourceKind::kFile, SourceKind::kHttp);
    if (source.kind == SourceKind::kHttp) {
        source.url = "https://inventory.example/sd?a=b";
    } else {
        source.paths = *rc::gen::element(std::vector<std::string>{"/a.json"},
                                         std::vector<std::string>{"/b/*.yml", "/c.json"});
    }
    source.refresh = std::chrono::seconds(*rc::gen::inRange(1, 86'400));
    source.credentials = maybe(name()).value_or("");
    source.addons = some_names();
    source.groups = some_names();
    source.labels = some_texts();
    source.label_map = some_texts();
    source.name_label = maybe(name()).value_or("");
    source.region_label = maybe(name());
    return source;
}

model::CronWindow some_window() {
    return {*rc::gen::element<std::string>("0 22 * * *", "@daily", "*/5 8-18 1,15 jan mon"),
            std::chrono::minutes(*rc::gen::inRange(1, 10'000)),
            *rc::gen::element<std::string>("UTC", "Europe/Berlin")};
}

std::vector<model::CronWindow> some_windows() {
    std::vector<model::CronWindow> windows;
    const int count = *rc::gen::inRange(0, 3);
    for (int i = 0; i < count; ++i) windows.push_back(some_window());
    return windows;
}

std::vector<model::LabelMatcher> some_matchers() {
    std::vector<model::LabelMatcher> matchers = {{"device", model::MatchOperator::kEqual, "a"}};
    for (const std::string& label : some_names()) {
        matchers.push_back(
            {label,
             *rc::gen::element(model::MatchOperator::kEqual, model::MatchOperator::kNotEqual),
             *name()});
    }
    return matchers;
}

model::Receiver some_receiver() {
    model::Receiver receiver;
    model::Channel channel;
    channel.name = *name();
    channel.url = "https://example.org/hook?a=b";
    channel.template_name = maybe(name()).value_or("");
    channel.credentials = maybe(name()).value_or("");
    channel.params = some_texts();
    channel.per_minute = *rc::gen::inRange<std::uint32_t>(0, 600);
    channel.send_resolved = *rc::gen::arbitrary<bool>();
    receiver.channels.push_back(channel);
    model::Channel mail;
    mail.name = channel.name + "-mail";
    mail.kind = model::ChannelKind::kEmail;
    mail.to = {"a@example.org", "b@example.org"};
    mail.from = maybe(rc::gen::just(std::string("me@example.org"))).value_or("");
    if (*rc::gen::arbitrary<bool>()) receiver.channels.push_back(mail);
    model::Channel program;
    program.name = channel.name + "-exec";
    program.kind = model::ChannelKind::kExec;
    program.argv = {"/bin/true", *name(), ""};
    if (*rc::gen::arbitrary<bool>()) receiver.channels.push_back(program);
    return receiver;
}

model::NotifyRoute some_route() {
    model::NotifyRoute route;
    route.order = *rc::gen::inRange(-5, 5);
    route.matchers = some_matchers();
    route.at_least = maybe(rc::gen::element(model::Severity::kInfo, model::Severity::kCritical));
    route.only_during = some_windows();
    route.quiet = some_windows();
    route.receivers = {*name()};
    if (*rc::gen::arbitrary<bool>()) {
        route.escalation = {{std::chrono::minutes(5), {*name()}}, {std::chrono::hours(1), {"x"}}};
    }
    route.group_by = some_names();
    route.group_wait = std::chrono::seconds(*rc::gen::inRange(0, 100));
    route.repeat = std::chrono::minutes(*rc::gen::inRange(0, 100));
    route.go_on = *rc::gen::arbitrary<bool>();
    return route;
}

model::Silence some_silence() {
    model::Silence silence;
    silence.matchers = some_matchers();
    silence.kind = *rc::gen::element(model::SilenceKind::kOnce, model::SilenceKind::kRecurring,
                                     model::SilenceKind::kFlexible);
    silence.from = base::WallTime{*rc::gen::inRange<std::int64_t>(1, 1'000'000) * 1'000};
    silence.until = silence.from + std::chrono::hours(1);
    if (silence.kind == model::SilenceKind::kRecurring) silence.window = some_window();
    if (silence.kind == model::SilenceKind::kFlexible) silence.duration = std::chrono::hours(3);
    silence.owner = *name();
    silence.reason = *name();
    return silence;
}

Fleet some_fleet() {
    Fleet fleet;
    fleet.defaults = {some_device_settings(), some_poll(false)};
    for (const std::string& one : some_names()) fleet.groups[one] = some_group();
    for (const std::string& one : some_names()) fleet.devices[one] = some_device();
    for (const std::string& one : some_names()) fleet.sources[one] = some_source();
    for (const std::string& one : some_names()) fleet.receivers[one] = some_receiver();
    for (const std::string& one : some_names()) fleet.routes[one] = some_route();
    for (const std::string& one : some_names()) fleet.silences[one] = some_silence();
    for (const std::string& one : some_names()) {
        fleet.resources[one] = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000);
        Credential& credential = fleet.credentials[one];
        credential.username = maybe(name()).value_or("");
        if (*rc::gen::arbitrary<bool>()) credential.password = some_reference();
        if (*rc::gen::arbitrary<bool>()) credential.client_key_password = some_reference();
        if (*rc::gen::arbitrary<bool>()) credential.ssh_key_password = some_reference();
        if (*rc::gen::arbitrary<bool>()) credential.ssh_key = "/etc/keys/" + *name();
        credential.ssh_agent = *rc::gen::arbitrary<bool>();
        if (*rc::gen::arbitrary<bool>()) {
            credential.snmp_auth = static_cast<model::SnmpAuth>(*rc::gen::inRange(1, 7));
            credential.snmp_auth_password = some_reference();
            credential.snmp_context = maybe(name()).value_or("");
        }
        if (credential.snmp_auth_password && *rc::gen::arbitrary<bool>()) {
            credential.snmp_privacy = static_cast<model::SnmpPrivacy>(*rc::gen::inRange(1, 7));
            credential.snmp_privacy_password = some_reference();
        }
    }
    for (const std::string& addon : kAddons) {
        PollSettings settings = some_poll(true);
        if (settings != PollSettings{}) fleet.addons[addon] = std::move(settings);
        ClassOptions options;
        options.weight = maybe(rc::gen::inRange<std::uint32_t>(1, 1000));
        options.rate = maybe(rc::gen::just(0.125));
        options.policy = maybe(rc::gen::just(model::PolicyKind::kClassic));
        options.interval.max = maybe(duration());
        if (options != ClassOptions{}) fleet.classes[addon] = options;
    }
    // Only targets that exist have objects.
    for (const std::string& key : target_keys(fleet)) {
        PollSettings settings = some_poll(true);
        if (settings != PollSettings{}) fleet.targets[key] = std::move(settings);
    }
    return fleet;
}

RC_GTEST_PROP(FleetProperty, AnExportIsReadBackAsTheSameFleet, ()) {
    const Fleet fleet = some_fleet();
    const std::string text = export_fleet(fleet);
    const auto back = read(text);
    RC_LOG() << text << "\n" << back.diagnostics.text();
    RC_ASSERT(back.diagnostics.ok());
    RC_ASSERT(back.fleet() == fleet);
    RC_ASSERT(export_fleet(back.fleet()) == text);
}

RC_GTEST_PROP(FleetProperty, ObjectsAreReadBackAsTheSameFleet, ()) {
    const Fleet fleet = some_fleet();
    const auto objects = to_objects(fleet);
    const auto back = from_objects(objects);
    RC_LOG() << (back ? std::string() : back.error().message);
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == fleet);
    RC_ASSERT(to_objects(*back) == objects);
}

RC_GTEST_PROP(FleetProperty, ApplyingTwiceIsApplyingOnce, ()) {
    const auto first = to_objects(some_fleet());
    const auto second = to_objects(some_fleet());
    std::uint64_t next = 0;
    const RandomBits random = [&] { return std::pair{std::uint64_t{0}, ++next}; };
    const auto state = apply_edits({}, make_edits(diff({}, first), base::WallTime{0}, random));
    RC_ASSERT(diff(state, first).empty());
    const auto after =
        apply_edits(state, make_edits(diff(state, second), base::WallTime{0}, random));
    RC_ASSERT(diff(after, second).empty());
    const auto ids_before = target_ids(state);
    for (const auto& [key, id] : target_ids(after)) {
        const auto before = ids_before.find(key);
        if (before != ids_before.end()) RC_ASSERT(before->second == id);
    }
}

}  // namespace
}  // namespace pollux::config
