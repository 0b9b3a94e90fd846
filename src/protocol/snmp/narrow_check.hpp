// Compares a bounded sample of what GETBULK brought with what GETNEXT says, one variable per
// request: devices exist whose bulk answers skip rows, end early or have other values.
//
// Counters, gauges, clocks and numbers move on between two answers, so only their type is compared;
// texts, identifiers and addresses must be the same. Without I/O.
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
    enum class Step : std::uint8_t { kAsk, kAgrees, kDiffers, kUnknown };

    // At most kCheckedValues places of the tables, chosen by `seed`; one of them is an end.
    NarrowCheck(const model::SnmpAsk& ask, const model::SnmpReply& reply, std::uint64_t seed);

    bool empty() const { return samples_.empty(); }
    void put_request(BerWriter& writer, std::int32_t request_id) const;
    // kUnknown: the device answered with an error, which says nothing.
    Step take_response(const PduView& pdu);
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
    void add(const model::Oid& root, const std::vector<model::SnmpRow>& rows, std::size_t place);
    bool agrees(const Sample& sample, const model::Oid& name, const model::SnmpValue& value);

    std::vector<Sample> samples_;
    std::size_t next_ = 0;
    std::string difference_;
};

}  // namespace pollux::protocol::snmp
