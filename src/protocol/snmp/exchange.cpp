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

std::uint32_t expected_bytes(const model::Oid& oid) {
    return static_cast<std::uint32_t>(kVarbindHeader + encoded_oid_size(oid) + kValueBytes);
}

}  // namespace

Exchange::Step Exchange::begin(const model::SnmpAsk& ask, const DeviceProfile& profile,
                               ExchangeLimits limits) {
    ask_ = &ask;
    plan_.begin(ask, profile);
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
    asked_ = {};
    halved_ = false;
    narrowed_ = false;
    if (in_gets()) {
        plan_gets();
    } else {
        plan_walks();
        if (batch_ == 0) {
            plan_.settle();
            return Step::kDone;
        }
    }
    asked_.varbinds = static_cast<std::uint32_t>(batch_);
    if (requests_ == limits_.max_requests) {
        return fail(FailureKind::kValidation, "snmp.too_many_requests",
                    fmt::format("{} requests did not bring everything; ask for less, or raise "
                                "max_varbinds and max_repetitions if the device takes more",
                                requests_));
    }
    ++requests_;
    return Step::kAsk;
}

std::size_t Exchange::varbind_limit() {
    const std::size_t limit = plan_.varbinds();
    const std::size_t once = std::exchange(once_, 0);
    return once == 0 ? limit : std::min(limit, once);
}

void Exchange::plan_gets() {
    const std::size_t limit = varbind_limit();
    std::size_t bytes = kFrameBytes;
    while (batch_ < limit && next_get_ + batch_ < open_gets_.size()) {
        bytes += expected_bytes(ask_->gets[open_gets_[next_get_ + batch_]]);
        if (batch_ > 0 && bytes > limits_.message_bytes) break;
        ++batch_;
    }
    accepted_ = batch_;
}

void Exchange::plan_walks() {
    const std::size_t limit = varbind_limit();
    std::uint32_t row_bytes = 0;
    active_.clear();
    for (std::uint32_t i = 0; i < columns_.size() && active_.size() < limit; ++i) {
        if (columns_[i].done) continue;
        const std::uint32_t more = expected_bytes(columns_[i].cursor);
        if (!active_.empty() && kFrameBytes + row_bytes + more > limits_.message_bytes) break;
        row_bytes += more;
        active_.push_back(i);
    }
    batch_ = active_.size();
    asked_.bulk = plan_.bulk();
    asked_.row_bytes = row_bytes;
    if (asked_.bulk) asked_.rows = plan_.rows(row_bytes);
}

const model::Oid& Exchange::asked_oid(std::size_t position) const {
    if (in_gets()) return ask_->gets[open_gets_[next_get_ + position]];
    return columns_[active_[position]].cursor;
}

void Exchange::put_request(BerWriter& writer, std::int32_t request_id) const {
    const std::size_t mark = writer.size();
    for (std::size_t i = batch_; i > 0; --i) put_null_varbind(writer, asked_oid(i - 1));
    if (in_gets()) return finish_pdu(writer, mark, PduType::kGet, request_id, 0, 0);
    if (!asked_.bulk) return finish_pdu(writer, mark, PduType::kGetNext, request_id, 0, 0);
    finish_pdu(writer, mark, PduType::kGetBulk, request_id, 0,
               static_cast<std::int32_t>(std::min(asked_.rows, 0x7FFFFFFFU)));
}

std::string Exchange::describe_request() const {
    if (in_gets()) return fmt::format("GetRequest for {} variables", batch_);
    if (!asked_.bulk) return fmt::format("GetNextRequest for {} columns", batch_);
    return fmt::format("GetBulkRequest for {} columns, {} repetitions", batch_, asked_.rows);
}

bool Exchange::before_resend(bool last, bool blame) {
    if (!last) {
        halved_ = halved_ || asked_.rows > 1;
        asked_.rows = std::max(asked_.rows / 2, 1U);
        return false;
    }
    if (batch_ == 1 && !asked_.bulk) return false;
    silent_ = asked_;
    narrowed_ = true;
    blame_ = blame;
    batch_ = 1;
    asked_ = {.varbinds = 1};
    if (in_gets()) return false;
    active_.resize(1);
    return true;
}

Exchange::Step Exchange::take_response(const PduView& pdu, AnswerFacts facts) {
    POLLUX_CHECK(batch_ > 0);
    plan_.note_answer(facts.bytes);
    if (pdu.error_status != 0) return take_error(pdu);
    return in_gets() ? take_gets(pdu, facts) : take_rows(pdu, facts);
}

// --- errors of the device ------------------------------------------------------------------------

