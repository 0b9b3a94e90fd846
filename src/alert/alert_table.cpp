#include "alert/alert_table.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace pollux::alert {
namespace {

constexpr std::uint8_t kVersion = 1;

template <class Enum>
Enum read_enum(base::ByteReader& in, Enum last) {
    const std::uint8_t value = in.u8();
    if (value > static_cast<std::uint8_t>(last)) in.fail();
    return static_cast<Enum>(std::min(value, static_cast<std::uint8_t>(last)));
}

}  // namespace

std::string AlertSlot::encode_memory(const TimeCodec& times) const {
    base::ByteWriter out;
    out.reserve(64);
    out.u8(kVersion);
    out.boolean(raised);
    out.boolean(missing_answer);
    out.boolean(address_of_target);
    out.boolean(verify_itself);
    out.u8(static_cast<std::uint8_t>(hold));
    out.u8(static_cast<std::uint8_t>(cleared_by));
    for (const base::BootTime time : {hold_since, verify_until, settle_until, pending_until,
                                      keep_until, expires_at, acknowledged_until, repeated_at}) {
        times.write(out, time);
    }
    out.varint(said_before);
    return out.take();
}

bool AlertSlot::decode_memory(std::string_view bytes, const TimeCodec& times) {
    base::ByteReader in(bytes);
    AlertSlot read;
    if (in.u8() != kVersion) in.fail();
    read.raised = in.boolean();
    read.missing_answer = in.boolean();
    read.address_of_target = in.boolean();
    read.verify_itself = in.boolean();
    read.hold = read_enum(in, Hold::kDecided);
    read.cleared_by = read_enum(in, model::ResolvedBy::kExpired);
    for (base::BootTime* time :
         {&read.hold_since, &read.verify_until, &read.settle_until, &read.pending_until,
          &read.keep_until, &read.expires_at, &read.acknowledged_until, &read.repeated_at}) {
        *time = times.read(in);
    }
    read.said_before = in.varint();
    if (!in.ok() || !in.at_end()) {
        missing_answer = alert.source == model::AlertSource::kHealth;
        return false;
    }
    read.alert = std::move(alert);
    *this = std::move(read);
    return true;
}

std::uint32_t AlertTable::find(std::string_view fingerprint) const {
    return by_fingerprint_.find(base::siphash24(key_, fingerprint), [&](std::uint32_t slot) {
        return slots_[slot].alert.fingerprint == fingerprint;
    });
}

std::uint32_t AlertTable::fetch(std::string_view fingerprint) const {
    constexpr std::size_t kLine = 64;
    const std::uint32_t slot = by_fingerprint_.find(base::siphash24(key_, fingerprint),
                                                    [](std::uint32_t) { return true; });
    if (slot == kNone) return kNone;
    const auto* bytes = reinterpret_cast<const char*>(&slots_[slot]);
    for (std::size_t at = 0; at < sizeof(AlertSlot); at += kLine) __builtin_prefetch(bytes + at);
    return slot;
}

void AlertTable::fetch_texts(std::uint32_t slot) const {
    const model::Alert& alert = slots_[slot].alert;
    for (const std::string* text : {&alert.fingerprint, &alert.id, &alert.type, &alert.subject,
                                    &alert.target, &alert.target_id, &alert.title, &alert.message,
                                    &alert.rule, &alert.incident, &alert.memory}) {
        __builtin_prefetch(text->data());
    }
    if (!alert.labels.empty()) __builtin_prefetch(&*alert.labels.begin());
    __builtin_prefetch(alert.groups.data());
    __builtin_prefetch(alert.fields.data());
}

std::uint32_t AlertTable::find_id(std::string_view id) const {
    return by_id_.find(base::siphash24(key_, id),
                       [&](std::uint32_t slot) { return slots_[slot].alert.id == id; });
}

std::uint32_t AlertTable::add(model::Alert alert) {
    POLLUX_CHECK(find(alert.fingerprint) == kNone);
    const std::uint32_t slot = slots_.allocate();
    by_fingerprint_.insert(base::siphash24(key_, alert.fingerprint), slot);
    by_id_.insert(base::siphash24(key_, alert.id), slot);
    slots_[slot].alert = std::move(alert);
    return slot;
}

void AlertTable::change_fingerprint(std::uint32_t slot, std::string fingerprint) {
    POLLUX_CHECK(find(fingerprint) == kNone);
    model::Alert& alert = slots_[slot].alert;
    by_fingerprint_.erase(base::siphash24(key_, alert.fingerprint),
                          [&](std::uint32_t other) { return other == slot; });
    alert.fingerprint = std::move(fingerprint);
    by_fingerprint_.insert(base::siphash24(key_, alert.fingerprint), slot);
}

void AlertTable::close(std::uint32_t slot) {
    arm(slot, base::BootTime::max());
    const model::Alert& alert = slots_[slot].alert;
    const auto is_it = [&](std::uint32_t other) { return other == slot; };
    by_fingerprint_.erase(base::siphash24(key_, alert.fingerprint), is_it);
    by_id_.erase(base::siphash24(key_, alert.id), is_it);
}

void AlertTable::release(std::uint32_t slot) { slots_.release(slot); }

std::vector<std::uint32_t> AlertTable::in_order() const {
    std::vector<std::uint32_t> out;
    out.reserve(open());
    for (std::uint32_t slot = 0; slot < slots_.capacity(); ++slot) {
        if (slots_.is_live(slot) && is_open(slots_[slot].alert)) out.push_back(slot);
    }
    sort(out);
    return out;
}

void AlertTable::sort(std::vector<std::uint32_t>& slots) const {
    std::ranges::sort(slots, {}, [&](std::uint32_t slot) { return slots_[slot].alert.number; });
}

void AlertTable::arm(std::uint32_t slot, base::BootTime due) {
    if (slots_[slot].due == due) return;
    if (slots_[slot].due != base::BootTime::max()) timers_.erase(timer_of(slot));
    slots_[slot].due = due;
    if (due != base::BootTime::max()) timers_.insert(timer_of(slot));
}

base::BootTime AlertTable::next_due() const {
    return timers_.empty() ? base::BootTime::max() : std::get<0>(*timers_.begin());
}

std::vector<std::uint32_t> AlertTable::take_due(base::BootTime now) {
    std::vector<std::uint32_t> out;
    while (!timers_.empty() && std::get<0>(*timers_.begin()) <= now) {
        const std::uint32_t slot = std::get<2>(*timers_.begin());
        timers_.erase(timers_.begin());
        slots_[slot].due = base::BootTime::max();
        out.push_back(slot);
    }
    return out;
}

std::size_t AlertTable::memory_bytes() const {
    return slots_.capacity() * sizeof(AlertSlot) + by_fingerprint_.memory_bytes() +
           by_id_.memory_bytes() + timers_.size() * (sizeof(Timer) + 4 * sizeof(void*));
}

}  // namespace pollux::alert
