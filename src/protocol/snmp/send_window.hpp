// Paces sends: how many requests may be on their way that were neither answered nor have been gone
// for so long that they no longer fill anybody's buffer.
//
// An unpaced burst of thousands overflows the receive buffers on the way back, and what is lost
// waits for its timeout. Waiting for every answer instead would let a few thousand dead devices
// close the window for seconds; so a request leaves it after `age` in any case.
//
// Not thread-safe. Invariants
// 1. young_ is the number of entries of sent_ that are not settled; never above the size.
// 2. sent_ is in order of time; its first entry has the number first_.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "base/time.hpp"

namespace pollux::protocol::snmp {

class SendWindow {
  public:
    SendWindow(std::size_t size, base::Duration age) : size_(size), age_(age) {}

    std::size_t room() const { return size_ - young_; }

    // Only while there is room. Returns the request's number, for settle().
    std::uint64_t add(base::BootTime now) {
        sent_.push_back({.at = now, .settled = false});
        ++young_;
        return first_ + sent_.size() - 1;
    }

    // The request was answered, or nobody waits for it any more. More than once is harmless.
    void settle(std::uint64_t number) {
        if (number < first_ || number - first_ >= sent_.size()) return;
        Sent& entry = sent_[static_cast<std::size_t>(number - first_)];
        if (!entry.settled) --young_;
        entry.settled = true;
        drop_settled();
    }

    void expire(base::BootTime now) {
        while (!sent_.empty() && sent_.front().at + age_ <= now) {
            if (!sent_.front().settled) --young_;
            sent_.pop_front();
            ++first_;
        }
        drop_settled();
    }

    // When expire() makes room next.
    base::BootTime next_expiry() const {
        return sent_.empty() ? base::BootTime::max() : sent_.front().at + age_;
    }

  private:
    struct Sent {
        base::BootTime at;
        bool settled;
    };

    void drop_settled() {
        while (!sent_.empty() && sent_.front().settled) {
            sent_.pop_front();
            ++first_;
        }
    }

    std::size_t size_;
    base::Duration age_;
    std::size_t young_ = 0;
    std::uint64_t first_ = 1;
    std::deque<Sent> sent_;
};

}  // namespace pollux::protocol::snmp
