#include "alert/alert_labels.hpp"

namespace pollux::alert {
namespace {

void set(model::AlertLabels& labels, const char* name, std::string_view value) {
    if (value.empty()) return;
    labels.insert_or_assign(name, std::string(value));
}

}  // namespace

std::string_view MatchLabels::find(std::string_view label) const {
    const auto found = values.find(label);
    return found == values.end() ? std::string_view() : std::string_view(found->second);
}

MatchLabels labels_of(const model::Alert& alert) {
    MatchLabels result{alert.labels, alert.groups};
    set(result.values, "alertname", alert.type);
    set(result.values, "severity", to_string(alert.severity));
    set(result.values, "category", alert.category);
    set(result.values, "addon", alert.addon);
    set(result.values, "device", alert.device);
    set(result.values, "target", alert.target);
    set(result.values, "subject", alert.subject);
    set(result.values, "address", alert.address);
    set(result.values, "source", to_string(alert.source));
    if (!alert.groups.empty()) set(result.values, "group", alert.groups.front());
    return result;
}

MatchLabels labels_of(const model::Incident& incident) {
    MatchLabels result;
    set(result.values, "alertname", to_string(incident.cause));
    set(result.values, "severity", to_string(incident.severity));
    set(result.values, "device", incident.device);
    set(result.values, "addon", "pollux");
    set(result.values, "source", to_string(model::AlertSource::kSelf));
    return result;
}

}  // namespace pollux::alert
