// A hash index from keys the caller stores to 32-bit ids: open addressing, 8 bytes per slot.
//
// Not thread-safe. Keys live with the caller, who gives their 64-bit hash (siphash24 with a secret
// key where a peer chooses the keys) and a predicate eq(id) that says whether id has the key.
//
// Invariants
// 1. At most 7/8 of the slots are full, so every probe ends.
// 2. No tombstones: from a key's home slot to its slot no slot is empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"

namespace pollux::base {

class FlatIndex {
  public:
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;

    // The id with this key, or kNone.
    template <class Eq>
    std::uint32_t find(std::uint64_t hash, Eq&& eq) const {
        const std::size_t at = locate(hash, eq);
        return at == kNowhere ? kNone : slots_[at].id;
    }

    // The key must not be in the index yet.
    void insert(std::uint64_t hash, std::uint32_t id) {
        POLLUX_CHECK(id != kNone);
        if (!fits(size_ + 1, slots_.size())) grow_to(next_size(slots_.size()));
        put({tag_of(hash), id});
        ++size_;
    }

    // Whether the key was there.
    template <class Eq>
    bool erase(std::uint64_t hash, Eq&& eq) {
        const std::size_t at = locate(hash, eq);
        if (at == kNowhere) return false;
        close_gap(at);
        --size_;
        return true;
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

    // Room for this many keys without growing.
    void reserve(std::size_t keys) {
        std::size_t slots = slots_.size();
        while (!fits(keys, slots)) slots = next_size(slots);
        if (slots > slots_.size()) grow_to(slots);
    }

    void clear() {
        slots_.clear();
        size_ = 0;
    }

    std::size_t memory_bytes() const { return sizeof(*this) + slots_.capacity() * sizeof(Slot); }

  private:
    // The tag is half of the hash: it gives the home slot, so that growing does not need the key,
    // and spares nearly all calls of eq for other keys.
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t id = kNone;
    };
    static_assert(sizeof(Slot) == 8);

    static constexpr std::size_t kNowhere = ~std::size_t{0};
    static constexpr std::size_t kFewest = 16;

    static bool fits(std::size_t keys, std::size_t slots) { return keys <= slots / 8 * 7; }
    // A quarter more each time: doubling would leave half of a large index empty.
    static std::size_t next_size(std::size_t slots) {
        return slots == 0 ? kFewest : (slots + slots / 4 + 7) / 8 * 8;
    }

    static std::uint32_t tag_of(std::uint64_t hash) {
        return static_cast<std::uint32_t>(hash ^ (hash >> 32));
    }

    std::size_t home(std::uint32_t tag) const {
        return (std::uint64_t{tag} * slots_.size()) >> 32U;
    }
    std::size_t after(std::size_t at) const { return at + 1 == slots_.size() ? 0 : at + 1; }
    std::size_t distance(std::size_t from, std::size_t to) const {
        return to >= from ? to - from : to + slots_.size() - from;
    }

    template <class Eq>
    std::size_t locate(std::uint64_t hash, Eq& eq) const {
        if (slots_.empty()) return kNowhere;
        const std::uint32_t tag = tag_of(hash);
        for (std::size_t at = home(tag); slots_[at].id != kNone; at = after(at)) {
            if (slots_[at].tag == tag && eq(slots_[at].id)) return at;
        }
        return kNowhere;
    }

    void put(Slot slot) {
        std::size_t at = home(slot.tag);
        while (slots_[at].id != kNone) at = after(at);
        slots_[at] = slot;
    }

    void grow_to(std::size_t slots) {
        std::vector<Slot> old(slots);
        old.swap(slots_);
        for (const Slot slot : old) {
            if (slot.id != kNone) put(slot);
        }
    }

    // Moves later slots of the same run back over the gap, if that brings them no further back than
    // their home.
    void close_gap(std::size_t gap) {
        for (std::size_t at = after(gap); slots_[at].id != kNone; at = after(at)) {
            const std::size_t from_home = distance(home(slots_[at].tag), at);
            const std::size_t from_gap = distance(gap, at);
            if (from_home < from_gap) continue;
            slots_[gap] = slots_[at];
            gap = at;
        }
        slots_[gap] = Slot{};
    }

    std::vector<Slot> slots_;
    std::size_t size_ = 0;
};

}  // namespace pollux::base
