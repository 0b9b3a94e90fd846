#include "protocol/snmp/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::FailureKind;
using model::SnmpType;

// Message, community, PDU and list: headers and numbers, with a community of usual length.
constexpr std::size_t kFrameBytes = 64;
// What a value takes on average; longer texts are left to the device, which says tooBig.
constexpr std::size_t kValueBytes = 12;
constexpr std::size_t kVarbindHeader = 4;

std::size_t expected_bytes(const model::Oid& oid) {
    return kVarbindHeader + encoded_oid_size(oid) + kValueBytes;
}

}  // namespace

Exchange::Step Exchange::begin(const model::SnmpAsk& ask, DeviceHint hint, ExchangeLimits limits) {
    ask_ = &ask;
    hint_ = hint;
    limits_ = limits;
    if (ask.gets.empty() && ask.walks.empty()) {
        return fail(FailureKind::kConfiguration, "snmp.nothing_to_ask",
                    "the ask names no variable and no table; add at least one OID");
    }
    reply_.gets.resize(ask.gets.size());
    reply_.walks.resize(ask.walks.size());
    open_gets_.resize(ask.gets.size());
    for (std::uint32_t i = 0; i < open_gets_.size(); ++i) open_gets_[i] = i;
    columns_.resize(ask.walks.size());
    for (std::uint32_t i = 0; i < columns_.size(); ++i) {
        columns_[i].walk = i;
        columns_[i].cursor = ask.walks[i];
    }
    return plan();
}

Exchange::Step Exchange::plan() {
    batch_ = 0;
    patience_shift_ = 0;
    if (in_gets()) {
        plan_gets();
    } else {
        plan_walks();
        if (batch_ == 0) return Step::kDone;
    }
    if (requests_ == limits_.max_requests) {
        return fail(FailureKind::kValidation, "snmp.too_many_requests",
                    fmt::format("{} requests did not bring everything; ask for less, or raise "
                                "max_varbinds and max_repetitions if the device takes more",
                                requests_));
    }
    ++requests_;
    return Step::kAsk;
}

std::size_t Exchange::varbind_limit() const {
    std::uint32_t limit = std::max(ask_->max_varbinds, 1U);
    if (hint_.max_varbinds != 0) limit = std::min(limit, hint_.max_varbinds);
    return limit;
}

std::uint32_t Exchange::repetitions() const {
    std::uint32_t count = std::max(ask_->max_repetitions, 1U);
    if (hint_.max_repetitions != 0) count = std::min(count, hint_.max_repetitions);
    return std::max(count >> patience_shift_, 1U);
}

void Exchange::plan_gets() {
    const std::size_t limit = varbind_limit();
    std::size_t bytes = kFrameBytes;
    while (batch_ < limit && next_get_ + batch_ < open_gets_.size()) {
        bytes += expected_bytes(ask_->gets[open_gets_[next_get_ + batch_]]);
        if (batch_ > 0 && bytes > limits_.message_bytes) break;
        ++batch_;
    }
}

void Exchange::plan_walks() {
    const std::size_t limit = varbind_limit();
    std::size_t bytes = kFrameBytes;
    active_.clear();
    for (std::uint32_t i = 0; i < columns_.size() && active_.size() < limit; ++i) {
        if (columns_[i].done) continue;
        bytes += expected_bytes(columns_[i].cursor);
        if (!active_.empty() && bytes > limits_.message_bytes) break;
        active_.push_back(i);
    }
    batch_ = active_.size();
}

const model::Oid& Exchange::asked_oid(std::size_t position) const {
    if (in_gets()) return ask_->gets[open_gets_[next_get_ + position]];
    return columns_[active_[position]].cursor;
}

void Exchange::put_request(BerWriter& writer, std::int32_t request_id) const {
    const std::size_t mark = writer.size();
    for (std::size_t i = batch_; i > 0; --i) put_null_varbind(writer, asked_oid(i - 1));
    if (in_gets()) return finish_pdu(writer, mark, PduType::kGet, request_id, 0, 0);
    if (!uses_bulk()) return finish_pdu(writer, mark, PduType::kGetNext, request_id, 0, 0);
    finish_pdu(writer, mark, PduType::kGetBulk, request_id, 0,
               static_cast<std::int32_t>(std::min(repetitions(), 0x7FFFFFFFU)));
}

std::string Exchange::describe_request() const {
    if (in_gets()) return fmt::format("GetRequest for {} variables", batch_);
    if (!uses_bulk()) return fmt::format("GetNextRequest for {} columns", batch_);
    return fmt::format("GetBulkRequest for {} columns, {} repetitions", batch_, repetitions());
}

void Exchange::before_resend() {
    if (!in_gets() && uses_bulk() && repetitions() > 1) ++patience_shift_;
}

Exchange::Step Exchange::take_response(const PduView& pdu) {
    POLLUX_CHECK(batch_ > 0);
    if (pdu.error_status != 0) return take_error(pdu);
    return in_gets() ? take_gets(pdu) : take_rows(pdu);
}

// --- errors of the device ------------------------------------------------------------------------

