#include "alert/history_book.hpp"

#include <algorithm>
#include <utility>

namespace pollux::alert {
namespace {

constexpr std::uint8_t kVersion = 1;

}  // namespace

std::uint32_t HistoryBook::locate(std::string_view fingerprint) const {
    return index_.find(base::siphash24(key_, fingerprint),
                       [&](std::uint32_t at) { return entries_[at].fingerprint == fingerprint; });
}

const FlapHistory* HistoryBook::find(std::string_view fingerprint) const {
    const std::uint32_t at = locate(fingerprint);
    return at == kNone ? nullptr : &entries_[at].history;
}

FlapHistory& HistoryBook::touch(std::string_view fingerprint) {
    std::uint32_t at = locate(fingerprint);
    if (at == kNone) {
        if (index_.size() >= most_ && oldest_ != kNone) {
            forgotten_.push_back(entries_[oldest_].fingerprint);
            forget(oldest_);
        }
        at = add(fingerprint);
    } else {
        unlink(at);
    }
    entries_[at].turn = ++turn_;
    append(at);
    mark(at);
    return entries_[at].history;
}

std::vector<std::string> HistoryBook::take_forgotten() { return std::exchange(forgotten_, {}); }

void HistoryBook::rename(std::string_view from, std::string_view to) {
    const std::uint32_t at = locate(from);
    if (at == kNone) return;
    FlapHistory history = std::move(entries_[at].history);
    forget(at);
    touch(to) = std::move(history);
}

std::uint32_t HistoryBook::add(std::string_view fingerprint) {
    const std::uint32_t at = entries_.allocate();
    entries_[at].fingerprint = fingerprint;
    index_.insert(base::siphash24(key_, fingerprint), at);
    return at;
}

void HistoryBook::unlink(std::uint32_t at) {
    Entry& entry = entries_[at];
    (entry.older == kNone ? oldest_ : entries_[entry.older].newer) = entry.newer;
    (entry.newer == kNone ? newest_ : entries_[entry.newer].older) = entry.older;
    entry.older = entry.newer = kNone;
}

void HistoryBook::append(std::uint32_t at) {
    entries_[at].older = newest_;
    (newest_ == kNone ? oldest_ : entries_[newest_].newer) = at;
    newest_ = at;
}

void HistoryBook::forget(std::uint32_t at) {
    mark(at);
    unlink(at);
    index_.erase(base::siphash24(key_, entries_[at].fingerprint),
                 [&](std::uint32_t other) { return other == at; });
    entries_.release(at);
}

void HistoryBook::mark(std::uint32_t at) {
    if (entries_[at].changed) return;
    entries_[at].changed = true;
    changed_.push_back(entries_[at].fingerprint);
}

std::string HistoryBook::encode(const Entry& entry, const TimeCodec& times) {
    base::ByteWriter out;
    out.u8(kVersion);
    out.varint(entry.turn);
    entry.history.encode(out, times);
    return out.take();
}

void HistoryBook::write_changes(const TimeCodec& times, std::vector<MemoryRow>& out) {
    for (std::string& fingerprint : changed_) {
        const std::uint32_t at = locate(fingerprint);
        MemoryRow row{std::string(kPrefix) + fingerprint, {}};
        if (at != kNone) {
            // Forgotten and made again within one step, it stands here twice: once is enough.
            if (!entries_[at].changed) continue;
            entries_[at].changed = false;
            row.bytes = encode(entries_[at], times);
        }
        out.push_back(std::move(row));
    }
    changed_.clear();
}

void HistoryBook::write_all(const TimeCodec& times, std::vector<MemoryRow>& out) const {
    for (std::uint32_t at = oldest_; at != kNone; at = entries_[at].newer) {
        out.push_back(
            {std::string(kPrefix) + entries_[at].fingerprint, encode(entries_[at], times)});
    }
}

bool HistoryBook::restore(std::string_view fingerprint, std::string_view bytes,
                          const TimeCodec& times) {
    base::ByteReader in(bytes);
    if (in.u8() != kVersion) return false;
    const std::uint64_t turn = in.varint();
    FlapHistory history = FlapHistory::decode(in, times);
    if (!in.ok() || !in.at_end() || locate(fingerprint) != kNone) return false;
    const std::uint32_t at = add(fingerprint);
    entries_[at].turn = turn;
    entries_[at].history = std::move(history);
    return true;
}

void HistoryBook::settle() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t at = 0; at < entries_.capacity(); ++at) {
        if (entries_.is_live(at)) order.push_back(at);
    }
    std::ranges::sort(order, {}, [&](std::uint32_t at) { return entries_[at].turn; });
    oldest_ = newest_ = kNone;
    for (const std::uint32_t at : order) {
        entries_[at].older = entries_[at].newer = kNone;
        append(at);
        turn_ = std::max(turn_, entries_[at].turn);
    }
    while (index_.size() > most_) forget(oldest_);
}

}  // namespace pollux::alert
