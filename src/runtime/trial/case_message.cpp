#include "runtime/trial/case_message.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "document/map_reader.hpp"
#include "runtime/trial/case_reply.hpp"

namespace pollux::runtime {
namespace {

using document::MapReader;
using document::Need;
using document::Node;

std::string short_text(const model::Signal& signal) {
    return fmt::format("{}{}{} {}", signal.clear ? "clear " : "", signal.type,
                       signal.subject.empty() ? "" : "/" + signal.subject, signal.severity);
}

bool fits(const Node& wanted, const model::Signal& signal) {
    if (wanted.is_scalar()) return wanted.scalar() == short_text(signal);
    for (const document::MapEntry& entry : wanted.entries()) {
        const std::string& text = entry.value.scalar();
        if (entry.key == "signal" && text != short_text(signal)) return false;
        if (entry.key == "title" && text != signal.title) return false;
        if (entry.key == "message" && text != signal.message) return false;
        if (entry.key == "device_address" && text != signal.device_address) return false;
        if (entry.key == "device_name" && text != signal.device_name) return false;
    }
    return true;
}

model::TrapMessage read_trap(const Node& node, const std::string& path,
                             document::Diagnostics& out) {
    MapReader reader(node, path, out);
    model::TrapMessage trap;
    const auto oid = [&](std::string_view key, Need need) {
        const auto text = reader.string(key, need);
        const auto parsed = text ? model::parse_oid(*text) : std::nullopt;
        if (text && !parsed) reader.error(key, "is no object identifier");
        return parsed.value_or(model::Oid{});
    };
    trap.trap = oid("oid", Need::kRequired);
    trap.enterprise = oid("enterprise", Need::kOptional);
    const auto values = read_snmp_capture(reader.string("varbinds").value_or(""));
    if (values) {
        trap.varbinds.assign(values->begin(), values->end());
    } else {
        reader.error("varbinds", values.error().message);
    }
    reader.finish();
    return trap;
}

}  // namespace

std::optional<model::InboundMessage> case_message(const Node& step, const std::string& path,
                                                  base::WallTime now, document::Diagnostics& out) {
    model::InboundMessage message;
    message.source = "192.0.2.1";
    message.received = now;
    if (const Node* trap = step.find("trap")) {
        message.content = read_trap(*trap, document::key_path(path, "trap"), out);
        return message;
    }
    if (const Node* node = step.find("webhook")) {
        MapReader reader(*node, document::key_path(path, "webhook"), out);
        model::WebhookMessage webhook;
        webhook.body = reader.string("body").value_or("");
        webhook.content_type = reader.string("content_type").value_or("application/json");
        if (const Node* query = reader.map("query")) {
            for (const auto& entry : query->entries()) {
                webhook.query.emplace_back(entry.key, entry.value.scalar());
            }
        }
        reader.finish();
        message.content = std::move(webhook);
        return message;
    }
    if (const Node* node = step.find("push")) {
        MapReader reader(*node, document::key_path(path, "push"), out);
        model::PushMessage push;
        const bool silent = reader.boolean("silent").value_or(false);
        push.up = reader.boolean("up").value_or(!silent);
        push.message = reader.string("message").value_or("");
        push.value = reader.number("value");
        if (silent) message.source = "pollux";
        reader.finish();
        message.content = std::move(push);
        return message;
    }
    return std::nullopt;
}

std::vector<std::string> compare_signals(const Node& expected,
                                         const std::vector<model::Signal>& made) {
    std::vector<std::string> out;
    std::vector<const model::Signal*> left;
    for (const model::Signal& signal : made) left.push_back(&signal);
    for (const Node& wanted : expected.items()) {
        const auto found = std::ranges::find_if(
            left, [&](const model::Signal* signal) { return fits(wanted, *signal); });
        if (found != left.end()) {
            left.erase(found);
            continue;
        }
        const Node* named = wanted.find("signal");
        out.push_back(fmt::format("no such signal: {}", wanted.is_scalar() ? wanted.scalar()
                                                        : named != nullptr ? named->scalar()
                                                                           : "(a map)"));
    }
    for (const model::Signal* signal : left) {
        out.push_back(fmt::format("not expected: {} ({}: {})", short_text(*signal), signal->title,
                                  signal->message));
    }
    return out;
}

}  // namespace pollux::runtime
