// Slows down who guesses passwords: five failures lock a user and an address, each by itself, for
// 15 minutes. Pure: `now` and the key of the hash are handed in. Owned by one thread.
//
// Invariants
// 1. An attempt counts as failed from the moment it is admitted until it is told to have succeeded,
//    so attempts at once do not get around the limit.
// 2. A lock ends by time only. Nothing an attacker can send removes an entry early: when a table is
//    full, newcomers share counters chosen by a keyed hash instead of pushing others out.
// 3. A success clears the user, not the address: an account of one's own does not buy more guesses
//    at those of others.
// 4. While something is locked its attempts are refused unchecked, and do not prolong the lock.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/siphash.hpp"
#include "base/time.hpp"

namespace pollux::access {

struct LoginLimits {
    std::uint32_t failures = 5;
    base::Duration lock = std::chrono::minutes(15);
    std::size_t entries = 10'000;  // of each table
};

// Failures by a key, bounded.
class FailureTable {
  public:
    FailureTable(const LoginLimits& limits, base::SipKey key) : limits_(limits), key_(key) {}

    // How long it stays locked; zero: it is not.
    base::Duration locked_for(std::string_view name, base::BootTime now) const;
    void count(std::string_view name, base::BootTime now);
    void take_back(std::string_view name, base::BootTime now);  // one failure that was none
    void clear(std::string_view name);
    std::size_t size() const { return entries_.size(); }

  private:
    struct Entry {
        std::uint32_t failures = 0;
        base::BootTime until;  // the end of the lock, or when the failures are forgotten
    };
    static constexpr std::size_t kShared = 1024;

    const Entry* find(std::string_view name, base::BootTime now) const;
    Entry& entry_for(std::string_view name, base::BootTime now);
    void forget_old(base::BootTime now);
    std::size_t shared_index(std::string_view name) const;

    LoginLimits limits_;
    base::SipKey key_;
    std::map<std::string, Entry, std::less<>> entries_;
    std::set<std::pair<base::BootTime, std::string>> by_end_;  // of entries_
    std::array<Entry, kShared> shared_{};
};

class LoginGuard {
  public:
    LoginGuard(const LoginLimits& limits, base::SipKey key);

    // Zero: go on, and say afterwards how it went. Otherwise the attempt is refused for so long.
    // `known`: there is such a user; their entries have a table that strangers cannot fill.
    base::Duration admit(std::string_view user, bool known, std::string_view address,
                         base::BootTime now);
    void succeeded(std::string_view user, bool known, std::string_view address, base::BootTime now);
    // The password was never looked at (too busy): it counts for nothing.
    void abandoned(std::string_view user, bool known, std::string_view address, base::BootTime now);

  private:
    FailureTable& table_of(bool known) { return known ? users_ : strangers_; }

    FailureTable users_;
    FailureTable strangers_;
    FailureTable addresses_;
};

}  // namespace pollux::access
