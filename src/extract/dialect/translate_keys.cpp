// Which keys are known where, and what is said of those that are known and not taken over.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "extract/dialect/translator.hpp"
#include "extract/time_text.hpp"

namespace pollux::extract {

using base::quoted;
using document::Node;

namespace {

using Words = std::vector<std::string_view>;

// At the top only.
constexpr std::array<std::string_view, 9> kHead = {
    "id", "name", "version", "description", "author", "method", "category", "icon", "vendor"};
// At the top or in the section of the method, for every method.
constexpr std::array<std::string_view, 14> kShared = {"default_poll_interval",
                                                      "default_credentials",
                                                      "credential_fields",
                                                      "target_config_fields",
                                                      "alert_mappings",
                                                      "severity_mappings",
                                                      "category_mappings",
                                                      "title_templates",
                                                      "description_templates",
                                                      "clear_events",
                                                      "parser",
                                                      "transformations",
                                                      "device_identification",
                                                      "fingerprint_fields"};

constexpr std::string_view kTimeFormat = "%Y-%m-%d %H:%M:%S";

Words keys_of_method(std::string_view method) {
    if (method == "api_poll") {
        return {"base_url_template", "auth_type", "auth_header", "verify_ssl",
                "endpoints",         "headers",   "port"};
    }
    if (method == "snmp_poll") return {"snmp_version", "port", "default_community", "poll_groups"};
    if (method == "ssh") return {"commands", "port"};
    if (method == "snmp_trap") return {"enterprise_oid", "trap_definitions", "varbind_mappings"};
    return {"endpoint_path", "auth_token",   "auth_type",     "auth_key",
            "content_type",  "request_type", "field_mappings"};
}

Words keys_of_step(std::string_view kind) {
    if (kind == "lookup") return {"type", "map"};
    if (kind == "datetime") return {"type", "format"};
    if (kind == "extract_ip") return {"type", "pattern", "group"};
    return {"type"};
}

}  // namespace

void Translator::check_keys(const Node& node, const std::string& path,
                            std::span<const std::string_view> known) {
    for (const document::MapEntry& entry : node.entries()) {
        if (std::ranges::find(known, entry.key) != known.end()) continue;
        out_.warning(entry.key_mark, document::key_path(path, entry.key), "is not known: ignored");
    }
}

void Translator::check_keys(const Node& node, const std::string& path,
                            std::initializer_list<std::string_view> known) {
    check_keys(node, path, std::span(known.begin(), known.size()));
}

void Translator::note_key(std::string_view key, std::string message) {
    if (const Node* value = find(key)) note(*value, std::string(key), std::move(message));
}

void Translator::check_manifest() {
    Words known = keys_of_method(method_);
    known.insert(known.end(), kShared.begin(), kShared.end());
    if (section_ != nullptr) {
        for (const std::string_view key : known) {
            const Node* outer = section_->find(key) == nullptr ? nullptr : root_.find(key);
            if (outer == nullptr) continue;
            note(*outer, std::string(key),
                 fmt::format("stands in {} too, which counts: ignored here", method_));
        }
        Words inner = known;
        inner.emplace_back("version");  // at the top it is the addon's own
        if (method_ != "snmp_poll") inner.pop_back();
        check_keys(*section_, method_, inner);
    }
    known.insert(known.end(), kHead.begin(), kHead.end());
    known.emplace_back(method_);
    check_keys(root_, "", known);
    check_parts();
    check_identification();
    check_transformations();
}

// Parts that are known everywhere and have no place with this method.
void Translator::check_parts() {
    note_key("credential_fields",
             "are hints for a form: not taken over; targets are given credentials");
    const bool polled = method_ == "api_poll" || method_ == "snmp_poll" || method_ == "ssh";
    if (!polled) {
        note_key("default_poll_interval", "means nothing where devices speak first: ignored");
    }
    if (find("alert_mappings") != nullptr) {
        for (const std::string_view key : {"severity_mappings", "category_mappings",
                                           "title_templates", "description_templates"}) {
            note_key(key, "is not read beside alert_mappings: ignored");
        }
    }
    if (method_ == "snmp_poll") {
        for (const std::string_view key : {"parser", "transformations", "fingerprint_fields"}) {
            note_key(key, "is not used: each condition raises its own type");
        }
        return;
    }
    const Node* parser = find("parser");
    if (parser == nullptr) return;
    if (method_ != "snmp_trap") return check_parser(*parser, "parser");
    const std::string type = text_of(*parser, "type", "snmp");
    if (type != "snmp") {
        note(*parser, "parser.type",
             fmt::format("is {}, which does not fit traps: they are read by trap_definitions and "
                         "varbind_mappings",
                         type));
    }
    check_keys(*parser, "parser", {"type"});
}

void Translator::check_parser(const Node& parser, const std::string& path) {
    check_keys(
        parser, path,
        {"type", "field_mappings", "pattern", "fields", "custom_patterns", "delimiter", "trim"});
    const Node* trim = parser.find("trim");
    if (trim != nullptr && !flag_of(parser, "trim", true)) {
        note(*trim, path + ".trim", "is false, but blanks around keys and values are cut off");
    }
}

void Translator::check_identification() {
    const Node* identity = find("device_identification");
    if (identity == nullptr) return;
    const std::string path = "device_identification";
    check_keys(*identity, path,
               {"ip_field", "name_field", "identifier_oids", "identifier_patterns"});
    const auto tell = [&](std::string_view key, std::string message) {
        if (const Node* value = identity->find(key)) {
            note(*value, document::key_path(path, key), std::move(message));
        }
    };
    for (const std::string_view key : {"identifier_oids", "identifier_patterns"}) {
        tell(key, "is not taken over: a target says itself which addon it has");
    }
    if (method_ == "webhook") return;
    for (const std::string_view key : {"ip_field", "name_field"}) {
        tell(key, "only counts for webhooks: ignored; alerts are about the target's device");
    }
}

void Translator::check_transformations() {
    const Node* all = find("transformations");
    if (all == nullptr || method_ == "snmp_poll") return;
    constexpr std::string_view kKinds[] = {"lookup", "datetime", "extract_ip", "lowercase",
                                           "uppercase"};
    for (const document::MapEntry& entry : all->entries()) {
        const std::string path = document::key_path("transformations", entry.key);
        const std::vector<Node> one = {entry.value};
        for (const Node& step : entry.value.is_sequence() ? entry.value.items() : one) {
            const std::string kind = step.is_map() ? text_of(step, "type") : step.scalar();
            if (std::ranges::find(kKinds, kind) == std::end(kKinds)) {
                note(step, path, fmt::format("{} is not known: ignored", quoted(kind)));
                continue;
            }
            check_keys(step, path, keys_of_step(kind));
            const std::string format = text_of(step, "format", std::string(kTimeFormat));
            if (kind == "datetime" && !is_time_format(format)) {
                note(step, path + ".format",
                     fmt::format("{} holds what is not known: ignored", quoted(format)));
            }
            const Node* map = step.find("map");
            if (kind == "lookup" && (map == nullptr || map->entries().empty())) {
                note(step, path + ".map", "is missing: ignored");
            }
        }
    }
}

// After everything was read.
void Translator::check_unread() {
    const Node* all = find("transformations");
    if (all == nullptr || method_ == "snmp_poll") return;
    for (const document::MapEntry& entry : all->entries()) {
        if (read_.contains(entry.key)) continue;
        out_.warning(entry.key_mark, document::key_path("transformations", entry.key),
                     "is of a field that is not read: ignored");
    }
}

}  // namespace pollux::extract
