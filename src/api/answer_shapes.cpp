#include "api/answer_shapes.hpp"

#include <algorithm>
#include <array>

namespace pollux::api {
namespace {

struct Shape {
    std::string_view name;
    std::string_view text;
};

// --- what is configured -------------------------------------------------------------------------

constexpr std::string_view kObject =
    R"({"name":"switch-1","id":"0190a5e0-0000-7000-8000-000000000000","origin":"api",)"
    R"("version":1,"changed_at":"2026-01-02T03:04:05.000Z","spec!":{"address":"192.0.2.1"}})";

constexpr std::string_view kTask =
    R"({"key":"snmp-system::switch-1","class":"snmp-system","place":"scheduled","enabled":true,)"
    R"("tier":"normal","next_due?":"2026-01-02T03:04:35.000Z","interval":30.0,"suggested":42.5,)"
    R"("last_success?":"2026-01-02T03:04:05.000Z","last_error?":"2026-01-02T02:00:00.000Z",)"
    R"("last_change?":"2026-01-02T03:00:00.000Z","age?":4.2,"bound":60.0,"staleness":0.07,)"
    R"("problem?":"the addon has no such group","failures":0,"breaker":"closed",)"
    R"("breaker_since?":"2026-01-02T02:00:00.000Z","dead_letter":"none",)"
    R"("dead_letter_since?":"2026-01-02T02:00:00.000Z",)"
    R"("first_failure?":"2026-01-02T02:00:00.000Z","last_attempt?":"2026-01-02T02:00:00.000Z",)"
    R"("code?":"snmp.timeout","error?":"no answer within 5 s"})";

constexpr std::string_view kTarget =
    R"({"key":"snmp-system::switch-1","name":"snmp-system::switch-1",)"
    R"("id":"0190a5e0-0000-7000-8000-000000000000","origin":"api","version":1,)"
    R"("changed_at":"2026-01-02T03:04:05.000Z","spec!":{"tier":"high"},"addon":"snmp-system",)"
    R"("device":"switch-1","connection?":"192.0.2.1","labels?*":{"site":"berlin"},)"
    R"("groups?":["berlin"],"tasks":["$Task"]})";

constexpr std::string_view kAddon =
    R"({"name":"snmp-system","version":"1.0.0","title":"System","description":"",)"
    R"("category?":"network","protocol":"snmp","targets":1,"origin":"shipped","enabled":true,)"
    R"("revision":0,"changed_at?":"2026-01-02T03:04:05.000Z","interval?":60.0})";

constexpr std::string_view kAddonDetails =
    R"({"...":"$Addon","parameters":[{"name":"max_rows","type":"integer","required":false,)"
    R"("help?":"rows at most","default?":"100"}],"groups":[{"name":"slow","interval?":300.0}],)"
    R"("metrics":[{"name":"uptime","type":"gauge","unit?":"s","help?":"since the start",)"
    R"("per_row":false}]})";

// --- alerts -------------------------------------------------------------------------------------

constexpr std::string_view kAlert =
    R"({"id":"0190a5e0-0000-7000-8000-000000000000","number":17,)"
    R"("fingerprint":"5d41402abc4b2a76b9719d911017c592","source":"health","addon":"ping",)"
    R"("alert_type":"unreachable","subject?":"Gi1/0/1","target?":"ping::switch-1",)"
    R"("target_id?":"0190a5e0-0000-7000-8000-000000000002","device_name?":"switch-1",)"
    R"("device_ip?":"192.0.2.1","labels*":{"site":"berlin"},"groups":["berlin"],)"
    R"("severity":"critical","category?":"network","title":"switch-1 does not answer",)"
    R"("message?":"no answer within 5 s","status":"active","suppressed_by?":"parent",)"
    R"("incident?":"0190a5e0-0000-7000-8000-000000000001",)"
    R"("previous?":"0190a5e0-0000-7000-8000-000000000003","occurrence_count":3,)"
    R"("first_seen":"2026-01-02T03:04:05.000Z","last_seen":"2026-01-02T03:05:05.000Z",)"
    R"("active_since?":"2026-01-02T03:04:05.000Z","acknowledged_at?":"2026-01-02T03:06:00.000Z",)"
    R"("acknowledged_by?":"user:ada","acknowledged_note?":"on my way",)"
    R"("acknowledged_until?":"2026-01-02T05:06:00.000Z","acknowledged_sticky?":false,)"
    R"("resolved_at?":"2026-01-02T04:00:00.000Z","resolved_by?":"clear","resolved_who?":"user:ada",)"
    R"("flapping":false,"stale":false,"version":2,"provisional":false})";

constexpr std::string_view kIncident =
    R"({"id":"0190a5e0-0000-7000-8000-000000000001","number":3,"cause":"device",)"
    R"("root?":"0190a5e0-0000-7000-8000-000000000000","device_name?":"switch-1",)"
    R"("title":"switch-1 does not answer","severity":"critical","status":"open",)"
    R"("opened_at":"2026-01-02T03:04:05.000Z","resolved_at?":"2026-01-02T04:00:00.000Z",)"
    R"("affected":12,"notes":[{"at":"2026-01-02T03:10:00.000Z","by":"user:ada",)"
    R"("text":"the provider knows","public":false}],"version":1,"provisional":false})";

constexpr std::string_view kAlertEvent =
    R"({"number":40,"at":"2026-01-02T03:04:05.000Z","kind":"opened",)"
    R"("alert?":"0190a5e0-0000-7000-8000-000000000000",)"
    R"("incident?":"0190a5e0-0000-7000-8000-000000000001","from?":"pending","to?":"active",)"
    R"("severity":"critical","cause?":"no answer","by?":"user:ada"})";

constexpr std::string_view kNotification =
    R"({"id":"5d41402abc4b2a76b9719d911017c592","number":4,)"
    R"("incident?":"0190a5e0-0000-7000-8000-000000000001","receiver":"ops","channel":"mail",)"
    R"("route?":"critical","kind":"problem","made":"2026-01-02T03:04:05.000Z",)"
    R"("not_before?":"2026-01-02T03:04:35.000Z","state":"delivered","attempts":1,)"
    R"("last_attempt?":"2026-01-02T03:04:35.000Z","last_error?":"the server answered 503",)"
    R"("provisional":false,"body?!":{"title":"switch-1 does not answer"}})";

constexpr std::string_view kAlertStory =
    R"({"...":"$Alert","evidence":{"rule?":"no answer","fields*":{"code":"snmp.timeout"}},)"
    R"("flap_percent?":14.3,"silenced_by?":["0190a5e0-0000-7000-8000-000000000004"],)"
    R"("incident_summary?":"$Incident","timeline":["$AlertEvent"],)"
    R"("notifications":["$Notification"]})";

constexpr std::string_view kIncidentStory =
    R"({"...":"$Incident","root_alert?":"$Alert","affected_alerts":["$Alert"],)"
    R"("more_alerts":false,"timeline":["$AlertEvent"],"notifications":["$Notification"]})";

// As Alertmanager's API v2 has them.
constexpr std::string_view kV2Alert =
    R"({"fingerprint":"5d41402abc4b2a76","labels*":{"alertname":"unreachable"},)"
    R"("annotations*":{"summary":"switch-1 does not answer"},)"
    R"("startsAt":"2026-01-02T03:04:05.000Z","endsAt":"2026-01-02T03:09:05.000Z",)"
    R"("updatedAt":"2026-01-02T03:04:05.000Z",)"
    R"("generatorURL?":"https://pollux.example.org/alerts/0190a5e0-0000-7000-8000-000000000000",)"
    R"("receivers":[{"name":"ops"}],"status":{"state":"active",)"
    R"("silencedBy":["0190a5e0-0000-7000-8000-000000000004"],)"
    R"("inhibitedBy":["0190a5e0-0000-7000-8000-000000000001"]}})";

constexpr std::string_view kV2Silence =
    R"({"id":"0190a5e0-0000-7000-8000-000000000004","status":{"state":"active"},)"
    R"("updatedAt":"2026-01-02T03:04:05.000Z","matchers":[{"name":"device","value":"nas",)"
    R"("isRegex":false,"isEqual":true}],"startsAt":"2026-01-02T03:04:05.000Z",)"
    R"("endsAt":"2026-01-02T05:04:05.000Z","createdBy":"ada","comment":"new disks"})";

// --- jobs and the scheduler ---------------------------------------------------------------------

constexpr std::string_view kJob =
    R"({"id":"0190a5e0-0000-7000-8000-000000000000","name":"warm",)"
    R"("batch":"0190a5e0-0000-7000-8000-000000000001","type":"http","priority":"normal",)"
    R"("depends_on":[["0190a5e0-0000-7000-8000-000000000002"]],"resources*":{"cpu":2},"slots":1,)"
    R"("timeout":30.0,"retry":{"attempts":3,"backoff":5.0},"on_parent_failure":"fail",)"
    R"("target?":"http-status::web","device?":"web","arguments!":{"url":"https://example.org"},)"
    R"("created_by":"user:ada","created_at":"2026-01-02T03:04:05.000Z","labels*":{"team":"web"},)"
    R"("state":"ready","held":false,"attempts":0,"ended_at?":"2026-01-02T03:05:05.000Z",)"
    R"("waited":1.5,"ready_for?":0.5,"position?":1,"estimate?":2.5,"verdict?":"waits for a slot",)"
    R"("failure?":"the server answered 503","progress?":{"done":12,"total":254,)"
    R"("text?":"192.0.2.12"}})";

constexpr std::string_view kJobRun =
    R"({"attempt":1,"started_at":"2026-01-02T03:04:05.000Z",)"
    R"("finished_at?":"2026-01-02T03:04:06.000Z","outcome?":"ok","exit_status?":0,)"
    R"("code?":"http.status","error?":"the server answered 503","output":"","truncated":false,)"
    R"("log":["asked 192.0.2.1"]})";

constexpr std::string_view kReadySet =
    R"({"time":"2026-01-02T03:04:05.000Z","count":1,"items":[{"key":"snmp-system::switch-1",)"
    R"("place":"ready","priority":"normal","effective_priority":"high",)"
    R"("ready_since?":"2026-01-02T03:04:04.000Z","ready_for":1.0,)"
    R"("due?":"2026-01-02T03:04:04.000Z","slots":1,"created_at?":"2026-01-01T00:00:00.000Z",)"
    R"("waited?":97445.0,"resources*":{"cpu":1},"needs":["icmp-ping::core-1"]}],)"
    R"("batches":[{"at":"2026-01-02T03:04:05.000Z","ready":3,"starts":2,"in_flight":4,)"
    R"("resources*":{"cpu":{"used":1,"capacity":8}}}]})";

constexpr std::string_view kChangeStep =
    R"({"at":"2026-01-02T03:04:05.000Z","kind":"breaker","from?":"closed","to?":"open",)"
    R"("failures":3})";

constexpr std::string_view kPollLoad =
    R"({"polls_per_second":40.5,"mean_interval":10.5,"longest_interval":15.5,"mean_age":5.2})";

// What ended of a queue or a region, in a day or in five minutes of it.
constexpr std::string_view kEnded =
    R"({"started":120,"finished":120,"failed":1,"success_ratio?":0.9917,"mean?":0.062,)"
    R"("p95?":0.19})";

// --- settings and access ------------------------------------------------------------------------

constexpr std::string_view kSettings =
    R"({"version":4,"settings*":{"adaptive_polling_enabled":{"value!":true,"default!":false,)"
    R"("origin":"stored","locked":false,"environment":"ADAPTIVE_POLLING_ENABLED",)"
    R"("name?":"adaptivePollingEnabled","applies":"at once","type":"boolean",)"
    R"("help":"Intervals follow change, errors and load."}}})";

constexpr std::string_view kSettingChange =
    R"({"name":"globalRate","key?":"global_rate","before?!":100,"after?!":200})";

constexpr std::string_view kGrant = R"({"role":"operator","selector?":"site=berlin"})";

constexpr std::string_view kUser =
    R"({"name":"alice","display?":"Alice","grants":["$Grant"],"disabled":false,)"
    R"("has_password":true,"created":"2026-01-02T03:04:05.000Z",)"
    R"("password_changed?":"2026-01-02T03:04:05.000Z","origin":"api","version":1})";

constexpr std::string_view kToken =
    R"({"name":"ci","owner":"alice","scopes":["monitoring:read"],"grants?":["$Grant"],)"
    R"("created":"2026-01-02T03:04:05.000Z","expires?":"2099-01-31T00:00:00.000Z",)"
    R"("expired":false,"last_used?":"2026-01-02T03:04:05.000Z","origin":"api","version":1})";

constexpr std::array kShapes = {
    Shape{"Addon", kAddon},
    Shape{"AddonDetails", kAddonDetails},
    Shape{"Alert", kAlert},
    Shape{"AlertEvent", kAlertEvent},
    Shape{"AlertStory", kAlertStory},
    Shape{"ChangeStep", kChangeStep},
    Shape{"Ended", kEnded},
    Shape{"Grant", kGrant},
    Shape{"Incident", kIncident},
    Shape{"IncidentStory", kIncidentStory},
    Shape{"Job", kJob},
    Shape{"JobRun", kJobRun},
    Shape{"Notification", kNotification},
    Shape{"Object", kObject},
    Shape{"PollLoad", kPollLoad},
    Shape{"ReadySet", kReadySet},
    Shape{"SettingChange", kSettingChange},
    Shape{"Settings", kSettings},
    Shape{"Target", kTarget},
    Shape{"Task", kTask},
    Shape{"Token", kToken},
    Shape{"User", kUser},
    Shape{"V2Alert", kV2Alert},
    Shape{"V2Silence", kV2Silence},
};

}  // namespace

std::string_view shape_text(std::string_view name) {
    const auto found = std::ranges::find(kShapes, name, &Shape::name);
    return found == kShapes.end() ? std::string_view() : found->text;
}

}  // namespace pollux::api
