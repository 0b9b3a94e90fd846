// What people do with alerts and incidents on behalf of a call: looked up and judged on the pool,
// done by the desk of alerts, recorded in the same transaction, answered afterwards.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "alert/input.hpp"
#include "alert/output.hpp"
#include "api/server_link.hpp"
#include "runtime/alerts/alert_desk.hpp"
#include "store/alert_overlay.hpp"

namespace pollux::api {

inline constexpr std::size_t kMostActedOn = 1000;  // alerts of one call

struct ActWish {
    alert::ActVerb verb = alert::ActVerb::kAcknowledge;
    std::string note;
    bool shown = false;    // the note, to everybody
    base::WallTime until;  // zero: no end
    bool sticky = true;
    std::string reason;            // for the trail; the note unless given
    std::vector<std::string> ids;  // of a bulk act only
};

// acknowledge, unacknowledge, resolve, remove, note: as the trail and paths name it.
std::string_view to_string(alert::ActVerb verb);

// Out of a body such as {"note": "…", "until": "…", "for": "2h", "sticky": false, "reason": "…"}.
// `bulk`: with the verb and ids in it.
std::expected<ActWish, Problem> read_act(const Call& call, alert::ActVerb verb, bool bulk);

// The desk, or 503 for a server that has none.
std::expected<runtime::AlertDesk*, Problem> alert_desk(const ServerLink& link);

// What is kept of alerts, with what could not be written yet. For one call.
store::OverlaidAlerts alert_view(const ServerLink& link);

// One alert of the path. Answers with the alert as it is then; with 204 when it was removed.
void act_on_alert(const ServerLink& link, alert::ActVerb verb, Call call);
// Those that the body names, or those of the query: {"changed":1,"results":[…],"more":false}.
void act_on_many(const ServerLink& link, Call call);
// One incident of the path. Answers with it as it is then.
void act_on_incident(const ServerLink& link, alert::ActVerb verb, Call call);

// By labels of its device as they are now; what has none is for those who may do it everywhere.
bool may_on_incident(const access::Principal& principal, access::Permission permission,
                     const runtime::FleetView& view, const model::Incident& incident);

}  // namespace pollux::api
