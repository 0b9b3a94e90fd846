#include "app/events_page.hpp"

#include <fmt/format.h>

#include "document/write.hpp"

namespace pollux::app {
namespace {

using document::Node;

std::string text(const Node& node, std::string_view field) {
    const Node* found = node.find(field);
    return found == nullptr || !found->is_scalar() ? std::string() : found->scalar();
}

// "clear link_down/3", "link_down/3 major: Link down"
std::string signal_words(const Node& signal) {
    std::string words = text(signal, "clear") == "true" ? "clear " : "";
    words += text(signal, "type");
    const std::string subject = text(signal, "subject");
    if (!subject.empty()) words += "/" + subject;
    if (text(signal, "clear") != "true") words += " " + text(signal, "severity");
    const std::string title = text(signal, "title");
    return title.empty() ? words : words + ": " + title;
}

// What a device says must not move the cursor of a terminal.
std::string first_line(const std::string& message) {
    const std::string line = message.substr(0, message.find('\n'));
    std::string shown;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const auto byte = static_cast<unsigned char>(line[i]);
        if (byte < 0x20 || byte == 0x7F) continue;
        // The second set of controls, of two bytes in UTF-8.
        const auto next = i + 1 < line.size() ? static_cast<unsigned char>(line[i + 1]) : 0U;
        if (byte == 0xC2 && next >= 0x80 && next <= 0x9F) {
            ++i;
            continue;
        }
        shown += line[i];
    }
    return shown;
}

void add_targets(const Node& page, std::string& out) {
    for (const Node& target : page.find("targets")->items()) {
        std::string state = text(target, "state");
        if (!text(target, "problem").empty()) state = text(target, "problem");
        if (text(target, "enabled") != "true") state = "disabled";
        if (state.empty()) state = "listens";
        const std::string last = text(target, "last_heartbeat");
        out += fmt::format("  {:<32} {:<8} {}{}{}\n", text(target, "key"), text(target, "kind"),
                           state, last.empty() ? "" : ", last heartbeat " + last,
                           text(target, "raised") == "0"
                               ? ""
                               : fmt::format(", {} raised", text(target, "raised")));
    }
}

}  // namespace

std::string events_page(const std::vector<store::Observation>& rows) {
    std::string page = "{\"events\":[";
    for (const store::Observation& row : rows) {
        if (page.back() == '}') page += ',';
        // The signals are JSON already.
        page += fmt::format(
            "{{\"id\":{},\"key\":{},\"target_id\":{},\"received\":{},\"source\":{},\"kind\":{},"
            "\"signals\":{},\"text\":{}}}",
            row.id, document::json_string(row.key), document::json_string(row.target_id),
            document::json_string(base::format_utc(row.received)),
            document::json_string(row.source), document::json_string(model::to_string(row.kind)),
            row.signals, document::json_string(row.text));
    }
    return page + "]}";
}

std::string event_line(const Node& event) {
    std::string signals;
    for (const Node& signal : event.find("signals")->items()) {
        if (!signals.empty()) signals += "; ";
        signals += signal_words(signal);
    }
    return fmt::format("{} {:<7} {} from {}  {}  {}", text(event, "received"), text(event, "kind"),
                       text(event, "key"), text(event, "source"),
                       signals.empty() ? "no signal" : first_line(signals),
                       first_line(text(event, "text")));
}

std::string inbound_text(const Node& page) {
    std::string out;
    for (const auto& [field, what] :
         {std::pair("traps", "traps (POLLUX_TRAP_LISTEN)"),
          std::pair("http", "webhooks and pushes (POLLUX_INBOUND_LISTEN)")}) {
        std::string addresses;
        for (const Node& address : page.find(field)->items()) addresses += " " + address.scalar();
        out += fmt::format("{}:{}\n", what, addresses.empty() ? " off" : addresses);
    }
    out += "\nmessages\n";
    for (const document::MapEntry& kind : page.find("messages")->entries()) {
        std::string results;
        for (const document::MapEntry& result : kind.value.entries()) {
            if (result.value.scalar() == "0") continue;
            results += fmt::format(" {} {}", result.key, result.value.scalar());
        }
        out += fmt::format("  {:<8}{}\n", kind.key, results.empty() ? " none" : results);
    }
    const Node* dropped = page.find("datagrams_dropped");
    if (dropped != nullptr && dropped->scalar() != "0") {
        out += fmt::format("  dropped  {} datagrams came faster than they could be read\n",
                           dropped->scalar());
    }
    out += "\ntargets\n";
    add_targets(page, out);
    const auto& unknown = page.find("unknown_senders")->items();
    if (unknown.empty()) return out;
    out += "\nunknown senders\n";
    for (const Node& sender : unknown) {
        out += fmt::format("  {:<24} {} times, last {}{}: {}\n", text(sender, "source"),
                           text(sender, "messages"), text(sender, "last"),
                           text(sender, "trap").empty() ? "" : ", trap " + text(sender, "trap"),
                           text(sender, "reason"));
    }
    return out;
}

}  // namespace pollux::app
