#include "alert/notification_body.hpp"

#include <algorithm>
#include <set>

#include "alert/alert_labels.hpp"
#include "base/text.hpp"
#include "document/node.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::alert {
namespace {

using document::Node;

// Cut at a character, and valid UTF-8: JSON has nothing else.
Node text(std::string_view value) {
    std::size_t length = std::min(value.size(), kMostTextInBody);
    while (length > 0 && length < value.size() && (value[length] & 0xC0) == 0x80) --length;
    std::string valid = base::valid_utf8(value.substr(0, length));
    if (length < value.size()) valid += "\xE2\x80\xA6";
    return Node::text(std::move(valid));
}

Node time(base::WallTime at) { return Node::text(base::format_utc(at)); }

Node labels_node(const model::AlertLabels& labels) {
    Node node = Node::map();
    std::size_t count = 0;
    for (const auto& [name, value] : labels) {
        if (++count > kMostFieldsInBody) break;
        node.set(base::valid_utf8(name), text(value));
    }
    return node;
}

Node alert_node(const model::Alert& alert) {
    Node node = Node::map();
    node.set("id", text(alert.id));
    node.set("title", text(alert.title));
    node.set("message", text(alert.message));
    node.set("severity", text(to_string(alert.severity)));
    node.set("state", text(to_string(alert.state)));
    node.set("device", text(alert.device));
    node.set("target", text(alert.target));
    node.set("type", text(alert.type));
    node.set("labels", labels_node(labels_of(alert).values));
    node.set("first_seen", time(alert.first_seen));
    node.set("last_seen", time(alert.last_seen));
    if (!is_open(alert)) node.set("resolved_at", time(alert.resolved_at));
    node.set("occurrences", Node::unsigned_integer(alert.occurrences));
    Node fields = Node::map();
    for (const auto& [name, value] : alert.fields) {
        if (fields.entries().size() >= kMostFieldsInBody) break;
        fields.set(base::valid_utf8(name), text(value));
    }
    node.set("fields", std::move(fields));
    return node;
}

Node incident_node(const NotificationBody& body) {
    const model::Incident& incident = body.incident;
    Node node = Node::map();
    node.set("id", text(incident.id));
    node.set("title", text(incident.title));
    node.set("severity", text(to_string(incident.severity)));
    node.set("opened_at", time(incident.opened_at));
    if (incident.resolved_at != base::WallTime{}) {
        node.set("resolved_at", time(incident.resolved_at));
    }
    node.set("affected", Node::unsigned_integer(incident.affected));
    const bool linked = !body.external_url.empty() && !incident.id.empty();
    node.set("url", text(linked ? body.external_url + "/incidents/" + incident.id : ""));
    return node;
}

model::AlertLabels common_labels(const std::vector<model::Alert>& alerts) {
    model::AlertLabels common;
    bool first = true;
    for (const model::Alert& alert : alerts) {
        const MatchLabels labels = labels_of(alert);
        if (first) common = labels.values;
        first = false;
        std::erase_if(common,
                      [&](const auto& label) { return labels.find(label.first) != label.second; });
    }
    return common;
}

}  // namespace

std::string to_json(const NotificationBody& body) {
    Node node = Node::map();
    node.set("version", Node::integer(kBodyVersion));
    node.set("kind", text(to_string(body.kind)));
    node.set("provisional", Node::boolean(false));
    node.set("receiver", text(body.receiver));
    node.set("route", text(body.route));
    node.set("externalURL", text(body.external_url));
    node.set("groupLabels", labels_node(body.group_labels));
    node.set("commonLabels", labels_node(common_labels(body.alerts)));
    node.set("incident", incident_node(body));
    Node alerts = Node::sequence();
    const std::size_t shown = std::min(body.alerts.size(), kMostAlertsInBody);
    for (std::size_t i = 0; i < shown; ++i) alerts.push(alert_node(body.alerts[i]));
    node.set("alerts", std::move(alerts));
    node.set("more", Node::unsigned_integer(body.more + body.alerts.size() - shown));
    if (body.kind == model::NotificationKind::kDigest) {
        const std::set<std::string> about(body.about.begin(), body.about.end());
        Node list = Node::sequence();
        for (const std::string& incident : about) list.push(text(incident));
        node.set("about", std::move(list));
    }
    return document::to_json(node);
}

std::string as_provisional(const std::string& body) {
    document::Diagnostics diagnostics;
    document::Parsed parsed = document::parse_json(body, "notification", diagnostics);
    if (!parsed.ok) return body;
    parsed.root.set("provisional", Node::boolean(true));
    return document::to_json(parsed.root);
}

}  // namespace pollux::alert
