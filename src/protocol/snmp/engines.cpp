#include "protocol/snmp/engines.hpp"

#include <algorithm>

namespace pollux::protocol::snmp {
namespace {

constexpr std::uint8_t kFormat = 1;
struct Kept {
    Endpoint device;
    std::string_view id;
    std::uint32_t boots = 0;
    std::uint32_t time = 0;
};

Kept take_entry(base::ByteReader& reader) {
    Kept kept{.device = decode_endpoint(reader), .id = reader.string(kMaxEngineIdBytes)};
    const std::uint64_t boots = reader.varint();
    const std::uint64_t time = reader.varint();
    if (kept.id.size() < kMinEngineIdBytes || boots > kMaxBoots || time > kMaxBoots) reader.fail();
    kept.boots = static_cast<std::uint32_t>(boots);
    kept.time = static_cast<std::uint32_t>(time);
    return kept;
}

}  // namespace

bool Engine::accept(std::uint32_t boots, std::uint32_t time, base::BootTime now) {
    if (synced) return clock.accept(boots, time, now);
    if (boots == kMaxBoots) return false;
    clock = EngineClock(boots, time, now);
    synced = true;
    return true;
}

std::uint32_t Engines::position_of(const Endpoint& device) const {
    if (index_.empty()) return base::FlatIndex::kNone;
    return index_.find(hash_of(device, key_),
                       [&](std::uint32_t at) { return entries_[at].device == device; });
}

Engine* Engines::find(const Endpoint& device) {
    const std::uint32_t at = position_of(device);
    return at == base::FlatIndex::kNone ? nullptr : &entries_[at].engine;
}

void Engines::learn(const Endpoint& device, Bytes engine_id, std::uint32_t boots,
                    std::uint32_t time, base::BootTime now) {
    std::uint32_t place = position_of(device);
    if (place == base::FlatIndex::kNone) {
        if (entries_.size() < capacity_) {
            place = static_cast<std::uint32_t>(entries_.size());
            entries_.emplace_back();
        } else {
            place = static_cast<std::uint32_t>(next_);
            next_ = (next_ + 1) % capacity_;
            if (entries_[place].device.family != AF_UNSPEC)
                forget(Endpoint(entries_[place].device));
        }
        entries_[place].device = device;
        index_.insert(hash_of(device, key_), place);
    }
    Engine& engine = entries_[place].engine;
    engine = {};
    engine.id_size = static_cast<std::uint8_t>(std::min(engine_id.size(), engine.id.size()));
    std::copy_n(engine_id.begin(), engine.id_size, engine.id.begin());
    engine.clock = EngineClock(boots, time, now);
    ++revision_;
}

void Engines::forget(const Endpoint& device) {
    const std::uint32_t at = position_of(device);
    if (at == base::FlatIndex::kNone) return;
    index_.erase(hash_of(device, key_), [&](std::uint32_t found) { return found == at; });
    entries_[at] = {};
    ++revision_;
}

void Engines::encode(base::ByteWriter& writer, base::BootTime now, base::WallTime wall) const {
    writer.u8(kFormat);
    writer.zigzag(wall.us);
    writer.varint(size());
    for (const Entry& entry : entries_) {
        if (entry.device.family == AF_UNSPEC) continue;
        snmp::encode(entry.device, writer);
        const Bytes id = entry.engine.engine_id();
        writer.string({reinterpret_cast<const char*>(id.data()), id.size()});
        writer.varint(entry.engine.clock.boots());
        writer.varint(entry.engine.clock.time(now));
    }
}

base::Status Engines::decode(base::ByteReader& reader, base::BootTime now, base::WallTime wall) {
    const auto refused = [](std::string message) {
        return base::make_error(base::ErrorClass::kPermanent, "snmp.engines_damaged",
                                std::move(message));
    };
    if (reader.u8() != kFormat) {
        return refused("remembered SNMP engines have an unknown format; they are discovered again");
    }
    const std::int64_t saved = reader.zigzag();
    const std::uint64_t count = reader.varint();
    // Each takes more than ten bytes, so that a count cannot ask for more memory than it brings.
    if (!reader.ok() || count > reader.remaining() / 10) {
        return refused("remembered SNMP engines are damaged; they are discovered again");
    }
    std::vector<Kept> kept;
    kept.reserve(count);
    for (std::uint64_t i = 0; i < count && reader.ok(); ++i) kept.push_back(take_entry(reader));
    if (!reader.ok()) {
        return refused("remembered SNMP engines are damaged; they are discovered again");
    }
    const std::int64_t passed =
        std::clamp<std::int64_t>((wall.us - saved) / 1'000'000, 0, kMaxBoots);
    for (const Kept& one : kept) {
        const auto time = static_cast<std::uint32_t>(
            std::min<std::int64_t>(std::int64_t{one.time} + passed, kMaxBoots));
        learn(one.device, {reinterpret_cast<const std::uint8_t*>(one.id.data()), one.id.size()},
              one.boots, time, now);
    }
    return {};
}

}  // namespace pollux::protocol::snmp
