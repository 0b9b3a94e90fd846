// What becomes of a datagram: measured, read, checked, matched to a target, handed to the intake;
// an inform is answered when it is stored. Lives on the loop of its listener.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/event_loop.hpp"
#include "protocol/snmp/trap_security.hpp"
#include "runtime/inbound/inform_memory.hpp"
#include "runtime/inbound/intake.hpp"
#include "runtime/inbound/source_limiter.hpp"
#include "runtime/inbound/trap_listener.hpp"
#include "runtime/inbound/trap_router.hpp"
#include "runtime/inbound/unknown_senders.hpp"
#include "store/store_types.hpp"

namespace pollux::runtime {

class TrapDesk {
  public:
    // Everything outlives it. `key` is random.
    TrapDesk(net::EventLoop& loop, TrapListener& listener, Intake& intake, SourceLimiter& limiter,
             InboundCounts& counts, protocol::snmp::OwnEngine engine, base::SipKey key);

    // Targets, and the users of v3 among their credentials.
    void set_image(const InboundImage& image);
    void prove(const std::string& engine_id, const protocol::snmp::EngineClock& clock) {
        security_.clocks().prove(engine_id, clock);
    }

    // Clocks of senders of v3 are learned memory: rows whose keys begin so, which no key of a
    // target does.
    static constexpr std::string_view kMemoryPrefix = "trap-sender/";
    // Takes those out. An error is about the rows that are no good, and left out.
    base::Status recall(std::vector<std::pair<std::string, std::string>>& memories);
    // What changed since the last call, a bounded number; not_saved() if the store refused it.
    store::MemoryBatch unsaved();
    void not_saved(const std::vector<std::string>& keys);
    // What this engine (hexadecimal digits) says next is believed, whatever it said before.
    base::Status forget_sender(const std::string& engine);

    TrapRouter& router() { return router_; }
    const UnknownSenders& unknown() const { return unknown_; }

    void on_datagram(const Datagram& datagram);

  private:
    struct Read {
        model::TrapMessage trap;
        std::string user;
        std::string community;  // a secret
        std::int32_t request_id = 0;
        std::vector<std::uint8_t> answer;  // to an inform
    };
    bool read_community(const Datagram& datagram, Read& read);
    bool read_v3(const Datagram& datagram, Read& read);
    void hand_on(const Datagram& datagram, Read read);
    void miss(const Datagram& datagram, const Read& read, TrapMiss why);
    std::move_only_function<void(Delivery, std::uint64_t)> answer_for(const Datagram& datagram,
                                                                      Read& read);

    net::EventLoop& loop_;
    TrapListener& listener_;
    Intake& intake_;
    SourceLimiter& limiter_;
    InboundCounts& counts_;
    protocol::snmp::TrapSecurity security_;
    TrapRouter router_;
    UnknownSenders unknown_;
    InformMemory informs_;
    std::vector<std::uint8_t> buffer_;  // for answers
};

}  // namespace pollux::runtime
