#include "lab/snmp_agent.hpp"

#include <algorithm>

namespace pollux::lab {
namespace {

namespace snmp = protocol::snmp;
using snmp::Bytes;
using snmp::ErrorStatus;
using snmp::PduType;

constexpr std::int32_t kNotWritable = 17;
// Room for what stands around the varbinds: headers, version, id, status, and the community.
constexpr std::size_t kHeaderRoom = 40;
constexpr std::size_t kMostNameBytes = 128;
constexpr std::size_t kShortHeader = 2;   // of an element of less than 128 bytes
constexpr std::size_t kSealedRoom = 180;  // the same for version 3

// RFC 3411's form for ids that an administrator gives (5), of an enterprise that nobody has.
std::array<std::uint8_t, 12> engine_id_of(const Device& device) {
    std::array<std::uint8_t, 12> id = {0x80, 0, 0, 0, 5, 'l', 'a', 'b'};
    for (std::size_t i = 0; i < 4; ++i) {
        id[8 + i] = static_cast<std::uint8_t>(device.number() >> (24U - 8U * i) & 0xFFU);
    }
    return id;
}

std::uint32_t seconds(base::Duration duration) {
    return static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::seconds>(duration).count());
}

// Grows with each start of the device, without that anybody counts them.
std::uint32_t boots_of(const Device& device, FleetTime now) {
    constexpr std::int64_t kAtFleetStart = 1'000'000'000;
    const auto booted =
        std::chrono::duration_cast<std::chrono::seconds>(device.booted_at(now)).count();
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(kAtFleetStart + booted, 1, 2'000'000'000));
}

std::size_t put_instance(MibInstance instance, std::span<std::uint8_t> out) {
    if (instance.wired != nullptr) {
        snmp::BerWriter writer(out);
        writer.put_oid(instance.wired->name);
        const Bytes name = writer.bytes().subspan(kShortHeader);
        std::ranges::copy(name, out.begin());
        return name.size();
    }
    std::copy(instance.node->encoded.begin(), instance.node->encoded.end(), out.begin());
    std::size_t size = instance.node->encoded.size();
    int groups = 1;
    for (std::uint32_t rest = instance.index >> 7U; rest != 0; rest >>= 7U) ++groups;
    for (int i = groups - 1; i >= 0; --i) {
        const std::uint32_t bits = instance.index >> static_cast<unsigned>(7 * i) & 0x7FU;
        out[size++] = static_cast<std::uint8_t>(bits | (i > 0 ? 0x80U : 0U));
    }
    return size;
}

}  // namespace

// What belongs to one packet.
struct SnmpAgent::Call {
    const Device& device;
    FleetTime now;
    snmp::MessageView message;
    // Version 3: what the answer is sealed with.
    struct Sealed {
        snmp::V3View message;
        snmp::ScopedView scope;
        const snmp::UsmUser* user = nullptr;
        snmp::OwnState own;
    };
    std::optional<Sealed> sealed;
    snmp::PduView pdu;
    FaultState faults;
    MibOptions mib;
    std::int32_t status = 0;
    std::int32_t index = 0;    // of the varbind the status is about
    std::size_t varbinds = 0;  // in the answer so far
    bool version1() const { return mib.version1; }
};

SnmpAgent::SnmpAgent(Wiring* wiring) : wiring_(wiring), responder_({.k0 = 1, .k1 = 2}, 1, 65'536) {
    responder_.set_users({{.credentials = snmp_user(), .engine_id = {}}});
}

std::shared_ptr<const model::Credentials> SnmpAgent::snmp_user() {
    auto user = std::make_shared<model::Credentials>();
    user->username = kSnmpUser;
    user->snmp_auth = model::SnmpAuth::kSha256;
    user->snmp_auth_password = base::Secret(std::string(kSnmpAuthPassword));
    user->snmp_privacy = model::SnmpPrivacy::kAes128;
    user->snmp_privacy_password = base::Secret(std::string(kSnmpPrivacyPassword));
    return user;
}

AgentAnswer SnmpAgent::answer(const Device& device, Bytes packet, FleetTime now) {
    ++packets_;
    Call call{.device = device,
              .now = now,
              .message = {},
              .sealed = {},
              .pdu = {},
              .faults = device.faults(now),
              .mib = {}};
    const FaultState& faults = call.faults;
    if (faults.has(FaultKind::kDown) || faults.has(FaultKind::kBlackHole)) return {};
    if (faults.loss_percent > 0 &&
        device.chances().hash(Purpose::kLoss, packets_) % 100 < faults.loss_percent) {
        return {};
    }
    return snmp::claims_v3(packet) ? answer_v3(call, packet) : answer_community(call, packet);
}

AgentAnswer SnmpAgent::answer_community(Call& call, Bytes packet) {
    const FaultState& faults = call.faults;
    const auto message = snmp::parse_message(packet);
    if (!message) return {};
    const bool locked =
        faults.has(FaultKind::kWrongCommunity) || faults.has(FaultKind::kAuthFailure);
    if (locked || message->community != call.device.community()) return {};
    const auto pdu = snmp::parse_pdu(message->pdu);
    if (!pdu) return {};
    call.message = *message;
    call.pdu = *pdu;
    call.mib = {.version1 = message->version == model::SnmpVersion::kV1,
                .endless = faults.has(FaultKind::kWalkEndless),
                .wiring = wiring_};
    if (call.version1() && pdu->type == PduType::kGetBulk) return {};
    return answer_pdu(call);
}

AgentAnswer SnmpAgent::answer_v3(Call& call, Bytes packet) {
    const auto message = snmp::parse_v3(packet);
    if (!message) return {};
    const auto engine_id = engine_id_of(call.device);
    const snmp::OwnState own = {.engine_id = engine_id,
                                .boots = boots_of(call.device, call.now),
                                .time = seconds(call.device.uptime(call.now))};
    const auto report = [&](snmp::ReportKind kind, const snmp::UsmUser* user = nullptr) {
        AgentAnswer answer;
        answer.bytes = responder_.report(*message, kind, packets_, user, own, out_);
        answer.delay = std::chrono::milliseconds(call.faults.latency_ms);
        return answer;
    };
    if (!std::ranges::equal(message->engine_id, engine_id)) {
        return report(snmp::ReportKind::kUnknownEngine);
    }
    if (call.faults.has(FaultKind::kAuthFailure)) return report(snmp::ReportKind::kWrongDigest);
    const snmp::V3Responder::Checked checked = responder_.check_user(*message);
    if (checked.user == nullptr) return report(checked.problem);
    if (!snmp::V3Responder::is_in_time(*message, own)) {
        return report(snmp::ReportKind::kNotInTimeWindow, checked.user);
    }
    const auto scope = responder_.open(*message, *checked.user);
    if (!scope) return report(snmp::ReportKind::kDecryptionError);
    const auto pdu = snmp::parse_pdu(scope->pdu);
    if (!pdu) return {};
    call.pdu = *pdu;
    call.mib = {
        .version1 = false, .endless = call.faults.has(FaultKind::kWalkEndless), .wiring = wiring_};
    call.sealed =
        Call::Sealed{.message = *message, .scope = *scope, .user = checked.user, .own = own};
    return answer_pdu(call);
}

AgentAnswer SnmpAgent::answer_pdu(Call& call) {
    if (!collect(call)) return {};
    AgentAnswer answer{.bytes = finish(call),
                       .delay = std::chrono::milliseconds(call.faults.latency_ms),
                       .from_neighbour = call.faults.has(FaultKind::kWrongAddress)};
    if (call.faults.has(FaultKind::kGarbage)) {
        answer.bytes = garbage(call.device, answer.bytes.size());
    }
    return answer;
}

// Fills list_ with the answer's varbinds. False: the packet is no proper request.
bool SnmpAgent::collect(Call& call) {
    list_.clear();
    if (call.faults.has(FaultKind::kServerError)) {
        call.status = static_cast<std::int32_t>(ErrorStatus::kGenErr);
        call.index = 1;
        return true;
    }
    switch (call.pdu.type) {
        case PduType::kGetBulk: return collect_bulk(call);
        case PduType::kSet:
            call.status = call.version1() ? static_cast<std::int32_t>(ErrorStatus::kNoSuchName)
                                          : kNotWritable;
            call.index = 1;
            return true;
        case PduType::kGet:
        case PduType::kGetNext: break;
        default: return false;
    }
    const bool next = call.pdu.type == PduType::kGetNext;
    std::int32_t position = 0;
    for (snmp::VarbindReader reader(call.pdu.varbinds); !reader.empty();) {
        const auto varbind = reader.next();
        if (!varbind) return false;
        ++position;
        if (!answer_one(call, varbind->oid, next)) {
            if (call.status == 0) call.status = static_cast<std::int32_t>(ErrorStatus::kTooBig);
            call.index =
                call.status == static_cast<std::int32_t>(ErrorStatus::kTooBig) ? 0 : position;
            return true;
        }
    }
    return true;
}

// False: it did not fit, or status says what is wrong.
bool SnmpAgent::answer_one(Call& call, Bytes name, bool next) {
    if (!snmp::parse_oid(name, oid_)) {
        call.status = static_cast<std::int32_t>(ErrorStatus::kGenErr);
        return false;
    }
    const auto found = next ? next_instance(call.device, oid_, call.mib)
                            : find_instance(call.device, oid_, call.mib);
    if (found && next && call.faults.has(FaultKind::kWalkLoop)) {
        value_.type = model::SnmpType::kInteger;
        value_.integer = 1;
        return append(call, name, value_);
    }
    if (found) return append_instance(call, *found);
    if (call.version1()) {
        call.status = static_cast<std::int32_t>(ErrorStatus::kNoSuchName);
        return false;
    }
    value_.type = next ? model::SnmpType::kEndOfMibView : model::SnmpType::kNoSuchObject;
    // The object is known, only this row of it is not there.
    if (!next && oid_.arcs.size() > 2) {
        oid_.arcs.pop_back();
        const auto nodes = mib_nodes();
        const bool known = std::any_of(nodes.begin(), nodes.end(), [this](const MibNode& node) {
            return std::equal(node.prefix.begin(), node.prefix.end(), oid_.arcs.begin(),
                              oid_.arcs.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                      oid_.arcs.size(), node.prefix.size())));
        });
        if (known) value_.type = model::SnmpType::kNoSuchInstance;
    }
    return append(call, name, value_);
}

