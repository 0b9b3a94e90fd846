// Asks devices by SNMP v1, v2c and v3 on one shard: the Driver of model::SnmpAsk.
//
// Made with the loop of its shard and used on that thread only. Not destroyed from inside a Done.
//
// Time: each request waits timeout / (resends + 1) of its ask, so that a silent device ends after
// the ask's timeout; a walk that goes on is bounded by the order's deadline alone.
//
// An answer counts only if the request id (31 bits, unpredictable) is under way and the datagram
// comes from the address and port that was asked; everything else is counted and ignored. One of
// v3 must prove as much as the credentials ask for (v3_client.hpp); a device whose engine or clock
// is not known is asked for that first, within the same ask.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_index.hpp"
#include "base/result.hpp"
#include "base/siphash.hpp"
#include "base/slab.hpp"
#include "base/timing_wheel.hpp"
#include "net/event_loop.hpp"
#include "protocol/driver.hpp"
#include "protocol/snmp/exchange.hpp"
#include "protocol/snmp/narrow_check.hpp"
#include "protocol/snmp/profile_table.hpp"
#include "protocol/snmp/transport.hpp"
#include "protocol/snmp/v3_client.hpp"

namespace pollux::protocol::snmp {

using Resolved = std::move_only_function<void(base::Result<std::vector<sockaddr_storage>>)>;

// Something about a device that people should know.
struct ProfileNews {
    enum class Kind : std::uint8_t { kFirmwareChanged, kBulkOff, kLies };
    Kind kind = Kind::kFirmwareChanged;
    std::string host;     // as it was asked for
    std::string address;  // with the port
    std::string detail;
};

// An engine has proven what its clock says: for the first time, or since it was started anew.
struct ClockProof {
    std::string engine_id;
    EngineClock clock;
};

// What the driver needs from outside.
struct SnmpSeams {
    // Whether an address may be asked. Empty: any.
    std::function<base::Status(const sockaddr_storage&)> allow;
    // Finds the addresses of a name and calls back once, on the loop's thread, at any later time
    // or at once. Literals never come here. Empty: names are refused.
    std::function<void(const std::string& host, Resolved)> resolve;
    // Is told once for each. Empty: nobody.
    std::function<void(const ProfileNews&)> tell = nullptr;
    std::function<void(const ClockProof&)> prove = nullptr;
};

struct SnmpOptions {
    TransportOptions transport;
    ExchangeLimits limits;
    std::size_t max_profiles = 65'536;
    base::Duration check_every = std::chrono::hours(24);  // bulk answers against narrow ones
    std::size_t max_engines = 65'536;                     // of v3
    std::size_t max_trace_lines = 200;                    // of one ask
};

// Since the driver was made.
struct SnmpCounters {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t resent = 0;
    std::uint64_t unmatched = 0;     // no such request under way: late, doubled or forged
    std::uint64_t wrong_source = 0;  // right id, wrong address
    std::uint64_t malformed = 0;
    std::uint64_t icmp_errors = 0;
    // Profiles
    std::uint64_t steps_back = 0;     // sizes that devices did not take
    std::uint64_t relearned = 0;      // profiles that began again with other firmware
    std::uint64_t narrow_checks = 0;  // begun
    std::uint64_t differences = 0;    // found by them
    // v3
    std::uint64_t discoveries = 0;   // engines asked for
    std::uint64_t resyncs = 0;       // clocks taken from a device that refused ours
    std::uint64_t clock_resets = 0;  // of them, set back: the device lost its count of starts
    std::uint64_t untrusted = 0;     // answers that proved nothing
    std::array<std::uint64_t, kReportKinds> reports{};  // by ReportKind
};

class SnmpDriver final : public Driver, private TransportClient {
  public:
    static base::Result<std::unique_ptr<SnmpDriver>> create(net::EventLoop& loop, SnmpSeams seams,
                                                            SnmpOptions options = {});
    ~SnmpDriver() override;

    // The ask must be a model::SnmpAsk; otherwise it fails as a configuration error.
    void start(Order order, Done done) override;
    void cancel(std::uint64_t id) override;
    std::size_t in_flight() const override { return polls_.size(); }

    const SnmpCounters& counters() const { return counters_; }
    const ProfileTable& profiles() const { return profiles_; }
    // What was learned about engines of v3 and about devices, to be kept over a restart: a small
    // versioned blob.
    std::size_t known_engines() const { return v3_.engines().size(); }
    std::uint64_t learned_revision() const {
        return v3_.engines().revision() + profiles_.revision();
    }
    void learned(base::ByteWriter& writer) const;
    base::Status recall(base::ByteReader& reader);
    // Requests that wait for their turn to be sent.
    std::size_t waiting() const { return transport_->waiting(); }

