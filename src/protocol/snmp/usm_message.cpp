#include "protocol/snmp/usm_message.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::SnmpAuth;
using model::SnmpPrivacy;

constexpr std::array<std::uint8_t, kMaxMacBytes> kZeros{};

// Padding goes behind the data, and the writer fills from the back: make room in front, then move.
void pad_to_blocks(BerWriter& writer, std::size_t mark) {
    constexpr std::size_t kBlock = 8;
    const std::size_t size = writer.size() - mark;
    const std::size_t padding = (kBlock - size % kBlock) % kBlock;
    writer.put_bytes(Bytes(kZeros).first(padding));
    if (!writer.ok() || padding == 0) return;
    const std::span<std::uint8_t> data = writer.since(mark);
    std::memmove(data.data(), data.data() + padding, size);
    std::fill_n(data.begin() + static_cast<std::ptrdiff_t>(size), padding, std::uint8_t{0});
}

}  // namespace

SecurityLevel level_of(const model::Credentials& credentials) {
    if (credentials.snmp_auth == SnmpAuth::kNone) return SecurityLevel::kNoAuth;
    return credentials.snmp_privacy == SnmpPrivacy::kNone ? SecurityLevel::kAuth
                                                          : SecurityLevel::kAuthPrivacy;
}

void seal(BerWriter& writer, std::size_t mark, const Sealing& sealing, UsmCrypto& crypto,
          SaltCounter& salts) {
    POLLUX_CHECK(sealing.level == SecurityLevel::kNoAuth || sealing.keys != nullptr);
    put_scope(writer, mark, sealing.context_engine, sealing.context);
    std::array<std::uint8_t, kSaltBytes> salt{};
    V3Header header{.message_id = sealing.message_id,
                    .level = sealing.level,
                    .reportable = sealing.reportable,
                    .engine_id = sealing.engine_id,
                    .boots = sealing.boots,
                    .time = sealing.time,
                    .user = sealing.user,
                    .salt = {},
                    .mac_size = 0};
    if (sealing.level == SecurityLevel::kAuthPrivacy) {
        salt = salts.next(sealing.privacy, sealing.boots);
        header.salt = salt;
        if (sealing.privacy == SnmpPrivacy::kDes) pad_to_blocks(writer, mark);
        if (!writer.ok()) return;
        POLLUX_CHECK(crypto.encrypt(sealing.privacy, sealing.keys->privacy,
                                    {.boots = sealing.boots, .time = sealing.time}, salt,
                                    writer.since(mark)));
        writer.wrap(tag::kOctetString, mark);
    }
    if (sealing.level != SecurityLevel::kNoAuth) header.mac_size = mac_bytes(sealing.auth);
    const std::size_t mac_at = put_v3_header(writer, mark, header);
    if (!writer.ok() || sealing.level == SecurityLevel::kNoAuth) return;
    const std::span<std::uint8_t> message = writer.since(mark);
    const std::span<std::uint8_t> mac =
        message.subspan(message.size() - (mac_at - mark), header.mac_size);
    crypto.sign(sealing.auth, sealing.keys->auth, {message}, mac);
}

bool is_signed_by(const V3View& message, SnmpAuth auth, const Key& key, UsmCrypto& crypto) {
    const std::size_t size = mac_bytes(auth);
    if (size == 0 || message.level == SecurityLevel::kNoAuth || message.mac.size() != size) {
        return false;
    }
    const auto before = static_cast<std::size_t>(message.mac.data() - message.whole.data());
    std::array<std::uint8_t, kMaxMacBytes> wanted{};
    const std::span<std::uint8_t> mac = std::span(wanted).first(size);
    crypto.sign(auth, key,
                {message.whole.first(before), Bytes(kZeros).first(size),
                 message.whole.subspan(before + size)},
                mac);
    return equal_in_constant_time(mac, message.mac);
}

Parsed<ScopedView> open_scope(const V3View& message, SnmpPrivacy privacy, const Key& key,
                              UsmCrypto& crypto, std::span<std::uint8_t> room) {
    if (message.level != SecurityLevel::kAuthPrivacy) return parse_scoped(message.data);
    if (privacy == SnmpPrivacy::kNone) return malformed("encrypted data, without a key for it");
    if (room.size() < message.data.size()) return malformed("more encrypted data than fits");
    const std::span<std::uint8_t> plain = room.first(message.data.size());
    std::copy(message.data.begin(), message.data.end(), plain.begin());
    if (!crypto.decrypt(privacy, key, {.boots = message.boots, .time = message.time}, message.salt,
                        plain)) {
        return malformed("encrypted data of a wrong size");
    }
    return parse_scoped(plain);
}

}  // namespace pollux::protocol::snmp