bool SnmpAgent::append_instance(Call& call, MibInstance instance) {
    std::array<std::uint8_t, kMostNameBytes> name{};
    const std::size_t size = put_instance(instance, name);
    read_instance(call.device, instance, call.now, value_);
    return append(call, Bytes(name).first(size), value_);
}

bool SnmpAgent::append_end(Call& call, std::optional<MibInstance> last, Bytes asked) {
    std::array<std::uint8_t, kMostNameBytes> name{};
    value_.type = model::SnmpType::kEndOfMibView;
    return append(call, last ? Bytes(name).first(put_instance(*last, name)) : asked, value_);
}

bool SnmpAgent::append(Call& call, Bytes name, const model::SnmpValue& value) {
    snmp::BerWriter writer(piece_);
    snmp::put_value(writer, value);
    writer.put_bytes(name);
    writer.put_header(snmp::tag::kObjectId, name.size());
    writer.wrap(snmp::tag::kSequence, 0);
    const std::size_t around =
        call.sealed ? kSealedRoom : kHeaderRoom + call.message.community.size();
    const std::size_t room = kMaxAnswerBytes - around;
    if (!writer.ok() || call.varbinds >= kMaxVarbinds || list_.size() + writer.size() > room) {
        return false;
    }
    const Bytes bytes = writer.bytes();
    list_.insert(list_.end(), bytes.begin(), bytes.end());
    ++call.varbinds;
    return true;
}

