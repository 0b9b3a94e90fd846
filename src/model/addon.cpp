#include "model/addon.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace pollux::model {

void link(Addon& addon) {
    for (MetricDef& metric : addon.metrics) {
        metric.conditions.clear();
        metric.change.reset();
    }
    for (std::size_t i = 0; i < addon.conditions.size(); ++i) {
        MetricDef& metric = addon.metrics[addon.conditions[i].metric];
        POLLUX_CHECK(metric.conditions.size() < kMaxConditionsPerMetric);
        metric.conditions.push_back(static_cast<std::uint16_t>(i));
    }
    for (std::size_t i = 0; i < addon.change.size(); ++i) {
        addon.metrics[addon.change[i].metric].change = static_cast<std::uint16_t>(i);
    }
}

bool is_upward(Comparison comparison) {
    return comparison == Comparison::kAbove || comparison == Comparison::kAtLeast;
}

bool is_equality(Comparison comparison) {
    return comparison == Comparison::kEqual || comparison == Comparison::kNotEqual;
}

const AlertType* find_alert_type(const Addon& addon, std::string_view name) {
    const auto found = std::ranges::lower_bound(addon.alert_types, name, {}, &AlertType::name);
    return found != addon.alert_types.end() && found->name == name ? &*found : nullptr;
}

bool is_inbound(ProtocolKind protocol) {
    return protocol == ProtocolKind::kTrap || protocol == ProtocolKind::kWebhook ||
           protocol == ProtocolKind::kPush;
}

std::string_view to_string(ProtocolKind protocol) {
    switch (protocol) {
        case ProtocolKind::kHttp: return "http";
        case ProtocolKind::kSnmp: return "snmp";
        case ProtocolKind::kSsh: return "ssh";
        case ProtocolKind::kExec: return "exec";
        case ProtocolKind::kTcp: return "tcp";
        case ProtocolKind::kTls: return "tls";
        case ProtocolKind::kIcmp: return "icmp";
        case ProtocolKind::kDns: return "dns";
        case ProtocolKind::kTrap: return "trap";
        case ProtocolKind::kWebhook: return "webhook";
        case ProtocolKind::kPush: return "push";
    }
    return "http";
}

std::string_view to_string(MetricType type) {
    switch (type) {
        case MetricType::kGauge: return "gauge";
        case MetricType::kCounter: return "counter";
        case MetricType::kState: return "state";
        case MetricType::kText: return "text";
    }
    return "gauge";
}

std::string_view to_string(Comparison comparison) {
    switch (comparison) {
        case Comparison::kAbove: return ">";
        case Comparison::kAtLeast: return ">=";
        case Comparison::kBelow: return "<";
        case Comparison::kAtMost: return "<=";
        case Comparison::kEqual: return "==";
        case Comparison::kNotEqual: return "!=";
    }
    return "==";
}

}  // namespace pollux::model
