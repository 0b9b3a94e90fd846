// The side of SNMP v3 that asks, without I/O: wraps requests for devices whose engine is known,
// and says what an answer is worth.
//
// What an answer must prove is fixed by the credentials: a user with a password takes no variable
// from an unsigned message, one with privacy none from an unencrypted one. The id of a message is
// unpredictable and never used again, so that an authenticated Report about a request under way is
// fresh; that is why it may set a clock back, when a device lost its boots (RFC 3414 would have
// the manager forget the engine and discover it anew, which ends the same).
//
// Not thread-safe; one per shard.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "model/credentials.hpp"
#include "protocol/snmp/engines.hpp"
#include "protocol/snmp/usm_message.hpp"
#include "protocol/snmp/usm_reports.hpp"

namespace pollux::protocol::snmp {

struct V3Answer {
    enum class Kind : std::uint8_t {
        kPdu,        // the answer of the device
        kAgain,      // its engine or clock is known now: ask again
        kRefused,    // a Report: see `report`
        kMalformed,  // proven to come from the device, and broken
        kUntrusted,  // proves nothing: to be ignored
    };
    Kind kind = Kind::kUntrusted;
    PduView pdu;  // kPdu; points into the datagram or the client, until its next use
    ReportKind report = ReportKind::kOther;
    Problem problem;  // kMalformed and kUntrusted: "the answer has ..."
    bool clock_went_back = false;
    bool clock_proven = false;  // for the first time, or anew after a restart of the device
};

class V3Client {
  public:
    using User = std::shared_ptr<const model::Credentials>;

    // `salt_start` is random.
    V3Client(base::SipKey key, std::uint64_t salt_start, std::size_t max_engines);

    bool knows(const Endpoint& device) { return engines_.find(device) != nullptr; }
    void forget(const Endpoint& device) { engines_.forget(device); }

    // A whole message that asks for the engine, in front of what the writer holds.
    void put_discovery(BerWriter& writer, std::int32_t message_id);
    // Wraps the PDU that was written since size() was `mark`. The device must be known.
    void wrap(BerWriter& writer, std::size_t mark, const Endpoint& device, const User& user,
              std::int32_t message_id, base::BootTime now);

    // A message from the device, with the id of a request under way.
    V3Answer read(const V3View& message, const Endpoint& device, const User& user,
                  base::BootTime now);

    Engines& engines() { return engines_; }
    const Engines& engines() const { return engines_; }
    std::uint64_t derivations() const { return keys_.derivations(); }

  private:
    V3Answer read_trusted(const V3View& message, Engine& engine, const User& user,
                          base::BootTime now);
    V3Answer read_open_report(const V3View& message, const Endpoint& device, const User& user,
                              base::BootTime now);
    V3Answer read_pdu(const V3View& message, const ScopedView& scope) const;

    UsmCrypto crypto_;
    UsmKeys keys_;
    SaltCounter salts_;
    Engines engines_;
    std::vector<std::uint8_t> room_;  // for what is decrypted
};

}  // namespace pollux::protocol::snmp
