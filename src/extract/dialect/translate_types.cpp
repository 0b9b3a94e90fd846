// Alert types: the rows of alert_mappings, the flat maps, and what ends an alert.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/scalar.hpp"
#include "extract/dialect/translator.hpp"

namespace pollux::extract {

using base::quoted;
using document::Node;

namespace {

constexpr std::array<std::string_view, 6> kSeverities = {"critical", "major", "minor",
                                                         "warning",  "info",  "clear"};

// Titles and descriptions know the device by other words.
std::string our_placeholders(std::string text) {
    constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"{device_ip}", "{host}"},
                                                                        {"{ip}", "{host}"},
                                                                        {"{ip_address}", "{host}"},
                                                                        {"{alert_type}", "{type}"}};
    for (const auto& [theirs, ours] : kWords) {
        for (std::size_t at = text.find(theirs); at != std::string::npos;
             at = text.find(theirs, at + ours.size())) {
            text.replace(at, theirs.size(), ours);
        }
    }
    return text;
}

// What a recovery is called beside what it ends: device_online ends device_offline.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kPairs = {{
    {"online", "offline"},
    {"up", "down"},
    {"_ended", ""},
    {"_cleared", ""},
    {"_clear", ""},
    {"_resolved", ""},
    {"_restored", "_lost"},
    {"_restored", "_down"},
    {"_recovered", ""},
    {"_normal", "_high"},
    {"_normal", "_low"},
    {"_ok", "_failure"},
}};

}  // namespace

void Translator::set_type(const std::string& type, Node look, const Mark& mark) {
    look.set_mark(mark);
    types_.set(type, std::move(look));
}

void Translator::types() {
    const Node* groups = find("alert_mappings");
    if (groups != nullptr && groups->is_sequence()) {
        mapping_rows(*groups);
    } else {
        flat_maps();
    }
    recoveries();
}

// Of the rows of one type the first says whether it counts, and the last that is enabled says what
// it looks like. Real manifests have such rows.
void Translator::mapping_rows(const Node& groups) {
    std::map<std::string, bool> enabled;
    for (std::size_t g = 0; g < groups.items().size(); ++g) {
        const Node& group = groups.items()[g];
        const std::string path = document::item_path("alert_mappings", g);
        const Node* alerts = group.find("alerts");
        if (alerts == nullptr || !alerts->is_sequence()) {
            note(group, path, "has no alerts: ignored");
            continue;
        }
        check_keys(group, path, {"group", "alerts", "name", "description"});
        for (std::size_t i = 0; i < alerts->items().size(); ++i) {
            const Node& row = alerts->items()[i];
            const std::string at = document::item_path(path + ".alerts", i);
            const std::string type = text_of(row, "alert_type");
            if (type.empty()) {
                note(row, at, "has no alert_type: ignored");
                continue;
            }
            check_keys(row, at,
                       {"alert_type", "enabled", "severity", "category", "title", "description",
                        "clears"});
            const bool on = flag_of(row, "enabled", true);
            const auto [known, first] = enabled.emplace(type, on);
            if (!first) {
                note(row, at,
                     fmt::format("{} stands above already, which makes it {}{}", type,
                                 known->second ? "enabled" : "disabled",
                                 on ? "; this row says how it looks" : ""));
            }
            if (!on && !first) continue;
            Node look = Node::map();
            if (!known->second) look.set("enabled", Node::boolean(false));
            std::string severity = text_of(row, "severity", "warning");
            if (std::ranges::find(kSeverities, severity) == kSeverities.end()) {
                note(row, at + ".severity",
                     fmt::format("{} is no severity: warning is taken", quoted(severity)));
                severity = "warning";
            }
            look.set("severity", Node::text(severity));
            look.set("category", Node::text(text_of(row, "category", addon_category_)));
            severities_[type] = severity;
            for (const auto& [theirs, ours] :
                 {std::pair("title", "title"), std::pair("description", "message")}) {
                const std::string text = text_of(row, theirs);
                if (!text.empty()) look.set(ours, Node::text(our_placeholders(text)));
            }
            if (const Node* clears = row.find("clears")) look.set("clears", *clears);
            set_type(type, std::move(look), row.mark());
        }
    }
}

void Translator::flat_maps() {
    constexpr std::pair<std::string_view, std::string_view> kMaps[] = {
        {"severity_mappings", "severity"},
        {"category_mappings", "category"},
        {"title_templates", "title"},
        {"description_templates", "message"}};
    all_types_ = true;
    std::map<std::string, Node> looks;
    for (const auto& [theirs, ours] : kMaps) {
        const Node* map = find(theirs);
        if (map == nullptr || !map->is_map()) continue;
        for (const document::MapEntry& entry : map->entries()) {
            std::string value = entry.value.scalar();
            if (ours == "severity") {
                if (std::ranges::find(kSeverities, value) == kSeverities.end()) {
                    note(entry.value, document::key_path(theirs, entry.key),
                         fmt::format("{} is no severity: warning is taken", quoted(value)));
                    value = "warning";
                }
                severities_[entry.key] = value;
            }
            if (ours == "title" || ours == "message") value = our_placeholders(value);
            Node& look = looks.try_emplace(entry.key, Node::map()).first->second;
            look.set(std::string(ours), marked(Node::text(value), entry.value.mark()));
            look.set_mark(entry.value.mark());
        }
    }
    for (auto& [type, look] : looks) types_.set(type, std::move(look));
    types_.set("*", marked(Node::map(), root_.mark()));  // every type counts
}

