// The parts of a manifest that belong to its protocol; here those of what devices send by
// themselves: traps, webhooks, pushes. A message is read like a reply: a webhook like the body of
// an endpoint, the values of a trap or a push like those of SNMP gets.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "extract/addon_builder.hpp"
#include "extract/inbound_values.hpp"
#include "extract/manifest_keys.hpp"

namespace pollux::extract {

using base::quoted;
using document::Need;
using model::ProtocolKind;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kMaxFields = 200;

}  // namespace

void AddonBuilder::read_protocol(Reader& reader) {
    const ProtocolKind protocol = plan_->addon.protocol;
    for (const ProtocolKind other : {ProtocolKind::kHttp, ProtocolKind::kSnmp, ProtocolKind::kTrap,
                                     ProtocolKind::kWebhook, ProtocolKind::kPush}) {
        const std::string_view section = model::to_string(other);
        if (other == protocol || !reader.has(section)) continue;
        reader.error(section, fmt::format("does not fit protocol: {}", model::to_string(protocol)));
    }
    switch (protocol) {
        case ProtocolKind::kSnmp: read_snmp(reader); break;
        case ProtocolKind::kTrap: read_trap(reader); break;
        case ProtocolKind::kWebhook: read_webhook(reader); break;
        case ProtocolKind::kPush: read_push(reader); break;
        default: read_http(reader); break;
    }
}

// A value of a message that is read like an SNMP get, under its name.
void AddonBuilder::add_message_value(const std::string& name, const model::Oid& oid) {
    if (plan_->groups.empty()) plan_->groups.resize(1);
    GroupPlan& group = plan_->groups[0];
    const auto index = static_cast<std::uint16_t>(group.gets.size());
    group.gets.push_back(oid);
    plan_->snmp.gets.push_back({name, oid, 0, index});
    Rule rule;
    rule.name = name;
    rule.source = SourceKind::kGet;
    rule.from = {index};
    rule.optional = true;
    rule.as_read = true;
    rules_.emplace(name, static_cast<std::uint16_t>(plan_->rules.size()));
    plan_->rules.push_back(std::move(rule));
}

void AddonBuilder::read_trap(Reader& reader) {
    const Node* node = reader.map("trap");
    for (const std::string_view name : kTrapValues) add_message_value(std::string(name), {});
    if (node == nullptr) {
        plan_->trap.any_enterprise = true;
        return;
    }
    Reader inner(*node, "trap", out_, keys::kTrap);
    const auto enterprises = inner.strings("enterprise");
    plan_->trap.any_enterprise = enterprises.empty();
    for (const std::string& text : enterprises) {
        if (text == "*") {
            plan_->trap.any_enterprise = true;
            continue;
        }
        const auto oid = model::parse_oid(text);
        if (oid) {
            plan_->trap.enterprises.push_back(*oid);
        } else {
            inner.error("enterprise", fmt::format("{} is no object identifier; write it in "
                                                  "numbers, like 1.3.6.1.4.1.9, or * for all",
                                                  quoted(text)));
        }
    }
    const Node* varbinds = inner.map("varbinds");
    if (varbinds != nullptr && varbinds->entries().size() > kMaxFields) {
        inner.error("varbinds", fmt::format("has more than {} entries", kMaxFields));
    } else if (varbinds != nullptr) {
        for (const document::MapEntry& entry : varbinds->entries()) {
            const std::string path = document::key_path("trap.varbinds", entry.key);
            if (!is_identifier(entry.key) || rules_.contains(entry.key)) {
                out_.error(entry.key_mark, path,
                           "is no name for a value, or taken; write a-z, 0-9 and _");
                continue;
            }
            if (const auto oid = read_oid(entry.value, path)) add_message_value(entry.key, *oid);
        }
    }
    inner.finish();
}

void AddonBuilder::read_push(Reader& reader) {
    for (const std::string_view name : kPushValues) add_message_value(std::string(name), {});
    const Node* node = reader.map("push");
    if (node == nullptr) return;
    Reader inner(*node, "push", out_, keys::kPush);
    plan_->push.interval = inner.duration("interval", 1s, 24h * 31).value_or(plan_->push.interval);
    plan_->push.grace = inner.duration("grace", 0s, 24h * 31).value_or(plan_->push.grace);
    inner.finish();
}

// A field is a path of its own for the format: JSONPath, a path in XML, a key of a form; or
// query.NAME, header NAME being our own.
void AddonBuilder::add_message_field(const document::MapEntry& entry, const std::string& path) {
    if (!is_identifier(entry.key) || rules_.contains(entry.key) || !entry.value.is_scalar()) {
        out_.error(entry.key_mark, path,
                   "is no name for a field, or taken, or says no path; write it like "
                   "message: $.text");
        return;
    }
    Rule rule;
    rule.name = entry.key;
    rule.optional = true;
    rule.as_read = true;
    const std::string& text = entry.value.scalar();
    const BodyFormat format = plan_->http.endpoints[0].format;
    if (text.starts_with(kQueryPrefix)) {
        rule.source = SourceKind::kHeader;
        rule.key = text;
    } else if (is_tree(format)) {
        rule.source = SourceKind::kJson;
        auto compiled = compile_path(0, text, true);
        if (compiled) {
            rule.path = std::move(*compiled);
        } else {
            out_.error(entry.value.mark(), path, compiled.error().message);
        }
    } else {
        rule.source = SourceKind::kKey;
        rule.key = text;
    }
    rules_.emplace(rule.name, static_cast<std::uint16_t>(plan_->rules.size()));
    plan_->rules.push_back(std::move(rule));
}

void AddonBuilder::read_webhook(Reader& reader) {
    if (plan_->groups.empty()) plan_->groups.resize(1);
    EndpointPlan message;
    message.name = "message";
    const Node empty = Node::map();
    const Node* node = reader.map("webhook");
    Reader inner(node == nullptr ? empty : *node, "webhook", out_, keys::kWebhook);
    message.format = read_body_format(inner);
    message.separator = inner.string("separator").value_or("=");
    if (message.separator.empty()) inner.error("separator", "is empty; write it like \"=\"");
    read_format_parts(inner, message);
    plan_->http.endpoints.push_back(std::move(message));
    plan_->groups[0].endpoints.push_back(0);
    for (const std::string_view name : kWebhookValues) {
        Rule rule;
        rule.name = std::string(name);
        rule.source = SourceKind::kHeader;
        rule.key = rule.name;
        rule.optional = true;
        rule.as_read = true;
        rules_.emplace(rule.name, static_cast<std::uint16_t>(plan_->rules.size()));
        plan_->rules.push_back(std::move(rule));
    }
    const Node* fields = inner.map("fields");
    if (fields != nullptr && fields->entries().size() > kMaxFields) {
        inner.error("fields", fmt::format("has more than {} entries", kMaxFields));
    } else if (fields != nullptr) {
        for (const document::MapEntry& entry : fields->entries()) {
            add_message_field(entry, document::key_path("webhook.fields", entry.key));
        }
    }
    const Node* rows = inner.map("rows");
    inner.finish();
    if (rows == nullptr) return;
    for (const document::MapEntry& entry : rows->entries()) {
        read_json_rows(entry, document::key_path("webhook.rows", entry.key), 0);
    }
}

}  // namespace pollux::extract
