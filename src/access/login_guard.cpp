#include "access/login_guard.hpp"

#include <algorithm>

namespace pollux::access {
namespace {

base::SipKey other(base::SipKey key, std::uint64_t number) { return {key.k0 ^ number, key.k1}; }

}  // namespace

std::size_t FailureTable::shared_index(std::string_view name) const {
    return static_cast<std::size_t>(base::siphash24(key_, name) % kShared);
}

const FailureTable::Entry* FailureTable::find(std::string_view name, base::BootTime now) const {
    const auto found = entries_.find(name);
    const Entry& entry = found != entries_.end() ? found->second : shared_[shared_index(name)];
    return entry.until > now ? &entry : nullptr;
}

base::Duration FailureTable::locked_for(std::string_view name, base::BootTime now) const {
    const Entry* entry = find(name, now);
    if (entry == nullptr || entry->failures < limits_.failures) return base::Duration::zero();
    return entry->until - now;
}

void FailureTable::forget_old(base::BootTime now) {
    while (!by_end_.empty() && by_end_.begin()->first <= now) {
        entries_.erase(by_end_.begin()->second);
        by_end_.erase(by_end_.begin());
    }
}

FailureTable::Entry& FailureTable::entry_for(std::string_view name, base::BootTime now) {
    forget_old(now);
    const auto found = entries_.find(name);
    if (found != entries_.end()) return found->second;
    if (entries_.size() < limits_.entries) {
        const auto made = entries_.emplace(std::string(name), Entry{0, now}).first;
        by_end_.emplace(now, made->first);
        return made->second;
    }
    Entry& entry = shared_[shared_index(name)];
    if (entry.until <= now) entry = {};
    return entry;
}

void FailureTable::count(std::string_view name, base::BootTime now) {
    Entry& entry = entry_for(name, now);
    const base::BootTime before = entry.until;
    // The failure that locks begins the time of the lock; earlier ones are forgotten after as long.
    if (entry.failures < limits_.failures) {
        ++entry.failures;
        entry.until = now + limits_.lock;
    }
    const auto own = by_end_.find({before, std::string(name)});
    if (own == by_end_.end() || before == entry.until) return;
    by_end_.erase(own);
    by_end_.emplace(entry.until, std::string(name));
}

void FailureTable::take_back(std::string_view name, base::BootTime now) {
    const auto found = entries_.find(name);
    Entry& entry = found != entries_.end() ? found->second : shared_[shared_index(name)];
    if (entry.until > now && entry.failures > 0) --entry.failures;
}

void FailureTable::clear(std::string_view name) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return;
    by_end_.erase({found->second.until, found->first});
    entries_.erase(found);
}

LoginGuard::LoginGuard(const LoginLimits& limits, base::SipKey key)
    : users_(limits, other(key, 1)),
      strangers_(limits, other(key, 2)),
      addresses_(limits, other(key, 3)) {}

base::Duration LoginGuard::admit(std::string_view user, bool known, std::string_view address,
                                 base::BootTime now) {
    FailureTable& table = table_of(known);
    const base::Duration wait =
        std::max(table.locked_for(user, now), addresses_.locked_for(address, now));
    if (wait > base::Duration::zero()) return wait;
    table.count(user, now);
    addresses_.count(address, now);
    return base::Duration::zero();
}

void LoginGuard::succeeded(std::string_view user, bool known, std::string_view address,
                           base::BootTime now) {
    table_of(known).clear(user);
    addresses_.take_back(address, now);
}

void LoginGuard::abandoned(std::string_view user, bool known, std::string_view address,
                           base::BootTime now) {
    table_of(known).take_back(user, now);
    addresses_.take_back(address, now);
}

}  // namespace pollux::access
