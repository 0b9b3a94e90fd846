// Every family of metrics about Pollux itself, in one table: what is written, what the reference
// page says, and what a test checks all come from here. Names and labels are API.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pollux::observe {

enum class MetricType : std::uint8_t { kCounter, kGauge, kHistogram };

std::string_view to_string(MetricType type);

enum class MetricId : std::uint8_t {
    // Known names: dashboards and alert rules of other systems read them as they are.
    kPollDuration,
    kPollTotal,
    kPollErrors,
    kPollLastSuccess,
    kPollStaleness,
    kPollQueueDepth,
    kPollInFlight,
    kQueueDueSoon,
    kQueueDepth,
    kQueueWait,
    kDeadLetterDepth,
    kBreakerState,
    kBreakerFailures,
    kBreakerRetry,
    kHttpDuration,
    kHttpRequests,
    kHttpErrors,
    kAlertsActive,
    kAlertsFired,
    kAlertsResolved,
    kAlertDuration,
    // Ours.
    kReadyDepth,
    kStalenessBound,
    kTargetsOverBound,
    kTargetsNeverSeen,
    kTargets,
    kScheduleLag,
    kIntervalInForce,
    kPlannedRate,
    kBreakerOpenSeconds,
    kDeadLetterSeconds,
    kRecoveries,
    kRunsStarted,
    kRunsEnded,
    kStaleResults,
    kSweepRepairs,
    kBudgetInfeasible,
    kDriverAsks,
    kDriverInFlight,
    kDriverBytes,
    kDriverPdus,
    kSnmpReports,
    kSnmpDiscoveries,
    kSnmpResyncs,
    kSnmpUntrusted,
    kSnmpProfiles,
    kSnmpLiars,
    kSnmpStepsBack,
    kSnmpRelearned,
    kSnmpNarrowChecks,
    kSshHandshakes,
    kSshConnections,
    kReadProblems,
    kStoreCommits,
    kStoreFailures,
    kStoreRows,
    kStoreQueue,
    kStoreCommitSeconds,
    kStoreFailing,
    kStoreReads,
    kStoreBytes,
    kHistorySamples,
    kHistoryDropped,
    kHistorySeries,
    kHistoryBytes,
    kInboundMessages,
    kSignals,
    kSignalsRaised,
    kSignalsWaiting,
    kSignalsDropped,
    kInboundWaiting,
    kInboundUnknownSenders,
    kInboundDatagramsDropped,
    kInboundConfirms,
    kPushTargets,
    kAlertsHeld,
    kAlertsRefused,
    kAlertsUncommitted,
    kIncidentsOpen,
    kObserverImpaired,
    kNotifications,
    kNotificationsWaiting,
    kNotificationAttempts,
    kNotificationDelay,
    kNotificationQueue,
    kNotificationLastSuccess,
    kSentinelHeartbeats,
    kSentinelLastSuccess,
    kSentinelPeerUp,
    kSentinelPeerSeen,
    kEventClients,
    kEventClientsRefused,
    kEvents,
    kEventsSent,
    kEventResyncs,
    kEventWaitingBytes,
    kJobs,
    kJobRuns,
    kJobLatency,
    kStartBatch,
    kResourceUsed,
    kResourceCapacity,
    kLoopLongestTurn,
    kLogLines,
    kConfigReloads,
    kConfigLastReload,
    kAdaptiveMode,
    kBuildInfo,
    kProcessCpu,
    kProcessMemory,
    kProcessOpenFds,
    kProcessStart,
    kCount,
};

struct MetricFamily {
    MetricId id;
    std::string_view name;
    MetricType type;
    std::string_view help;
    std::array<std::string_view, 3> labels;

    std::span<const std::string_view> label_span() const {
        std::size_t count = 0;
        while (count < labels.size() && !labels[count].empty()) ++count;
        return {labels.data(), count};
    }
};

std::span<const MetricFamily> metric_catalog();
const MetricFamily& catalog_entry(MetricId id);

// docs/metrics-reference.md, whole.
std::string metric_reference();

}  // namespace pollux::observe
