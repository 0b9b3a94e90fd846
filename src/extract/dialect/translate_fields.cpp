// Parsers and transformations: fields of a reply become internal metrics, and one rule makes the
// alert whose type they say.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/scalar.hpp"
#include "extract/dialect/translator.hpp"
#include "extract/grok.hpp"
#include "extract/time_text.hpp"

namespace pollux::extract {

using base::quoted;
using document::Node;

namespace {

constexpr std::size_t kMaxFields = 60;
constexpr std::string_view kReserved[] = {"alert_type", "device_ip", "device_name", "message",
                                          "timestamp"};
constexpr std::string_view kDottedQuad = R"((\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}))";

bool is_reserved(std::string_view name) {
    return std::ranges::find(kReserved, name) != std::end(kReserved);
}

// Where a class like [^]a-z[:digit:]] ends that begins at `at`: behind its ].
std::size_t end_of_class(std::string_view pattern, std::size_t at) {
    ++at;
    if (at < pattern.size() && pattern[at] == '^') ++at;
    if (at < pattern.size() && pattern[at] == ']') ++at;
    while (at < pattern.size() && pattern[at] != ']') {
        const bool named = pattern.substr(at).starts_with("[:");
        const std::size_t end = named ? pattern.find(":]", at + 2) : std::string_view::npos;
        if (end != std::string_view::npos) {
            at = end + 2;
        } else {
            at += pattern[at] == '\\' ? 2U : 1U;
        }
    }
    return std::min(at + 1, pattern.size());
}

// How long the opening of a capturing group at `at` is: "(", "(?P<name>" or "(?<name>"; 0: it
// captures nothing.
std::size_t group_opening(std::string_view pattern, std::size_t at) {
    const std::string_view rest = pattern.substr(at);
    if (!rest.starts_with("(?")) return 1;
    const bool named =
        rest.starts_with("(?P<") ||
        (rest.starts_with("(?<") && !rest.starts_with("(?<=") && !rest.starts_with("(?<!"));
    const std::size_t end = named ? rest.find('>') : std::string_view::npos;
    return end == std::string_view::npos ? 0 : end + 1;
}

// The pattern with its n-th group as the one named `value`, whatever it was named before; 0 is the
// whole. Nothing: there are fewer groups.
std::optional<std::string> with_group(std::string_view pattern, std::size_t wanted) {
    std::string out = wanted == 0 ? "(?P<value>" : "";
    std::size_t groups = 0;
    for (std::size_t at = 0; at < pattern.size();) {
        std::size_t length = 1;
        if (pattern[at] == '\\') {
            length = 2;
        } else if (pattern[at] == '[') {
            length = end_of_class(pattern, at) - at;
        } else if (pattern[at] == '(') {
            if (const std::size_t opening = group_opening(pattern, at)) {
                out += ++groups == wanted ? "(?P<value>" : "(";
                at += opening;
                continue;
            }
        }
        out += pattern.substr(at, length);
        at += length;
    }
    if (wanted == 0) out += ")";
    return wanted <= groups ? std::optional(std::move(out)) : std::nullopt;
}

// As a text of an expression, which knows no escapes; patterns do.
std::string in_quotes(std::string pattern) {
    for (std::size_t at = pattern.find('\''); at != std::string::npos;
         at = pattern.find('\'', at)) {
        pattern.replace(at, 1, "\\x27");
    }
    return "'" + pattern + "'";
}

}  // namespace

std::string Translator::parser_type(const Node* parser, const Node* parse_type) {
    std::string type = parse_type != nullptr && parse_type->is_scalar() ? parse_type->scalar()
                       : parser != nullptr ? text_of(*parser, "type", "json")
                                           : "json";
    constexpr std::string_view kKnown[] = {"json", "snmp", "regex", "grok", "key_value"};
    if (std::ranges::find(kKnown, type) == std::end(kKnown)) {
        out_.error((parse_type != nullptr ? *parse_type : *parser).mark(), "parser.type",
                   fmt::format("{} is not known; there are {}", quoted(type),
                               document::word_list(kKnown)));
        type = "json";
    }
    return type;
}

// How the answers of an endpoint are written, by what the parser wants.
Node Translator::format(const std::string& parser, const Node* config, Node endpoint) {
    const Node empty = Node::map();
    const Node& given = config == nullptr ? empty : *config;
    if (parser == "key_value") {
        endpoint.set("format", Node::text("key_value"));
        endpoint.set("separator", Node::text(text_of(given, "delimiter", ":")));
        return endpoint;
    }
    if (parser != "regex" && parser != "grok") {
        endpoint.set("format", Node::text("json"));
        return endpoint;
    }
    Node grok = Node::map();
    grok.set_mark(given.mark());
    std::string pattern = text_of(given, "pattern");
    if (const Node* fields = given.find("fields"); parser == "regex" && fields != nullptr) {
        grok.set("fields", *fields);
    }
    GrokOptions options;
    std::vector<std::string> unknown;
    options.unknown_is_text = true;
    options.unknown = &unknown;
    if (const Node* own = given.find("custom_patterns"); own != nullptr && own->is_map()) {
        for (const document::MapEntry& entry : own->entries()) {
            options.patterns[entry.key] = entry.value.scalar();
        }
        if (parser == "grok") grok.set("patterns", *own);
    }
    if (parser == "grok" && Grok::compile(pattern, options)) {
        for (const std::string& name : unknown) {
            note(given, "parser.pattern",
                 fmt::format("%{{{}}} is no pattern that is known: it stands for itself", name));
            for (const std::string& whole : {"%{" + name + "}"}) {
                for (std::size_t at = pattern.find(whole); at != std::string::npos;
                     at = pattern.find(whole, at + 1)) {
                    pattern.replace(at, whole.size(), "%\\{" + name + "\\}");
                }
            }
        }
    }
    grok.set("pattern", marked(Node::text(pattern), given.mark()));
    grok.set("whole", Node::boolean(true));
    endpoint.set("format", Node::text("grok"));
    endpoint.set("grok", std::move(grok));
    return endpoint;
}

std::string Translator::one_step(const Record& record, const Node& step,
                                 const std::string& metric_name) {
    const std::string kind = step.is_map() ? text_of(step, "type") : step.scalar();
    Node next = Node::map();
    const std::string name = fresh_name(metric_name + "_" + kind);
    next.set("name", Node::text(name));
    next.set("type", Node::text("text"));
    next.set("internal", Node::boolean(true));
    next.set("optional", Node::boolean(true));
    next.set("value", Node::text(fmt::format("text({})", metric_name)));
    if (!record.rows.empty()) next.set("rows", Node::text(record.rows));
    if (kind == "lowercase" || kind == "uppercase") {
        next.set("value",
                 Node::text(fmt::format("{}(text({}))", kind == "lowercase" ? "lower" : "upper",
                                        metric_name)));
    } else if (kind == "lookup") {
        const Node* map = step.find("map");
        if (map != nullptr && !map->entries().empty()) next.set("map", *map);
    } else if (kind == "datetime") {
        const std::string format = text_of(step, "format", "%Y-%m-%d %H:%M:%S");
        if (!is_time_format(format)) return metric_name;  // told already
        next.set("time_format", Node::text(format));
    } else if (kind == "extract_ip") {
        const auto group = document::parse_unsigned(text_of(step, "group", "1")).value_or(1);
        const std::string given = text_of(step, "pattern", std::string(kDottedQuad));
        const auto pattern = with_group(given, group);
        if (!pattern) {
            note(step, "transformations",
                 fmt::format("extract_ip wants group {}, which {} does not have: the value stays",
                             group, quoted(given)));
            return metric_name;
        }
        next.set("value", Node::text(fmt::format("coalesce(capture(text({0}), {1}), text({0}))",
                                                 metric_name, in_quotes(*pattern))));
    } else {
        return metric_name;  // told already
    }
    metric(std::move(next), step.mark());
    return name;
}

std::string Translator::transformed(const Record& record, const std::string& field,
                                    std::string metric_name, Node first, const Mark& mark) {
    const Node* all = find("transformations");
    const Node* steps = all == nullptr ? nullptr : all->find(field);
    read_.insert(field);
    metric(std::move(first), mark);
    if (steps == nullptr) return metric_name;
    if (!steps->is_sequence()) return one_step(record, *steps, metric_name);
    for (const Node& step : steps->items()) metric_name = one_step(record, step, metric_name);
    return metric_name;
}

// Adds the metric that reads `source`; the name of the one with the value, transformed.
std::string Translator::add_field(const Record& record, const std::string& field,
                                  const std::string& source, const Mark& mark) {
    Node first = Node::map();
    const std::string name = fresh_name(record.prefix + "_" + field);
    first.set("name", marked(Node::text(name), mark));
    first.set("type", Node::text("text"));
    first.set("internal", Node::boolean(true));
    first.set("optional", Node::boolean(true));
    if (!record.rows.empty()) {
        first.set("rows", Node::text(record.rows));
    } else if (!record.endpoint.empty()) {
        first.set("endpoint", Node::text(record.endpoint));
    }
    const bool by_key = record.parser == "key_value" || record.parser == "form";
    if (record.parser == "snmp") {
        first.set("get", Node::text(source));
    } else if (by_key) {
        first.set("key",
                  marked(Node::text(source.starts_with("$.") ? source.substr(2) : source), mark));
    } else if (record.parser == "xml") {
        const bool path = source.find_first_of("/@") != std::string::npos;
        first.set("path", marked(Node::text(path ? source : "//" + source), mark));
    } else if (record.place.empty()) {
        first.set("path", marked(Node::text(json_path_of(source)), mark));
    } else {
        first.set("path", marked(Node::text(record.place + json_path_of(source).substr(1)), mark));
    }
    return transformed(record, field, name, std::move(first), mark);
}

Translator::Fields Translator::read_fields(const Record& record, const Node* mappings,
                                           const Node* parser) {
    Fields fields;
    const auto add = [&](const std::string& field, const std::string& source, const Mark& mark) {
        if (field.empty() || source.empty()) return;
        const auto same =
            std::ranges::find(fields, field, &std::pair<std::string, std::string>::first);
        if (same != fields.end()) return;
        if (fields.size() >= kMaxFields) {
            out_.warning(mark, "field_mappings." + field,
                         fmt::format("is one more than {} fields: ignored", kMaxFields));
            return;
        }
        fields.emplace_back(field, add_field(record, field, source, mark));
    };
    if (mappings != nullptr && mappings->is_map()) {
        for (const document::MapEntry& entry : mappings->entries()) {
            const std::string& other = entry.value.scalar();
            // Keys of lines are renamed, in either way people wrote it down.
            const bool renames =
                record.parser == "key_value" && !is_reserved(entry.key) && is_reserved(other);
            add(renames ? other : entry.key, renames ? entry.key : other, entry.value.mark());
        }
    }
    if (record.parser == "key_value") {
        // Lines keep their own names, too.
        for (const std::string_view key :
             {std::string_view("alert_type"), std::string_view("message"),
              std::string_view("device_name"), std::string_view(clear_field_)}) {
            add(std::string(key), std::string(key),
                parser == nullptr ? root_.mark() : parser->mark());
        }
    }
    if (parser != nullptr && record.parser == "regex") {
        if (const Node* names = parser->find("fields"); names != nullptr) {
            for (const Node& name : names->items()) add(name.scalar(), name.scalar(), name.mark());
        }
    }
    if (parser != nullptr && record.parser == "grok") {
        GrokOptions options;
        options.unknown_is_text = true;
        if (const Node* own = parser->find("custom_patterns"); own != nullptr) {
            for (const document::MapEntry& entry : own->entries()) {
                options.patterns[entry.key] = entry.value.scalar();
            }
        }
        const auto grok = Grok::compile(text_of(*parser, "pattern"), options);
        const std::vector<std::string> names = grok ? grok->fields() : std::vector<std::string>();
        for (const std::string& name : names) add(name, name, parser->mark());
    }
    return fields;
}

void Translator::describe_rule(Node& rule, const Fields& fields) {
    Node shown = Node::map();
    for (const auto& [field, name] : fields) {
        shown.set(field, Node::text(name));
        if (field == "message") rule.set("message", Node::text("{" + name + "}"));
        if (field == "timestamp") rule.set("time", Node::text(name));
        if (field == "device_name") rule.set("device_name", Node::text(name));
        if (field == "device_ip" && method_ == "webhook") {
            rule.set("device_address", Node::text(name));
        }
    }
    if (!fields.empty()) rule.set("fields", std::move(shown));
    // One alert per type and device, as it was, unless the manifest tells them apart.
    Node subject = Node::sequence();
    if (const Node* wanted = find("fingerprint_fields"); wanted != nullptr) {
        for (const Node& name : wanted->items()) {
            const auto field = std::ranges::find(fields, name.scalar(),
                                                 &std::pair<std::string, std::string>::first);
            if (field == fields.end()) {
                note(name, "fingerprint_fields", "is not read: ignored");
            } else {
                subject.push(Node::text(field->second));
            }
        }
    }
    rule.set("fingerprint_fields", std::move(subject));
}

// One rule: the type is what the field alert_type says, else `unknown` if anything was read.
void Translator::field_rule(const Record& record, const Fields& fields, const Mark& mark) {
    if (fields.empty()) return;
    std::string any;
    std::string type = "null";
    for (const auto& [field, name] : fields) {
        any += fmt::format("{}exists({})", any.empty() ? "" : " or ", name);
        if (field == "alert_type") type = name;
    }
    Node kind = Node::map();
    const std::string kind_name = fresh_name(record.prefix + "_type");
    kind.set("name", Node::text(kind_name));
    kind.set("type", Node::text("text"));
    kind.set("internal", Node::boolean(true));
    kind.set("optional", Node::boolean(true));
    if (!record.rows.empty()) kind.set("rows", Node::text(record.rows));
    kind.set("value", Node::text(fmt::format("coalesce({}, ({}) ? 'unknown' : null)", type, any)));
    metric(std::move(kind), mark);
    Node rule = Node::map();
    rule.set_mark(mark);
    rule.set("name", Node::text(record.prefix));
    rule.set("type", Node::text("{" + kind_name + "}"));
    describe_rule(rule, fields);
    if (clear_method_ == "suffix") rule.set("clear_suffix", Node::text(clear_suffix_));
    tell_usual_suffix();
    const std::string clear = clear_expression(fields);
    if (!clear.empty()) rule.set("clear_when", Node::text(clear));
    if (clear_method_ == "field_value" && clear.empty()) tell_no_clear_field();
    const bool polled = method_ == "api_poll" || method_ == "ssh";
    if (polled) rule.set("reconcile", Node::boolean(clear_method_ == "reconciliation"));
    signals_.push(std::move(rule));
}

}  // namespace pollux::extract
