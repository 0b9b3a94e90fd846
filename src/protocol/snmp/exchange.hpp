// The talk with one device for one ask, without I/O: which request comes next, and what an answer
// means. The driver sends, waits and resends; one request is under way at a time.
//
// Use: begin(); while the step is kAsk: put_request(), send it, and hand the answer's PDU to
// take_response(); at kDone take_reply(), at kFailed failure().
//
// Invariants
// 1. Every answer that is taken either brings something (a value, a row, the end of a column, a
//    smaller request) or ends the exchange, and requests are counted, so that no device can keep it
//    going for ever.
// 2. A row is kept only if its name is after the one before it, by arcs.
// 3. reply.gets and reply.walks have the sizes and the order of the ask from begin() on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/ask.hpp"
#include "model/failure.hpp"
#include "model/reply.hpp"
#include "protocol/snmp/pdu.hpp"

namespace pollux::protocol::snmp {

// What a device was found to take; 0: nothing known.
struct DeviceHint {
    std::uint32_t max_varbinds = 0;
    std::uint32_t max_repetitions = 0;
    bool operator==(const DeviceHint&) const = default;
};

struct ExchangeLimits {
    std::uint32_t max_requests = 20'000;  // of one ask, resends not counted
    // Of a request and of its expected answer: below the MTU of Ethernet, so that nothing is
    // fragmented. Answers with long texts can still be larger.
    std::size_t message_bytes = 1400;
};

class Exchange {
  public:
    enum class Step : std::uint8_t { kAsk, kDone, kFailed };

    // The ask must stay until the exchange is done with.
    Step begin(const model::SnmpAsk& ask, DeviceHint hint, ExchangeLimits limits = {});

    // The request under way; the same one again for a resend.
    void put_request(BerWriter& writer, std::int32_t request_id) const;

    // The answer to the request under way. Not after kDone or kFailed.
    Step take_response(const PduView& pdu);

    // Nobody answered in time and the request goes out again: a large table is asked for in
    // smaller pieces, because devices drop what they cannot send in one packet.
    void before_resend();

    // "GetRequest for 5 variables", for traces.
    std::string describe_request() const;

    // What the device was found to take meanwhile; equal to the hint given if nothing new.
    DeviceHint hint() const { return hint_; }
    std::uint32_t requests() const { return requests_; }

    model::SnmpReply take_reply() { return std::move(reply_); }
    model::PollFailure& failure() { return failure_; }

  private:
    struct Column {
        std::uint32_t walk = 0;  // index into the ask's walks
        model::Oid cursor;       // the last name seen; the root at first
        bool done = false;
    };

    Step plan();
    void plan_gets();
    void plan_walks();
    bool in_gets() const { return next_get_ < open_gets_.size(); }
    std::size_t varbind_limit() const;
    std::uint32_t repetitions() const;
    bool uses_bulk() const { return ask_->version != model::SnmpVersion::kV1; }
    const model::Oid& asked_oid(std::size_t position) const;

    Step take_error(const PduView& pdu);
    Step take_missing(std::int32_t error_index);
    bool ask_for_less();
    Step take_gets(const PduView& pdu);
    Step take_rows(const PduView& pdu);
    Step take_row(Column& column, const VarbindView& varbind);
    Step fail(model::FailureKind kind, std::string code, std::string message);
    Step fail_malformed(Problem problem);

    const model::SnmpAsk* ask_ = nullptr;
    DeviceHint hint_;
    ExchangeLimits limits_;
    std::uint32_t requests_ = 0;
    std::uint32_t patience_shift_ = 0;  // halvings of the repetitions because of silence
    std::size_t batch_ = 0;             // variables in the request under way

    std::vector<std::uint32_t> open_gets_;  // indices into the ask's gets, not answered yet
    std::size_t next_get_ = 0;              // the first one of them in the request under way
    std::vector<Column> columns_;
    std::vector<std::uint32_t> active_;  // indices of columns in the request under way

    model::SnmpReply reply_;
    model::PollFailure failure_;
};

}  // namespace pollux::protocol::snmp
