// Signs, encrypts, checks and decrypts messages of SNMP v3 with keys that are given. Whose clock a
// message must fit is up to the caller (engines.hpp, trap_security.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/credentials.hpp"
#include "protocol/snmp/usm_keys.hpp"
#include "protocol/snmp/v3_message.hpp"

namespace pollux::protocol::snmp {

// What credentials ask for.
SecurityLevel level_of(const model::Credentials& credentials);

struct Sealing {
    std::int32_t message_id = 0;
    bool reportable = false;
    SecurityLevel level = SecurityLevel::kNoAuth;
    Bytes engine_id;  // of the authoritative side
    std::uint32_t boots = 0;
    std::uint32_t time = 0;
    std::string_view user;
    model::SnmpAuth auth = model::SnmpAuth::kNone;
    model::SnmpPrivacy privacy = model::SnmpPrivacy::kNone;
    const LocalKeys* keys = nullptr;  // null: only with kNoAuth
    Bytes context_engine;
    std::string_view context;
};

// Wraps the PDU that was written since size() was `mark`: context, encryption, header, signature.
// What does not fit shows in writer.ok().
void seal(BerWriter& writer, std::size_t mark, const Sealing& sealing, UsmCrypto& crypto,
          SaltCounter& salts);

// Whether the message's signature is the key's. False also if it has none.
bool is_signed_by(const V3View& message, model::SnmpAuth auth, const Key& key, UsmCrypto& crypto);

// The scoped PDU of a message: as it stands, or decrypted into `room`, which must be as large as
// the message's data. Points into one of them.
Parsed<ScopedView> open_scope(const V3View& message, model::SnmpPrivacy privacy, const Key& key,
                              UsmCrypto& crypto, std::span<std::uint8_t> room);

}  // namespace pollux::protocol::snmp