// A type of severity `clear` is a recovery: it ends what it names under `clears`, or what its name
// says it ends.
void Translator::recoveries() {
    for (const auto& [type, severity] : severities_) {
        if (severity != "clear") continue;
        const Node* known = types_.find(type);
        if (known == nullptr || known->find("clears") != nullptr) continue;
        Node ends = Node::sequence();
        std::string told;
        for (const auto& [good, bad] : kPairs) {
            if (!type.ends_with(good)) continue;
            const std::string base = type.substr(0, type.size() - good.size()) + std::string(bad);
            const auto ended = severities_.find(base);
            if (ended == severities_.end() || ended->second == "clear") continue;
            ends.push(Node::text(base));
            told += (told.empty() ? "" : ", ") + base;
        }
        if (told.empty() && (type == "CLEAR" || type == "CLEARED")) {
            for (const auto& [other, other_severity] : severities_) {
                if (other_severity == "clear") continue;
                ends.push(Node::text(other));
                told += (told.empty() ? "" : ", ") + other;
            }
        }
        if (told.empty()) {
            note(*known, type, "is a recovery that names no alert it ends: add clears");
            continue;
        }
        note(*known, type, fmt::format("is a recovery: it ends {}; before it ended nothing", told));
        Node look = *known;
        look.set("clears", std::move(ends));
        types_.set(type, std::move(look));
    }
}

void Translator::clear_rules() {
    const Node* events = find("clear_events");
    if (events == nullptr || !events->is_map()) return;
    check_keys(*events, "clear_events",
               {"method", "clear_suffix", "clear_field", "clear_values", "oid_pairs"});
    clear_method_ = text_of(*events, "method", "suffix");
    constexpr std::string_view kKnown[] = {"suffix", "field_value", "oid_pair", "reconciliation"};
    if (std::ranges::find(kKnown, clear_method_) == std::end(kKnown)) {
        note(*events, "clear_events.method",
             fmt::format("{} is not known: nothing clears by content", quoted(clear_method_)));
        clear_method_ = "none";
    }
    clear_suffix_ = text_of(*events, "clear_suffix", clear_suffix_);
    clear_field_ = text_of(*events, "clear_field", clear_field_);
    const Node* values = events->find("clear_values");
    if (values != nullptr && values->is_sequence()) {
        clear_values_.clear();
        for (const Node& value : values->items()) clear_values_.push_back(value.scalar());
    }
    if (method_ == "snmp_poll") {
        if (clear_method_ != "reconciliation") {
            note(*events, "clear_events.method", "is not used: a condition clears when it is over");
        }
    } else if (clear_method_ == "suffix") {
        note(*events, "clear_events.method",
             fmt::format("a type with {} clears the alert without it; before it did not find it",
                         quoted(clear_suffix_)));
    }
}

// Without clear_events the usual suffix counts; told where a type can have one.
void Translator::tell_usual_suffix() {
    if (clear_method_ != "suffix" || find("clear_events") != nullptr) return;
    if (std::exchange(suffix_told_, true)) return;
    note(root_, "clear_events",
         fmt::format("is missing: a type with {} clears the alert without it; before it did not "
                     "find it",
                     quoted(clear_suffix_)));
}

void Translator::tell_no_clear_field() {
    note(*find("clear_events"), "clear_events.clear_field",
         fmt::format("{} is not among the fields: nothing clears", quoted(clear_field_)));
}

// Of a type that only clears another one; empty: it is none.
std::string Translator::type_without_suffix(const std::string& type) const {
    const bool ends = !clear_suffix_.empty() && type.ends_with(clear_suffix_);
    if (clear_method_ != "suffix" || !ends) return {};
    const std::string base = type.substr(0, type.size() - clear_suffix_.size());
    const bool counts = !base.empty() && (all_types_ || types_.find(base) != nullptr);
    return counts ? base : std::string();
}

std::string Translator::clear_expression(const Fields& fields) const {
    const auto field =
        std::ranges::find(fields, clear_field_, &std::pair<std::string, std::string>::first);
    if (clear_method_ != "field_value" || field == fields.end()) return {};
    std::string out;
    for (std::string value : clear_values_) {
        std::ranges::transform(value, value.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        out += fmt::format("{}lower(text({})) == {}", out.empty() ? "" : " or ", field->second,
                           quoted_literal(value));
    }
    return out;
}

void Translator::failure_type(const Node& type) {
    if (types_.find(type.scalar()) != nullptr || all_types_) return;
    note(type, "alert_on_failure",
         fmt::format("{} is in no mapping, so that it was dropped; here it is raised as critical",
                     type.scalar()));
    Node look = Node::map();
    look.set("severity", Node::text("critical"));
    set_type(type.scalar(), std::move(look), type.mark());
}

}  // namespace pollux::extract
