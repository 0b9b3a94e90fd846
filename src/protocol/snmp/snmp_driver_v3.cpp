// The part of the driver that speaks v3: what goes around a request, and what an answer leads to.
#include <fmt/format.h>

#include "protocol/snmp/failures.hpp"
#include "protocol/snmp/message.hpp"
#include "protocol/snmp/snmp_driver.hpp"

namespace pollux::protocol::snmp {
namespace {

// Of one ask: the discovery, a swapped device and its discovery, the clock of either. More of them
// means that somebody plays with us.
constexpr std::uint8_t kMostDetours = 4;

}  // namespace

void SnmpDriver::put_v3_request(Poll& poll, BerWriter& writer) {
    // Decided when it is sent: another ask may have found the engine meanwhile.
    poll.discovering = !v3_.knows(poll.peer);
    if (poll.discovering) {
        ++counters_.discoveries;
        return v3_.put_discovery(writer, poll.request_id);
    }
    put_pdu_of(poll, writer);
    v3_.wrap(writer, 0, poll.peer, poll.ask->credentials, poll.request_id, loop_.now());
}

void SnmpDriver::on_v3_datagram(const Endpoint& from, Bytes bytes) {
    const Parsed<V3View> message = parse_v3(bytes);
    if (!message) {
        ++counters_.malformed;
        return;
    }
    Poll* poll = find_request(message->message_id, from);
    if (poll == nullptr) return;
    if (!is_v3(*poll)) {
        ++counters_.untrusted;
        return;
    }
    poll->bytes_in += bytes.size();
    const V3Answer answer = v3_.read(*message, from, poll->ask->credentials, loop_.now());
    if (answer.clock_proven && seams_.prove) {
        const Engine& engine = *v3_.engines().find(from);
        seams_.prove(
            {{reinterpret_cast<const char*>(engine.id.data()), engine.id_size}, engine.clock});
    }
    switch (answer.kind) {
        case V3Answer::Kind::kPdu:
            // It was counted above, and is again below.
            poll->bytes_in -= bytes.size();
            return take_response(*poll, answer.pdu, bytes.size());
        case V3Answer::Kind::kAgain:
        case V3Answer::Kind::kRefused: return take_v3_detour(*poll, answer);
        case V3Answer::Kind::kMalformed:
            ++counters_.malformed;
            return fail(*poll, failure_of(model::FailureKind::kApi, "snmp.malformed",
                                          fmt::format("the answer has {}; check the privacy "
                                                      "password, or the device breaks SNMP",
                                                      answer.problem)));
        case V3Answer::Kind::kUntrusted: break;
    }
    ++counters_.untrusted;
    if (poll->untrusted < 255) ++poll->untrusted;
    if (poll->tracing) trace(*poll, fmt::format("ignored an answer: it has {}", answer.problem));
}

// A Report: the same request goes out again once the engine or its clock is known, or it is over.
void SnmpDriver::take_v3_detour(Poll& poll, const V3Answer& answer) {
    ++counters_.reports[static_cast<std::size_t>(answer.report)];
    if (poll.tracing) trace(poll, fmt::format("received a report: {}", to_string(answer.report)));
    if (answer.kind == V3Answer::Kind::kRefused || poll.detours == kMostDetours) {
        return fail(poll, refused_by_report(answer.report, *poll.ask->credentials));
    }
    ++poll.detours;
    if (answer.report == ReportKind::kNotInTimeWindow) ++counters_.resyncs;
    if (answer.clock_went_back) ++counters_.clock_resets;
    drop_request(poll);
    ask_next(poll);
}

void SnmpDriver::learned(base::ByteWriter& writer) const {
    v3_.engines().encode(writer, net::boot_now(), net::wall_now());
    profiles_.encode(writer);
}

base::Status SnmpDriver::recall(base::ByteReader& reader) {
    auto status = v3_.engines().decode(reader, net::boot_now(), net::wall_now());
    if (!status || reader.at_end()) return status;
    return profiles_.decode(reader);
}

}  // namespace pollux::protocol::snmp
