#include "extract/addon_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/scalar.hpp"
#include "extract/manifest_keys.hpp"

namespace pollux::extract {

using base::quoted;
using document::Need;
using namespace std::chrono_literals;

namespace {

constexpr base::Duration kShortestInterval = 100ms;
constexpr base::Duration kLongestInterval = 24h * 31;
constexpr std::size_t kMaxGroups = 16;
constexpr std::size_t kMaxParameters = 64;

bool is_addon_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
}

bool is_semantic_version(std::string_view text) {
    int numbers = 0;
    std::size_t at = 0;
    while (numbers < 3) {
        const std::size_t start = at;
        while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
        if (at == start || at - start > 9) return false;
        if (++numbers < 3 && (at >= text.size() || text[at++] != '.')) return false;
    }
    if (at == text.size()) return true;
    return (text[at] == '-' || text[at] == '+') && at + 1 < text.size() && text.size() < 64;
}

}  // namespace

bool is_identifier(std::string_view text) {
    if (text.empty() || text.size() > 64 || text[0] < 'a' || text[0] > 'z') return false;
    return std::ranges::all_of(
        text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

AddonBuilder::AddonBuilder(std::shared_ptr<const document::Node> root, std::string file,
                           const Parameters* parameters, document::Diagnostics& diagnostics)
    : root_(std::move(root)),
      parameters_(parameters),
      out_(diagnostics),
      plan_(std::make_shared<AddonPlan>()) {
    plan_->file = std::move(file);
    plan_->source = root_;
}

std::shared_ptr<AddonPlan> AddonBuilder::build() {
    if (root_->is_null()) {
        out_.error(root_->mark().file
                       ? root_->mark()
                       : document::Mark{std::make_shared<const std::string>(plan_->file), 1, 1},
                   "", "the manifest is empty; it begins with schema: pollux/1");
        return nullptr;
    }
    Reader reader(*root_, "", out_, keys::kManifest);
    read_head(reader);
    read_parameters(reader);
    read_credentials(reader);
    read_groups(reader);
    read_protocol(reader);
    read_metrics(reader);
    read_conditions(reader);
    read_change(reader);
    read_signals(reader);
    finish_groups();
    reader.finish();
    out_.sort();
    if (!out_.ok()) return nullptr;
    model::link(plan_->addon);
    list_alert_types();
    return plan_;
}

void AddonBuilder::read_head(Reader& reader) {
    model::Addon& addon = plan_->addon;
    const auto schema = reader.string("schema", Need::kRequired);
    if (schema && *schema != keys::kSchemaName) {
        reader.error("schema", fmt::format("{} is not a dialect this version reads; write {}",
                                           quoted(*schema), keys::kSchemaName));
    }
    addon.name = reader.string("name", Need::kRequired).value_or("");
    if (!addon.name.empty() && !is_addon_name(addon.name)) {
        reader.error("name", fmt::format("{} is no name; write 1 to 64 of a-z, 0-9, - and _",
                                         quoted(addon.name)));
    }
    addon.version = reader.string("version", Need::kRequired).value_or("");
    if (!addon.version.empty() && !is_semantic_version(addon.version)) {
        reader.error("version", fmt::format("{} is no semantic version; write it like 1.0.0",
                                            quoted(addon.version)));
    }
    addon.title = reader.string("title").value_or(addon.name);
    addon.description = reader.string("description").value_or("");
    addon.category = reader.string("category").value_or("unknown");
    if (!is_addon_name(addon.category)) {
        reader.error("category", fmt::format("{} is no category; write a word like network",
                                             quoted(addon.category)));
    }
    addon.protocol =
        reader
            .choice<model::ProtocolKind>("protocol",
                                         {{"http", model::ProtocolKind::kHttp},
                                          {"snmp", model::ProtocolKind::kSnmp},
                                          {"ssh", model::ProtocolKind::kSsh},
                                          {"exec", model::ProtocolKind::kExec},
                                          {"tcp", model::ProtocolKind::kTcp},
                                          {"tls", model::ProtocolKind::kTls},
                                          {"icmp", model::ProtocolKind::kIcmp},
                                          {"dns", model::ProtocolKind::kDns},
                                          {"trap", model::ProtocolKind::kTrap},
                                          {"webhook", model::ProtocolKind::kWebhook},
                                          {"push", model::ProtocolKind::kPush}},
                                         Need::kRequired)
            .value_or(reader.has("snmp") ? model::ProtocolKind::kSnmp : model::ProtocolKind::kHttp);
    addon.interval = reader.duration("interval", kShortestInterval, kLongestInterval);
    addon.timeout = reader.duration("timeout", 10ms, 10min);
    plan_->port = static_cast<std::uint16_t>(reader.integer("port", 1, 65535).value_or(0));
}

void AddonBuilder::read_parameters(Reader& reader) {
    const Node* parameters = reader.map("parameters");
    if (parameters == nullptr) return;
    for (const document::MapEntry& entry : parameters->entries()) {
        if (plan_->parameters.size() >= kMaxParameters) {
            reader.error("parameters", fmt::format("more than {}", kMaxParameters));
            return;
        }
        read_parameter(entry);
    }
}

void AddonBuilder::read_parameter(const document::MapEntry& entry) {
    const std::string path = document::key_path("parameters", entry.key);
    ParameterDef parameter;
    parameter.name = entry.key;
    if (!is_identifier(entry.key) || entry.key == "host" || entry.key == "port" ||
        entry.key == "device") {
        out_.error(entry.key_mark, path,
                   "is no name for a parameter; write a-z, 0-9 and _, and not host, port or "
                   "device, which are always there");
    }
    Reader reader(entry.value, path, out_, keys::kParameter);
    parameter.type = reader
                         .choice<ParameterType>("type", {{"string", ParameterType::kString},
                                                         {"integer", ParameterType::kInteger},
                                                         {"number", ParameterType::kNumber},
                                                         {"boolean", ParameterType::kBoolean},
                                                         {"path", ParameterType::kPath}})
                         .value_or(ParameterType::kString);
    parameter.required = reader.boolean("required").value_or(false);
    parameter.initial = reader.string("default");
    parameter.example = reader.string("example").value_or("");
    parameter.description = reader.string("description").value_or("");
    if (parameter.required && parameter.initial) {
        reader.error("default", "is never used, because the parameter is required; remove one");
    }
    reader.finish();
    plan_->parameters.push_back(std::move(parameter));
}

// What a device is delivered with; the target's own credentials come first, field by field.
void AddonBuilder::read_credentials(Reader& reader) {
    const Node* node = reader.map("credentials");
    if (node == nullptr) return;
    Reader inner(*node, "credentials", out_, keys::kCredentials);
    model::Credentials& credentials = plan_->credentials;
    const auto secret = [&](std::string_view key) {
        return base::Secret(inner.string(key).value_or(""));
    };
    credentials.username = inner.string("username").value_or("");
    credentials.password = secret("password");
    credentials.token = secret("token");
    credentials.community = secret("community");
    credentials.ssh_key = inner.string("ssh_key").value_or("");
    inner.finish();
}

void AddonBuilder::read_groups(Reader& reader) {
    model::Addon& addon = plan_->addon;
    addon.groups.push_back({"", addon.interval});
    const Node* groups = reader.map("groups");
    if (groups == nullptr) return;
    Reader inner(*groups, "groups", out_);
    for (const document::MapEntry& entry : groups->entries()) {
        const auto interval = inner.duration(entry.key, kShortestInterval, kLongestInterval);
        if (!is_addon_name(entry.key) || addon.groups.size() >= kMaxGroups) {
            out_.error(entry.key_mark, inner.path_of(entry.key),
                       fmt::format("is no name for a group (a-z, 0-9, - and _), or there are more "
                                   "than {}",
                                   kMaxGroups - 1));
            continue;
        }
        if (!interval) continue;
        groups_.emplace(entry.key, static_cast<std::uint16_t>(addon.groups.size()));
        addon.groups.push_back({entry.key, interval});
    }
}

// `group: slow` names one of the groups; `interval: 5m` makes one of its own name.
std::uint16_t AddonBuilder::group_of(Reader& reader, const std::string& name, bool own_interval) {
    model::Addon& addon = plan_->addon;
    const auto group = reader.string("group");
    const auto interval = own_interval
                              ? reader.duration("interval", kShortestInterval, kLongestInterval)
                              : std::nullopt;
    if (group && interval) {
        reader.error("interval", "stands beside group; the group has the interval");
    }
    if (group) {
        const auto found = groups_.find(*group);
        if (found != groups_.end()) return found->second;
        std::vector<std::string_view> names;
        for (const auto& known : groups_) names.push_back(known.first);
        reader.error("group",
                     fmt::format("{} is not under groups; {}", quoted(*group),
                                 names.empty() ? "add it there, like groups: {slow: 5m}"
                                               : "there are " + document::word_list(names)));
        return 0;
    }
    if (!interval) return 0;
    if (groups_.contains(name) || addon.groups.size() >= kMaxGroups) {
        reader.error("interval",
                     "makes a group of a name that is taken, or one too many; use "
                     "group");
        return 0;
    }
    const auto index = static_cast<std::uint16_t>(addon.groups.size());
    groups_.emplace(name, index);
    addon.groups.push_back({name, interval});
    return index;
}

void AddonBuilder::finish_groups() {
    AddonPlan& plan = *plan_;
    plan.groups.resize(plan.addon.groups.size());
    for (std::size_t i = 0; i < plan.rules.size(); ++i) {
        const Rule& rule = plan.rules[i];
        GroupPlan& group = plan.groups[rule.group];
        if (rule.disabled) continue;
        const auto index = static_cast<std::uint16_t>(i);
        if (rule.row_set) {
            plan.row_sets[*rule.row_set].rules.push_back(index);
        } else {
            group.rules.push_back(index);
        }
        if (rule.value && !rule.value->names().empty() && rule.value->names().back() != kRawName) {
            group.keeps_values = true;
        }
    }
    for (std::size_t i = 0; i < plan.row_sets.size(); ++i) {
        plan.groups[plan.row_sets[i].group].row_sets.push_back(static_cast<std::uint16_t>(i));
    }
    for (const SignalRule& signal : plan.signals) plan.groups[signal.group].keeps_values = true;
    // Counters need to know about reboots: the group asks for the time since then, too.
    const model::Oid uptime{{1, 3, 6, 1, 2, 1, 1, 3, 0}};
    for (std::size_t i = 0; i < plan.groups.size(); ++i) {
        GroupPlan& group = plan.groups[i];
        if (plan.addon.protocol != model::ProtocolKind::kSnmp) continue;
        const auto found = std::ranges::find(group.gets, uptime);
        const bool counters = std::ranges::any_of(plan.rules, [&](const Rule& rule) {
            return rule.group == i && rule.type == model::MetricType::kCounter && rule.metric;
        });
        if (found == group.gets.end() && !counters) continue;
        group.uptime = static_cast<std::uint16_t>(found - group.gets.begin());
        if (found == group.gets.end()) group.gets.push_back(uptime);
    }
    for (std::size_t i = 0; i < plan.groups.size(); ++i) {
        const GroupPlan& group = plan.groups[i];
        if (model::is_inbound(plan.addon.protocol)) break;  // nothing is asked
        if (!group.endpoints.empty() || !group.gets.empty() || !group.walks.empty()) continue;
        out_.error(root_->mark(), i == 0 ? "" : "groups." + plan.addon.groups[i].name,
                   i == 0 ? "nothing is asked at the addon's own interval; leave one endpoint, get "
                            "or table without group and interval"
                          : "nothing belongs to this group; remove it");
    }
}

const ParameterDef* AddonBuilder::find_parameter(std::string_view name) const {
    const auto found = std::ranges::find(plan_->parameters, name, &ParameterDef::name);
    return found == plan_->parameters.end() ? nullptr : &*found;
}

std::string AddonBuilder::value_of(const ParameterDef& parameter) const {
    if (parameters_ != nullptr) {
        const auto given = parameters_->find(parameter.name);
        if (given != parameters_->end()) return given->second;
    }
    if (parameter.initial) return *parameter.initial;
    return parameters_ == nullptr ? parameter.example : std::string();
}

std::optional<std::string> AddonBuilder::substituted(const std::string& text, bool& disabled) {
    const Template compiled = Template::compile(text);
    if (!compiled.has_placeholders()) return text;
    bool empty = false;
    std::string filled = compiled.fill([&](std::string_view name) -> std::optional<std::string> {
        const ParameterDef* parameter = find_parameter(name);
        if (parameter == nullptr) return std::nullopt;
        plan_->parametric = true;
        std::string value = value_of(*parameter);
        empty = empty || value.empty();
        return value;
    });
    if (!empty) return filled;
    disabled = true;
    return std::nullopt;
}

bool AddonBuilder::check_name(Reader& reader, std::string_view key, const std::string& name) {
    if (name.empty() || is_identifier(name)) return !name.empty();
    reader.error(key, fmt::format("{} is no name; write a letter a-z, then a-z, 0-9 and _, at most "
                                  "64 characters",
                                  quoted(name)));
    return false;
}

void AddonBuilder::each(Reader& reader, std::string_view key, std::size_t most,
                        const std::function<void(const Node&, std::string)>& read) {
    const Node* list = reader.list(key);
    if (list == nullptr) return;
    if (list->items().size() > most) {
        reader.error(key,
                     fmt::format("has {} entries; {} is the limit", list->items().size(), most));
        return;
    }
    for (std::size_t i = 0; i < list->items().size(); ++i) {
        read(list->items()[i], document::item_path(reader.path_of(key), i));
    }
}

}  // namespace pollux::extract
