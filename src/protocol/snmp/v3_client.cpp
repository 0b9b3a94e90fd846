#include "protocol/snmp/v3_client.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "protocol/snmp/message.hpp"

namespace pollux::protocol::snmp {
namespace {

using Kind = V3Answer::Kind;

std::string_view text_of(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

V3Answer untrusted(Problem problem) {
    V3Answer answer;
    answer.problem = problem;
    return answer;
}

V3Answer broken(Problem problem) {
    V3Answer answer;
    answer.kind = Kind::kMalformed;
    answer.problem = problem;
    return answer;
}

V3Answer told(Kind kind, ReportKind report) {
    V3Answer answer;
    answer.kind = kind;
    answer.report = report;
    return answer;
}

}  // namespace

V3Client::V3Client(base::SipKey key, std::uint64_t salt_start, std::size_t max_engines)
    : keys_(crypto_, key, max_engines),
      salts_(salt_start),
      engines_(max_engines, key),
      room_(kMaxMessageBytes) {}

void V3Client::put_discovery(BerWriter& writer, std::int32_t message_id) {
    const std::size_t mark = writer.size();
    finish_pdu(writer, mark, PduType::kGet, message_id, 0, 0);
    Sealing sealing;
    sealing.message_id = message_id;
    sealing.reportable = true;
    seal(writer, mark, sealing, crypto_, salts_);
}

void V3Client::wrap(BerWriter& writer, std::size_t mark, const Endpoint& device, const User& user,
                    std::int32_t message_id, base::BootTime now) {
    const Engine* engine = engines_.find(device);
    POLLUX_CHECK(engine != nullptr);
    const bool is_signed = level_of(*user) != SecurityLevel::kNoAuth;
    seal(writer, mark,
         {.message_id = message_id,
          .reportable = true,
          .level = level_of(*user),
          .engine_id = engine->engine_id(),
          .boots = is_signed ? engine->clock.boots() : 0,
          .time = is_signed ? engine->clock.time(now) : 0,
          .user = user->username,
          .auth = user->snmp_auth,
          .privacy = user->snmp_privacy,
          .keys = is_signed ? &keys_.find(user, engine->engine_id()) : nullptr,
          .context_engine = engine->engine_id(),
          .context = user->snmp_context},
         crypto_, salts_);
}

V3Answer V3Client::read(const V3View& message, const Endpoint& device, const User& user,
                        base::BootTime now) {
    Engine* engine = engines_.find(device);
    const bool is_signed = message.level != SecurityLevel::kNoAuth;
    if (!is_signed && level_of(*user) != SecurityLevel::kNoAuth) {
        return read_open_report(message, device, user, now);
    }
    if (engine == nullptr || !std::ranges::equal(engine->engine_id(), message.engine_id)) {
        if (is_signed) return untrusted("the engine id of another device");
        return read_open_report(message, device, user, now);
    }
    if (!is_signed) {
        const Parsed<ScopedView> scope = parse_scoped(message.data);
        if (!scope) return broken(scope.error());
        const Parsed<PduView> pdu = parse_pdu(scope->pdu);
        if (pdu && pdu->type == PduType::kReport) {
            return read_open_report(message, device, user, now);
        }
        if (text_of(message.user) != user->username) return untrusted("the name of another user");
        return read_pdu(message, *scope);
    }
    if (text_of(message.user) != user->username) return untrusted("the name of another user");
    return read_trusted(message, *engine, user, now);
}

// Signed by our user's key, or nothing.
V3Answer V3Client::read_trusted(const V3View& message, Engine& engine, const User& user,
                                base::BootTime now) {
    const LocalKeys& keys = keys_.find(user, engine.engine_id());
    if (!is_signed_by(message, user->snmp_auth, keys.auth, crypto_)) {
        return untrusted("a signature that is not the user's");
    }
    const Parsed<ScopedView> scope =
        open_scope(message, user->snmp_privacy, keys.privacy, crypto_, room_);
    if (!scope) return broken(scope.error());
    const Parsed<PduView> pdu = parse_pdu(scope->pdu);
    if (!pdu) return broken(pdu.error());
    const std::uint32_t boots_before = engine.clock.boots();
    const bool synced_before = engine.synced;
    const bool in_time = engine.accept(message.boots, message.time, now);
    const bool started_anew = engine.clock.boots() != boots_before;
    if (started_anew) engines_.note_change();
    const bool proven = in_time && (started_anew || !synced_before);
    if (pdu->type == PduType::kReport) {
        const ReportKind report = report_kind(*pdu);
        if (report != ReportKind::kNotInTimeWindow) return told(Kind::kRefused, report);
        V3Answer answer = told(Kind::kAgain, report);
        answer.clock_proven = proven;
        if (!in_time) {
            if (message.boots == kMaxBoots) return told(Kind::kRefused, report);
            engine.clock = EngineClock(message.boots, message.time, now);
            engines_.note_change();
            answer.clock_went_back = true;
            answer.clock_proven = true;
        }
        return answer;
    }
    if (!in_time) return untrusted("a time outside of the window, as repeated messages have");
    // Signed, but in the open, where the user wants privacy: only a Report may be that.
    if (message.level != level_of(*user)) return untrusted("less security than the user asks for");
    V3Answer answer = read_pdu(message, *scope);
    answer.clock_proven = proven;
    return answer;
}

// An unsigned message. Its only use is to tell why a request was not taken: whoever sends it saw
// the request, and can do no more than let this ask fail or discover the engine again.
V3Answer V3Client::read_open_report(const V3View& message, const Endpoint& device, const User& user,
                                    base::BootTime now) {
    if (message.level != SecurityLevel::kNoAuth) return untrusted("an engine nobody asked");
    const Parsed<ScopedView> scope = parse_scoped(message.data);
    if (!scope) return untrusted(scope.error());
    const Parsed<PduView> pdu = parse_pdu(scope->pdu);
    if (!pdu) return untrusted(pdu.error());
    if (pdu->type != PduType::kReport) return untrusted("less security than the user asks for");
    const ReportKind report = report_kind(*pdu);
    const Engine* engine = engines_.find(device);
    if (report == ReportKind::kUnknownEngine) {
        if (message.engine_id.size() < kMinEngineIdBytes) {
            return untrusted("an engine id of less than 5 bytes");
        }
        // If it is known already, another ask's discovery was faster, or the answer was late.
        const bool is_new =
            engine == nullptr || !std::ranges::equal(engine->engine_id(), message.engine_id);
        if (is_new) {
            engines_.learn(device, message.engine_id, message.boots, message.time, now);
        }
        return told(Kind::kAgain, report);
    }
    // A device that does not sign this is asked anew next time, from the discovery on.
    if (report == ReportKind::kNotInTimeWindow && level_of(*user) != SecurityLevel::kNoAuth) {
        engines_.forget(device);
    }
    return told(Kind::kRefused, report);
}

V3Answer V3Client::read_pdu(const V3View& message, const ScopedView& scope) const {
    const Parsed<PduView> pdu = parse_pdu(scope.pdu);
    if (!pdu) return broken(pdu.error());
    if (pdu->type != PduType::kResponse) return untrusted("another PDU than a response");
    if (pdu->request_id != message.message_id) return untrusted("the id of another request");
    V3Answer answer;
    answer.kind = Kind::kPdu;
    answer.pdu = *pdu;
    return answer;
}

}  // namespace pollux::protocol::snmp