  private:
    struct Poll {
        std::uint64_t ticket = 0;
        std::uint64_t order_id = 0;
        std::shared_ptr<const model::Ask> ask;
        Done done;
        base::BootTime started;
        base::BootTime deadline;
        base::BootTime due;        // when it is resent or given up
        base::BootTime entry_due;  // when the wheel calls; not after `due`
        std::uint32_t timer_tick = 0;
        bool timed = false;  // the wheel holds an entry for it
        bool tracing = false;
        bool fresh_login = false;
        bool in_line = false;    // the transport holds its ticket
        bool under_way = false;  // request_id is in the index
        bool was_answered = false;
        bool discovering = false;    // v3: the request under way asks for the engine
        std::uint8_t detours = 0;    // v3: times the ask was repeated after a Report
        std::uint8_t untrusted = 0;  // v3: answers that were not believed; saturates
        std::int32_t request_id = 0;
        std::uint32_t resends_left = 0;
        std::uint32_t sends = 0;
        std::uint64_t window_number = 0;  // 0: nothing in the window
        Endpoint peer;
        std::uint32_t place = ProfileTable::kNone;  // in profiles_
        std::uint32_t steps_before = 0;             // back, of the profile
        bool waits = false;                         // for another request to the device to end
        bool waited = false;                        // it did, once
        bool counted = false;                       // among the device's requests under way
        bool resent = false;                        // the request under way
        std::uint32_t crowd = 0;  // requests to the device when it was resent; 0: only this one
        base::BootTime sent_at;
        Exchange exchange;
        std::unique_ptr<NarrowCheck> check;  // then the exchange is not used, and nobody waits
        model::Phases phases;
        std::uint64_t bytes_in = 0;
        std::uint64_t bytes_out = 0;
        std::vector<std::string> trace;
    };
    // An ask that failed before anything was sent: told about at the end of the turn.
    struct Ended {
        std::uint64_t ticket = 0;
        model::PollFailure failure;
    };

    struct Randomness {
        base::SipKey key;
        std::uint64_t salt = 0;
    };
    SnmpDriver(net::EventLoop& loop, SnmpSeams seams, SnmpOptions options, Randomness random);

    const model::SnmpAsk& snmp_ask(const Poll& poll) const;
    Poll* find(std::uint64_t ticket);
    static std::uint32_t slot_of(std::uint64_t ticket) {
        return static_cast<std::uint32_t>(ticket & 0xFFFFFFFFU);
    }

    void locate_device(std::uint64_t ticket);
    void on_resolved(std::uint64_t ticket, base::Result<std::vector<sockaddr_storage>> found);
    base::Status use_first_allowed(Poll& poll, std::span<const sockaddr_storage> addresses);
    void begin(std::uint64_t ticket);
    void ask_next(Poll& poll);
    void take_id(Poll& poll);
    void forget_id(Poll& poll);
    void get_in_line(Poll& poll);
    static base::Duration request_timeout(const Poll& poll);
    void drop_request(Poll& poll);
    void arm(Poll& poll, base::BootTime due);
    void on_timer();
    bool on_due(std::uint32_t slot, std::uint32_t tick);
    void resend(Poll& poll);

    Outgoing prepare(std::uint64_t ticket, std::span<std::uint8_t> buffer) override;
    void on_sent(std::uint64_t ticket, std::size_t bytes, std::uint64_t number) override;
    void on_send_failed(std::uint64_t ticket, int error_number) override;
    void on_datagram(const Endpoint& from, Bytes bytes) override;
    void on_icmp_error(const IcmpError& error) override;
    Poll* find_request(std::int32_t request_id, const Endpoint& peer);
    void take_response(Poll& poll, const PduView& pdu, std::size_t bytes);
    void take_damaged(const Endpoint& from, Bytes bytes, Problem problem);
    // v3: snmp_driver_v3.cpp
    void put_v3_request(Poll& poll, BerWriter& writer);
    void on_v3_datagram(const Endpoint& from, Bytes bytes);
    void take_v3_detour(Poll& poll, const V3Answer& answer);
    bool is_v3(const Poll& poll) const { return snmp_ask(poll).version == model::SnmpVersion::kV3; }

    // Profiles: snmp_driver_profile.cpp
    void find_profile(Poll& poll);
    bool take_slot(Poll& poll);
    void give_slot_back(Poll& poll);
    void note_answer(Poll& poll, bool quick);
    void learn(Poll& poll);
    void take_identity(Poll& poll, const model::SnmpReply& answer);
    void note_identity(Poll& poll, std::uint64_t description, std::uint64_t object_id);
    std::unique_ptr<NarrowCheck> due_check(Poll& poll, const model::SnmpReply& answer);
    void start_check(std::shared_ptr<const model::Ask> ask, const Endpoint& peer,
                     std::unique_ptr<NarrowCheck> check);
    void take_checked(Poll& poll, const PduView& pdu);
    void put_pdu_of(const Poll& poll, BerWriter& writer) const;
    void tell(const Poll& poll, ProfileNews::Kind kind, std::string detail);

    // These end the poll; the reference is gone afterwards.
    void succeed(Poll& poll);
    void fail(Poll& poll, model::PollFailure failure);
    void finish(Poll& poll, model::Reply reply);
    // For start() and cancel(), from inside which nobody is called.
    void end_later(std::uint64_t ticket, model::PollFailure failure);
    void tell_ended();
    std::string place_of(const Poll& poll) const;
    void trace(Poll& poll, std::string line);

    net::EventLoop& loop_;
    SnmpSeams seams_;
    SnmpOptions options_;
    base::SipKey key_;
    std::uint64_t next_request_ = 0;
    std::uint32_t next_ticket_ = 0;
    base::Slab<Poll> polls_;
    base::FlatIndex by_order_;
    base::FlatIndex by_request_;
    ProfileTable profiles_;
    V3Client v3_;
    base::TimingWheel wheel_;
    std::vector<Ended> ended_;
    SnmpCounters counters_;
    net::Timer wheel_timer_;
    net::Timer ended_timer_;
    // Resolvers may call back after the driver is gone; they ask this first.
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    std::unique_ptr<Transport> transport_;
};

}  // namespace pollux::protocol::snmp
