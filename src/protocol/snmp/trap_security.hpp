// Who may send us traps and informs by SNMP v3: checks signature, clock and encryption of what
// arrives, and writes the answers that the standard asks for. Without I/O.
//
// A trap's sender is the authoritative side: its keys are localised to its engine, whose clock we
// follow from the first authenticated trap on (sender_clocks.hpp), also over a restart of ours if
// its clocks are stored. For informs we are: our engine id, boots and time
// are given in, senders find them out by a question that is answered with a Report, and a
// repeated or delayed inform is refused by our own clock.
//
// A user's messages count only at the level of its credentials: a user with a password is never
// believed without a signature, nor one with privacy in the open.
//
// Not thread-safe. Bounded: users and engines.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "model/credentials.hpp"
#include "model/inbound.hpp"
#include "protocol/snmp/engine_clock.hpp"
#include "protocol/snmp/notification.hpp"
#include "protocol/snmp/sender_clocks.hpp"
#include "protocol/snmp/v3_responder.hpp"

namespace pollux::protocol::snmp {

using TrapUser = UsmUser;

// Ourselves. The boots must be stored before they are used, and grow with each start.
struct OwnEngine {
    std::string id;  // 5 to 32 bytes
    std::uint32_t boots = 1;
    base::BootTime started;  // when its time was 0
};

enum class TrapVerdict : std::uint8_t {
    kAccepted,
    kDiscovery,  // somebody asked for our engine; answered
    kMalformed,
    kUnknownEngine,
    kUnknownUser,
    kWrongLevel,
    kWrongDigest,
    kNotInTimeWindow,
    kDecryptionError,
    kNotForUs,  // signed and fresh, but no trap and no inform
};
std::string_view to_string(TrapVerdict verdict);  // "wrong_digest", as metrics label it
// Why a message was not taken, and what to do.
std::string_view describe(TrapVerdict verdict);

struct TrapSecurityOptions {
    std::size_t max_engines = 65'536;
    // Of one name, with different passwords: each costs a signature.
    std::size_t max_same_name = 16;
};

class TrapSecurity {
  public:
    struct Taken {
        TrapVerdict verdict = TrapVerdict::kMalformed;
        model::TrapMessage trap;      // kAccepted
        std::string user;             // kAccepted: who sent it
        std::int32_t request_id = 0;  // kAccepted: a repeated inform has the same
        Bytes answer;           // to be sent back to the sender; inside the buffer. Empty: none
        std::string engine_id;  // kNotInTimeWindow: of the sender; empty if it is ours
    };

    // `key` and `salt_start` are random.
    TrapSecurity(OwnEngine own, base::SipKey key, std::uint64_t salt_start,
                 TrapSecurityOptions options = {});

    // Of who sent traps, to be stored and taken in again. What a poll has proven of an engine
    // holds, whatever its traps said before: so a sender that lost its memory is heard again.
    SenderClocks& clocks() { return clocks_; }

    // Clocks and keys of users that stay are kept.
    void set_users(std::vector<TrapUser> users) { responder_.set_users(std::move(users)); }

    // A datagram that claims_v3(). The buffer is for the answer and should have the size of the
    // largest datagram.
    Taken take(Bytes datagram, base::BootTime now, std::span<std::uint8_t> buffer);

  private:
    OwnState own_state(base::BootTime now) const;
    Taken take_message(const V3View& message, base::BootTime now, std::span<std::uint8_t> buffer);
    Bytes answer(const V3View& message, const ScopedView& scope, const TrapUser& user,
                 const ReceivedNotification& inform, base::BootTime now,
                 std::span<std::uint8_t> buffer);

    OwnEngine own_;
    V3Responder responder_;
    SenderClocks clocks_;
    std::array<std::uint64_t, 16> counts_{};  // by verdict, as Reports tell them
};

}  // namespace pollux::protocol::snmp
