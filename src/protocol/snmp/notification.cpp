#include "protocol/snmp/notification.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pollux::protocol::snmp {
namespace {

using model::Oid;
using model::SnmpType;
using model::SnmpVersion;
using model::TrapMessage;

constexpr std::uint8_t kTrapV1 = 0xA4;
constexpr std::uint8_t kIpAddress = 0x40;
constexpr std::uint8_t kTimeTicks = 0x43;
constexpr std::int32_t kEnterpriseSpecific = 6;

const Oid kSysUpTime{{1, 3, 6, 1, 2, 1, 1, 3, 0}};
const Oid kSnmpTraps{{1, 3, 6, 1, 6, 3, 1, 1, 5}};
const Oid kSnmpTrapOid{{1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0}};
const Oid kSnmpTrapEnterprise{{1, 3, 6, 1, 6, 3, 1, 1, 4, 3, 0}};
const Oid kSnmpTrapAddress{{1, 3, 6, 1, 6, 3, 18, 1, 3, 0}};

std::string address_text(Bytes four) {
    const bool is_said = std::ranges::any_of(four, [](std::uint8_t byte) { return byte != 0; });
    return is_said ? fmt::format("{}.{}.{}.{}", four[0], four[1], four[2], four[3]) : std::string();
}

Bytes bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Parsed<void> read_varbinds(Bytes list, TrapMessage& trap) {
    for (VarbindReader reader(list); !reader.empty();) {
        const Parsed<VarbindView> varbind = reader.next();
        if (!varbind) return malformed(varbind.error());
        if (trap.varbinds.size() == kMaxTrapVarbinds) return malformed("more than 1024 variables");
        auto& [oid, value] = trap.varbinds.emplace_back();
        if (const auto name = parse_oid(varbind->oid, oid); !name) return malformed(name.error());
        if (const auto read = parse_value(varbind->value, value); !read) {
            return malformed(read.error());
        }
    }
    return {};
}

// RFC 3584 3.1.
Oid trap_of_v1(const Oid& enterprise, std::int32_t generic, std::int32_t specific) {
    if (generic < kEnterpriseSpecific) {
        Oid trap = kSnmpTraps;
        trap.arcs.push_back(static_cast<std::uint32_t>(generic) + 1);
        return trap;
    }
    Oid trap = enterprise;
    trap.arcs.push_back(0);
    trap.arcs.push_back(static_cast<std::uint32_t>(specific));
    return trap;
}

Parsed<ReceivedNotification> parse_v1(const Tlv& pdu) {
    BerReader reader(pdu.content);
    ReceivedNotification received;
    TrapMessage& trap = received.trap;
    const Parsed<Bytes> enterprise = reader.next(tag::kObjectId);
    if (!enterprise) return malformed(enterprise.error());
    if (const auto read = parse_oid(*enterprise, trap.enterprise); !read) {
        return malformed(read.error());
    }
    const Parsed<Bytes> address = reader.next(kIpAddress);
    if (!address) return malformed(address.error());
    if (address->size() != 4) return malformed("an IP address without four bytes");
    trap.agent_address = address_text(*address);
    const Parsed<std::int32_t> generic = reader.next_int32();
    if (!generic) return malformed(generic.error());
    const Parsed<std::int32_t> specific = reader.next_int32();
    if (!specific) return malformed(specific.error());
    if (*generic < 0 || *generic > kEnterpriseSpecific) {
        return malformed("a generic trap beyond 0 to 6");
    }
    if (*specific < 0) return malformed("a negative specific trap");
    if (trap.enterprise.arcs.size() + 2 > model::kMaxOidArcs) {
        return malformed("an enterprise of too many arcs");
    }
    trap.trap = trap_of_v1(trap.enterprise, *generic, *specific);
    const Parsed<Bytes> time = reader.next(kTimeTicks);
    if (!time) return malformed(time.error());
    const Parsed<std::uint64_t> ticks = parse_unsigned(*time, 0xFFFFFFFFU);
    if (!ticks) return malformed(ticks.error());
    trap.uptime_ticks = *ticks;
    const Parsed<Bytes> varbinds = reader.next(tag::kSequence);
    if (!varbinds) return malformed(varbinds.error());
    received.varbinds = *varbinds;
    if (const auto read = read_varbinds(*varbinds, trap); !read) return malformed(read.error());
    return received;
}

// Takes a variable out of the list; false: it is not there.
bool take_variable(TrapMessage& trap, const Oid& name, model::SnmpValue& value) {
    const auto found =
        std::ranges::find(trap.varbinds, name, &std::pair<Oid, model::SnmpValue>::first);
    if (found == trap.varbinds.end()) return false;
    value = std::move(found->second);
    trap.varbinds.erase(found);
    return true;
}

const model::SnmpValue* find_variable(const TrapMessage& trap, const Oid& name) {
    const auto found =
        std::ranges::find(trap.varbinds, name, &std::pair<Oid, model::SnmpValue>::first);
    return found == trap.varbinds.end() ? nullptr : &found->second;
}

// RFC 3584 3.2: what v1 would have named as the enterprise.
Oid enterprise_of(const TrapMessage& trap) {
    if (const auto* said = find_variable(trap, kSnmpTrapEnterprise);
        said != nullptr && said->type == SnmpType::kObjectId) {
        return said->oid;
    }
    if (trap.trap.starts_with(kSnmpTraps)) return kSnmpTraps;
    Oid enterprise = trap.trap;
    enterprise.arcs.pop_back();
    if (enterprise.arcs.size() > 2 && enterprise.arcs.back() == 0) enterprise.arcs.pop_back();
    return enterprise;
}

Parsed<ReceivedNotification> parse_v2(const Tlv& pdu) {
    const Parsed<PduView> view = parse_pdu(pdu);
    if (!view) return malformed(view.error());
    if (view->type != PduType::kTrapV2 && view->type != PduType::kInform) {
        return malformed("another PDU than a trap or an inform");
    }
    ReceivedNotification received;
    received.request_id = view->request_id;
    received.varbinds = view->varbinds;
    TrapMessage& trap = received.trap;
    trap.inform = view->type == PduType::kInform;
    if (const auto read = read_varbinds(view->varbinds, trap); !read) {
        return malformed(read.error());
    }
    model::SnmpValue uptime;
    model::SnmpValue name;
    // Always the first ones by the standard; there are devices that take it lightly.
    if (take_variable(trap, kSysUpTime, uptime)) trap.uptime_ticks = uptime.unsigned_value;
    if (!take_variable(trap, kSnmpTrapOid, name) || name.type != SnmpType::kObjectId) {
        return malformed("no snmpTrapOID");
    }
    trap.trap = std::move(name.oid);
    trap.enterprise = enterprise_of(trap);
    if (const auto* address = find_variable(trap, kSnmpTrapAddress);
        address != nullptr && address->type == SnmpType::kIpAddress) {
        trap.agent_address = address_text(bytes_of(address->bytes));
    }
    return received;
}

}  // namespace

