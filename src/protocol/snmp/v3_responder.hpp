// The side of SNMP v3 that is asked, without I/O: finds the user of a message, opens it, and seals
// answers and Reports of an engine of ours. What to do with what was asked is the caller's.
//
// One responder may speak for many engines. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/siphash.hpp"
#include "model/credentials.hpp"
#include "protocol/snmp/engine_clock.hpp"
#include "protocol/snmp/usm_message.hpp"
#include "protocol/snmp/usm_reports.hpp"

namespace pollux::protocol::snmp {

struct UsmUser {
    std::shared_ptr<const model::Credentials> credentials;  // username: the security name
    std::string engine_id;  // bytes; of the one engine this user is for. Empty: any
};

// An engine of ours, as of now.
struct OwnState {
    Bytes engine_id;
    std::uint32_t boots = 0;
    std::uint32_t time = 0;
};

class V3Responder {
  public:
    // `salt_start` is random. `max_keys` engines with their keys are kept; `max_same_name` users
    // of one name with different passwords are tried, each costs a signature.
    V3Responder(base::SipKey key, std::uint64_t salt_start, std::size_t max_keys,
                std::size_t max_same_name = 16);

    // Clocks and keys of users that stay are kept.
    void set_users(std::vector<UsmUser> users);

    struct Checked {
        const UsmUser* user = nullptr;  // null: see `problem`
        ReportKind problem = ReportKind::kUnknownUser;
    };
    // Whose message it is, by name, engine, level and signature. A user's messages count only at
    // the level of its credentials.
    Checked check_user(const V3View& message);

    // RFC 3414 3.2.7 a: whether a message for our engine is fresh.
    static bool is_in_time(const V3View& message, const OwnState& own);

    // Of a message whose user was found. Valid until the next call.
    Parsed<ScopedView> open(const V3View& message, const UsmUser& user);

    // `count` is what the variable of the Report shows. Signed if there is a user, which only a
    // refused clock is worth. Empty: does not fit.
    Bytes report(const V3View& message, ReportKind kind, std::uint64_t count, const UsmUser* user,
                 const OwnState& own, std::span<std::uint8_t> buffer);

    // Wraps the PDU that the writer holds as the answer to a message; see writer.ok().
    void seal_answer(BerWriter& writer, const V3View& message, const ScopedView& scope,
                     const UsmUser& user, const OwnState& own);

  private:
    UsmCrypto crypto_;
    UsmKeys keys_;
    SaltCounter salts_;
    std::size_t max_same_name_;
    std::vector<UsmUser> users_;      // by name; those for one engine first
    std::vector<std::uint8_t> room_;  // for what is decrypted
};

}  // namespace pollux::protocol::snmp
