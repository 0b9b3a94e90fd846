#include "model/notification.hpp"

namespace pollux::model {

std::string_view to_string(MatchOperator op) {
    switch (op) {
        case MatchOperator::kEqual: return "=";
        case MatchOperator::kNotEqual: return "!=";
        case MatchOperator::kMatches: return "=~";
        case MatchOperator::kNotMatches: return "!~";
    }
    return "unknown";
}

std::string_view to_string(SilenceKind kind) {
    switch (kind) {
        case SilenceKind::kOnce: return "once";
        case SilenceKind::kRecurring: return "recurring";
        case SilenceKind::kFlexible: return "flexible";
    }
    return "unknown";
}

std::string_view to_string(ChannelKind kind) {
    switch (kind) {
        case ChannelKind::kEmail: return "email";
        case ChannelKind::kWebhook: return "webhook";
        case ChannelKind::kExec: return "exec";
    }
    return "unknown";
}

std::string_view to_string(NotificationKind kind) {
    switch (kind) {
        case NotificationKind::kProblem: return "problem";
        case NotificationKind::kUpdate: return "update";
        case NotificationKind::kReminder: return "reminder";
        case NotificationKind::kEscalation: return "escalation";
        case NotificationKind::kRecovery: return "recovery";
        case NotificationKind::kDigest: return "digest";
        case NotificationKind::kTest: return "test";
    }
    return "unknown";
}

std::string_view to_string(DeliveryState state) {
    switch (state) {
        case DeliveryState::kWaiting: return "waiting";
        case DeliveryState::kDelivered: return "delivered";
        case DeliveryState::kFailed: return "failed";
        case DeliveryState::kCancelled: return "cancelled";
        case DeliveryState::kHeld: return "held";
    }
    return "unknown";
}

std::optional<ChannelKind> channel_kind_of(std::string_view word) {
    for (const ChannelKind kind :
         {ChannelKind::kEmail, ChannelKind::kWebhook, ChannelKind::kExec}) {
        if (to_string(kind) == word) return kind;
    }
    return std::nullopt;
}

}  // namespace pollux::model
