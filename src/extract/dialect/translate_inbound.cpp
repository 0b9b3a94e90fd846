// snmp_trap and webhook.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "extract/dialect/translator.hpp"

namespace pollux::extract {

using base::quoted;
using document::Node;

void Translator::trap() {
    Node trap = Node::map();
    trap.set_mark(section_ == nullptr ? root_.mark() : section_->mark());
    const Node* enterprise = find("enterprise_oid");
    if (enterprise != nullptr && enterprise->is_scalar() && !enterprise->scalar().empty()) {
        trap.set("enterprise", *enterprise);
        if (enterprise->scalar() == "*") {
            note(*enterprise, "enterprise_oid",
                 "is *: every trap that no other addon claims; before it matched nothing");
        }
    }
    Record record;
    record.prefix = "trap";
    record.parser = "snmp";
    Fields fields;
    Node varbinds = Node::map();
    if (const Node* names = find("varbind_mappings"); names != nullptr) {
        for (const document::MapEntry& entry : names->entries()) {
            const std::string get = fresh_name(entry.value.scalar());
            varbinds.set(get, marked(Node::text(entry.key), entry.key_mark));
            const Node* all = find("transformations");
            const bool changes = all != nullptr && all->find(entry.value.scalar()) != nullptr;
            fields.emplace_back(
                entry.value.scalar(),
                changes ? add_field(record, entry.value.scalar(), get, entry.key_mark) : get);
        }
        varbinds.set_mark(names->mark());
    }
    if (!varbinds.entries().empty()) trap.set("varbinds", std::move(varbinds));
    tree_.set("trap", std::move(trap));
    trap_rules(fields);
}

// The trap that clears, by the one that raises.
std::map<std::string, std::string> Translator::trap_pairs(const Node& definitions) const {
    std::map<std::string, std::string> clear_of;
    const Node* events = find("clear_events");
    const Node* pairs = events == nullptr ? nullptr : events->find("oid_pairs");
    if (pairs != nullptr && pairs->is_map()) {
        for (const document::MapEntry& entry : pairs->entries()) {
            clear_of[entry.key] = entry.value.scalar();
        }
    }
    for (const document::MapEntry& entry : definitions.entries()) {
        const std::string clear = text_of(entry.value, "clear_oid");
        if (!clear.empty()) clear_of.emplace(entry.key, clear);
    }
    return clear_of;
}

void Translator::trap_rules(const Fields& fields) {
    const Node* definitions = find("trap_definitions");
    if (definitions == nullptr || definitions->entries().empty()) {
        out_.error(root_.mark(), "trap_definitions", "is missing; no trap means anything");
        return;
    }
    const std::map<std::string, std::string> clear_of = trap_pairs(*definitions);
    const std::string clear_when = clear_expression(fields);
    if (clear_method_ == "field_value" && clear_when.empty()) tell_no_clear_field();
    std::set<std::string> clears;
    for (const auto& [raises, clear] : clear_of) clears.insert(clear);
    for (const document::MapEntry& entry : definitions->entries()) {
        const std::string path = document::key_path("trap_definitions", entry.key);
        check_keys(entry.value, path, {"alert_type", "description", "clear_oid", "name"});
        if (clears.contains(entry.key)) {
            out_.warning(entry.key_mark, path,
                         "clears what the other trap of its pair raised; before, the clear was "
                         "lost and it raised once more");
            continue;
        }
        std::string type = text_of(entry.value, "alert_type", "unknown");
        const std::string ended = type_without_suffix(type);
        if (!ended.empty()) {
            note(entry.value, path,
                 fmt::format("clears {}, which {} names by its suffix; before it did not find it",
                             ended, type));
            type = ended;
        }
        if (types_.find(type) == nullptr && !all_types_) {
            note(entry.value, path, fmt::format("{} is in no mapping: dropped, as before", type));
            continue;
        }
        Node rule = Node::map();
        rule.set_mark(entry.value.mark());
        rule.set("name", Node::text(type + " " + entry.key));
        rule.set("type", Node::text(type));
        rule.set(ended.empty() ? "trap" : "clear_trap",
                 marked(Node::text(entry.key), entry.key_mark));
        if (!clear_when.empty()) rule.set("clear_when", Node::text(clear_when));
        const auto clear = clear_of.find(entry.key);
        if (ended.empty() && clear != clear_of.end()) {
            rule.set("clear_trap", marked(Node::text(clear->second), entry.value.mark()));
        }
        describe_rule(rule, fields);
        const std::string description = text_of(entry.value, "description");
        if (!description.empty()) rule.set("message", Node::text(description));
        signals_.push(std::move(rule));
    }
}

// Who may send, and where to, is another matter here.
void Translator::tell_webhook_address() {
    note_key("auth_token",
             "is not taken over: the address of a target's webhook holds a secret of its own; "
             "before, the token was not checked");
    const std::string auth = text("auth_type", "none");
    if (auth != "none") {
        note_key("auth_type",
                 fmt::format("is {}, which is not taken over: the address of a target's webhook "
                             "holds a secret of its own",
                             auth));
    }
    note_key("auth_key", "is not taken over: the secret of a target's webhook is in its address");
    note_key("endpoint_path", "changes: each target has an address of its own");
}

void Translator::webhook() {
    const Node* parser = find("parser");
    const Node* mappings = find("field_mappings");
    if (mappings == nullptr && parser != nullptr) mappings = parser->find("field_mappings");
    Record record;
    record.prefix = "message";
    names_.insert("message");
    const std::string type = text("request_type", text("content_type", "json"));
    record.parser = type.find("form") != std::string::npos  ? "form"
                    : type.find("xml") != std::string::npos ? "xml"
                                                            : parser_type(parser, nullptr);
    tell_webhook_address();
    Node webhook = Node::map();
    webhook.set_mark(section_ == nullptr ? root_.mark() : section_->mark());
    if (record.parser == "form" || record.parser == "xml") {
        webhook.set("format", Node::text(record.parser));
    } else {
        webhook = format(record.parser, parser, std::move(webhook));
        if (record.parser == "regex" || record.parser == "grok") record.place = "$[0]";
    }
    tree_.set("webhook", std::move(webhook));
    // What the receiver added is not in the body.
    Node read = Node::map();
    std::string source;
    if (mappings != nullptr) {
        for (const document::MapEntry& entry : mappings->entries()) {
            const std::string& from = entry.value.scalar();
            if (from == "_source_ip" || from == "$._source_ip") {
                source = entry.key;
            } else if (from == "_received_at" || from == "$._received_at") {
                note(entry.value, "field_mappings." + entry.key,
                     "is the time of arrival, which an alert has anyway: ignored");
            } else {
                read.append(entry);
            }
        }
    }
    Fields fields = read_fields(record, &read, parser);
    if (!source.empty()) fields.emplace_back(source, "source");
    const Node* identity = find("device_identification");
    if (identity != nullptr && identity->is_map()) {
        for (const auto& [key, ours] :
             {std::pair("ip_field", "device_ip"), std::pair("name_field", "device_name")}) {
            const std::string wanted = text_of(*identity, key);
            if (wanted.empty()) continue;
            const auto field =
                std::ranges::find(fields, wanted, &std::pair<std::string, std::string>::first);
            if (field != fields.end()) {
                field->first = ours;
            } else {
                note(*identity->find(key), fmt::format("device_identification.{}", key),
                     fmt::format("{} is no field that is read: ignored", quoted(wanted)));
            }
        }
    }
    if (fields.empty()) {
        out_.error(root_.mark(), "parser.field_mappings",
                   "is missing; nothing is read from the messages");
        return;
    }
    field_rule(record, fields, root_.mark());
}

}  // namespace pollux::extract
