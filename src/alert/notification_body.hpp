// What a notification says: the JSON that templates see (`Notification::body`). It holds no secret,
// and texts of devices as they are: whoever renders them escapes for the format of the channel.
//
//   {
//     "version": 1,
//     "kind": "problem",            problem update reminder escalation recovery digest test
//     "provisional": false,         sent before it could be stored; see as_provisional()
//     "receiver": "ops",
//     "route": "critical",          empty: of a digest or a test
//     "externalURL": "https://monitor.example.org/pollux",   empty: not set
//     "groupLabels": {"site": "berlin"},     the labels of `group_by`
//     "commonLabels": {"site": "berlin"},    what all alerts below agree in
//     "incident": {                 of a digest: what it is about in one line, id empty
//       "id": "0190...", "title": "core-1 is down", "severity": "critical",
//       "opened_at": "2026-11-18T01:02:03.000Z",
//       "resolved_at": "2026-...",  only when it is over
//       "affected": 12,             others with the same cause, listed below or not
//       "url": "https://monitor.example.org/pollux/incidents/0190..."    empty: no externalURL
//     },
//     "alerts": [ {                 at most 20, the root first
//       "id": "0190...", "title": "...", "message": "...", "severity": "critical",
//       "state": "active",          pending active acknowledged suppressed resolved
//       "device": "core-1", "target": "ping::core-1", "type": "unreachable",
//       "labels": {"alertname": "unreachable", ...},    as matchers see them, see alert_labels.hpp
//       "first_seen": "2026-...", "last_seen": "2026-...",
//       "resolved_at": "2026-...",  only when it is over
//       "occurrences": 3,
//       "fields": {"rtt": "120"}    evidence
//     } ],
//     "more": 0,                    alerts that are left out of the list above
//     "about": ["0190..."]          of a digest only: incidents, by the names that other messages
//   }                               about them have
//
// Keys are sorted and there are no blanks, so that the same facts are the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/alert.hpp"
#include "model/notification.hpp"

namespace pollux::alert {

inline constexpr std::int64_t kBodyVersion = 1;
inline constexpr std::size_t kMostAlertsInBody = 20;
inline constexpr std::size_t kMostTextInBody = 4096;  // bytes of one title, message or field
inline constexpr std::size_t kMostFieldsInBody = 64;  // labels or fields of one alert

struct NotificationBody {
    model::NotificationKind kind = model::NotificationKind::kProblem;
    std::string receiver;
    std::string route;
    std::string external_url;
    model::AlertLabels group_labels;
    // Of a digest only title, severity and the times.
    model::Incident incident;
    std::vector<model::Alert> alerts;  // more than kMostAlertsInBody are counted in `more`
    std::uint64_t more = 0;
    std::vector<std::string> about;  // of a digest, in any order
};

std::string to_json(const NotificationBody& body);

// The same facts, told before they could be stored.
std::string as_provisional(const std::string& body);

}  // namespace pollux::alert