// Non-repeaters once, the others row by row until the repetitions or the packet are full.
bool SnmpAgent::collect_bulk(Call& call) {
    const auto non_repeaters = static_cast<std::size_t>(std::max(call.pdu.error_status, 0));
    const auto repetitions = static_cast<std::size_t>(std::max(call.pdu.error_index, 0));
    struct Cursor {
        std::optional<MibInstance> at;
        std::optional<MibInstance> last;  // what was shown before: the end of the view has its name
        Bytes name;                       // what was asked, if nothing was shown
    };
    std::array<Cursor, 64> cursors;
    std::size_t count = 0;
    std::size_t position = 0;
    for (snmp::VarbindReader reader(call.pdu.varbinds); !reader.empty();) {
        const auto varbind = reader.next();
        if (!varbind || !snmp::parse_oid(varbind->oid, oid_)) return false;
        if (position++ < non_repeaters) {
            if (!answer_one(call, varbind->oid, true)) return true;
        } else if (count < cursors.size()) {
            cursors[count++] = {.at = next_instance(call.device, oid_, call.mib),
                                .last = std::nullopt,
                                .name = varbind->oid};
        }
    }
    const bool stuck = call.faults.has(FaultKind::kWalkLoop);
    for (std::size_t row = 0; row < repetitions && count > 0; ++row) {
        bool any = false;
        for (Cursor& cursor : std::span(cursors).first(count)) {
            any = any || cursor.at.has_value();
            const bool fits = cursor.at ? append_instance(call, *cursor.at)
                                        : append_end(call, cursor.last, cursor.name);
            if (!fits) return true;
            if (!cursor.at || stuck) continue;
            cursor.last = cursor.at;
            cursor.at = next_instance(call.device, *cursor.last, call.mib);
        }
        if (!any) break;
    }
    return true;
}