Exchange::Step Exchange::take_error(const PduView& pdu) {
    const auto status = static_cast<ErrorStatus>(pdu.error_status);
    // A late answer may be about the first, larger copy.
    const AskedSize about = narrowed_ && in_gets() ? silent_ : asked_;
    if (status == ErrorStatus::kTooBig && plan_.ask_for_less(about)) return plan();
    const bool troubled =
        status == ErrorStatus::kGenErr || status == ErrorStatus::kResourceUnavailable;
    if (troubled && plan_.try_less(about)) return plan();
    if (status == ErrorStatus::kNoSuchName) return take_missing(pdu.error_index);
    const bool names_one =
        pdu.error_index >= 1 && static_cast<std::size_t>(pdu.error_index) <= batch_;
    const model::Oid& oid =
        asked_oid(names_one ? static_cast<std::size_t>(pdu.error_index) - 1 : 0);
    const bool refused =
        status == ErrorStatus::kNoAccess || status == ErrorStatus::kAuthorizationError;
    const bool v3 = ask_->version == model::SnmpVersion::kV3;
    return fail(refused ? FailureKind::kAuth : FailureKind::kApi, "snmp.error_status",
                fmt::format("the device answered {} for {}{}; {}{}",
                            error_status_text(pdu.error_status), model::to_string(oid),
                            names_one || batch_ == 1 ? "" : " or a variable asked with it",
                            refused ? "let its access rules allow this variable"
                                    : "see the device's log, or leave this variable out",
                            refused && v3 ? " to this user, or give the credentials the security "
                                            "level that they ask for (snmp_auth, snmp_privacy)"
                                          : ""));
}

// Version 1 names the one variable that does not exist, and answers none of the others. In a walk
// that means that nothing follows.
Exchange::Step Exchange::take_missing(std::int32_t error_index) {
    // A late answer may be about the first, larger copy.
    const std::size_t known = in_gets() ? accepted_ : batch_;
    std::size_t position = static_cast<std::size_t>(error_index) - 1;
    if (error_index < 1 || position >= known) {
        // It does not say which one: halve until it is alone. Nothing is learned, the size is not
        // at fault.
        if (known > 1) {
            once_ = known / 2;
            return plan();
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

Exchange::Step Exchange::take_gets(const PduView& pdu, AnswerFacts facts) {
    std::size_t taken = 0;
    for (VarbindReader reader(pdu.varbinds); taken < accepted_ && !reader.empty(); ++taken) {
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
    if (narrowed_) {
        // More than that is the late answer to the first copy: it was only slow.
        if (taken == 1) plan_.silent(silent_, blame_);
    } else if (taken < batch_) {
        plan_.cut(asked_, static_cast<std::uint32_t>(taken));
    } else {
        plan_.whole(asked_, facts.quick);
    }
    // A device that answers only the first ones is asked for the rest.
    next_get_ += taken;
    return plan();
}

Exchange::Step Exchange::take_rows(const PduView& pdu, AnswerFacts facts) {
    std::size_t count = 0;
    for (VarbindReader reader(pdu.varbinds); !reader.empty(); ++count) {
        const Parsed<VarbindView> varbind = reader.next();
        if (!varbind) return fail_malformed(varbind.error());
        // Repetition by repetition, each with one variable per column; it may end anywhere.
        Column& column = columns_[active_[count % batch_]];
        if (column.done) continue;
        if (take_row(column, *varbind) == Step::kFailed) {
            return bulk_is_odd_ && plan_.give_up_bulk() ? walk_again_without_bulk() : Step::kFailed;
        }
    }
    if (count == 0) {
        if (asked_.bulk && plan_.give_up_bulk()) return walk_again_without_bulk();
        return fail_malformed("no variable, though it reports no error");
    }
    const bool ended = std::ranges::all_of(
        active_, [this](std::uint32_t column) { return columns_[column].done; });
    const bool left_out = count < batch_ * asked_.rows && !ended;
    if (narrowed_) {
        plan_.silent(silent_, blame_);
    } else if (halved_) {
        // One lost packet says little.
    } else if (left_out) {
        plan_.cut(asked_, static_cast<std::uint32_t>(count / batch_));
    } else if (count >= batch_ * asked_.rows) {
        plan_.whole(asked_, facts.quick);
    }
    return plan();
}

// What GETBULK brought so far may have holes too: everything is read again, by GETNEXT.
Exchange::Step Exchange::walk_again_without_bulk() {
    bulk_is_odd_ = false;
    failure_ = {};
    for (Column& column : columns_) {
        column.cursor = ask_->walks[column.walk];
        column.done = false;
        reply_.walks[column.walk].clear();
    }
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
        bulk_is_odd_ = asked_.bulk;
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
