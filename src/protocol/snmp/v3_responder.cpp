#include "protocol/snmp/v3_responder.hpp"

#include <algorithm>
#include <utility>

#include "protocol/snmp/message.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::Credentials;

std::string_view text_of(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
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

V3Responder::V3Responder(base::SipKey key, std::uint64_t salt_start, std::size_t max_keys,
                         std::size_t max_same_name)
    : keys_(crypto_, key, max_keys),
      salts_(salt_start),
      max_same_name_(max_same_name),
      room_(kMaxMessageBytes) {}

void V3Responder::set_users(std::vector<UsmUser> users) {
    users_ = std::move(users);
    std::erase_if(users_, [](const UsmUser& user) { return user.credentials == nullptr; });
    std::ranges::stable_sort(users_, [](const UsmUser& a, const UsmUser& b) {
        if (a.credentials->username != b.credentials->username) {
            return a.credentials->username < b.credentials->username;
        }
        return !a.engine_id.empty() && b.engine_id.empty();
    });
}

V3Responder::Checked V3Responder::check_user(const V3View& message) {
    const auto same_name = std::ranges::equal_range(
        users_, text_of(message.user), {},
        [](const UsmUser& user) -> std::string_view { return user.credentials->username; });
    Checked checked;
    std::size_t tried = 0;
    for (const UsmUser& user : same_name) {
        if (!user.engine_id.empty() && user.engine_id != text_of(message.engine_id)) continue;
        const Credentials& credentials = *user.credentials;
        if (level_of(credentials) != message.level) {
            if (tried == 0) checked.problem = ReportKind::kUnsupportedLevel;
            continue;
        }
        if (message.level == SecurityLevel::kNoAuth) return {.user = &user};
        if (tried++ == max_same_name_) break;
        const Key key = keys_.find(user.credentials, message.engine_id, false).auth;
        if (is_signed_by(message, credentials.snmp_auth, key, crypto_)) return {.user = &user};
        checked.problem = ReportKind::kWrongDigest;
    }
    return checked;
}

bool V3Responder::is_in_time(const V3View& message, const OwnState& own) {
    if (own.boots == kMaxBoots || message.boots != own.boots) return false;
    const std::int64_t difference = std::int64_t{message.time} - std::int64_t{own.time};
    return difference <= std::int64_t{kTimeWindow} && -difference <= std::int64_t{kTimeWindow};
}

Parsed<ScopedView> V3Responder::open(const V3View& message, const UsmUser& user) {
    const Credentials& credentials = *user.credentials;
    const LocalKeys& keys = keys_.find(user.credentials, message.engine_id);
    return open_scope(message, credentials.snmp_privacy, keys.privacy, crypto_, room_);
}

Bytes V3Responder::report(const V3View& message, ReportKind kind, std::uint64_t count,
                          const UsmUser* user, const OwnState& own,
                          std::span<std::uint8_t> buffer) {
    model::SnmpValue value;
    value.type = model::SnmpType::kCounter32;
    value.unsigned_value = count & 0xFFFFFFFFU;
    BerWriter writer(buffer);
    put_varbind(writer, report_oid(kind), value);
    finish_pdu(writer, 0, PduType::kReport, open_request_id(message), 0, 0);
    const bool is_signed =
        user != nullptr && level_of(*user->credentials) != SecurityLevel::kNoAuth;
    seal(writer, 0,
         {.message_id = message.message_id,
          .reportable = false,
          .level = is_signed ? SecurityLevel::kAuth : SecurityLevel::kNoAuth,
          .engine_id = own.engine_id,
          .boots = own.boots,
          .time = own.time,
          .user = text_of(message.user),
          .auth = is_signed ? user->credentials->snmp_auth : model::SnmpAuth::kNone,
          .privacy = model::SnmpPrivacy::kNone,
          .keys = is_signed ? &keys_.find(user->credentials, own.engine_id, false) : nullptr,
          .context_engine = own.engine_id,
          .context = ""},
         crypto_, salts_);
    return writer.ok() ? writer.bytes() : Bytes{};
}

void V3Responder::seal_answer(BerWriter& writer, const V3View& message, const ScopedView& scope,
                              const UsmUser& user, const OwnState& own) {
    const Credentials& credentials = *user.credentials;
    seal(writer, 0,
         {.message_id = message.message_id,
          .reportable = false,
          .level = message.level,
          .engine_id = own.engine_id,
          .boots = own.boots,
          .time = own.time,
          .user = credentials.username,
          .auth = credentials.snmp_auth,
          .privacy = credentials.snmp_privacy,
          .keys = &keys_.find(user.credentials, own.engine_id),
          .context_engine = scope.context_engine,
          .context = text_of(scope.context_name)},
         crypto_, salts_);
}

}  // namespace pollux::protocol::snmp
