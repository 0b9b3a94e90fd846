// Signals of a manifest: what each type looks like, and the rules that raise and clear them.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "extract/addon_builder.hpp"
#include "extract/manifest_keys.hpp"
#include "extract/manifest_values.hpp"

namespace pollux::extract {

using base::quoted;
using document::Need;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kMaxSignals = 500;
constexpr std::size_t kMaxTypes = 1000;
constexpr std::size_t kMaxTypeName = 128;

// Vendors call their alarms what they like; it only has to be one line.
bool is_type_name(std::string_view text) {
    return !text.empty() && text.size() <= kMaxTypeName && base::is_valid_utf8(text) &&
           !base::has_control(text);
}

}  // namespace

const std::string* EndpointPlan::signal_of(int status) const {
    for (const auto& [range, type] : on_status) {
        if (status >= range.first && status <= range.second) return &type;
    }
    return nullptr;
}

SignalLook AddonBuilder::read_look(Reader& reader) {
    SignalLook look;
    if (const auto severity = reader.one_of("severity", severities())) {
        look.severity = std::string(severities()[*severity]);
    }
    look.category = reader.string("category");
    bool disabled = false;
    const auto text_of = [&](std::string_view key) -> std::optional<Template> {
        const auto text = reader.string(key);
        if (!text) return std::nullopt;
        return Template::compile(substituted(*text, disabled).value_or(*text));
    };
    look.title = text_of("title");
    look.message = text_of("message");
    look.clears = reader.strings("clears");
    for (const std::string& type : look.clears) {
        if (!is_type_name(type)) reader.error("clears", "holds what is no name of a type");
    }
    return look;
}

void AddonBuilder::read_signal_type(const document::MapEntry& entry, std::string path) {
    Reader reader(entry.value, std::move(path), out_, keys::kSignalType);
    SignalType type;
    type.type = entry.key;
    if (!is_type_name(entry.key)) {
        out_.error(entry.key_mark, reader.path(), "is no name of a type of signal");
    }
    type.look = read_look(reader);
    type.look.enabled = reader.boolean("enabled").value_or(true);
    type.sustained = reader.duration("for", 0s, model::kLongestPatience).value_or(0s);
    type.keep_firing_for =
        reader.duration("keep_firing_for", 0s, model::kLongestPatience).value_or(0s);
    reader.finish();
    plan_->signal_types.push_back(std::move(type));
}

void AddonBuilder::read_endpoint_signals(Reader& reader, EndpointPlan& endpoint) {
    endpoint.on_failure = reader.string("on_failure").value_or("");
    if (!endpoint.on_failure.empty() && !is_type_name(endpoint.on_failure)) {
        reader.error("on_failure", "is no name of a type of signal");
    }
    // Only HTTP has a status.
    const bool http = plan_->addon.protocol == model::ProtocolKind::kHttp;
    const Node* statuses = http ? reader.map("on_status") : nullptr;
    if (statuses == nullptr) return;
    Reader inner(*statuses, reader.path_of("on_status"), out_);
    for (const document::MapEntry& entry : statuses->entries()) {
        const auto type = inner.string(entry.key);
        const auto range = parse_range(entry.key, 100, 599);
        if (!range || !type || !is_type_name(*type)) {
            inner.error(entry.key, "is no status with a type; write it like 401: auth_failed");
            continue;
        }
        endpoint.on_status.emplace_back(*range, *type);
    }
}

void AddonBuilder::read_signals(Reader& reader) {
    const Node* types = reader.map("signal_types");
    if (types != nullptr && types->entries().size() > kMaxTypes) {
        reader.error("signal_types", fmt::format("has more than {} entries", kMaxTypes));
    } else if (types != nullptr) {
        for (const document::MapEntry& entry : types->entries()) {
            read_signal_type(entry, document::key_path("signal_types", entry.key));
        }
    }
    // Types are looked up for each signal: by name.
    std::ranges::sort(plan_->signal_types, {}, &SignalType::type);
    each(reader, "signals", kMaxSignals,
         [this](const Node& item, std::string path) { read_signal(item, std::move(path)); });
    // A failure raises what it says, also where no rule of its own stands for it.
    for (const EndpointPlan& endpoint : plan_->http.endpoints) {
        if (endpoint.on_failure.empty() && endpoint.on_status.empty()) continue;
        signal_names_.insert("endpoint " + endpoint.name);
    }
}

std::optional<std::uint16_t> AddonBuilder::field_named(Reader& reader, std::string_view key,
                                                       const std::string& name) {
    const auto found = rules_.find(name);
    if (found != rules_.end() && !plan_->rules[found->second].disabled) return found->second;
    if (found != rules_.end()) return std::nullopt;
    std::vector<std::string_view> names;
    for (const auto& known : rules_) names.push_back(known.first);
    const auto near = base::nearest(name, names);
    reader.error(key, fmt::format("{} is not read; {}", quoted(name),
                                  near            ? fmt::format("did you mean {}?", *near)
                                  : names.empty() ? std::string("add a metric that reads it")
                                                  : "there are " + document::word_list(names)));
    return std::nullopt;
}

