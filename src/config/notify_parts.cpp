// Receivers, routes and silences: reading from trees and writing.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/cron.hpp"
#include "base/text.hpp"
#include "config/channel_url.hpp"
#include "config/fleet_parts.hpp"
#include "model/matcher.hpp"

namespace pollux::config::parts {
namespace {

using base::quoted;
using document::Diagnostics;
using document::item_path;
using document::MapReader;
using document::Need;
using document::Node;
using model::Channel;
using model::ChannelKind;
using model::CronWindow;
using model::SilenceKind;

constexpr std::size_t kMaxChannels = 16;
constexpr std::size_t kMaxWindows = 32;
constexpr std::size_t kMaxSteps = 16;
constexpr std::size_t kMaxRecipients = 50;
constexpr base::Duration kShortestWindow = std::chrono::minutes(1);
constexpr base::Duration kLongestWindow = std::chrono::hours(31 * 24);
constexpr base::Duration kLongestWait = std::chrono::hours(31 * 24);

void check_matcher(const model::LabelMatcher& matcher, const Node& node, const std::string& path,
                   Diagnostics& diagnostics) {
    const auto compiled = model::CompiledMatcher::compile(matcher);
    if (!compiled) diagnostics.error(node.mark(), path, compiled.error().message);
}

// `match`: texts such as severity="critical", or a map of labels and values.
std::vector<model::LabelMatcher> read_match(MapReader& reader, Diagnostics& diagnostics) {
    std::vector<model::LabelMatcher> matchers;
    const Node* node = reader.any("match");
    if (node == nullptr) return matchers;
    const std::string path = reader.path_of("match");
    const auto take = [&](const Node& item, const std::string& where) {
        if (!item.is_scalar()) {
            diagnostics.error(item.mark(), where, R"(must be a text such as severity="critical")");
            return;
        }
        auto parsed = model::parse_matchers(item.scalar());
        if (!parsed) {
            diagnostics.error(item.mark(), where, parsed.error().message);
            return;
        }
        for (model::LabelMatcher& one : *parsed) {
            check_matcher(one, item, where, diagnostics);
            matchers.push_back(std::move(one));
        }
    };
    if (node->is_map()) {
        for (const auto& [label, value] : read_texts(reader, "match", diagnostics)) {
            matchers.push_back({label, model::MatchOperator::kEqual, value});
        }
    } else if (node->is_sequence()) {
        for (std::size_t i = 0; i < node->items().size(); ++i) {
            take(node->items()[i], item_path(path, i));
        }
    } else {
        take(*node, path);
    }
    if (matchers.size() > model::kMostMatchers) {
        reader.error("match", fmt::format("has {} matchers, at most {} are allowed",
                                          matchers.size(), model::kMostMatchers));
    }
    return matchers;
}

// `cron`, `duration` and `zone` of a map.
CronWindow read_window(MapReader& reader) {
    CronWindow window;
    window.cron = reader.string("cron", Need::kRequired).value_or("");
    if (!window.cron.empty()) {
        const auto cron = base::parse_cron(window.cron);
        if (!cron) reader.error("cron", cron.error().message);
    }
    window.duration = reader.duration("duration", kShortestWindow, kLongestWindow, Need::kRequired)
                          .value_or(kShortestWindow);
    window.zone = reader.string("zone").value_or(window.zone);
    return window;
}

std::vector<CronWindow> read_windows(MapReader& outer, std::string_view key,
                                     Diagnostics& diagnostics) {
    std::vector<CronWindow> windows;
    const Node* list = outer.list(key);
    if (list == nullptr) return windows;
    for (std::size_t i = 0; i < list->items().size(); ++i) {
        MapReader reader(list->items()[i], item_path(outer.path_of(key), i), diagnostics);
        windows.push_back(read_window(reader));
        reader.finish();
    }
    if (windows.size() > kMaxWindows) {
        outer.error(key, fmt::format("has {} entries, at most {} are allowed", windows.size(),
                                     kMaxWindows));
    }
    return windows;
}

// Names of receivers, or `label:owner`.
std::vector<std::string> read_receiver_names(MapReader& reader, Diagnostics& diagnostics) {
    auto names = read_names(reader, "receivers", "receiver", diagnostics);
    if (names.empty() && !reader.has("receivers")) {
        reader.error("receivers", "is missing: who is to be told");
    }
    return names;
}

void check_email(MapReader& reader, const Channel& channel) {
    for (const std::string& address : channel.to) {
        if (is_mail_address(address)) continue;
        reader.error("to",
                     fmt::format("{} is no mail address such as ops@example.org", quoted(address)));
    }
    if (channel.to.size() > kMaxRecipients) {
        reader.error("to", fmt::format("has {} addresses, at most {} are allowed",
                                       channel.to.size(), kMaxRecipients));
    }
    if (!channel.from.empty() && !is_mail_address(channel.from)) {
        reader.error("from", fmt::format("{} is no mail address such as pollux@example.org",
                                         quoted(channel.from)));
    }
}

void check_channel(MapReader& reader, const Channel& channel) {
    if (!channel.url.empty()) {
        const std::string fault = channel_url_fault(channel.url);
        if (!fault.empty()) reader.error("url", fault);
        const bool named = channel.url.find(kSecretPlace) != std::string::npos;
        if (named && channel.credentials.empty()) {
            reader.error("url", "names a {secret}, but there are no `credentials` to take it from");
        }
    }
    switch (channel.kind) {
        case ChannelKind::kEmail: check_email(reader, channel); break;
        case ChannelKind::kWebhook:
            if (channel.url.empty()) reader.error("url", "is missing: where to send it");
            break;
        case ChannelKind::kExec:
            if (channel.argv.empty()) {
                reader.error("argv", "is missing: the program and its arguments");
            } else if (!channel.argv.front().starts_with('/')) {
                reader.error("argv", fmt::format("{} must be an absolute path",
                                                 quoted(channel.argv.front())));
            }
            break;
    }
    for (const auto& [name, value] : channel.params) {
        if (name != "token" && name != "password" && name != "secret") continue;
        reader.error("params", fmt::format("{} holds a secret; keep it in a credential and name "
                                           "that with `credentials:`",
                                           quoted(name)));
    }
}

// What a channel is, by what it has.
ChannelKind guess_kind(const Channel& channel) {
    if (!channel.argv.empty()) return ChannelKind::kExec;
    const std::string_view scheme = url_scheme(channel.url);
    const bool mail = scheme.starts_with("mailto") || scheme.starts_with("smtp");
    return mail || (!channel.to.empty() && channel.url.empty()) ? ChannelKind::kEmail
                                                                : ChannelKind::kWebhook;
}

Channel read_channel(const Node& node, const std::string& path, Diagnostics& diagnostics) {
    Channel channel;
    Node short_form = Node::map();
    if (node.is_scalar()) short_form.set("url", node);
    MapReader reader(node.is_scalar() ? short_form : node, path, diagnostics);
    channel.url = reader.string("url").value_or("");
    channel.to = reader.strings("to");
    channel.from = reader.string("from").value_or("");
    channel.argv = reader.strings("argv");
    channel.kind = reader
                       .choice<ChannelKind>("kind", {{"email", ChannelKind::kEmail},
                                                     {"webhook", ChannelKind::kWebhook},
                                                     {"exec", ChannelKind::kExec}})
                       .value_or(guess_kind(channel));
    channel.template_name = reader.string("template").value_or("");
    if (const auto text = reader.string("credentials")) {
        channel.credentials = read_name("credential", *text, reader.any("credentials")->mark(),
                                        reader.path_of("credentials"), diagnostics)
                                  .value_or("");
    }
    channel.params = read_texts(reader, "params", diagnostics);
    if (const auto limit = reader.integer("per_minute", 0, 600)) {
        channel.per_minute = static_cast<std::uint32_t>(*limit);
    }
    channel.send_resolved = reader.boolean("send_resolved").value_or(true);
    const std::string_view scheme = url_scheme(channel.url);
    const std::string name = reader.string("name").value_or(std::string(
        channel.kind == ChannelKind::kWebhook && !scheme.empty() ? scheme
                                                                 : to_string(channel.kind)));
    channel.name =
        read_name("channel", name, node.mark(), reader.path_of("name"), diagnostics).value_or("");
    check_channel(reader, channel);
    reader.finish();
    return channel;
}

std::vector<model::EscalationStep> read_escalation(MapReader& outer, Diagnostics& diagnostics) {
    std::vector<model::EscalationStep> steps;
    const Node* list = outer.list("escalation");
    if (list == nullptr) return steps;
    for (std::size_t i = 0; i < list->items().size(); ++i) {
        MapReader reader(list->items()[i], item_path(outer.path_of("escalation"), i), diagnostics);
        model::EscalationStep step;
        step.after =
            reader.duration("after", std::chrono::seconds(1), kLongestWait, Need::kRequired)
                .value_or(std::chrono::seconds(1));
        step.receivers = read_receiver_names(reader, diagnostics);
        if (!steps.empty() && step.after <= steps.back().after) {
            reader.error("after", "must be later than the step before it");
        }
        steps.push_back(std::move(step));
        reader.finish();
    }
    if (steps.size() > kMaxSteps) {
        outer.error("escalation",
                    fmt::format("has {} steps, at most {} are allowed", steps.size(), kMaxSteps));
    }
    return steps;
}

base::WallTime read_time(MapReader& reader, std::string_view key) {
    const auto text = reader.string(key);
    if (!text) return {};
    const auto time = base::parse_utc(*text);
    if (!time) {
        reader.error(key, fmt::format("{} is no time such as 2026-11-18T22:00:00Z or "
                                      "2026-11-18T23:00:00+01:00",
                                      quoted(*text)));
    }
    return time.value_or(base::WallTime{});
}

Node match_node(const std::vector<model::LabelMatcher>& matchers) {
    Node list = Node::sequence();
    for (const model::LabelMatcher& one : matchers) list.push(Node::text(model::to_string(one)));
    return list;
}

void write_window(Node& node, const CronWindow& window) {
    node.set("cron", Node::text(window.cron));
    node.set("duration", duration_node(window.duration));
    if (window.zone != CronWindow{}.zone) node.set("zone", Node::text(window.zone));
}

void set_windows(Node& node, const char* key, const std::vector<CronWindow>& windows) {
    if (windows.empty()) return;
    Node list = Node::sequence();
    for (const CronWindow& window : windows) {
        Node item = Node::map();
        write_window(item, window);
        list.push(std::move(item));
    }
    node.set(key, std::move(list));
}

void set_text(Node& node, const char* key, const std::string& text) {
    if (!text.empty()) node.set(key, Node::text(text));
}

void set_names(Node& node, const char* key, const std::vector<std::string>& names) {
    if (!names.empty()) node.set(key, names_node(names));
}

Node channel_node(const Channel& channel) {
    Node node = Node::map();
    node.set("name", Node::text(channel.name));
    node.set("kind", Node::text(std::string(to_string(channel.kind))));
    set_text(node, "url", channel.url);
    set_text(node, "template", channel.template_name);
    set_names(node, "to", channel.to);
    set_text(node, "from", channel.from);
    set_names(node, "argv", channel.argv);
    set_text(node, "credentials", channel.credentials);
    if (!channel.params.empty()) node.set("params", texts_node(channel.params));
    node.set("per_minute", Node::integer(channel.per_minute));
    if (!channel.send_resolved) node.set("send_resolved", Node::boolean(false));
    return node;
}

}  // namespace

model::Receiver read_receiver(const Input& input) {
    model::Receiver receiver;
    Node short_form = Node::map();
    const bool is_short = input.node.is_scalar() || input.node.is_sequence();
    if (is_short) short_form.set("channels", input.node);
    const Node& node = is_short ? short_form : input.node;
    MapReader reader(node, input.path, input.diagnostics);
    reader.any("name");
    const Node* channels = reader.any("channels", Need::kRequired);
    if (channels != nullptr) {
        const std::string path = reader.path_of("channels");
        if (!channels->is_sequence()) {
            receiver.channels.push_back(read_channel(*channels, path, input.diagnostics));
        }
        std::set<std::string> names;
        for (std::size_t i = 0; i < channels->items().size(); ++i) {
            const Node& item = channels->items()[i];
            Channel channel = read_channel(item, item_path(path, i), input.diagnostics);
            if (!names.insert(channel.name).second) {
                input.diagnostics.error(
                    item.mark(), item_path(path, i),
                    fmt::format("there is a channel {} before it; give each a `name` of its own",
                                quoted(channel.name)));
            }
            receiver.channels.push_back(std::move(channel));
        }
        if (receiver.channels.empty() || receiver.channels.size() > kMaxChannels) {
            reader.error("channels", fmt::format("must have 1 to {} entries", kMaxChannels));
        }
    }
    reader.finish();
    return receiver;
}

model::NotifyRoute read_route(const Input& input) {
    model::NotifyRoute route;
    MapReader reader(input.node, input.path, input.diagnostics);
    reader.any("name");
    route.order = reader.integer("order", -1'000'000, 1'000'000).value_or(0);
    route.matchers = read_match(reader, input.diagnostics);
    route.at_least =
        reader.choice<model::Severity>("at_least", {{"info", model::Severity::kInfo},
                                                    {"warning", model::Severity::kWarning},
                                                    {"minor", model::Severity::kMinor},
                                                    {"major", model::Severity::kMajor},
                                                    {"critical", model::Severity::kCritical}});
    route.only_during = read_windows(reader, "only_during", input.diagnostics);
    route.quiet = read_windows(reader, "quiet", input.diagnostics);
    route.receivers = read_receiver_names(reader, input.diagnostics);
    route.escalation = read_escalation(reader, input.diagnostics);
    route.group_by = read_names(reader, "group_by", "label", input.diagnostics);
    route.group_wait = reader.duration("group_wait", base::Duration::zero(), kLongestWait)
                           .value_or(route.group_wait);
    route.group_interval = reader.duration("group_interval", std::chrono::seconds(1), kLongestWait)
                               .value_or(route.group_interval);
    route.repeat =
        reader.duration("repeat", base::Duration::zero(), kLongestWait).value_or(route.repeat);
    if (route.repeat != base::Duration::zero() && route.repeat < std::chrono::minutes(1)) {
        reader.error("repeat", "is 0 for no reminders, or at least 1m");
    }
    route.go_on = reader.boolean("go_on").value_or(false);
    reader.finish();
    return route;
}

model::Silence read_silence(const Input& input) {
    model::Silence silence;
    MapReader reader(input.node, input.path, input.diagnostics);
    reader.any("name");
    silence.matchers = read_match(reader, input.diagnostics);
    const bool leaves_out =
        std::ranges::any_of(silence.matchers, [](const model::LabelMatcher& one) {
            const auto compiled = model::CompiledMatcher::compile(one);
            return compiled && !compiled->holds("");
        });
    if (!leaves_out) {
        reader.error("match", R"(must say what is to be silent, such as device="core-1")");
    }
    silence.from = read_time(reader, "from");
    silence.until = read_time(reader, "until");
    if (reader.has("cron")) {
        silence.kind = SilenceKind::kRecurring;
        silence.window = read_window(reader);
    } else if (const auto duration = reader.duration("duration", kShortestWindow, kLongestWindow)) {
        silence.kind = SilenceKind::kFlexible;
        silence.duration = *duration;
    }
    if (silence.kind != SilenceKind::kRecurring && !reader.has("until")) {
        reader.error("until", "is missing: a silence has an end; or write `cron` and `duration`");
    }
    if (silence.until != base::WallTime{} && silence.until <= silence.from) {
        reader.error("until", "must be later than `from`");
    }
    silence.owner = reader.string("owner", Need::kRequired).value_or("");
    silence.reason = reader.string("reason", Need::kRequired).value_or("");
    reader.finish();
    return silence;
}

Node write(const model::Receiver& receiver) {
    Node list = Node::sequence();
    for (const Channel& channel : receiver.channels) list.push(channel_node(channel));
    Node node = Node::map();
    node.set("channels", std::move(list));
    return node;
}

Node write(const model::NotifyRoute& route) {
    Node node = Node::map();
    if (route.order != 0) node.set("order", Node::integer(route.order));
    if (!route.matchers.empty()) node.set("match", match_node(route.matchers));
    if (route.at_least) node.set("at_least", Node::text(std::string(to_string(*route.at_least))));
    set_windows(node, "only_during", route.only_during);
    set_windows(node, "quiet", route.quiet);
    node.set("receivers", names_node(route.receivers));
    if (!route.escalation.empty()) {
        Node list = Node::sequence();
        for (const model::EscalationStep& step : route.escalation) {
            Node item = Node::map();
            item.set("after", duration_node(step.after));
            item.set("receivers", names_node(step.receivers));
            list.push(std::move(item));
        }
        node.set("escalation", std::move(list));
    }
    set_names(node, "group_by", route.group_by);
    node.set("group_wait", duration_node(route.group_wait));
    node.set("group_interval", duration_node(route.group_interval));
    node.set("repeat", duration_node(route.repeat));
    if (route.go_on) node.set("go_on", Node::boolean(true));
    return node;
}

Node write(const model::Silence& silence) {
    Node node = Node::map();
    node.set("match", match_node(silence.matchers));
    if (silence.from != base::WallTime{}) {
        node.set("from", Node::text(base::format_utc(silence.from)));
    }
    if (silence.until != base::WallTime{}) {
        node.set("until", Node::text(base::format_utc(silence.until)));
    }
    if (silence.kind == SilenceKind::kRecurring) write_window(node, silence.window);
    if (silence.kind == SilenceKind::kFlexible) {
        node.set("duration", duration_node(silence.duration));
    }
    node.set("owner", Node::text(silence.owner));
    node.set("reason", Node::text(silence.reason));
    return node;
}

}  // namespace pollux::config::parts
