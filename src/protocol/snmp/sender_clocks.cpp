#include "protocol/snmp/sender_clocks.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"

namespace pollux::protocol::snmp {
namespace {

constexpr std::uint8_t kFormat = 1;
// A sender that talks all the time is not written all the time; small beside the time window.
constexpr std::uint32_t kWorthSaving = 10;  // seconds

}  // namespace

std::uint32_t SenderClocks::place_of(std::string_view engine_id) const {
    if (index_.empty()) return base::FlatIndex::kNone;
    return index_.find(base::siphash24(key_, engine_id),
                       [&](std::uint32_t at) { return entries_[at].id == engine_id; });
}

bool SenderClocks::accept(std::string_view engine_id, std::uint32_t boots, std::uint32_t time,
                          base::BootTime now) {
    const std::uint32_t place = place_of(engine_id);
    if (place == base::FlatIndex::kNone) {
        if (boots == kMaxBoots) return false;
        add(engine_id, EngineClock(boots, time, now));
        mark(std::string(engine_id));
        return true;
    }
    Entry& entry = entries_[place];
    if (!entry.clock.accept(boots, time, now)) return false;
    const bool worth_it = !entry.saved || entry.clock.boots() != entry.saved_boots ||
                          std::int64_t{time} - entry.saved_time >= kWorthSaving;
    if (worth_it) mark(entry.id);
    return true;
}

void SenderClocks::prove(std::string_view engine_id, const EngineClock& clock) {
    const std::uint32_t place = place_of(engine_id);
    if (place != base::FlatIndex::kNone) {
        entries_[place].clock = clock;
    } else if (entries_.size() < capacity_) {
        add(engine_id, clock);
    } else {
        return;
    }
    mark(std::string(engine_id));
}

bool SenderClocks::forget(std::string_view engine_id) {
    const std::uint32_t place = place_of(engine_id);
    if (place == base::FlatIndex::kNone) return false;
    remove(place);
    mark(std::string(engine_id));
    return true;
}

SenderClocks::Entry& SenderClocks::add(std::string_view engine_id, const EngineClock& clock) {
    std::size_t place = entries_.size();
    if (place < capacity_) {
        entries_.emplace_back();
    } else {
        place = oldest_ % entries_.size();
        oldest_ = place + 1;
        std::string gone = std::move(entries_[place].id);
        index_.erase(base::siphash24(key_, gone), [&](std::uint32_t at) { return at == place; });
        mark(std::move(gone));
    }
    entries_[place] = {.id = std::string(engine_id), .clock = clock};
    index_.insert(base::siphash24(key_, engine_id), static_cast<std::uint32_t>(place));
    return entries_[place];
}

void SenderClocks::remove(std::uint32_t place) {
    const auto drop = [&](std::uint32_t which) {
        index_.erase(base::siphash24(key_, entries_[which].id),
                     [&](std::uint32_t at) { return at == which; });
    };
    drop(place);
    const auto last = static_cast<std::uint32_t>(entries_.size() - 1);
    if (place != last) {
        drop(last);
        entries_[place] = std::move(entries_[last]);
        index_.insert(base::siphash24(key_, entries_[place].id), place);
    }
    entries_.pop_back();
}

// While nothing can be stored, more go than there is room for; the next start finds those.
void SenderClocks::mark(std::string engine_id) {
    if (unsaved_.size() < 3 * capacity_) unsaved_.insert(std::move(engine_id));
}

base::Status SenderClocks::recall(std::string_view engine_id, std::string_view bytes,
                                  base::BootTime now, base::WallTime wall) {
    base::ByteReader in(bytes);
    const bool known = in.u8() == kFormat;
    const std::int64_t saved_at = in.zigzag();
    const std::uint64_t boots = in.varint();
    const std::uint64_t time = in.varint();
    if (!known || !in.ok() || !in.at_end() || engine_id.size() < kMinEngineIdBytes ||
        engine_id.size() > kMaxEngineIdBytes || boots > kMaxBoots || time > kMaxBoots) {
        return base::make_error(base::ErrorClass::kPermanent, "snmp.sender_damaged",
                                "the stored clock of a sender of traps is damaged or of another "
                                "format: what the sender says next is believed");
    }
    if (entries_.size() >= capacity_ || place_of(engine_id) != base::FlatIndex::kNone) {
        if (place_of(engine_id) == base::FlatIndex::kNone) mark(std::string(engine_id));
        return {};
    }
    // A clock of ours that was set back tells nothing about how much time has passed.
    const std::int64_t passed =
        std::clamp<std::int64_t>((wall.us - saved_at) / 1'000'000, 0, kMaxBoots);
    const auto since = static_cast<std::uint32_t>(
        std::min<std::int64_t>(static_cast<std::int64_t>(time) + passed, kMaxBoots));
    Entry& entry = add(engine_id, EngineClock(static_cast<std::uint32_t>(boots), since, now));
    entry.saved = true;
    entry.saved_boots = static_cast<std::uint32_t>(boots);
    entry.saved_time = static_cast<std::uint32_t>(time);
    return {};
}

std::vector<SenderClocks::Row> SenderClocks::unsaved(std::size_t most, base::BootTime now,
                                                     base::WallTime wall) {
    std::vector<Row> rows;
    while (rows.size() < most && !unsaved_.empty()) {
        Row& row = rows.emplace_back();
        row.engine_id = std::move(unsaved_.extract(unsaved_.begin()).value());
        const std::uint32_t place = place_of(row.engine_id);
        if (place == base::FlatIndex::kNone) continue;
        Entry& entry = entries_[place];
        entry.saved = true;
        entry.saved_boots = entry.clock.boots();
        entry.saved_time = entry.clock.time(now);
        base::ByteWriter out;
        out.u8(kFormat);
        out.zigzag(wall.us);
        out.varint(entry.saved_boots);
        out.varint(entry.saved_time);
        row.bytes = out.take();
    }
    return rows;
}

void SenderClocks::not_saved(const std::vector<std::string>& engine_ids) {
    for (const std::string& id : engine_ids) {
        const std::uint32_t place = place_of(id);
        if (place != base::FlatIndex::kNone) entries_[place].saved = false;
        mark(id);
    }
}

}  // namespace pollux::protocol::snmp