// What the signal reads decides where it lives: its group, its rows, its endpoints.
void AddonBuilder::use_rule(SignalRule& signal, std::uint16_t rule) {
    if (std::ranges::find(used_, rule) != used_.end()) return;
    used_.push_back(rule);
    const Rule& used = plan_->rules[rule];
    if (used.source != SourceKind::kNone && !plan_->http.endpoints.empty() &&
        std::ranges::find(signal.endpoints, used.endpoint) == signal.endpoints.end()) {
        signal.endpoints.push_back(used.endpoint);
    }
    if (!used.value) return;
    const auto names = used.value->names();
    for (const std::uint16_t name : names) {
        if (name != kRawName) use_rule(signal, static_cast<std::uint16_t>(name - 1U));
    }
}

std::optional<Expression> AddonBuilder::read_signal_expression(Reader& reader, std::string_view key,
                                                               SignalRule& signal) {
    const auto text = reader.string(key);
    if (!text) return std::nullopt;
    bool disabled = false;
    const auto filled = substituted(*text, disabled);
    // A threshold that is an empty parameter switches the rule off.
    auto compiled = Expression::compile(disabled ? "false" : *filled,
                                        [&](std::string_view name) -> std::optional<std::uint16_t> {
                                            const auto found = rules_.find(name);
                                            if (found == rules_.end()) return std::nullopt;
                                            return static_cast<std::uint16_t>(found->second + 1);
                                        });
    if (!compiled) {
        reader.error(key,
                     compiled.error().message + "; names are what the metrics and fields read");
        return std::nullopt;
    }
    for (const std::uint16_t name : compiled->names()) {
        if (name != kRawName) use_rule(signal, static_cast<std::uint16_t>(name - 1U));
    }
    return std::move(*compiled);
}

void AddonBuilder::read_signal_trigger(Reader& reader, SignalRule& signal) {
    signal.type = reader.string("type", Need::kRequired).value_or("");
    Template type = Template::compile(signal.type);
    if (type.has_placeholders()) {
        for (const std::string& name : type.names()) {
            if (const auto field = field_named(reader, "type", name)) use_rule(signal, *field);
        }
        signal.type_template = std::move(type);
        if (plan_->signal_types.empty()) {
            reader.error("type",
                         "is read from the answer; list under signal_types which types there are, "
                         "or \"*\" for all");
        }
    } else if (!signal.type.empty() && !is_type_name(signal.type)) {
        reader.error("type", fmt::format("{} is no name of a type", quoted(signal.type)));
    } else if (condition_names_.contains(signal.type)) {
        reader.error("type",
                     "is the name of a condition, which raises alerts of that type; choose "
                     "another");
    }
    signal.when = read_signal_expression(reader, "when", signal);
    signal.clear_when = read_signal_expression(reader, "clear_when", signal);
    signal.clear_suffix = reader.string("clear_suffix");
    if (signal.clear_suffix && (signal.clear_suffix->empty() || !signal.type_template)) {
        reader.error("clear_suffix", "fits a type that is read, and is not empty");
    }
    const bool trap = plan_->addon.protocol == model::ProtocolKind::kTrap;
    for (const std::string_view key : {"trap", "clear_trap"}) {
        const Node* oid = reader.any(key);
        if (oid == nullptr) continue;
        if (!trap) reader.error(key, "only fits protocol: trap");
        (key == "trap" ? signal.trap : signal.clear_trap) = read_oid(*oid, reader.path_of(key));
    }
    const bool always = !signal.when && !signal.trap && !signal.type_template;
    if (always && !model::is_inbound(plan_->addon.protocol)) {
        reader.error("when", "is missing; without it every poll would raise the signal");
    }
}

void AddonBuilder::read_signal_fields(Reader& reader, SignalRule& signal) {
    signal.one_subject = reader.has("fingerprint_fields");
    for (const std::string& name : reader.strings("fingerprint_fields")) {
        if (const auto field = field_named(reader, "fingerprint_fields", name)) {
            signal.fingerprint.push_back(*field);
            use_rule(signal, *field);
        }
    }
    const Node* fields = reader.any("fields");
    if (fields != nullptr && fields->is_map()) {
        Reader inner(*fields, reader.path_of("fields"), out_);
        for (const document::MapEntry& entry : fields->entries()) {
            const auto name = inner.string(entry.key);
            if (!name) continue;
            const auto field = field_named(inner, entry.key, *name);
            if (field) signal.fields.emplace_back(entry.key, *field);
        }
    } else {
        for (const std::string& name : reader.strings("fields")) {
            const auto field = field_named(reader, "fields", name);
            if (field) signal.fields.emplace_back(name, *field);
        }
    }
    const auto one = [&](std::string_view key) -> std::optional<std::uint16_t> {
        const auto name = reader.string(key);
        return name ? field_named(reader, key, *name) : std::nullopt;
    };
    signal.device_address = one("device_address");
    signal.device_name = one("device_name");
    signal.time = one("time");
}

