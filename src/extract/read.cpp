#include <fmt/format.h>

#include <algorithm>

#include "extract/addon_plan.hpp"
#include "extract/compiled_addon.hpp"
#include "extract/inbound_values.hpp"
#include "extract/json_text.hpp"
#include "extract/key_value.hpp"
#include "extract/read_http.hpp"
#include "extract/read_snmp.hpp"
#include "extract/reading_writer.hpp"

namespace pollux::extract {

namespace {

// Some senders can do both; the paths of a manifest then find the fields of a form too.
std::string form_as_json(std::string_view body) {
    const KeyValues form = KeyValues::parse_form(body);
    JsonText out(body.size() * 8 + 64);
    out.begin_object();
    std::string_view last;
    for (const auto& [key, value] : form.entries()) {
        if (key == last) continue;  // the first counts
        last = key;
        out.key(key);
        out.text(value);
    }
    out.end_object();
    return out.take();
}

// By its content and not only by its name: curl -d calls everything a form, JSON too.
bool is_form(const model::WebhookMessage& webhook) {
    if (webhook.content_type != "application/x-www-form-urlencoded") return false;
    const std::size_t first = webhook.body.find_first_not_of(" \t\r\n");
    return first != std::string::npos && webhook.body[first] != '{' && webhook.body[first] != '[' &&
           webhook.body.find('=') != std::string::npos;
}

// The body of a webhook is read like an answer over HTTP, the values of a trap or a push like
// those of SNMP gets. False: the message is not of the addon's kind.
bool as_reply(const AddonPlan& plan, const model::InboundMessage& message, model::Reply& out) {
    if (const auto* webhook = std::get_if<model::WebhookMessage>(&message.content)) {
        model::HttpReply reply;
        reply.status = 200;
        const bool form = is_form(*webhook) && !plan.http.endpoints.empty() &&
                          plan.http.endpoints[0].format == BodyFormat::kJson;
        reply.body = form ? form_as_json(webhook->body) : webhook->body;
        reply.headers.emplace_back("source", message.source);
        reply.headers.emplace_back("webhook_path", webhook->path);
        for (const auto& [name, value] : webhook->query) {
            reply.headers.emplace_back(std::string(kQueryPrefix) + name, value);
        }
        out.answer = std::move(reply);
        return plan.addon.protocol == model::ProtocolKind::kWebhook;
    }
    model::SnmpReply reply;
    const auto text = [&](std::string value) {
        model::SnmpValue& added = reply.gets.emplace_back();
        if (value.empty()) return;
        added.type = model::SnmpType::kOctetString;
        added.bytes = std::move(value);
    };
    const auto oid = [&](const model::Oid& value) {
        model::SnmpValue& added = reply.gets.emplace_back();
        if (value.arcs.empty()) return;
        added.type = model::SnmpType::kObjectId;
        added.oid = value;
    };
    text(message.source);
    if (const auto* trap = std::get_if<model::TrapMessage>(&message.content)) {
        oid(trap->trap);
        oid(trap->enterprise);
        model::SnmpValue& uptime = reply.gets.emplace_back();
        uptime.type = model::SnmpType::kTimeTicks;
        uptime.unsigned_value = trap->uptime_ticks;
        // The values that the manifest names follow; an instance stands behind the column.
        for (std::size_t i = kTrapValues.size(); i < plan.groups[0].gets.size(); ++i) {
            model::SnmpValue& added = reply.gets.emplace_back();
            for (const auto& [name, value] : trap->varbinds) {
                if (!name.starts_with(plan.groups[0].gets[i])) continue;
                added = value;
                break;
            }
        }
        out.answer = std::move(reply);
        return plan.addon.protocol == model::ProtocolKind::kTrap;
    }
    const auto& push = std::get<model::PushMessage>(message.content);
    model::SnmpValue& up = reply.gets.emplace_back();
    up.type = model::SnmpType::kInteger;
    up.integer = push.up ? 1 : 0;
    text(push.message);
    text(push.value ? fmt::format("{}", *push.value) : "");
    out.answer = std::move(reply);
    return plan.addon.protocol == model::ProtocolKind::kPush;
}

model::Readings read_replies(const AddonPlan& plan, std::size_t group,
                             std::span<const model::Reply* const> replies, base::WallTime now,
                             Trace* trace, Budget budget, SignalWriter* signals) {
    model::Readings out;
    out.group = static_cast<std::uint16_t>(group);
    if (group >= plan.groups.size()) return out;
    const GroupPlan& asked = plan.groups[group];
    out.values.reserve(asked.rules.size());
    ReadingWriter writer(plan, group, out, budget, trace);
    writer.set_signals(signals);
    if (!plan.http.endpoints.empty()) {
        read_http(plan, group, replies, now, writer);
        return out;
    }
    const model::Reply* reply = replies.empty() ? nullptr : replies.front();
    const auto* snmp = reply == nullptr ? nullptr : std::get_if<model::SnmpReply>(&reply->answer);
    if (snmp != nullptr) {
        read_snmp(plan, group, *snmp, writer);
        return out;
    }
    const auto* failure =
        reply == nullptr ? nullptr : std::get_if<model::PollFailure>(&reply->answer);
    writer.problem(failure == nullptr ? "there is no answer" : failure->message);
    return out;
}

}  // namespace

model::Readings CompiledAddon::read(std::size_t group, std::span<const model::Reply* const> replies,
                                    base::WallTime now, Trace* trace, Budget budget) const {
    return read_replies(*plan_, group, replies, now, trace, budget, nullptr);
}

bool CompiledAddon::has_signals(std::size_t group) const {
    if (std::ranges::any_of(plan_->signals,
                            [&](const SignalRule& rule) { return rule.group == group; })) {
        return true;
    }
    return std::ranges::any_of(plan_->http.endpoints, [&](const EndpointPlan& endpoint) {
        return endpoint.group == group &&
               (!endpoint.on_failure.empty() || !endpoint.on_status.empty());
    });
}

model::PollSignals CompiledAddon::signals(std::size_t group,
                                          std::span<const model::Reply* const> replies,
                                          base::WallTime now, const SignalContext& context,
                                          Budget budget) const {
    model::PollSignals out;
    if (!has_signals(group)) return out;
    SignalWriter writer(*plan_, group, context, out);
    read_replies(*plan_, group, replies, now, nullptr, budget, &writer);
    return out;
}

std::vector<model::Signal> CompiledAddon::signals(const model::InboundMessage& message,
                                                  const SignalContext& context,
                                                  Budget budget) const {
    model::PollSignals out;
    model::Reply reply;
    if (plan_->signals.empty() || !as_reply(*plan_, message, reply)) return {};
    SignalContext known = context;
    if (known.address.empty()) known.address = message.source;
    SignalWriter writer(*plan_, 0, known, out);
    if (const auto* trap = std::get_if<model::TrapMessage>(&message.content)) {
        writer.set_trap(trap->trap);
    }
    const model::Reply* const replies[] = {&reply};
    read_replies(*plan_, 0, replies, message.received, nullptr, budget, &writer);
    return std::move(out.signals);
}

model::Readings CompiledAddon::read(const model::InboundMessage& message, Trace* trace,
                                    Budget budget) const {
    model::Reply reply;
    if (!as_reply(*plan_, message, reply)) return {};
    const model::Reply* const replies[] = {&reply};
    return read_replies(*plan_, 0, replies, message.received, trace, budget, nullptr);
}

std::optional<std::size_t> CompiledAddon::trap_fit(const model::TrapMessage& trap) const {
    if (plan_->addon.protocol != model::ProtocolKind::kTrap) return std::nullopt;
    std::optional<std::size_t> best;
    if (plan_->trap.any_enterprise) best = 0;
    for (const model::Oid& prefix : plan_->trap.enterprises) {
        if (!trap.trap.starts_with(prefix) && !trap.enterprise.starts_with(prefix)) continue;
        best = std::max(best.value_or(0), prefix.arcs.size());
    }
    return best;
}

std::optional<PushExpectation> CompiledAddon::push() const {
    if (plan_->addon.protocol != model::ProtocolKind::kPush) return std::nullopt;
    return PushExpectation{plan_->push.interval, plan_->push.grace};
}

}  // namespace pollux::extract
