// The flap histories of all fingerprints, open or not: bounded, the longest unchanged one goes
// first. Part of the durable state: each change is a row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "alert/flap_history.hpp"
#include "alert/output.hpp"
#include "base/flat_index.hpp"
#include "base/siphash.hpp"
#include "base/slab.hpp"

namespace pollux::alert {

class HistoryBook {
  public:
    static constexpr std::string_view kPrefix = "history:";

    HistoryBook(base::SipKey key, std::size_t most) : key_(key), most_(most) {}

    // nullptr: nothing is known.
    const FlapHistory* find(std::string_view fingerprint) const;
    // The one of this fingerprint, made if there was none, as the last one to be forgotten. It is
    // written with the next rows. The reference holds until the next call.
    FlapHistory& touch(std::string_view fingerprint);
    // Fingerprints that had to make room since the last call.
    std::vector<std::string> take_forgotten();
    // The identity of an open alert changed.
    void rename(std::string_view from, std::string_view to);

    std::size_t size() const { return index_.size(); }

    // What changed since the last call.
    void write_changes(const TimeCodec& times, std::vector<MemoryRow>& out);
    void write_all(const TimeCodec& times, std::vector<MemoryRow>& out) const;
    // In any order, then settle() once. A row that cannot be read is left out: false.
    bool restore(std::string_view fingerprint, std::string_view bytes, const TimeCodec& times);
    void settle();

  private:
    static constexpr std::uint32_t kNone = base::FlatIndex::kNone;
    struct Entry {
        std::string fingerprint;
        FlapHistory history;
        std::uint64_t turn = 0;  // rises with every touch; orders the list after a restart
        std::uint32_t older = kNone;
        std::uint32_t newer = kNone;
        bool changed = false;
    };

    std::uint32_t locate(std::string_view fingerprint) const;
    std::uint32_t add(std::string_view fingerprint);
    void unlink(std::uint32_t at);
    void append(std::uint32_t at);
    void forget(std::uint32_t at);
    void mark(std::uint32_t at);
    static std::string encode(const Entry& entry, const TimeCodec& times);

    base::SipKey key_;
    std::size_t most_;
    base::Slab<Entry> entries_;
    base::FlatIndex index_;
    std::uint32_t oldest_ = kNone;
    std::uint32_t newest_ = kNone;
    std::uint64_t turn_ = 0;
    std::vector<std::string> changed_;  // fingerprints, also of those that were forgotten
    std::vector<std::string> forgotten_;
};

}  // namespace pollux::alert
