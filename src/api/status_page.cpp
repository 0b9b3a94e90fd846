#include "api/status_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "document/json_writer.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;
using runtime::GroupUptime;
using runtime::UptimeDay;
using runtime::UptimeSum;

constexpr std::int64_t kSecondUs = 1'000'000;
constexpr std::size_t kLongestLabel = 64;  // characters of a badge

std::string_view state_of(const GroupUptime& group) {
    if (group.up + group.down == 0) return "unknown";
    if (group.down == 0) return "up";
    return group.up == 0 ? "down" : "degraded";
}

void write_share(JsonWriter& json, std::string_view name, std::optional<double> share) {
    json.key(name);
    if (share) {
        json.value(rounded_share(*share));
    } else {
        json.null();
    }
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '&': out += "&amp;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
        }
    }
    return out;
}

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string_view shortened(std::string_view text) {
    std::size_t seen = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (starts_character(text[i]) && ++seen > kLongestLabel) return text.substr(0, i);
    }
    return text;
}

std::string_view colour_of(std::string_view state) {
    if (state == "up") return "#2e7d32";
    if (state == "degraded") return "#a15c00";
    return state == "down" ? "#c62828" : "#5f6368";
}

void write_incident(JsonWriter& json, const PublicIncident& incident) {
    const bool open = incident.ended == base::WallTime{};
    json.object();
    json.field("title", incident.groups.empty()
                            ? std::string("Disruption")
                            : fmt::format("Disruption in {}", fmt::join(incident.groups, ", ")));
    json.field("state", open ? "open" : "resolved").field("started", incident.started);
    json.time_field("ended", incident.ended).key("groups").array();
    for (const std::string& group : incident.groups) json.value(group);
    json.end_array().key("notes").array();
    for (const PublicNote& note : incident.notes) {
        json.object().field("at", note.at).field("text", note.text).end_object();
    }
    json.end_array().end_object();
}

}  // namespace

double rounded_share(double share) {
    constexpr double kParts = 1e6;
    return std::clamp(std::floor(share * kParts) / kParts, 0.0, 1.0);
}

void write_days(std::string& out, const std::vector<UptimeDay>& days) {
    JsonWriter json(out);
    json.array();
    for (const UptimeDay& day : days) {
        json.object().field("day", runtime::day_text(day.day));
        write_share(json, "uptime", day.sum.share());
        // Of one member, on average: with the share it says the same of a group and of a target.
        const std::int64_t members = std::max<std::int64_t>(1, day.members);
        const std::int64_t each = day.sum.down_us / members;
        json.field("down_seconds", (each + kSecondUs / 2) / kSecondUs).end_object();
    }
    json.end_array();
}

StatusPage::StatusPage(StatusFacts facts) : facts_(std::move(facts)) {
    const auto named = [&](std::string_view name) -> const GroupUptime* {
        const auto found = std::ranges::find(facts_.groups, name, &GroupUptime::name);
        return found == facts_.groups.end() ? nullptr : &*found;
    };
    all_ = named("");
    if (facts_.wanted.empty()) {
        for (const GroupUptime& group : facts_.groups) {
            if (!group.name.empty()) shown_.push_back(&group);
        }
        return;
    }
    for (const std::string& name : facts_.wanted) {
        if (const GroupUptime* group = name.empty() ? nullptr : named(name)) {
            shown_.push_back(group);
        }
    }
}

bool StatusPage::shows(std::string_view group) const {
    return std::ranges::any_of(shown_, [&](const GroupUptime* one) { return one->name == group; });
}

// With a choice of groups only they count: of the others nothing is told.
GroupStatus StatusPage::whole() const {
    if (facts_.wanted.empty()) {
        if (all_ == nullptr) return {"all", "unknown", std::nullopt};
        return {"all", state_of(*all_), all_->last_90d.share()};
    }
    GroupUptime sum;
    for (const GroupUptime* group : shown_) {
        sum.up += group->up;
        sum.down += group->down;
        sum.last_90d.up_us += group->last_90d.up_us;
        sum.last_90d.down_us += group->last_90d.down_us;
    }
    return {"all", state_of(sum), sum.last_90d.share()};
}

std::optional<GroupStatus> StatusPage::find(std::string_view group) const {
    for (const GroupUptime* one : shown_) {
        if (one->name == group)
            return GroupStatus{one->name, state_of(*one), one->last_90d.share()};
    }
    // Behind the groups: somebody may have called one of them so.
    if (group != "all") return std::nullopt;
    GroupStatus status = whole();
    status.name = facts_.title;
    return status;
}

std::string StatusPage::json() const {
    std::string body;
    JsonWriter json(body);
    json.object().field("title", facts_.title).field("updated_at", facts_.now);
    json.field("state", whole().state).key("groups").array();
    for (const GroupUptime* group : shown_) {
        std::string days;
        write_days(days, group->days);
        json.object().field("name", group->name).field("state", state_of(*group));
        write_share(json, "uptime_90d", group->last_90d.share());
        json.raw_field("days", days).field("members", group->members).end_object();
    }
    json.end_array().key("incidents").array();
    for (const PublicIncident& incident : facts_.incidents) write_incident(json, incident);
    json.end_array().end_object();
    return body;
}

std::string status_badge(std::string_view label, const GroupStatus& status) {
    constexpr double kCharacter = 7;
    constexpr double kAround = 16;
    label = shortened(label);
    std::string value(status.state);
    if (status.uptime) {
        value += fmt::format(" {:.2f} %", std::floor(*status.uptime * 1e4) / 100);
    }
    const double left = static_cast<double>(characters(label)) * kCharacter + kAround;
    const double right = static_cast<double>(value.size()) * kCharacter + kAround;
    const std::string name = escaped(label);
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="20" role="img" )"
        R"(aria-label="{1}: {2}"><title>{1}: {2}</title>)"
        R"(<rect width="{0}" height="20" rx="3" fill="#3c4043"/>)"
        R"(<path d="M{3} 0h{4}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{4}z" fill="{5}"/>)"
        R"(<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" )"
        R"(text-anchor="middle"><text x="{6}" y="14">{1}</text>)"
        R"(<text x="{7}" y="14">{2}</text></g></svg>)",
        left + right, name, value, left, right - 3, colour_of(status.state), left / 2,
        left + right / 2);
}

}  // namespace pollux::api
