// PDUs without a wrapper, as they stand inside of decrypted messages: no crash; what is accepted
// is written and reads back as itself.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "protocol/snmp/notification.hpp"
#include "protocol/snmp/usm_reports.hpp"
#include "protocol/snmp/v3_message.hpp"

namespace {

using namespace pollux;
using namespace pollux::protocol::snmp;

void check_pdu(const Tlv& element) {
    if (const Parsed<PduView> view = parse_pdu(element)) static_cast<void>(report_kind(*view));
    for (const auto version : {model::SnmpVersion::kV1, model::SnmpVersion::kV2c}) {
        static_cast<void>(parse_notification_pdu(element, version));
    }
    const Parsed<Pdu> pdu = decode_pdu(element);
    if (!pdu) return;
    static std::vector<std::uint8_t> buffer(4 * kMaxMessageBytes);
    BerWriter writer(buffer);
    put_pdu(writer, *pdu);
    POLLUX_CHECK_MSG(writer.ok(), "what was read can be written");
    BerReader reader(writer.bytes());
    const Parsed<Tlv> written = reader.next();
    POLLUX_CHECK(written.has_value() && reader.empty());
    const Parsed<Pdu> again = decode_pdu(*written);
    POLLUX_CHECK_MSG(again.has_value() && *again == *pdu, "and is the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes(data, size);
    if (const Parsed<ScopedView> scope = parse_scoped(bytes)) check_pdu(scope->pdu);
    BerReader reader(bytes);
    if (const Parsed<Tlv> element = reader.next()) check_pdu(*element);
    return 0;
}
