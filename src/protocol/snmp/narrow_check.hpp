// Compares a bounded sample of what GETBULK brought with what GETNEXT says, one variable per
// request: devices exist whose bulk answers skip rows, end early or have other values.
//
// Counters, gauges, clocks and numbers move on between two answers, so only their type is compared;
// texts, identifiers and addresses must be the same. At the end it asks what the device is, because
// other firmware has other habits. Without I/O.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/ask.hpp"
#include "model/reply.hpp"
#include "protocol/snmp/pdu.hpp"

namespace pollux::protocol::snmp {

inline constexpr std::size_t kCheckedValues = 8;

class NarrowCheck {
  public:
    enum class Step : std::uint8_t {
        kAsk,
        kAgrees,
        kDiffers,
        kUnknown,   // the device answered with an error, which says nothing
        kIdentity,  // the device said what it is, or that it does not
    };
    struct Scope {
        bool tables = true;
        std::uint8_t identity = 2;  // sysDescr, sysObjectID: so many of them, in one request
    };

    // At most kCheckedValues places of the tables, chosen by `seed`; one of them is an end.
    NarrowCheck(const model::SnmpAsk& ask, const model::SnmpReply& reply, std::uint64_t seed,
                Scope scope);

    bool empty() const { return samples_.empty() && scope_.identity == 0; }
    void put_request(BerWriter& writer, std::int32_t request_id) const;
    Step take_response(const PduView& pdu);
    // Whether there is one more request to make, after the tables are decided.
    bool wants_identity() const { return compared() && scope_.identity > 0 && !identified_; }
    // After kIdentity.
    const model::SnmpValue& description() const { return description_; }
    const model::SnmpValue& object_id() const { return object_id_; }
    // What differed, for people.
    const std::string& difference() const { return difference_; }

  private:
    struct Sample {
        model::Oid asked;
        model::Oid root;
        bool at_end = false;  // nothing of the column follows
        model::Oid name;      // what follows
        model::SnmpValue value;
    };
    bool compared() const { return next_ == samples_.size(); }
    Step compare(const PduView& pdu);
    void identify(const PduView& pdu);
    void add(const model::Oid& root, const std::vector<model::SnmpRow>& rows, std::size_t place);
    bool agrees(const Sample& sample, const model::Oid& name, const model::SnmpValue& value);

    Scope scope_;
    std::vector<Sample> samples_;
    std::size_t next_ = 0;
    bool identified_ = false;
    model::SnmpValue description_;
    model::SnmpValue object_id_;
    std::string difference_;
};

}  // namespace pollux::protocol::snmp
