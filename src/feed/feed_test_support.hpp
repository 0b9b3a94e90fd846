// What the tests of this folder share: a notification as the planner makes it, and hostile texts.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "document/write.hpp"
#include "model/notification.hpp"

namespace pollux::feed::test {

// What a device may call itself to get out of the place where its name is put.
inline constexpr std::string_view kHostile =
    "a\"b\\c\r\nBcc: victim@example.org\r\n\r\n<script>alert(1)</script>'&@channel <!here> "
    "\x01\x7F\xE2\x80\xAE"
    "dlrow }} {% endif %} ${x} *bold* %0d%0a\xC2\x85\xE2\x80\xA8";

struct BodyFacts {
    std::string kind = "problem";
    std::string incident = "0190a0b0-0000-7000-8000-000000000001";
    std::string title = "core-1 is down";
    std::string device = "core-1";
    std::string message = "no answer for 3 min";
    std::string severity = "critical";
};

inline std::string body_of(const BodyFacts& facts = {}) {
    const auto text = [](const std::string& one) { return document::json_string(one); };
    const bool over = facts.kind == "recovery";
    return fmt::format(
        R"({{"alerts":[{{"device":{device},"fields":{{"rtt":"120"}},"first_seen":"2026-11-18T01:02:03.000Z",)"
        R"("id":"0190a0b0-0000-7000-8000-00000000000a","labels":{{"alertname":"unreachable","device":{device}}},)"
        R"("last_seen":"2026-11-18T01:05:03.000Z","message":{message},"occurrences":3,{resolved})"
        R"("severity":{severity},"state":"{state}","target":"ping::core-1","title":{title},"type":"unreachable"}}],)"
        R"("commonLabels":{{"site":"berlin"}},"externalURL":"https://monitor.example.org","groupLabels":{{}},)"
        R"("incident":{{"affected":12,"id":{incident},"opened_at":"2026-11-18T01:02:03.000Z",{resolved})"
        R"("severity":{severity},"title":{title},"url":"https://monitor.example.org/incidents/1"}},)"
        R"("kind":{kind},"more":0,"provisional":false,"receiver":"ops","route":"critical","version":1}})",
        fmt::arg("device", text(facts.device)), fmt::arg("message", text(facts.message)),
        fmt::arg("title", text(facts.title)), fmt::arg("severity", text(facts.severity)),
        fmt::arg("incident", text(facts.incident)), fmt::arg("kind", text(facts.kind)),
        fmt::arg("state", over ? "resolved" : "active"),
        fmt::arg("resolved", over ? R"("resolved_at":"2026-11-18T02:00:00.000Z",)" : ""));
}

// Number n of an incident, to the channel "ops"/"main".
inline model::Notification notification(std::uint64_t number, const BodyFacts& facts = {}) {
    model::Notification out;
    out.id = fmt::format("{:032x}", number);
    out.number = number;
    out.incident = facts.incident;
    out.receiver = "ops";
    out.channel = "main";
    out.route = "critical";
    out.kind = facts.kind == "recovery" ? model::NotificationKind::kRecovery
                                        : model::NotificationKind::kProblem;
    out.made = base::WallTime{1'763'427'723'000'000};
    out.body = body_of(facts);
    return out;
}

}  // namespace pollux::feed::test