Exchange::Step Exchange::take_error(const PduView& pdu) {
    const auto status = static_cast<ErrorStatus>(pdu.error_status);
    if (status == ErrorStatus::kTooBig && ask_for_less()) return plan();
    if (status == ErrorStatus::kNoSuchName) return take_missing(pdu.error_index);
    const bool names_one =
        pdu.error_index >= 1 && static_cast<std::size_t>(pdu.error_index) <= batch_;
    const model::Oid& oid =
        asked_oid(names_one ? static_cast<std::size_t>(pdu.error_index) - 1 : 0);
    const bool refused =
        status == ErrorStatus::kNoAccess || status == ErrorStatus::kAuthorizationError;
    return fail(refused ? FailureKind::kAuth : FailureKind::kApi, "snmp.error_status",
                fmt::format("the device answered {} for {}{}; {}",
                            error_status_text(pdu.error_status), model::to_string(oid),
                            names_one || batch_ == 1 ? "" : " or a variable asked with it",
                            refused ? "let its access rules allow this variable"
                                    : "see the device's log, or leave this variable out"));
}

// A smaller request of the same kind, and remembers that the device wants it. False: it is as
// small as it gets.
bool Exchange::ask_for_less() {
    if (!in_gets() && uses_bulk() && repetitions() > 1) {
        hint_.max_repetitions = repetitions() / 2;
        return true;
    }
    if (batch_ <= 1) return false;
    hint_.max_varbinds = static_cast<std::uint32_t>(batch_ / 2);
    return true;
}

// Version 1 names the one variable that does not exist, and answers none of the others. In a walk
// that means that nothing follows.
Exchange::Step Exchange::take_missing(std::int32_t error_index) {
    std::size_t position = static_cast<std::size_t>(error_index) - 1;
    if (error_index < 1 || position >= batch_) {
        if (batch_ > 1) {
            // It does not say which one: halve until it is alone. No hint, the size is not at
            // fault.
            const std::uint32_t known = hint_.max_varbinds;
            hint_.max_varbinds = static_cast<std::uint32_t>(batch_ / 2);
            const Step step = plan();
            hint_.max_varbinds = known;
            return step;
        }
        position = 0;
    }
    if (in_gets()) {
        const auto place = open_gets_.begin() + static_cast<std::ptrdiff_t>(next_get_ + position);
        reply_.gets[*place].type = SnmpType::kNoSuchObject;
        open_gets_.erase(place);
    } else {
        columns_[active_[position]].done = true;
    }
    return plan();
}

// --- answers -------------------------------------------------------------------------------------

Exchange::Step Exchange::take_gets(const PduView& pdu) {
    std::size_t taken = 0;
    for (VarbindReader reader(pdu.varbinds); taken < batch_ && !reader.empty(); ++taken) {
        const Parsed<VarbindView> varbind = reader.next();
        if (!varbind) return fail_malformed(varbind.error());
        const std::uint32_t index = open_gets_[next_get_ + taken];
        if (!equals(varbind->oid, ask_->gets[index])) {
            return fail_malformed("another variable than was asked");
        }
        const Parsed<void> value = parse_value(varbind->value, reply_.gets[index]);
        if (!value) return fail_malformed(value.error());
    }
    if (taken == 0) return fail_malformed("no variable, though it reports no error");
    // A device that answers only the first ones is asked for the rest.
    next_get_ += taken;
    return plan();
}

Exchange::Step Exchange::take_rows(const PduView& pdu) {
    std::size_t count = 0;
    for (VarbindReader reader(pdu.varbinds); !reader.empty(); ++count) {
        const Parsed<VarbindView> varbind = reader.next();
        if (!varbind) return fail_malformed(varbind.error());
        // Repetition by repetition, each with one variable per column; it may end anywhere.
        Column& column = columns_[active_[count % batch_]];
        if (column.done) continue;
        if (take_row(column, *varbind) == Step::kFailed) return Step::kFailed;
    }
    if (count == 0) return fail_malformed("no variable, though it reports no error");
    return plan();
}

Exchange::Step Exchange::take_row(Column& column, const VarbindView& varbind) {
    const model::Oid& root = ask_->walks[column.walk];
    model::Oid name;
    if (const auto parsed = parse_oid(varbind.oid, name); !parsed) {
        return fail_malformed(parsed.error());
    }
    model::SnmpRow row;
    if (const auto parsed = parse_value(varbind.value, row.value); !parsed) {
        return fail_malformed(parsed.error());
    }
    if (!row.value.exists() && row.value.type != SnmpType::kNull) {
        column.done = true;  // endOfMibView; the other exceptions have no place in a walk
        return Step::kAsk;
    }
    if (name <= column.cursor) {
        return fail(FailureKind::kValidation, "snmp.not_increasing",
                    fmt::format("the device answered {} after {}, which would never end; walk a "
                                "smaller part, or update the device",
                                model::to_string(name), model::to_string(column.cursor)));
    }
    if (!name.starts_with(root)) {
        column.done = true;
        return Step::kAsk;
    }
    std::vector<model::SnmpRow>& rows = reply_.walks[column.walk];
    if (rows.size() >= ask_->max_rows) {
        return fail(FailureKind::kValidation, "snmp.too_many_rows",
                    fmt::format("{} has more than {} rows; walk a smaller part, or raise max_rows",
                                model::to_string(root), ask_->max_rows));
    }
    row.index.arcs.assign(name.arcs.begin() + std::ssize(root.arcs), name.arcs.end());
    rows.push_back(std::move(row));
    column.cursor = std::move(name);
    return Step::kAsk;
}

Exchange::Step Exchange::fail(FailureKind kind, std::string code, std::string message) {
    failure_.kind = kind;
    failure_.code = std::move(code);
    failure_.message = std::move(message);
    return Step::kFailed;
}

Exchange::Step Exchange::fail_malformed(Problem problem) {
    return fail(FailureKind::kApi, "snmp.malformed",
                fmt::format("the answer to a {} has {}; the device or something between breaks "
                            "SNMP",
                            describe_request(), problem));
}

}  // namespace pollux::protocol::snmp
