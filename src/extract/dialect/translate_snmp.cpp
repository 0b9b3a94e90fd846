// snmp_poll and ssh.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/scalar.hpp"
#include "extract/dialect/translator.hpp"

namespace pollux::extract {

using base::quoted;
using document::Node;

namespace {

// As numbers if both sides are numbers, else as texts; nothing to compare is no alert.
std::string comparison(const std::string& operation, const std::string& field, const Node& value) {
    const std::string literal = quoted_literal(value.scalar());
    const auto number = document::parse_number(value.scalar());
    const auto both = [&](std::string_view sign, bool texts) {
        const std::string as_text = fmt::format("text({}) {} {}", field, sign, literal);
        if (!number) return as_text;
        const std::string digits =
            document::is_json_number(value.scalar()) ? value.scalar() : fmt::format("{}", *number);
        return fmt::format("coalesce(number({}) {} {}, {})", field, sign, digits,
                           texts ? as_text : fmt::format("exists({}) and false", field));
    };
    if (operation == "equals") return both("==", true);
    if (operation == "not_equals") return both("!=", true);
    if (operation == "greater_than") return both(">", false);
    if (operation == "less_than") return both("<", false);
    if (operation == "contains") return fmt::format("contains(text({}), {})", field, literal);
    return {};
}

std::string bare_oid(std::string text) {
    if (text.starts_with('.')) text.erase(0, 1);
    return text;
}

}  // namespace

void Translator::snmp() {
    Node snmp = Node::map();
    snmp.set_mark(section_ == nullptr ? root_.mark() : section_->mark());
    // At the top `version` is the addon's own.
    std::string version = section_ == nullptr
                              ? text("snmp_version", "2c")
                              : text_of(*section_, "version", text("snmp_version", "2c"));
    if (version.starts_with('v')) version.erase(0, 1);
    if (version == "2") version = "2c";
    if (version == "3") {
        note(snmp, "version",
             "3 is spoken as such; before it was sent as 2c. Give the targets "
             "SNMPv3 credentials");
    }
    snmp.set("version", marked(Node::text(version), snmp.mark()));
    const Node* groups = find("poll_groups");
    if (groups == nullptr || !groups->is_sequence() || groups->items().empty()) {
        out_.error(root_.mark(), "poll_groups", "is missing; there is nothing to ask");
        return;
    }
    Node gets = Node::sequence();
    Node tables = Node::sequence();
    for (std::size_t i = 0; i < groups->items().size(); ++i) {
        snmp_group(groups->items()[i], own_interval(*groups, i), gets, tables);
    }
    if (!gets.items().empty()) snmp.set("gets", std::move(gets));
    if (!tables.items().empty()) snmp.set("tables", std::move(tables));
    tree_.set("snmp", std::move(snmp));
}

void Translator::snmp_group(const Node& node, const Node* interval, Node& gets, Node& tables) {
    check_keys(
        node, "poll_groups",
        {"name", "oids", "alert_conditions", "alert_condition", "interval_seconds", "description"});
    const std::string group = fresh_name(text_of(node, "name", "group"));
    if (interval != nullptr) groups_.set(group, *interval);
    std::map<std::string, std::string> by_oid;  // also by name
    Fields fields;
    std::map<std::string, std::string> table_of;  // field: rows
    const Node* oids = node.find("oids");
    if (oids == nullptr) return;
    for (const Node& item : oids->items()) {
        check_keys(item, "poll_groups.oids", {"oid", "name", "field", "type", "description"});
        const std::string oid = bare_oid(text_of(item, "oid"));
        const std::string field = text_of(item, "name", text_of(item, "field", oid));
        const bool walk = text_of(item, "type", "get") == "walk";
        const std::string get = fresh_name(group + "_" + field);
        const std::string value = fresh_name(get + "_value");
        Node entry = Node::map();
        entry.set_mark(item.mark());
        entry.set("name", Node::text(get));
        Node read = Node::map();
        read.set("name", Node::text(value));
        read.set("type", Node::text("text"));
        read.set("internal", Node::boolean(true));
        read.set("optional", Node::boolean(true));
        if (walk) {
            Node columns = Node::map();
            columns.set("value", marked(Node::text(oid), item.mark()));
            entry.set("columns", std::move(columns));
            read.set("rows", Node::text(get));
            read.set("column", Node::text("value"));
            table_of[value] = get;
        } else {
            entry.set("oid", marked(Node::text(oid), item.mark()));
            read.set("get", Node::text(get));
            fields.emplace_back(field, value);
        }
        if (interval != nullptr) entry.set("group", Node::text(group));
        (walk ? tables : gets).push(std::move(entry));
        metric(std::move(read), item.mark());
        by_oid[oid] = value;
        by_oid.emplace(field, value);
    }
    std::vector<Node> conditions;
    if (const Node* list = node.find("alert_conditions"); list != nullptr)
        conditions = list->items();
    if (const Node* one = node.find("alert_condition"); one != nullptr) conditions.push_back(*one);
    for (const Node& condition : conditions) {
        const auto found = by_oid.find(bare_oid(text_of(condition, "field")));
        const auto table = found == by_oid.end() ? table_of.end() : table_of.find(found->second);
        snmp_condition(condition, by_oid, table == table_of.end() ? fields : Fields{},
                       table == table_of.end() ? "" : table->second);
    }
}

void Translator::snmp_condition(const Node& node, const std::map<std::string, std::string>& by_oid,
                                const Fields& fields, const std::string& rows) {
    check_keys(node, "alert_conditions",
               {"field", "operator", "value", "alert_type", "description"});
    const std::string field = bare_oid(text_of(node, "field"));
    const auto found = by_oid.find(field);
    const Node* value = node.find("value");
    const std::string operation = text_of(node, "operator", "equals");
    const std::string type = text_of(node, "alert_type");
    if (found == by_oid.end() || value == nullptr || type.empty()) {
        note(node, "alert_conditions",
             fmt::format("{} is not asked, or value or alert_type is missing: never raised",
                         quoted(field)));
        return;
    }
    const std::string when = comparison(operation, found->second, *value);
    if (when.empty()) {
        note(node, "alert_conditions.operator",
             fmt::format("{} is not known: never raised, as before", quoted(operation)));
        return;
    }
    if (types_.find(type) == nullptr && !all_types_) {
        note(node, "alert_conditions.alert_type",
             fmt::format("{} is in no mapping: never raised, as before", quoted(type)));
        return;
    }
    note(node, "alert_conditions",
         fmt::format("raises {} by itself and clears it when it is over; before, the parser lost "
                     "it and nothing cleared it",
                     type));
    Node rule = Node::map();
    rule.set_mark(node.mark());
    rule.set("name", Node::text(fresh_name(type)));
    rule.set("type", Node::text(type));
    rule.set("when", marked(Node::text(when), node.mark()));
    if (!rows.empty()) rule.set("rows", Node::text(rows));
    Node shown = Node::map();
    for (const auto& [name, read] : fields) shown.set(name, Node::text(read));
    if (!fields.empty()) rule.set("fields", std::move(shown));
    signals_.push(std::move(rule));
}

void Translator::ssh() {
    const Node* commands = find("commands");
    if (commands == nullptr || !commands->is_sequence() || commands->items().empty()) {
        out_.error(root_.mark(), "commands", "is missing; there is nothing to ask");
        return;
    }
    if (tree_.find("credentials") != nullptr) {
        note(*commands, "default_credentials", "are used; before, SSH did not look at them");
    }
    Node list = Node::sequence();
    for (std::size_t i = 0; i < commands->items().size(); ++i) {
        ssh_command(*commands, i, list);
    }
    Node section = Node::map();
    section.set("commands", std::move(list));
    tree_.set("ssh", marked(std::move(section), commands->mark()));
}

void Translator::ssh_command(const Node& given, std::size_t number, Node& commands) {
    const Node& node = given.items()[number];
    check_keys(node, document::item_path("commands", number),
               {"command", "parse_type", "name", "interval_seconds", "parser", "parse_rules",
                "alert_type_field", "description", "field_mappings", "timeout"});
    Record record;
    record.prefix = fresh_name(text_of(node, "name", fmt::format("command_{}", number + 1)));
    record.endpoint = record.prefix;
    const Node* parser = find("parser");
    const Node* rules = node.find("parse_rules");
    const Node* own = node.find("parse_type");
    if (own == nullptr) own = node.find("parser");
    if (own != nullptr && own->is_map()) {
        parser = own;
        own = own->find("type");
    }
    if (rules != nullptr && rules->is_map()) parser = rules;
    if (parser != nullptr && parser != find("parser")) {
        check_parser(*parser, document::item_path("commands", number) +
                                  (parser == rules ? ".parse_rules" : ".parser"));
    }
    record.parser = parser_type(parser, own);
    if (own != nullptr && parser != nullptr &&
        text_of(*parser, "type", record.parser) != record.parser) {
        note(*own, "parse_type", "counts for this command; before it was ignored");
    }
    Node out = Node::map();
    out.set("name", Node::text(record.endpoint));
    out.set("command", marked(Node::text(text_of(node, "command")), node.mark()));
    if (const Node* interval = own_interval(given, number)) out.set("interval", *interval);
    if (const Node* timeout = node.find("timeout")) out.set("timeout", *timeout);
    if (number > 0) out.set("optional", Node::boolean(true));
    const Node* mappings = node.find("field_mappings");
    if (mappings == nullptr && parser != nullptr) mappings = parser->find("field_mappings");
    out = format(record.parser, parser, std::move(out));
    commands.push(marked(std::move(out), node.mark()));
    if (record.parser == "regex" || record.parser == "grok") record.place = "$[0]";
    Fields fields = read_fields(record, mappings, parser);
    const std::string typed = text_of(node, "alert_type_field");
    for (auto& [field, name] : fields) {
        if (!typed.empty() && field == typed) field = "alert_type";
    }
    field_rule(record, fields, node.mark());
}

}  // namespace pollux::extract
