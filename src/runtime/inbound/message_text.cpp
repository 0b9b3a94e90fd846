#include "runtime/inbound/message_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/parse.hpp"

namespace pollux::runtime {
namespace {

using document::Node;
using model::SnmpType;
using model::SnmpValue;

bool is_readable(std::string_view text) {
    return base::is_valid_utf8(text) && std::ranges::none_of(text, [](char c) {
               const auto byte = static_cast<unsigned char>(c);
               return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F;
           });
}

std::string bytes_text(const std::string& bytes) {
    if (is_readable(bytes)) return fmt::format("STRING: \"{}\"", bytes);
    std::string text = "Hex-STRING:";
    for (const char c : bytes) text += fmt::format(" {:02X}", static_cast<unsigned char>(c));
    return text;
}

std::string value_text(const SnmpValue& value) {
    switch (value.type) {
        case SnmpType::kInteger: return fmt::format("INTEGER: {}", value.integer);
        case SnmpType::kOctetString: return bytes_text(value.bytes);
        case SnmpType::kNull: return "NULL";
        case SnmpType::kObjectId: return "OID: " + to_string(value.oid);
        case SnmpType::kIpAddress:
            if (value.bytes.size() != 4) return bytes_text(value.bytes);
            return fmt::format("IpAddress: {}.{}.{}.{}", static_cast<unsigned char>(value.bytes[0]),
                               static_cast<unsigned char>(value.bytes[1]),
                               static_cast<unsigned char>(value.bytes[2]),
                               static_cast<unsigned char>(value.bytes[3]));
        case SnmpType::kCounter32: return fmt::format("Counter32: {}", value.unsigned_value);
        case SnmpType::kGauge32: return fmt::format("Gauge32: {}", value.unsigned_value);
        case SnmpType::kTimeTicks: return fmt::format("Timeticks: {}", value.unsigned_value);
        case SnmpType::kOpaque: return "OPAQUE " + bytes_text(value.bytes);
        case SnmpType::kCounter64: return fmt::format("Counter64: {}", value.unsigned_value);
        case SnmpType::kNoSuchObject: return "No Such Object";
        case SnmpType::kNoSuchInstance: return "No Such Instance";
        case SnmpType::kEndOfMibView: return "End of MIB view";
    }
    return "";
}

struct Texter {
    std::string operator()(const model::TrapMessage& trap) const {
        constexpr std::string_view kVersions[] = {"v1", "v2c", "v3"};
        std::string text =
            fmt::format("{} {} {}\n1.3.6.1.2.1.1.3.0 = Timeticks: {}\n",
                        kVersions[static_cast<std::size_t>(trap.version)],
                        trap.inform ? "inform" : "trap", to_string(trap.trap), trap.uptime_ticks);
        if (!trap.agent_address.empty()) text += "agent " + trap.agent_address + "\n";
        for (const auto& [name, value] : trap.varbinds) {
            text += text_of(name, value) + "\n";
            if (text.size() > kMostTextBytes) break;
        }
        text.pop_back();
        return text;
    }
    std::string operator()(const model::WebhookMessage& hook) const {
        return is_readable(hook.body) ? hook.body : base::quoted(hook.body, kMostTextBytes);
    }
    std::string operator()(const model::PushMessage& push) const {
        std::string text = push.up ? "up" : "down";
        if (!push.message.empty()) {
            text += ": ";
            text += is_readable(push.message) ? push.message
                                              : base::quoted(push.message, kMostTextBytes);
        }
        if (push.value) text += fmt::format(" (value {})", *push.value);
        return text;
    }
};

Node signal_node(const model::Signal& signal) {
    Node node = Node::map();
    const auto set = [&](const char* key, const std::string& text) {
        if (!text.empty()) node.set(key, Node::text(text));
    };
    set("type", signal.type);
    set("subject", signal.subject);
    if (signal.clear) node.set("clear", Node::boolean(true));
    set("severity", signal.severity);
    set("category", signal.category);
    set("title", signal.title);
    set("message", signal.message);
    set("device_address", signal.device_address);
    set("device_name", signal.device_name);
    if (signal.at) node.set("at", Node::text(base::format_utc(*signal.at)));
    Node fields = Node::map();
    for (const auto& [name, value] : signal.fields) fields.set(name, Node::text(value));
    if (!signal.fields.empty()) node.set("fields", std::move(fields));
    set("rule", signal.rule);
    return node;
}

model::Signal read_signal(const Node& node) {
    const auto text = [&](const char* key) {
        const Node* found = node.find(key);
        return found == nullptr ? std::string() : found->scalar();
    };
    model::Signal signal;
    signal.type = text("type");
    signal.subject = text("subject");
    signal.clear = text("clear") == "true";
    signal.severity = text("severity");
    signal.category = text("category");
    signal.title = text("title");
    signal.message = text("message");
    signal.device_address = text("device_address");
    signal.device_name = text("device_name");
    if (const Node* at = node.find("at")) signal.at = base::parse_utc(at->scalar());
    if (const Node* fields = node.find("fields")) {
        for (const document::MapEntry& entry : fields->entries()) {
            signal.fields.emplace_back(entry.key, entry.value.scalar());
        }
    }
    signal.rule = text("rule");
    return signal;
}

}  // namespace

std::string shortened(std::string text, std::size_t most) {
    if (text.size() <= most) return text;
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.resize(end);
    return text + "…";
}

std::string text_of(const model::InboundMessage& message) {
    return shortened(std::visit(Texter{}, message.content), kMostTextBytes);
}

std::string text_of(const model::Oid& name, const model::SnmpValue& value) {
    return to_string(name) + " = " + value_text(value);
}

Node signals_node(const std::vector<model::Signal>& signals) {
    Node list = Node::sequence();
    for (const model::Signal& signal : signals) list.push(signal_node(signal));
    return list;
}

std::optional<std::vector<model::Signal>> read_signals(std::string_view json) {
    document::Diagnostics diagnostics;
    const document::Parsed parsed = document::parse_json(json, "signals", diagnostics);
    if (!parsed.ok || !parsed.root.is_sequence()) return std::nullopt;
    std::vector<model::Signal> signals;
    for (const Node& node : parsed.root.items()) signals.push_back(read_signal(node));
    return signals;
}

}  // namespace pollux::runtime
