#include "store/audit/refusal_counter.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pollux::store {
namespace {

constexpr std::size_t kMostAction = 64;
constexpr std::size_t kMostReason = 200;

std::string network(int family, std::array<unsigned char, 16> bytes, std::size_t kept,
                    std::size_t length, int bits) {
    for (std::size_t i = kept; i < length; ++i) bytes[i] = 0;
    std::array<char, INET6_ADDRSTRLEN> text{};
    inet_ntop(family, bytes.data(), text.data(), text.size());
    return fmt::format("{}/{}", text.data(), bits);
}

model::AuditEntry entry_of(base::WallTime at, std::string action, std::string addresses,
                           std::uint64_t count, std::string reason) {
    model::AuditEntry entry;
    entry.at = at;
    entry.principal = "anonymous";
    entry.address = std::move(addresses);
    entry.action = std::move(action);
    entry.result = model::AuditResult::kRefused;
    entry.reason = std::move(reason);
    entry.after = fmt::format(R"({{"count":{}}})", count);
    return entry;
}

}  // namespace

std::string address_group(std::string_view address) {
    const std::string text(address.substr(0, INET6_ADDRSTRLEN));
    std::array<unsigned char, 16> bytes{};
    if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) {
        return network(AF_INET, bytes, 3, 4, 24);
    }
    if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) {
        return network(AF_INET6, bytes, 8, 16, 64);
    }
    return text;
}

void RefusalCounter::count(base::WallTime now, std::string_view action, std::string_view address,
                           std::string_view reason) {
    if (groups_.empty() && rest_.count == 0) since_ = now;
    std::pair key(std::string(action.substr(0, kMostAction)), address_group(address));
    auto found = groups_.find(key);
    if (found == groups_.end() && groups_.size() < limits_.groups) {
        found = groups_.emplace(std::move(key), Group{}).first;
    }
    Group& group = found == groups_.end() ? rest_ : found->second;
    if (group.count++ == 0) group.reason = reason.substr(0, kMostReason);
}

base::WallTime RefusalCounter::due() const {
    if (groups_.empty() && rest_.count == 0) return base::WallTime{INT64_MAX};
    return since_ + limits_.period;
}

std::vector<model::AuditEntry> RefusalCounter::drain(base::WallTime now, bool all) {
    std::vector<model::AuditEntry> entries;
    // A clock that was set back must not keep them for ever.
    const bool over = now >= due() || now < since_;
    if (!all && !over) return entries;
    for (auto& [key, group] : groups_) {
        entries.push_back(entry_of(now, key.first, key.second, group.count, group.reason));
    }
    if (rest_.count > 0) {
        entries.push_back(entry_of(now, "refused", "*", rest_.count, rest_.reason));
    }
    groups_.clear();
    rest_ = {};
    return entries;
}

}  // namespace pollux::store