Bytes SnmpAgent::finish(const Call& call) {
    snmp::BerWriter writer(out_);
    const bool error = call.status != 0;
    if (!error) {
        writer.put_bytes(list_);
    } else if (call.version1() || call.status != static_cast<std::int32_t>(ErrorStatus::kTooBig)) {
        writer.put_bytes(call.pdu.varbinds);  // as they were asked
    }
    const bool wrong_id = call.faults.has(FaultKind::kWrongId);
    snmp::finish_pdu(writer, 0, PduType::kResponse, call.pdu.request_id ^ (wrong_id ? 0x5A5A : 0),
                     call.status, call.index);
    if (call.sealed) {
        const Call::Sealed& sealed = *call.sealed;
        responder_.seal_answer(writer, sealed.message, sealed.scope, *sealed.user, sealed.own);
    } else {
        snmp::put_community_wrapper(writer, 0, call.message.version, call.message.community);
    }
    return writer.ok() ? writer.bytes() : Bytes{};
}

// Sometimes noise, sometimes a packet cut short.
Bytes SnmpAgent::garbage(const Device& device, std::size_t length) {
    const std::uint64_t hash = device.chances().hash(Purpose::kGarbage, packets_);
    const std::size_t size = std::clamp<std::size_t>(length / 2, 8, out_.size());
    if (hash % 2 == 0) return Bytes(out_).last(std::min(length, out_.size())).first(size / 2 + 1);
    for (std::size_t i = 0; i < size; ++i) {
        out_[i] = static_cast<std::uint8_t>(
            device.chances().hash(Purpose::kGarbage, packets_, static_cast<std::int64_t>(i)));
    }
    return Bytes(out_).first(size);
}

}  // namespace pollux::lab
