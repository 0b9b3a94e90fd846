#include "protocol/snmp/trap_security.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "protocol/snmp/message.hpp"
#include "protocol/snmp/usm_reports.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::Credentials;

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

// The id of the PDU that is answered, where it can be read without keys.
std::int32_t open_request_id(const V3View& message) {
    if (message.level == SecurityLevel::kAuthPrivacy) return 0;
    const Parsed<ScopedView> scope = parse_scoped(message.data);
    if (!scope) return 0;
    const Parsed<PduView> pdu = parse_pdu(scope->pdu);
    return pdu ? pdu->request_id : 0;
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

TrapSecurity::TrapSecurity(OwnEngine own, base::SipKey key, std::uint64_t salt_start,
                           TrapSecurityOptions options)
    : own_(std::move(own)),
      key_(key),
      options_(options),
      keys_(crypto_, key, options.max_engines),
      salts_(salt_start),
      room_(kMaxMessageBytes) {
    POLLUX_CHECK(own_.id.size() >= kMinEngineIdBytes && own_.id.size() <= kMaxEngineIdBytes);
}

void TrapSecurity::set_users(std::vector<TrapUser> users) {
    users_ = std::move(users);
    std::erase_if(users_, [](const TrapUser& user) { return user.credentials == nullptr; });
    std::ranges::stable_sort(users_, [](const TrapUser& a, const TrapUser& b) {
        if (a.credentials->username != b.credentials->username) {
            return a.credentials->username < b.credentials->username;
        }
        return !a.engine_id.empty() && b.engine_id.empty();
    });
}

bool TrapSecurity::is_ours(Bytes engine_id) const { return text_of(engine_id) == own_.id; }

std::uint32_t TrapSecurity::own_time(base::BootTime now) const {
    return EngineClock(own_.boots, 0, own_.started).time(now);
}

TrapSecurity::Taken TrapSecurity::take(Bytes datagram, base::BootTime now,
                                       std::span<std::uint8_t> buffer) {
    const Parsed<V3View> message = parse_v3(datagram);
    if (!message) return {};
    return take_message(*message, now, buffer);
}

TrapSecurity::Taken TrapSecurity::take_message(const V3View& message, base::BootTime now,
                                               std::span<std::uint8_t> buffer) {
    const bool ours = is_ours(message.engine_id);
    const auto refuse = [&](TrapVerdict verdict, const TrapUser* user = nullptr) {
        Taken taken;
        taken.verdict = verdict;
        ++counts_[static_cast<std::size_t>(verdict)];
        if (message.reportable) taken.answer = report(message, verdict, user, now, buffer);
        return taken;
    };
    if (!ours) {
        // Who wants an answer must speak to our engine, and learns its id from the Report.
        if (message.engine_id.empty()) return refuse(TrapVerdict::kDiscovery);
        if (message.reportable || message.engine_id.size() < kMinEngineIdBytes) {
            return refuse(TrapVerdict::kUnknownEngine);
        }
    }
    const Checked checked = check_user(message);
    if (checked.verdict != TrapVerdict::kAccepted) return refuse(checked.verdict);
    const Credentials& user = *checked.user->credentials;
    if (message.level != SecurityLevel::kNoAuth && !is_in_time(message, ours, now)) {
        return refuse(TrapVerdict::kNotInTimeWindow, checked.user);
    }
    const Key privacy = keys_.find(checked.user->credentials, message.engine_id).privacy;
    const Parsed<ScopedView> scope =
        open_scope(message, user.snmp_privacy, privacy, crypto_, room_);
    if (!scope) {
        return refuse(message.level == SecurityLevel::kAuthPrivacy ? TrapVerdict::kDecryptionError
                                                                   : TrapVerdict::kMalformed,
                      checked.user);
    }
    Parsed<ReceivedNotification> received =
        parse_notification_pdu(scope->pdu, model::SnmpVersion::kV3);
    if (!received) return refuse(TrapVerdict::kNotForUs);
    // An inform is for our engine, a trap comes from the sender's.
    if (received->trap.inform != ours) return refuse(TrapVerdict::kNotForUs);
    Taken taken{.verdict = TrapVerdict::kAccepted,
                .trap = std::move(received->trap),
                .user = user.username,
                .request_id = received->request_id,
                .answer = {}};
    if (taken.trap.inform) {
        taken.answer = answer(message, *scope, *checked.user, *received, now, buffer);
    }
    return taken;
}

// Whose message it is, by name, engine, level and signature.
TrapSecurity::Checked TrapSecurity::check_user(const V3View& message) {
    const std::string_view name = text_of(message.user);
    const auto same_name = std::ranges::equal_range(
        users_, name, {},
        [](const TrapUser& user) -> std::string_view { return user.credentials->username; });
    TrapVerdict verdict = TrapVerdict::kUnknownUser;
    std::size_t tried = 0;
    for (const TrapUser& user : same_name) {
        if (!user.engine_id.empty() && user.engine_id != text_of(message.engine_id)) continue;
        const Credentials& credentials = *user.credentials;
        if (level_of(credentials) != message.level) {
            if (verdict == TrapVerdict::kUnknownUser) verdict = TrapVerdict::kWrongLevel;
            continue;
        }
        if (message.level == SecurityLevel::kNoAuth)
            return {.verdict = TrapVerdict::kAccepted, .user = &user};
        if (tried++ == options_.max_same_name) break;
        const Key key = keys_.find(user.credentials, message.engine_id, false).auth;
        if (is_signed_by(message, credentials.snmp_auth, key, crypto_)) {
            return {.verdict = TrapVerdict::kAccepted, .user = &user};
        }
        verdict = TrapVerdict::kWrongDigest;
    }
    return {.verdict = verdict, .user = nullptr};
}

bool TrapSecurity::is_in_time(const V3View& message, bool ours, base::BootTime now) {
    if (!ours) return is_in_time_of_sender(message, now);
    // RFC 3414 3.2.7 a.
    if (own_.boots == kMaxBoots || message.boots != own_.boots) return false;
    const std::int64_t difference = std::int64_t{message.time} - std::int64_t{own_time(now)};
    return difference <= kTimeWindow && -difference <= std::int64_t{kTimeWindow};
}

bool TrapSecurity::is_in_time_of_sender(const V3View& message, base::BootTime now) {
    const std::string_view id = text_of(message.engine_id);
    const std::uint64_t hash = base::siphash24(key_, id);
    if (!engine_index_.empty()) {
        const std::uint32_t known =
            engine_index_.find(hash, [&](std::uint32_t at) { return engines_[at].id == id; });
        if (known != base::FlatIndex::kNone) {
            return engines_[known].clock.accept(message.boots, message.time, now);
        }
    }
    if (message.boots == kMaxBoots) return false;
    std::size_t place = engines_.size();
    if (place < options_.max_engines) {
        engines_.emplace_back();
    } else {
        place = oldest_engine_;
        oldest_engine_ = (oldest_engine_ + 1) % engines_.size();
        engine_index_.erase(base::siphash24(key_, engines_[place].id),
                            [&](std::uint32_t at) { return at == place; });
    }
    engines_[place] = {.id = std::string(id),
                       .clock = EngineClock(message.boots, message.time, now)};
    engine_index_.insert(hash, static_cast<std::uint32_t>(place));
    return true;
}

Bytes TrapSecurity::report(const V3View& message, TrapVerdict verdict, const TrapUser* user,
                           base::BootTime now, std::span<std::uint8_t> buffer) {
    const ReportKind kind = report_of(verdict);
    if (kind == ReportKind::kOther) return {};
    model::SnmpValue count;
    count.type = model::SnmpType::kCounter32;
    count.unsigned_value = counts_[static_cast<std::size_t>(verdict)] & 0xFFFFFFFFU;
    BerWriter writer(buffer);
    put_varbind(writer, report_oid(kind), count);
    finish_pdu(writer, 0, PduType::kReport, open_request_id(message), 0, 0);
    // Only our clock is worth a signature: who did not prove anything gets none (RFC 3414 3.2).
    const bool is_signed = user != nullptr && verdict == TrapVerdict::kNotInTimeWindow;
    LocalKeys keys;
    if (is_signed) keys = keys_.find(user->credentials, bytes_of(own_.id), false);
    seal(writer, 0,
         {.message_id = message.message_id,
          .reportable = false,
          .level = is_signed ? SecurityLevel::kAuth : SecurityLevel::kNoAuth,
          .engine_id = bytes_of(own_.id),
          .boots = own_.boots,
          .time = own_time(now),
          .user = text_of(message.user),
          .auth = is_signed ? user->credentials->snmp_auth : model::SnmpAuth::kNone,
          .privacy = model::SnmpPrivacy::kNone,
          .keys = &keys,
          .context_engine = bytes_of(own_.id),
          .context = ""},
         crypto_, salts_);
    return writer.ok() ? writer.bytes() : Bytes{};
}

Bytes TrapSecurity::answer(const V3View& message, const ScopedView& scope, const TrapUser& user,
                           const ReceivedNotification& inform, base::BootTime now,
                           std::span<std::uint8_t> buffer) {
    const Credentials& credentials = *user.credentials;
    // No larger than the sender takes; it repeats what is not answered.
    const auto room =
        std::min<std::size_t>(buffer.size(), static_cast<std::size_t>(message.max_size));
    BerWriter writer(buffer.first(room));
    put_inform_response(writer, inform);
    const LocalKeys keys = keys_.find(user.credentials, message.engine_id);
    seal(writer, 0,
         {.message_id = message.message_id,
          .reportable = false,
          .level = message.level,
          .engine_id = bytes_of(own_.id),
          .boots = own_.boots,
          .time = own_time(now),
          .user = credentials.username,
          .auth = credentials.snmp_auth,
          .privacy = credentials.snmp_privacy,
          .keys = &keys,
          .context_engine = scope.context_engine,
          .context = text_of(scope.context_name)},
         crypto_, salts_);
    return writer.ok() ? writer.bytes() : Bytes{};
}

}  // namespace pollux::protocol::snmp
