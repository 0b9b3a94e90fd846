#include "protocol/snmp/profile_table.hpp"

#include <algorithm>
#include <utility>

namespace pollux::protocol::snmp {
namespace {

constexpr std::uint8_t kFormat = 1;
constexpr std::size_t kMostHostBytes = 255;
constexpr std::size_t kLeastEntryBytes = 40;

}  // namespace

std::uint64_t ProfileTable::Entry::pop_waiting() {
    const std::uint64_t ticket = waiting[first_waiting++];
    // Moved together when most of it is used up, so that each is moved about once.
    if (2 * first_waiting >= waiting.size()) {
        waiting.erase(waiting.begin(),
                      waiting.begin() + static_cast<std::ptrdiff_t>(first_waiting));
        first_waiting = 0;
    }
    return ticket;
}

std::uint32_t ProfileTable::position_of(const Endpoint& device) const {
    if (index_.empty()) return kNone;
    return index_.find(hash_of(device, key_),
                       [&](std::uint32_t at) { return entries_[at].device == device; });
}

std::uint32_t ProfileTable::place_of(const Endpoint& device) {
    const std::uint32_t place = position_of(device);
    if (place != kNone) entries_[place].recent = true;
    return place;
}

const DeviceProfile* ProfileTable::find(const Endpoint& device) const {
    const std::uint32_t place = position_of(device);
    return place == kNone ? nullptr : &entries_[place].profile;
}

// The hand goes round and takes the first one that was not asked since it last passed. Those with
// requests under way stay: if all of them have, the table grows by what is under way.
std::uint32_t ProfileTable::make_room() {
    const std::size_t count = entries_.size();
    for (std::size_t step = 0; count >= capacity_ && step < 2 * count; ++step) {
        Entry& entry = entries_[hand_];
        const auto place = static_cast<std::uint32_t>(hand_);
        hand_ = (hand_ + 1) % count;
        if (entry.under_way > 0 || entry.has_waiting()) continue;
        if (std::exchange(entry.recent, false)) continue;
        index_.erase(hash_of(entry.device, key_), [&](std::uint32_t at) { return at == place; });
        entry = {};
        return place;
    }
    entries_.emplace_back();
    return static_cast<std::uint32_t>(count);
}

std::uint32_t ProfileTable::add(const Endpoint& device, const std::string& host,
                                DeviceProfile profile) {
    const std::uint32_t place = make_room();
    Entry& entry = entries_[place];
    entry.device = device;
    entry.host = host;
    entry.profile = profile;
    index_.insert(hash_of(device, key_), place);
    ++revision_;
    return place;
}

std::size_t ProfileTable::liars() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        entries_, [](const Entry& entry) { return entry.profile.bulk == Bulk::kLies; }));
}

void ProfileTable::visit(const std::function<void(const Entry&)>& visitor) const {
    for (const Entry& entry : entries_) visitor(entry);
}

void ProfileTable::encode(base::ByteWriter& writer) const {
    writer.u8(kFormat);
    writer.varint(entries_.size());
    for (const Entry& entry : entries_) {
        snmp::encode(entry.device, writer);
        writer.string(std::string_view(entry.host).substr(0, kMostHostBytes));
        snmp::encode(entry.profile, writer);
    }
}

base::Status ProfileTable::decode(base::ByteReader& reader) {
    const auto refused = [](std::string message) {
        return base::make_error(base::ErrorClass::kPermanent, "snmp.profiles_damaged",
                                std::move(message));
    };
    if (reader.u8() != kFormat) {
        return refused("remembered SNMP profiles have an unknown format; they are learned again");
    }
    const std::uint64_t count = reader.varint();
    std::vector<Entry> kept;
    if (reader.ok() && count <= reader.remaining() / kLeastEntryBytes) {
        kept.reserve(count);
        for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
            Entry& entry = kept.emplace_back();
            entry.device = decode_endpoint(reader);
            entry.host = reader.string(kMostHostBytes);
            entry.profile = decode_profile(reader);
        }
    } else {
        reader.fail();
    }
    if (!reader.ok()) {
        return refused("remembered SNMP profiles are damaged; they are learned again");
    }
    for (const Entry& entry : kept) {
        if (position_of(entry.device) == kNone) add(entry.device, entry.host, entry.profile);
    }
    return {};
}

}  // namespace pollux::protocol::snmp