void AddonBuilder::place_signal(Reader& reader, SignalRule& signal) {
    std::vector<std::uint16_t> read = used_;
    for (const auto& field : signal.fields) read.push_back(field.second);
    if (const auto rows = reader.string("rows")) {
        const auto found = std::ranges::find(plan_->row_sets, *rows, &RowSet::name);
        if (found == plan_->row_sets.end()) {
            reader.error("rows", fmt::format("{} is not known", quoted(*rows)));
        } else {
            signal.row_set = static_cast<std::uint16_t>(found - plan_->row_sets.begin());
            signal.group = found->group;
        }
    }
    bool placed = signal.row_set.has_value();
    for (const std::uint16_t index : read) {
        const Rule& rule = plan_->rules[index];
        if (rule.source == SourceKind::kNone && !rule.row_set && !rule.value) continue;
        if (placed && rule.group != signal.group) {
            reader.error("type", fmt::format("uses {}, which another task reads; values of one "
                                             "signal belong to one group",
                                             rule.name));
            return;
        }
        signal.group = rule.group;
        placed = true;
        if (!rule.row_set) continue;
        if (signal.row_set && *signal.row_set != *rule.row_set) {
            reader.error("type", fmt::format("uses {}, which belongs to other rows", rule.name));
            return;
        }
        signal.row_set = rule.row_set;
    }
    if (signal.row_set && !plan_->http.endpoints.empty()) {
        const std::uint16_t endpoint = plan_->row_sets[*signal.row_set].endpoint;
        if (std::ranges::find(signal.endpoints, endpoint) == signal.endpoints.end()) {
            signal.endpoints.push_back(endpoint);
        }
    }
}

void AddonBuilder::read_signal(const Node& node, std::string path) {
    Reader reader(node, std::move(path), out_, keys::kSignal);
    SignalRule signal;
    used_.clear();
    read_signal_trigger(reader, signal);
    read_signal_fields(reader, signal);
    signal.look = read_look(reader);
    const bool inbound = model::is_inbound(plan_->addon.protocol);
    signal.reconcile = reader.boolean("reconcile").value_or(!inbound);
    if (inbound && signal.reconcile) {
        reader.error("reconcile", "does not fit messages: what is not sent says nothing");
    }
    signal.name = reader.string("name").value_or(
        signal.type_template ? fmt::format("rule {}", plan_->signals.size() + 1) : signal.type);
    if (!signal_names_.insert(signal.name).second) {
        if (reader.has("name")) reader.error("name", "is taken by a signal above; choose another");
        signal.name += fmt::format(" {}", plan_->signals.size() + 1);
        signal_names_.insert(signal.name);
    }
    place_signal(reader, signal);
    reader.finish();
    plan_->signals.push_back(std::move(signal));
}

// Everything that can be raised, by name, with how patient it is.
void AddonBuilder::list_alert_types() {
    model::Addon& addon = plan_->addon;
    std::map<std::string, model::AlertType> types;
    const auto add = [&](const std::string& name) -> model::AlertType& {
        model::AlertType& type = types[name];
        type.name = name;
        return type;
    };
    for (const SignalRule& signal : plan_->signals) {
        if (!signal.type_template) add(signal.type);
    }
    for (const EndpointPlan& endpoint : plan_->http.endpoints) {
        if (!endpoint.on_failure.empty()) add(endpoint.on_failure);
        for (const auto& [range, type] : endpoint.on_status) add(type);
    }
    for (const SignalType& known : plan_->signal_types) {
        if (known.type == "*") {
            addon.any_alert_type = true;
            continue;
        }
        model::AlertType& type = add(known.type);
        type.sustained = known.sustained;
        type.keep_firing_for = known.keep_firing_for;
    }
    // Also those that an empty parameter leaves out: another target may have it.
    for (const std::string& name : condition_names_) add(name).by_condition = true;
    for (const model::ConditionDef& condition : addon.conditions) {
        model::AlertType& type = add(condition.name);
        type.sustained = condition.sustained;
        type.keep_firing_for = condition.keep_firing_for;
    }
    addon.alert_types.clear();
    for (auto& [name, type] : types) addon.alert_types.push_back(std::move(type));
}

}  // namespace pollux::extract
