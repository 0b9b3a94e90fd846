#include "app/alert_words.hpp"

#include <fmt/format.h>

#include "app/api_command.hpp"
#include "app/table.hpp"

namespace pollux::app {
namespace {

using document::Node;

void add_line(std::string& out, std::string_view name, const std::string& value) {
    if (!value.empty()) out += fmt::format("{:<14} {}\n", name, printable(value, 2000));
}

void add_map(std::string& out, std::string_view name, const Node* map) {
    if (map == nullptr || map->entries().empty()) return;
    std::string words;
    for (const document::MapEntry& entry : map->entries()) {
        words += fmt::format("{}{}={}", words.empty() ? "" : " ", entry.key, entry.value.scalar());
    }
    add_line(out, name, words);
}

void add_timeline(std::string& out, const Node& page) {
    if (list_of(page, "timeline").empty()) return;
    out += "\nTIMELINE (UTC)\n";
    for (const Node& step : list_of(page, "timeline")) {
        const std::string by = field(step, "by");
        const std::string cause = field(step, "cause");
        out += fmt::format("  {}  {}{}{}{}{}\n", short_time(field(step, "at")),
                           printable(field(step, "kind")), cause.empty() ? "" : ": ",
                           printable(cause), by.empty() ? "" : " by ", printable(by));
    }
}

void add_notifications(std::string& out, const Node& page) {
    if (list_of(page, "notifications").empty()) return;
    out += "\nTOLD\n";
    Table table({"MADE (UTC)", "KIND", "RECEIVER", "CHANNEL", "STATE", "LAST ERROR"});
    for (const Node& one : list_of(page, "notifications")) {
        table.add({short_time(field(one, "made")), field(one, "kind"), field(one, "receiver"),
                   field(one, "channel"), field(one, "state"), field(one, "last_error")});
    }
    out += table.text(wants_colour());
}

// "critical  active  core-1 is down (ping::core-1)"
std::string one_line(const Node& alert) {
    const std::string target = field(alert, "target");
    return fmt::format("{}  {}  {}{}", field(alert, "severity"), field(alert, "status"),
                       printable(field(alert, "title")),
                       target.empty() ? "" : fmt::format(" ({})", printable(target)));
}

}  // namespace

std::string alert_text(const Node& alert) {
    std::string out = printable(field(alert, "title")) + "\n";
    add_line(out, "id", field(alert, "id"));
    add_line(out, "severity", field(alert, "severity"));
    add_line(out, "status", field(alert, "status"));
    add_line(out, "suppressed by", field(alert, "suppressed_by"));
    add_line(out, "target", field(alert, "target"));
    add_line(out, "device", field(alert, "device_name"));
    add_line(out, "address", field(alert, "device_ip"));
    add_line(out, "type", field(alert, "alert_type"));
    add_line(out, "subject", field(alert, "subject"));
    add_line(out, "message", field(alert, "message"));
    add_map(out, "labels", alert.find("labels"));
    add_line(out, "occurrences", field(alert, "occurrence_count"));
    add_line(out, "first seen", short_time(field(alert, "first_seen")));
    add_line(out, "last seen", short_time(field(alert, "last_seen")));
    add_line(out, "acknowledged", field(alert, "acknowledged_by"));
    add_line(out, "note", field(alert, "acknowledged_note"));
    add_line(out, "until", short_time(field(alert, "acknowledged_until")));
    add_line(out, "resolved", short_time(field(alert, "resolved_at")));
    add_line(out, "resolved by", field(alert, "resolved_by"));
    add_line(out, "incident", field(alert, "incident"));
    add_line(out, "before it", field(alert, "previous"));
    if (const Node* evidence = alert.find("evidence")) {
        add_line(out, "rule", field(*evidence, "rule"));
        add_map(out, "read", evidence->find("fields"));
    }
    add_timeline(out, alert);
    add_notifications(out, alert);
    return out;
}

std::string incident_text(const Node& incident) {
    std::string out = printable(field(incident, "title")) + "\n";
    add_line(out, "id", field(incident, "id"));
    add_line(out, "severity", field(incident, "severity"));
    add_line(out, "status", field(incident, "status"));
    add_line(out, "cause", field(incident, "cause"));
    add_line(out, "device", field(incident, "device_name"));
    add_line(out, "opened", short_time(field(incident, "opened_at")));
    add_line(out, "resolved", short_time(field(incident, "resolved_at")));
    add_line(out, "affected", field(incident, "affected"));
    out += "\n";
    const Node* root = incident.find("root_alert");
    out += root == nullptr ? std::string("(we ourselves)\n") : one_line(*root) + "\n";
    const auto& affected = list_of(incident, "affected_alerts");
    for (std::size_t i = 0; i < affected.size(); ++i) {
        const bool last = i + 1 == affected.size() && field(incident, "more_alerts") != "true";
        out += fmt::format("{} {}\n", last ? "└─" : "├─", one_line(affected[i]));
    }
    if (field(incident, "more_alerts") == "true") out += "└─ … and more\n";
    if (!list_of(incident, "notes").empty()) out += "\nNOTES (UTC)\n";
    for (const Node& note : list_of(incident, "notes")) {
        out += fmt::format("  {}  {}: {}\n", short_time(field(note, "at")),
                           printable(field(note, "by")), printable(field(note, "text"), 2000));
    }
    add_timeline(out, incident);
    add_notifications(out, incident);
    return out;
}

}  // namespace pollux::app
