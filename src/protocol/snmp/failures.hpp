// Why an ask failed, in words for a person: one function per cause. Plain functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/ask.hpp"
#include "model/reply.hpp"
#include "protocol/snmp/usm_reports.hpp"

namespace pollux::protocol::snmp {

model::PollFailure failure_of(model::FailureKind kind, std::string code, std::string message);

// What is wrong with an ask before anything is sent; FailureKind::kNone: nothing.
model::PollFailure check_ask(const model::Ask* ask);

// The ask's community, "public" if it has none. A secret.
std::string_view community_of(const model::Ask& ask);

// The network's answer: a closed port, no route, ...
model::PollFailure unreachable(int error_number);

struct Silence {
    base::Duration waited{};
    std::uint32_t sends = 0;
    bool was_answered = false;   // an earlier request of the same ask was
    bool was_located = false;    // the address of the device is known
    bool behind_others = false;  // it waited for other requests to the device, and was never sent
    model::SnmpVersion version = model::SnmpVersion::kV2c;
    bool discovering = false;     // v3: its engine was asked for
    bool encrypted = false;       // v3: the requests were
    std::uint32_t untrusted = 0;  // v3: answers that proved nothing
};
model::PollFailure timed_out(const Silence& silence);

// v3: the device says that it does not take our request. The user's name is shown, no secret.
model::PollFailure refused_by_report(ReportKind report, const model::Credentials& user);

}  // namespace pollux::protocol::snmp
