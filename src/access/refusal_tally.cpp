#include "access/refusal_tally.hpp"

#include <fmt/format.h>

namespace pollux::access {

std::optional<model::AuditEntry> RefusalTally::note(model::AuditEntry entry) {
    std::pair<std::string, std::string> key{entry.principal, entry.action};
    if (!counters_.contains(key) && counters_.size() >= kMostCounters) key = {"others", "refused"};
    Counter& counter = counters_[key];
    if (entry.principal != "anonymous" && key.first != "others" && counter.passed < kSingle) {
        ++counter.passed;
        return entry;
    }
    if (counter.counted++ == 0) counter.first = std::move(entry);
    return std::nullopt;
}

std::vector<model::AuditEntry> RefusalTally::take(base::WallTime now) {
    std::vector<model::AuditEntry> entries;
    for (auto& [key, counter] : counters_) {
        if (counter.counted == 0) continue;
        model::AuditEntry entry = std::move(counter.first);
        entry.after = fmt::format("{}; {} times since {}, the first from {}", entry.after,
                                  counter.counted, base::format_utc(entry.at),
                                  entry.address.empty() ? "this machine" : entry.address);
        entry.principal = key.first;
        entry.action = key.second;
        entry.at = now;
        entry.result = model::AuditResult::kRefused;
        entries.push_back(std::move(entry));
    }
    counters_.clear();
    return entries;
}

}  // namespace pollux::access
