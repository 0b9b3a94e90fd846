// SNMP messages from arbitrary bytes: no crash, and what is accepted can be written and reads back
// as itself. The same bytes as the answer of a device: an exchange ends, whatever it is told.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "model/ask.hpp"
#include "protocol/snmp/exchange.hpp"
#include "protocol/snmp/message.hpp"

namespace {

using namespace pollux;
using namespace pollux::protocol::snmp;

void check_round_trip(const Message& message) {
    // Twice the largest datagram: an accepted message is written with larger headers at most.
    static std::vector<std::uint8_t> buffer(2 * kMaxMessageBytes);
    const Bytes written = encode_message(message, buffer);
    POLLUX_CHECK_MSG(!written.empty(), "what was read can be written");
    const Parsed<Message> again = decode_message(written);
    POLLUX_CHECK_MSG(again.has_value(), "what was written can be read");
    POLLUX_CHECK_MSG(*again == message, "and is the same");
    const Parsed<std::int32_t> id = peek_request_id(written);
    POLLUX_CHECK(id.has_value() && *id == message.pdu.request_id);
}

// The device gives the same answer again and again.
void check_exchange(const PduView& pdu, model::SnmpVersion version) {
    model::SnmpAsk ask;
    ask.version = version;
    ask.max_rows = 50;
    ask.gets = {*model::parse_oid("1.3.6.1.2.1.1.3.0"), *model::parse_oid("1.3.6.1.2.1.1.5.0")};
    ask.walks = {*model::parse_oid("1.3.6.1.2.1.2.2.1.10"), *model::parse_oid("1.3")};
    constexpr std::uint32_t kMaxRequests = 200;
    Exchange exchange;
    Exchange::Step step = exchange.begin(ask, {}, {.max_requests = kMaxRequests});
    while (step == Exchange::Step::kAsk) {
        std::array<std::uint8_t, 2048> buffer;
        BerWriter writer(buffer);
        exchange.put_request(writer, 1);
        POLLUX_CHECK(writer.ok());
        POLLUX_CHECK(exchange.requests() <= kMaxRequests);
        step = exchange.take_response(pdu);
    }
    if (step == Exchange::Step::kFailed) {
        POLLUX_CHECK(!exchange.failure().code.empty() && !exchange.failure().message.empty());
        return;
    }
    const model::SnmpReply reply = exchange.take_reply();
    POLLUX_CHECK(reply.gets.size() == 2 && reply.walks.size() == 2);
    for (const auto& walk : reply.walks) POLLUX_CHECK(walk.size() <= ask.max_rows);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes(data, size);
    static_cast<void>(peek_request_id(bytes));
    static_cast<void>(opaque_number({reinterpret_cast<const char*>(data), size}));
    if (const Parsed<Message> message = decode_message(bytes)) check_round_trip(*message);
    const Parsed<MessageView> view = parse_message(bytes);
    if (!view) return 0;
    const Parsed<PduView> pdu = parse_pdu(view->pdu);
    if (pdu) check_exchange(*pdu, view->version);
    return 0;
}
