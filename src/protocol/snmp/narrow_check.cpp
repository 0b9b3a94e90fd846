#include "protocol/snmp/narrow_check.hpp"

#include <fmt/format.h>

#include "base/siphash.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::SnmpType;

constexpr base::SipKey kSampleKey{0x6e6172726f770001ULL, 0};
const model::Oid kDescription{{1, 3, 6, 1, 2, 1, 1, 1, 0}};
const model::Oid kObjectId{{1, 3, 6, 1, 2, 1, 1, 2, 0}};

// Objects whose value is what the row is, not what it does.
bool is_steady(SnmpType type) {
    return type == SnmpType::kOctetString || type == SnmpType::kObjectId ||
           type == SnmpType::kIpAddress;
}

model::Oid joined(const model::Oid& root, const model::Oid& index) {
    model::Oid name = root;
    name.arcs.insert(name.arcs.end(), index.arcs.begin(), index.arcs.end());
    return name;
}

}  // namespace

NarrowCheck::NarrowCheck(const model::SnmpAsk& ask, const model::SnmpReply& reply,
                         std::uint64_t seed, Scope scope)
    : scope_(scope) {
    const std::size_t walks = std::min(ask.walks.size(), reply.walks.size());
    if (walks == 0 || !scope.tables) return;
    samples_.reserve(kCheckedValues);
    for (std::uint64_t i = 0; i < kCheckedValues; ++i) {
        const std::size_t walk = static_cast<std::size_t>((seed + i) % walks);
        const std::vector<model::SnmpRow>& rows = reply.walks[walk];
        const std::uint64_t hash = base::siphash24(kSampleKey, seed ^ (i << 32U));
        add(ask.walks[walk], rows, i == 0 ? rows.size() : hash % (rows.size() + 1));
    }
}

// The step that leads to the row at `place`, or behind the last one.
void NarrowCheck::add(const model::Oid& root, const std::vector<model::SnmpRow>& rows,
                      std::size_t place) {
    Sample sample;
    sample.root = root;
    sample.asked = place == 0 ? root : joined(root, rows[place - 1].index);
    sample.at_end = place == rows.size();
    if (!sample.at_end) {
        sample.name = joined(root, rows[place].index);
        sample.value = rows[place].value;
    }
    for (const Sample& other : samples_) {
        if (other.asked == sample.asked && other.root == sample.root) return;
    }
    samples_.push_back(std::move(sample));
}

void NarrowCheck::put_request(BerWriter& writer, std::int32_t request_id) const {
    const std::size_t mark = writer.size();
    if (!compared()) {
        put_null_varbind(writer, samples_[next_].asked);
        return finish_pdu(writer, mark, PduType::kGetNext, request_id, 0, 0);
    }
    // Written from the end: the first varbind last.
    if (scope_.identity > 1) put_null_varbind(writer, kObjectId);
    put_null_varbind(writer, kDescription);
    finish_pdu(writer, mark, PduType::kGet, request_id, 0, 0);
}

NarrowCheck::Step NarrowCheck::take_response(const PduView& pdu) {
    if (compared()) {
        identify(pdu);
        return Step::kIdentity;
    }
    const Step step = compare(pdu);
    if (step != Step::kAsk) next_ = samples_.size();
    return step;
}

void NarrowCheck::identify(const PduView& pdu) {
    identified_ = true;
    if (pdu.error_status != 0) return;
    for (VarbindReader reader(pdu.varbinds); !reader.empty();) {
        const Parsed<VarbindView> varbind = reader.next();
        model::Oid name;
        model::SnmpValue value;
        if (!varbind || !parse_oid(varbind->oid, name) || !parse_value(varbind->value, value)) {
            return;
        }
        if (name == kDescription) description_ = std::move(value);
        if (name == kObjectId) object_id_ = std::move(value);
    }
}

NarrowCheck::Step NarrowCheck::compare(const PduView& pdu) {
    if (pdu.error_status != 0) return Step::kUnknown;
    VarbindReader reader(pdu.varbinds);
    if (reader.empty()) return Step::kUnknown;
    const Parsed<VarbindView> varbind = reader.next();
    model::Oid name;
    model::SnmpValue value;
    if (!varbind || !parse_oid(varbind->oid, name) || !parse_value(varbind->value, value)) {
        return Step::kUnknown;
    }
    if (!agrees(samples_[next_], name, value)) return Step::kDiffers;
    return ++next_ == samples_.size() ? Step::kAgrees : Step::kAsk;
}

bool NarrowCheck::agrees(const Sample& sample, const model::Oid& name,
                         const model::SnmpValue& value) {
    const bool ended = value.type == SnmpType::kEndOfMibView || !name.starts_with(sample.root);
    if (sample.at_end || ended) {
        if (sample.at_end == ended) return true;
        difference_ = sample.at_end
                          ? fmt::format("GETBULK does not have {}", model::to_string(name))
                          : fmt::format("only GETBULK has {}", model::to_string(sample.name));
        return false;
    }
    if (name != sample.name) {
        difference_ =
            fmt::format("after {} GETBULK has {}, GETNEXT {}", model::to_string(sample.asked),
                        model::to_string(sample.name), model::to_string(name));
        return false;
    }
    const bool same =
        value.type == sample.value.type && (!is_steady(value.type) || value == sample.value);
    if (!same) {
        difference_ = fmt::format("{} has another {}", model::to_string(name),
                                  value.type == sample.value.type ? "value" : "type");
    }
    return same;
}

}  // namespace pollux::protocol::snmp
