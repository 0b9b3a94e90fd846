#include "protocol/snmp/trap_security.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "protocol/snmp/message.hpp"

namespace pollux::protocol::snmp {
namespace {

std::string_view text_of(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
Bytes bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// What a Report tells about a verdict; kOther: nothing is reported.
ReportKind report_of(TrapVerdict verdict) {
    switch (verdict) {
        case TrapVerdict::kDiscovery:
        case TrapVerdict::kUnknownEngine: return ReportKind::kUnknownEngine;
        case TrapVerdict::kUnknownUser: return ReportKind::kUnknownUser;
        case TrapVerdict::kWrongLevel: return ReportKind::kUnsupportedLevel;
        case TrapVerdict::kWrongDigest: return ReportKind::kWrongDigest;
        case TrapVerdict::kNotInTimeWindow: return ReportKind::kNotInTimeWindow;
        case TrapVerdict::kDecryptionError: return ReportKind::kDecryptionError;
        case TrapVerdict::kAccepted:
        case TrapVerdict::kMalformed:
        case TrapVerdict::kNotForUs: break;
    }
    return ReportKind::kOther;
}

TrapVerdict verdict_of(ReportKind problem) {
    switch (problem) {
        case ReportKind::kUnsupportedLevel: return TrapVerdict::kWrongLevel;
        case ReportKind::kWrongDigest: return TrapVerdict::kWrongDigest;
        default: return TrapVerdict::kUnknownUser;
    }
}

}  // namespace

std::string_view to_string(TrapVerdict verdict) {
    switch (verdict) {
        case TrapVerdict::kAccepted: return "accepted";
        case TrapVerdict::kDiscovery: return "discovery";
        case TrapVerdict::kMalformed: return "malformed";
        case TrapVerdict::kUnknownEngine: return "unknown_engine";
        case TrapVerdict::kUnknownUser: return "unknown_user";
        case TrapVerdict::kWrongLevel: return "wrong_level";
        case TrapVerdict::kWrongDigest: return "wrong_digest";
        case TrapVerdict::kNotInTimeWindow: return "not_in_time_window";
        case TrapVerdict::kDecryptionError: return "decryption_error";
        case TrapVerdict::kNotForUs: return "not_for_us";
    }
    return "unknown";
}

std::string_view describe(TrapVerdict verdict) {
    switch (verdict) {
        case TrapVerdict::kAccepted: return "accepted";
        case TrapVerdict::kDiscovery: return "asks for our engine";
        case TrapVerdict::kMalformed: return "cannot be read";
        case TrapVerdict::kUnknownEngine:
            return "an inform for the engine of another receiver: let the sender discover ours";
        case TrapVerdict::kUnknownUser:
            return "no trap target has credentials with this user: give them to the one of the "
                   "sender";
        case TrapVerdict::kWrongLevel:
            return "the sender uses another security level than the user's credentials: both or "
                   "neither sign and encrypt";
        case TrapVerdict::kWrongDigest:
            return "the signature is wrong: compare snmp_auth and its password with the sender's";
        case TrapVerdict::kNotInTimeWindow:
            return "the sender's clock or count of starts went back: an old message, or a sender "
                   "that lost its memory";
        case TrapVerdict::kDecryptionError:
            return "cannot be decrypted: compare snmp_privacy and its password with the sender's";
        case TrapVerdict::kNotForUs: return "neither a trap nor an inform";
    }
    return "";
}

TrapSecurity::TrapSecurity(OwnEngine own, base::SipKey key, std::uint64_t salt_start,
                           TrapSecurityOptions options)
    : own_(std::move(own)),
      responder_(key, salt_start, options.max_engines, options.max_same_name),
      clocks_(options.max_engines, key) {
    POLLUX_CHECK(own_.id.size() >= kMinEngineIdBytes && own_.id.size() <= kMaxEngineIdBytes);
}

OwnState TrapSecurity::own_state(base::BootTime now) const {
    return {.engine_id = bytes_of(own_.id),
            .boots = own_.boots,
            .time = EngineClock(own_.boots, 0, own_.started).time(now)};
}

TrapSecurity::Taken TrapSecurity::take(Bytes datagram, base::BootTime now,
                                       std::span<std::uint8_t> buffer) {
    const Parsed<V3View> message = parse_v3(datagram);
    if (!message) return {};
    return take_message(*message, now, buffer);
}

TrapSecurity::Taken TrapSecurity::take_message(const V3View& message, base::BootTime now,
                                               std::span<std::uint8_t> buffer) {
    const bool ours = text_of(message.engine_id) == own_.id;
    const OwnState own = own_state(now);
    const auto refuse = [&](TrapVerdict verdict, const TrapUser* user = nullptr) {
        Taken taken;
        taken.verdict = verdict;
        const std::uint64_t count = ++counts_[static_cast<std::size_t>(verdict)];
        const ReportKind kind = report_of(verdict);
        if (message.reportable && kind != ReportKind::kOther) {
            taken.answer = responder_.report(message, kind, count, user, own, buffer);
        }
        return taken;
    };
    if (!ours) {
        // Who wants an answer must speak to our engine, and learns its id from the Report.
        if (message.engine_id.empty()) return refuse(TrapVerdict::kDiscovery);
        if (message.reportable || message.engine_id.size() < kMinEngineIdBytes) {
            return refuse(TrapVerdict::kUnknownEngine);
        }
    }
    const V3Responder::Checked checked = responder_.check_user(message);
    if (checked.user == nullptr) return refuse(verdict_of(checked.problem));
    if (message.level != SecurityLevel::kNoAuth) {
        const bool in_time =
            ours ? V3Responder::is_in_time(message, own)
                 : clocks_.accept(text_of(message.engine_id), message.boots, message.time, now);
        if (!in_time) {
            Taken taken = refuse(TrapVerdict::kNotInTimeWindow, ours ? checked.user : nullptr);
            if (!ours) taken.engine_id = text_of(message.engine_id);
            return taken;
        }
    }
    const Parsed<ScopedView> scope = responder_.open(message, *checked.user);
    if (!scope) {
        return refuse(message.level == SecurityLevel::kAuthPrivacy ? TrapVerdict::kDecryptionError
                                                                   : TrapVerdict::kMalformed);
    }
    Parsed<ReceivedNotification> received =
        parse_notification_pdu(scope->pdu, model::SnmpVersion::kV3);
    if (!received) return refuse(TrapVerdict::kNotForUs);
    // An inform is for our engine, a trap comes from the sender's.
    if (received->trap.inform != ours) return refuse(TrapVerdict::kNotForUs);
    Taken taken{.verdict = TrapVerdict::kAccepted,
                .trap = std::move(received->trap),
                .user = checked.user->credentials->username,
                .request_id = received->request_id,
                .answer = {},
                .engine_id = {}};
    if (taken.trap.inform) {
        taken.answer = answer(message, *scope, *checked.user, *received, now, buffer);
    }
    return taken;
}

Bytes TrapSecurity::answer(const V3View& message, const ScopedView& scope, const TrapUser& user,
                           const ReceivedNotification& inform, base::BootTime now,
                           std::span<std::uint8_t> buffer) {
    // No larger than the sender takes; it repeats what is not answered.
    const auto room =
        std::min<std::size_t>(buffer.size(), static_cast<std::size_t>(message.max_size));
    BerWriter writer(buffer.first(room));
    put_inform_response(writer, inform);
    responder_.seal_answer(writer, message, scope, user, own_state(now));
    return writer.ok() ? writer.bytes() : Bytes{};
}

}  // namespace pollux::protocol::snmp
