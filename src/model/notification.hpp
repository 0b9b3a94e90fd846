// What people are told: receivers with channels, routes that choose them, silences that hold them
// back, and the notifications themselves on their way out. Plain data, as people configure it
// (config/), as it is planned (alert/), stored (store/) and sent (feed/).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/alert.hpp"

namespace pollux::model {

enum class MatchOperator : std::uint8_t { kEqual, kNotEqual, kMatches, kNotMatches };  // = != =~ !~

// About the labels of an alert, see alert/alert_labels.hpp for those that every alert has
// (alertname, severity, addon, device, target, group, ...). A label that is not there is empty.
struct LabelMatcher {
    std::string label;
    MatchOperator op = MatchOperator::kEqual;
    std::string value;  // =~ and !~: a regular expression (RE2), anchored at both ends
    bool operator==(const LabelMatcher&) const = default;
};

// A recurring time, as people write it: minutes, hours, days of month, months, days of week, for so
// long, in a time zone. Expanded into UTC intervals outside of pure code.
struct CronWindow {
    std::string cron;  // five fields
    base::Duration duration{};
    std::string zone = "UTC";
    bool operator==(const CronWindow&) const = default;
};

struct TimeRange {
    base::WallTime from;
    base::WallTime until;
    bool operator==(const TimeRange&) const = default;
};

enum class SilenceKind : std::uint8_t {
    kOnce,       // from, until
    kRecurring,  // window
    kFlexible,   // begins with the first alert between from and until, and lasts `duration`
};

// All matchers must hold.
struct Silence {
    std::string id;  // UUIDv7
    std::string name;
    std::vector<LabelMatcher> matchers;
    SilenceKind kind = SilenceKind::kOnce;
    base::WallTime from;
    base::WallTime until;
    CronWindow window;
    base::Duration duration{};
    base::WallTime started;  // kFlexible: when its time began; zero: not yet
    std::string owner;
    std::string reason;
    bool operator==(const Silence&) const = default;
};

enum class ChannelKind : std::uint8_t { kEmail, kWebhook, kExec };

// One way to reach a receiver. What is secret is named by `credentials`.
struct Channel {
    std::string name;  // unique within its receiver
    ChannelKind kind = ChannelKind::kWebhook;
    std::string url;            // webhook: where to; Apprise-style URLs are expanded by the reader
    std::string template_name;  // webhook: "alertmanager" or a shipped or own template
    std::vector<std::string> to;    // e-mail
    std::string from;               // e-mail; empty: the setting
    std::vector<std::string> argv;  // exec: within `exec_allow`
    std::string credentials;        // name of a credential of the fleet; empty: none
    std::map<std::string, std::string, std::less<>> params;  // what the template takes
    std::uint32_t per_minute = 10;  // above it, what waits is told in one digest, or later
    // People read it. Where programs do, what was opened by one message is closed by another one:
    // each is sent, however late. Not configured: what its template says.
    bool digests = true;
    bool send_resolved = true;
    bool operator==(const Channel&) const = default;
};

struct Receiver {
    std::string name;
    std::vector<Channel> channels;
    bool operator==(const Receiver&) const = default;
};

struct EscalationStep {
    base::Duration after{};  // since the incident was first told, while nobody acknowledged it
    std::vector<std::string> receivers;
    bool operator==(const EscalationStep&) const = default;
};

// The first route that matches decides, unless it says `go_on`. In the order of their names' places
// in the file (`order`), then by name.
struct NotifyRoute {
    std::string name;
    std::int64_t order = 0;
    std::vector<LabelMatcher> matchers;
    std::optional<Severity> at_least;
    std::vector<CronWindow> only_during;  // empty: always
    std::vector<CronWindow> quiet;        // quiet hours: problems and recoveries wait for their end
    std::vector<std::string> receivers;
    std::vector<EscalationStep> escalation;
    std::vector<std::string> group_by;  // labels; incidents that agree in them share a message
    base::Duration group_wait = std::chrono::seconds(5);
    base::Duration group_interval = std::chrono::minutes(5);
    base::Duration repeat =
        std::chrono::hours(4);  // reminder while it is open and unacknowledged; zero: none
    bool go_on = false;
    bool operator==(const NotifyRoute&) const = default;
};

enum class NotificationKind : std::uint8_t {
    kProblem,
    kUpdate,  // a higher severity, more affected
    kReminder,
    kEscalation,
    kRecovery,
    kDigest,  // several at once, because of a limit
    kTest,
};

enum class DeliveryState : std::uint8_t {
    kWaiting,  // for its time, its turn or its next attempt
    kDelivered,
    kFailed,     // given up, and shown
    kCancelled,  // over before it was sent, or given up and dismissed
    kHeld,       // recorded while alerts are reviewed: never sent
};

// One message to one channel of one receiver. Its id is the idempotency key: the same in every
// attempt, in every life of the process.
struct Notification {
    std::string id;            // 32 hexadecimal digits
    std::uint64_t number = 0;  // rises; those of one incident go to one channel in this order
    std::string incident;      // id; empty: a digest or a test
    std::string receiver;
    std::string channel;
    std::string route;
    NotificationKind kind = NotificationKind::kProblem;
    base::WallTime made;
    base::WallTime not_before;
    std::string body;          // JSON of what happened, as templates see it; see feed/README.md
    bool provisional = false;  // made while nothing could be stored

    DeliveryState state = DeliveryState::kWaiting;
    std::uint32_t attempts = 0;
    base::WallTime last_attempt;
    std::string last_error;  // no secret
    bool operator==(const Notification&) const = default;
};

// How the sign of life to outside and the watch on another Pollux fare, since the start or since
// their settings changed.
struct SentinelStatus {
    bool sends = false;
    base::WallTime last_sent;     // that was answered with 2xx; zero: never
    std::string last_send_error;  // no secret; empty: the last one arrived
    std::uint64_t sent = 0;
    std::uint64_t failed = 0;
    std::uint64_t skipped = 0;  // because we were not healthy
    bool last_skipped = false;  // the newest one was
    bool watches = false;
    bool peer_lost = false;
    base::WallTime peer_seen;  // zero: never
    std::string peer_error;
    bool operator==(const SentinelStatus&) const = default;
};

std::string_view to_string(MatchOperator op);
std::string_view to_string(SilenceKind kind);
std::string_view to_string(ChannelKind kind);
std::string_view to_string(NotificationKind kind);
std::string_view to_string(DeliveryState state);
std::optional<ChannelKind> channel_kind_of(std::string_view word);

}  // namespace pollux::model
