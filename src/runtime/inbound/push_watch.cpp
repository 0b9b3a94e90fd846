#include "runtime/inbound/push_watch.hpp"

#include <algorithm>

namespace pollux::runtime {
namespace {

constexpr std::size_t kMostMessageBytes = 4096;

}  // namespace

std::string_view to_string(PushState state) {
    switch (state) {
        case PushState::kUnknown: return "unknown";
        case PushState::kUp: return "up";
        case PushState::kDown: return "down";
    }
    return "unknown";
}

void encode(base::ByteWriter& out, const PushRecord& record) {
    out.u8(static_cast<std::uint8_t>(record.state));
    out.zigzag(record.last.us);
    out.zigzag(record.since.us);
    out.string(record.message.substr(0, kMostMessageBytes));
    out.boolean(record.value.has_value());
    out.f64(record.value.value_or(0));
    out.boolean(record.silent);
}

PushRecord decode_push_record(base::ByteReader& in) {
    PushRecord record;
    const std::uint8_t state = in.u8();
    if (state > static_cast<std::uint8_t>(PushState::kDown)) in.fail();
    if (in.ok()) record.state = static_cast<PushState>(state);
    record.last.us = in.zigzag();
    record.since.us = in.zigzag();
    record.message = in.string(kMostMessageBytes);
    const bool has_value = in.boolean();
    const double value = in.f64();
    if (has_value) record.value = value;
    record.silent = in.boolean();
    return record;
}

PushStart start_of(const PushRecord& stored, const PushTiming& timing, base::Instant now) {
    if (stored.state == PushState::kDown && stored.silent) {
        return {PushState::kDown, base::BootTime::max()};
    }
    const base::BootTime listened = now.boot + timing.patience();
    if (stored.last.us == 0) return {PushState::kUnknown, listened};
    // A clock that was set back must not make a heartbeat of the future.
    const base::WallTime last = std::min(stored.last, now.wall);
    const base::WallTime next = last + timing.interval;
    const bool missed_none = now.wall + timing.grace < next;
    // What it said of itself stays said; only its silence is in doubt.
    if (!missed_none) {
        return {stored.state == PushState::kDown ? PushState::kDown : PushState::kUnknown,
                listened};
    }
    return {stored.state, now.boot + (last + timing.patience() - now.wall)};
}

void PushWatch::expect(const std::string& key, base::BootTime deadline) {
    forget(key);
    if (deadline == base::BootTime::max()) return;
    deadlines_.emplace(key, deadline);
    order_.emplace(deadline, key);
}

void PushWatch::forget(const std::string& key) {
    const auto found = deadlines_.find(key);
    if (found == deadlines_.end()) return;
    order_.erase({found->second, key});
    deadlines_.erase(found);
}

base::BootTime PushWatch::deadline(const std::string& key) const {
    const auto found = deadlines_.find(key);
    return found == deadlines_.end() ? base::BootTime::max() : found->second;
}

std::vector<std::string> PushWatch::take_late(base::BootTime now) {
    std::vector<std::string> late;
    while (!order_.empty() && order_.begin()->first <= now) {
        late.push_back(order_.begin()->second);
        forget(late.back());
    }
    return late;
}

}  // namespace pollux::runtime
