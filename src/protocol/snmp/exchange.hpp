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
#include "protocol/snmp/exchange_plan.hpp"
#include "protocol/snmp/pdu.hpp"

namespace pollux::protocol::snmp {

// What the driver knows about an answer beside its content.
struct AnswerFacts {
    std::size_t bytes = 0;
    bool quick = true;  // well within its time
};

class Exchange {
  public:
    enum class Step : std::uint8_t { kAsk, kDone, kFailed };

    // The ask must stay until the exchange is done with.
    Step begin(const model::SnmpAsk& ask, const DeviceProfile& profile, ExchangeLimits limits = {});

    // The request under way; the same one again for a resend.
    void put_request(BerWriter& writer, std::int32_t request_id) const;

    // The answer to the request under way. Not after kDone or kFailed.
    Step take_response(const PduView& pdu, AnswerFacts facts = {});

    // Nobody answered in time and the request goes out again, smaller, because devices drop what
    // they cannot send in one packet; the last time as small as it gets. `blame`: if that is
    // answered the size was at fault, and not that too much was under way. True: it is a request
    // of another shape and needs another id; otherwise a late answer to the first copy is as good.
    bool before_resend(bool last = false, bool blame = true);

    // "GetRequest for 5 variables", for traces.
    std::string describe_request() const;

    // What the device was found to take meanwhile, and whether that is news.
    const DeviceProfile& profile() const { return plan_.profile(); }
    bool learned() const { return plan_.changed(); }
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
    std::size_t varbind_limit();
    bool in_gets() const { return next_get_ < open_gets_.size(); }
    const model::Oid& asked_oid(std::size_t position) const;
    Step walk_again_without_bulk();

    Step take_error(const PduView& pdu);
    Step take_missing(std::int32_t error_index);
    Step take_gets(const PduView& pdu, AnswerFacts facts);
    Step take_rows(const PduView& pdu, AnswerFacts facts);
    Step take_row(Column& column, const VarbindView& varbind);
    Step fail(model::FailureKind kind, std::string code, std::string message);
    Step fail_malformed(Problem problem);

    const model::SnmpAsk* ask_ = nullptr;
    ExchangePlan plan_;
    ExchangeLimits limits_;
    std::uint32_t requests_ = 0;
    std::size_t batch_ = 0;     // variables in the request under way
    AskedSize asked_;           // the request under way
    AskedSize silent_;          // what it was before nobody answered
    std::size_t accepted_ = 0;  // variables that an answer to a GET may have: of the first copy
    std::size_t once_ = 0;      // at most so many variables in the next request; 0: as planned
    bool halved_ = false;       // because of silence
    bool narrowed_ = false;     // because of silence, to the least there is
    bool blame_ = false;        // the size, for the silence
    bool bulk_is_odd_ = false;  // an answer to a GETBULK that no device may give

    std::vector<std::uint32_t> open_gets_;  // indices into the ask's gets, not answered yet
    std::size_t next_get_ = 0;              // the first one of them in the request under way
    std::vector<Column> columns_;
    std::vector<std::uint32_t> active_;  // indices of columns in the request under way

    model::SnmpReply reply_;
    model::PollFailure failure_;
};

}  // namespace pollux::protocol::snmp