Parsed<ReceivedNotification> parse_notification_pdu(const Tlv& pdu, SnmpVersion version) {
    const bool first = version == SnmpVersion::kV1;
    if (first != (pdu.tag == kTrapV1)) return malformed("a PDU of another version");
    Parsed<ReceivedNotification> received = first ? parse_v1(pdu) : parse_v2(pdu);
    if (received) received->trap.version = version;
    return received;
}

Parsed<ReceivedNotification> parse_notification(Bytes datagram) {
    const Parsed<MessageView> message = parse_message(datagram);
    if (!message) return malformed(message.error());
    Parsed<ReceivedNotification> received = parse_notification_pdu(message->pdu, message->version);
    if (received) received->community = message->community;
    return received;
}

void put_inform_response(BerWriter& writer, const ReceivedNotification& inform) {
    const std::size_t mark = writer.size();
    writer.put_bytes(inform.varbinds);
    finish_pdu(writer, mark, PduType::kResponse, inform.request_id, 0, 0);
}

Bytes answer_inform(const ReceivedNotification& inform, std::span<std::uint8_t> buffer) {
    BerWriter writer(buffer);
    put_inform_response(writer, inform);
    put_community_wrapper(writer, 0, SnmpVersion::kV2c, inform.community);
    return writer.ok() ? writer.bytes() : Bytes{};
}

}  // namespace pollux::protocol::snmp
