// The part of the driver that learns what devices take: profiles, requests at once, narrow checks.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "protocol/snmp/snmp_driver.hpp"

namespace pollux::protocol::snmp {
namespace {

// Quick answers while others had to wait, until one more request may be under way.
constexpr std::uint32_t kEagerAnswers = 16;
constexpr base::SipKey kIdentityKey{0x6964656e74000001ULL, 0};

// 1.3.6.1.2.1.1.<arc>.0: sysDescr is 1, sysObjectID is 2.
bool is_system(const model::Oid& oid, std::uint32_t arc) {
    constexpr std::array<std::uint32_t, 7> kSystem = {1, 3, 6, 1, 2, 1, 1};
    return oid.arcs.size() == 9 && oid.arcs[7] == arc && oid.arcs[8] == 0 &&
           std::equal(kSystem.begin(), kSystem.end(), oid.arcs.begin());
}

std::uint64_t identity_of(const model::SnmpValue& value) {
    if (!value.exists()) return 0;
    const std::string text =
        value.type == model::SnmpType::kObjectId ? model::to_string(value.oid) : value.bytes;
    return std::max<std::uint64_t>(base::siphash24(kIdentityKey, text), 1);
}

}  // namespace

void SnmpDriver::find_profile(Poll& poll) {
    poll.place = profiles_.place_of(poll.peer);
    if (poll.place == ProfileTable::kNone) {
        poll.place = profiles_.add(poll.peer, poll.ask->host, new_profile(net::wall_now()));
    }
    profiles_.at(poll.place).fixed_parallel = snmp_ask(poll).fixed.parallel;
    const DeviceProfile& profile = profiles_.at(poll.place).profile;
    poll.steps_before = profile.steps_back;
    if (poll.tracing) trace(poll, fmt::format("profile: {}", describe(profile)));
}

// --- requests at once ----------------------------------------------------------------------------

// Whether one more request may go to the device now; otherwise it is called when one has ended.
bool SnmpDriver::take_slot(Poll& poll) {
    ProfileTable::Entry& entry = profiles_.at(poll.place);
    if (entry.under_way >= entry.parallel()) {
        poll.waits = true;
        poll.waited = true;
        entry.waiting.push_back(poll.ticket);
        return false;
    }
    ++entry.under_way;
    poll.counted = true;
    return true;
}

void SnmpDriver::give_slot_back(Poll& poll) {
    if (!std::exchange(poll.counted, false)) return;
    ProfileTable::Entry& entry = profiles_.at(poll.place);
    --entry.under_way;
    while (entry.has_waiting() && entry.under_way < entry.parallel()) {
        Poll* next = find(entry.pop_waiting());
        if (next != nullptr && std::exchange(next->waits, false)) ask_next(*next);
    }
}

void SnmpDriver::note_answer(Poll& poll, bool quick) {
    ProfileTable::Entry& entry = profiles_.at(poll.place);
    Climb& parallel = entry.profile.parallel;
    if (poll.crowd != 0) {
        if (parallel.silent(poll.crowd)) {
            ++counters_.steps_back;
            ++entry.profile.steps_back;
            profiles_.note_change();
        }
        return;
    }
    if (!quick) return;
    const bool bound = entry.has_waiting() && ++entry.eager >= kEagerAnswers;
    if (bound) entry.eager = 0;
    if (!bound && parallel.suspect == 0) return;
    if (parallel.came_whole(entry.under_way, bound, kMostParallel)) profiles_.note_change();
}

// --- what an ask taught --------------------------------------------------------------------------

void SnmpDriver::learn(Poll& poll) {
    if (!poll.exchange.learned() || poll.check != nullptr) return;
    // An ask that was cancelled may have lost its place meanwhile.
    if (profiles_.at(poll.place).device != poll.peer) poll.place = profiles_.place_of(poll.peer);
    if (poll.place == ProfileTable::kNone) return;
    DeviceProfile& known = profiles_.at(poll.place).profile;
    const DeviceProfile& found = poll.exchange.profile();
    if (known.relearned != found.relearned) return;  // it was about the old firmware
    counters_.steps_back += found.steps_back - poll.steps_before;
    DeviceProfile next = found;
    // What asks do not find, and another one may have changed meanwhile.
    next.parallel = known.parallel;
    next.check_doubts = known.check_doubts;
    next.description = known.description;
    next.object_id = known.object_id;
    next.checked_at = known.checked_at;
    next.lifted_at = known.lifted_at;
    if (!known.uses_bulk()) next.bulk = known.bulk;
    const bool bulk_off = known.uses_bulk() && !next.uses_bulk();
    if (poll.tracing && describe(next) != describe(known)) {
        trace(poll, fmt::format("learned: {}", describe(next)));
    }
    known = next;
    profiles_.note_change();
    if (bulk_off) tell(poll, ProfileNews::Kind::kBulkOff, std::string(to_string(next.bulk)));
}

void SnmpDriver::take_identity(Poll& poll, const model::SnmpReply& answer) {
    const model::SnmpAsk& ask = snmp_ask(poll);
    std::uint64_t description = 0;
    std::uint64_t object_id = 0;
    for (std::size_t i = 0; i < ask.gets.size(); ++i) {
        if (is_system(ask.gets[i], 1)) description = identity_of(answer.gets[i]);
        if (is_system(ask.gets[i], 2)) object_id = identity_of(answer.gets[i]);
    }
    note_identity(poll, description, object_id);
}

void SnmpDriver::note_identity(Poll& poll, std::uint64_t description, std::uint64_t object_id) {
    if (description == 0 && object_id == 0) return;
    DeviceProfile& profile = profiles_.at(poll.place).profile;
    if (profile.description == description && profile.object_id == object_id) return;
    if (snmp::take_identity(profile, description, object_id, net::wall_now())) {
        ++counters_.relearned;
        trace(poll, "the device is something else than before: its profile begins again");
        tell(poll, ProfileNews::Kind::kFirmwareChanged, "");
    }
    profiles_.note_change();
}

void SnmpDriver::tell(const Poll& poll, ProfileNews::Kind kind, std::string detail) {
    if (!seams_.tell) return;
    seams_.tell({.kind = kind,
                 .host = poll.ask->host,
                 .address = to_string(poll.peer),
                 .detail = std::move(detail)});
}

// --- narrow checks -------------------------------------------------------------------------------

// Null: nothing to compare, or not now.
std::unique_ptr<NarrowCheck> SnmpDriver::due_check(Poll& poll, const model::SnmpReply& answer) {
    const model::SnmpAsk& ask = snmp_ask(poll);
    DeviceProfile& profile = profiles_.at(poll.place).profile;
    const std::uint64_t spread = hash_of(poll.peer, kIdentityKey);
    const base::WallTime now = net::wall_now();
    NarrowCheck::Scope scope;
    scope.tables = !ask.walks.empty() && ask.version != model::SnmpVersion::kV1 &&
                   ask.fixed.bulk.value_or(profile.uses_bulk());
    // Who has no table to compare only asks what the device is, and lets those who have one go
    // first.
    const bool due = scope.tables ? check_due(profile, now, options_.check_every, spread)
                                  : now >= profile.checked_at + 2 * options_.check_every;
    if (!due) return nullptr;
    if (std::ranges::any_of(ask.gets, [](const model::Oid& oid) {
            return is_system(oid, 1) || is_system(oid, 2);
        })) {
        scope.identity = 0;  // the poll itself has said it
    } else if (ask.fixed.max_varbinds == 1 || profile.varbinds.now == 1) {
        scope.identity = 1;
    }
    auto check = std::make_unique<NarrowCheck>(ask, answer,
                                               spread ^ static_cast<std::uint64_t>(now.us), scope);
    if (check->empty()) return nullptr;
    profile.checked_at = now;
    return check;
}

void SnmpDriver::start_check(std::shared_ptr<const model::Ask> ask, const Endpoint& peer,
                             std::unique_ptr<NarrowCheck> check) {
    ++counters_.narrow_checks;
    const std::uint32_t slot = polls_.allocate();
    Poll& poll = polls_[slot];
    poll.ticket = std::uint64_t{++next_ticket_} << 32U | slot;
    poll.done = [](model::Reply&&) {};
    poll.started = loop_.now();
    poll.deadline = poll.started + 2 * ask->timeout;
    poll.ask = std::move(ask);
    poll.peer = peer;
    poll.check = std::move(check);
    find_profile(poll);
    ask_next(poll);
}

void SnmpDriver::take_checked(Poll& poll, const PduView& pdu) {
    const NarrowCheck::Step step = poll.check->take_response(pdu);
    if (step == NarrowCheck::Step::kAsk) return ask_next(poll);
    if (step == NarrowCheck::Step::kAgrees || step == NarrowCheck::Step::kDiffers) {
        DeviceProfile& profile = profiles_.at(poll.place).profile;
        const bool agrees = step == NarrowCheck::Step::kAgrees;
        if (!agrees) ++counters_.differences;
        const bool lies = take_check(profile, agrees, net::wall_now());
        profiles_.note_change();
        if (lies) tell(poll, ProfileNews::Kind::kLies, poll.check->difference());
    }
    if (poll.check->wants_identity()) return ask_next(poll);
    if (step == NarrowCheck::Step::kIdentity) {
        note_identity(poll, identity_of(poll.check->description()),
                      identity_of(poll.check->object_id()));
    }
    finish(poll, {});
}

void SnmpDriver::put_pdu_of(const Poll& poll, BerWriter& writer) const {
    if (poll.check != nullptr) {
        poll.check->put_request(writer, poll.request_id);
    } else {
        poll.exchange.put_request(writer, poll.request_id);
    }
}

}  // namespace pollux::protocol::snmp
