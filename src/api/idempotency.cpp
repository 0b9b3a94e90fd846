#include "api/idempotency.hpp"

#include <algorithm>

namespace pollux::api {

std::string IdempotencyTable::name(std::string_view principal, std::string_view key) {
    std::string name(principal);
    name += '\n';  // part of neither
    name += key;
    return name;
}

IdempotencyTable::Found IdempotencyTable::begin(const std::string& name, std::string_view method,
                                                std::string_view target, std::string_view body,
                                                base::BootTime now) {
    forget_old(now);
    std::string all(method);
    all += '\n';
    all += target;
    all += '\n';
    all += body;
    const Print print{base::siphash24(key_, all), base::siphash24({key_.k1, ~key_.k0}, all)};
    if (const auto found = entries_.find(name); found != entries_.end()) {
        const Entry& entry = found->second;
        if (entry.print != print) return {Verdict::kMismatch};
        if (!entry.done) return {Verdict::kInWork};
        return {Verdict::kReplay, &entry.answer};
    }
    if (entries_.size() >= most_entries_ && !make_room()) return {Verdict::kFull};
    ages_.push_back(name);
    entries_.emplace(name, Entry{.print = print, .since = now, .age = std::prev(ages_.end())});
    return {};
}

void IdempotencyTable::finish(const std::string& name, const net::Response& answer) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return;
    if (answer.status >= 500 || answer.body.size() > most_bytes_) return erase(found);
    found->second.done = true;
    found->second.answer = answer;
    bytes_ += answer.body.size();
    while (bytes_ > most_bytes_ && make_room()) continue;
}

void IdempotencyTable::abandon(const std::string& name) {
    if (const auto found = entries_.find(name); found != entries_.end()) erase(found);
}

void IdempotencyTable::erase(Entries::iterator entry) {
    bytes_ -= entry->second.answer.body.size();
    ages_.erase(entry->second.age);
    entries_.erase(entry);
}

void IdempotencyTable::forget_old(base::BootTime now) {
    while (!ages_.empty()) {
        const auto oldest = entries_.find(ages_.front());
        if (!oldest->second.done || now - oldest->second.since < kKept) return;
        erase(oldest);
    }
}

bool IdempotencyTable::make_room() {
    for (const std::string& name : ages_) {
        const auto entry = entries_.find(name);
        if (!entry->second.done) continue;
        erase(entry);
        return true;
    }
    return false;
}

}  // namespace pollux::api
