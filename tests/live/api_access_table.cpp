#include "tests/live/api_access_table.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace pollux::live {
namespace {

struct Line {
    const char* permission;
    const char* area;
    const char* rate;
    bool everywhere;
    const char* operations;
};

constexpr bool kEverywhere = true;
constexpr bool kByLabels = false;  // grants with a selector count: what they do not reach is hidden

constexpr Line kLines[] = {
    // --- nobody has logged in yet
    {"open", "access", "auth", kByLabels, "bootstrap login"},
    {"open", "system", "public", kByLabels,
     "getLive getReady getWelcome getStatusPage getStatusBadge"},

    // --- everybody about himself
    {"self", "system", "general", kByLabels, "logout whoAmI"},
    {"self", "access", "auth", kByLabels, "changePassword"},
    {"self", "access", "general", kByLabels, "listSessions listTokens"},
    {"self", "access", "config-write", kByLabels, "endSessions createToken revokeToken"},

    // --- users
    {"manage", "access", "public", kByLabels, "listUsers getUser"},
    {"manage", "access", "config-write", kByLabels, "createUser changeUser removeUser"},

    // --- the audit trail
    {"audit", "audit", "general", kEverywhere, "listAudit"},
    {"audit", "audit", "export", kEverywhere, "exportAudit verifyAudit"},

    // --- the system
    {"read", "system", "public", kByLabels, "getDocs getDocsStyle getOpenApi"},
    {"read", "system", "general", kByLabels,
     "getHealth getStats getVersion getQueueHistory getRegionHistory getWorkerHistory listQueues "
     "listRegions listWorkers"},

    // --- breakers and dead letters: admins only
    {"read", "monitoring", "general", kByLabels, "getSchedulerHealth listBreakers listDeadLetters"},
    {"manage", "monitoring", "control", kByLabels,
     "resetBreaker resetBreakers retryDeadLetter retryDeadLetters removeDeadLetter"},

    // --- what goes on
    {"read", "monitoring", "general", kByLabels,
     "followEvents listEvents getFleet getOverview explainTask listChanges getHistory "
     "listTargetRuns getTargetUptime listCosts getSchedulerHistory getPlan comparePolicies"},
    {"read", "monitoring", "general", kEverywhere, "getReadySet"},
    {"operate", "monitoring", "config-write", kEverywhere, "triggerScheduler"},
    {"operate", "monitoring", "config-write", kByLabels, "pollTarget"},

    // --- alerts, incidents, silences
    {"read", "monitoring", "general", kByLabels,
     "listAlerts getAlert getAlertStats listIncidents getIncident"},
    {"read", "monitoring", "public", kByLabels, "listSilences getSilence"},
    {"operate", "monitoring", "general", kByLabels,
     "changeAlerts acknowledgeAlert unacknowledgeAlert resolveAlert acknowledgeIncident "
     "resolveIncident addIncidentNote expireSilence"},
    {"operate", "monitoring", "config-write", kByLabels,
     "createSilence replaceSilence removeSilence adoptSilence"},
    {"manage", "monitoring", "config-write", kByLabels, "removeAlert"},

    // --- who is told
    {"read", "monitoring", "general", kEverywhere,
     "listChannels listNotifications getNotification testRoute"},
    {"operate", "monitoring", "general", kEverywhere,
     "retryNotification dismissNotification testReceiver"},

    // --- what tools of Alertmanager ask
    {"read", "monitoring", "general", kByLabels,
     "v2GetStatus v2ListAlerts v2ListAlertGroups v2ListReceivers v2ListSilences v2GetSilence"},
    {"operate", "monitoring", "general", kByLabels, "v2PostAlerts v2PostSilence v2ExpireSilence"},

    // --- what is configured
    {"read", "fleet", "public", kByLabels,
     "listDevices getDevice getDeviceProfile listGroups getGroup listCredentials getCredential "
     "listSources getSource listReceivers getReceiver listRoutes getRoute listTargets getTarget "
     "listAddons getAddon"},
    {"manage", "fleet", "config-write", kByLabels,
     "createDevice replaceDevice removeDevice adoptDevice acceptJobProposal "
     "createGroup replaceGroup removeGroup adoptGroup "
     "createCredential replaceCredential removeCredential adoptCredential "
     "createSource replaceSource removeSource adoptSource "
     "createReceiver replaceReceiver removeReceiver adoptReceiver "
     "createRoute replaceRoute removeRoute adoptRoute "
     "createTarget replaceTarget removeTarget"},
    {"operate", "fleet", "config-write", kByLabels, "enableTarget disableTarget changeTargets"},
    {"manage", "fleet", "public", kEverywhere, "getAddonManifest"},
    {"manage", "fleet", "config-write", kEverywhere,
     "createAddon replaceAddon removeAddon enableAddon disableAddon testAddon"},

    // --- settings
    {"read", "settings", "public", kByLabels,
     "getSettings getMonitoringSettings listSettingsVersions diffSettings"},
    {"manage", "settings", "config-write", kEverywhere,
     "changeSettings changeMonitoringSettings previewMonitoring rollbackSettings"},

    // --- jobs
    {"read", "jobs", "general", kByLabels,
     "listJobs getJob listJobRuns getJobImpact getJobProposal getJobGraph listJobTypes "
     "listResources"},
    {"operate", "jobs", "config-write", kEverywhere, "submitJobs discoverTargets"},
    {"operate", "jobs", "config-write", kByLabels, "cancelJob retryJob holdJob releaseJob"},
};

}  // namespace

const std::map<std::string, ApiAccess>& api_access() {
    static const std::map<std::string, ApiAccess> table = [] {
        std::map<std::string, ApiAccess> all;
        for (const Line& line : kLines) {
            std::istringstream words(line.operations);
            for (std::string word; words >> word;) {
                const ApiAccess one{line.permission, line.area, line.rate, line.everywhere};
                EXPECT_TRUE(all.emplace(word, one).second) << word << " stands twice";
            }
        }
        return all;
    }();
    return table;
}

const std::set<std::string>& open_operations() {
    static const std::set<std::string> all = {"bootstrap",     "login",      "getLive",
                                              "getReady",      "getWelcome", "getStatusPage",
                                              "getStatusBadge"};
    return all;
}

const std::set<std::string>& unsafe_reads() {
    static const std::set<std::string> all = {"testRoute"};  // which route an alert would take
    return all;
}

}  // namespace pollux::live
