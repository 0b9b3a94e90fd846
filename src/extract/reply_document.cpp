#include "extract/reply_document.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>

#include "base/text.hpp"
#include "document/write.hpp"
#include "extract/perfdata.hpp"

namespace pollux::extract {
namespace {

std::string text(std::string_view value) { return document::json_string(base::valid_utf8(value)); }

std::string number(std::optional<double> value) {
    return value && std::isfinite(*value) ? fmt::format("{}", *value) : "null";
}

template <class Items, class Write>
std::string list(const Items& items, Write write) {
    std::string out = "[";
    for (const auto& item : items) {
        if (out.size() > 1) out.push_back(',');
        out += write(item);
    }
    return out + "]";
}

std::string certificate(const model::CertificateFacts& facts, base::WallTime now) {
    return fmt::format(R"({{"subject":{},"issuer":{},"sha256":{},"days":{}}})", text(facts.subject),
                       text(facts.issuer), text(facts.sha256),
                       base::to_seconds(facts.not_after - now) / 86'400);
}

std::string record(const model::DnsRecord& one) {
    return fmt::format(R"({{"name":{},"type":{},"ttl":{},"data":{}}})", text(one.name),
                       text(one.type), one.ttl, text(one.data));
}

std::string perf_value(const PerfValue& value) {
    const BaseUnit base = base_unit(value.unit);
    const auto in_base =
        value.value ? std::optional(*value.value * base.factor) : std::optional<double>();
    return fmt::format(
        R"({{"label":{},"value":{},"unit":{},"base_value":{},"base_unit":{},"warning":{},)"
        R"("critical":{},"min":{},"max":{}}})",
        text(value.label), number(value.value), text(value.unit), number(in_base), text(base.unit),
        text(value.warning), text(value.critical), number(value.low), number(value.high));
}

}  // namespace

std::string plugin_document(const model::CommandReply& reply) {
    const PluginOutput output = parse_plugin_output(reply.out);
    return fmt::format(R"({{"state":{},"text":{},"long_text":{},"values":{}}})",
                       plugin_state(reply.exit_status), text(output.text), text(output.long_text),
                       list(output.values, perf_value));
}

std::string reply_document(const model::Reply& reply, base::WallTime now) {
    if (const auto* dns = std::get_if<model::DnsReply>(&reply.answer)) {
        return fmt::format(R"({{"status":{},"authoritative":{},"truncated":{},"answers":{}}})",
                           text(dns->status), dns->authoritative, dns->truncated,
                           list(dns->answers, record));
    }
    if (const auto* tls = std::get_if<model::TlsReply>(&reply.answer)) {
        return fmt::format(
            R"({{"protocol":{},"cipher":{},"verify_error":{},"name_matches":{},"names":{},)"
            R"("certificates":{}}})",
            text(tls->protocol), text(tls->cipher), text(tls->verify_error), tls->name_matches,
            list(tls->names, text),
            list(tls->certificates,
                 [&](const model::CertificateFacts& facts) { return certificate(facts, now); }));
    }
    return "{}";
}

}  // namespace pollux::extract
