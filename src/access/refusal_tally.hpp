// Keeps refusals from filling the audit trail: what nobody logged in for is counted by the minute,
// and a principal gets so many entries of its own, the rest is counted too. Pure; owned by one
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "model/audit.hpp"

namespace pollux::access {

class RefusalTally {
  public:
    static constexpr std::uint32_t kSingle = 10;         // per principal and action between takes
    static constexpr std::size_t kMostCounters = 1'000;  // above, one counter takes the rest

    // The entry if it shall be written at once; otherwise it was counted.
    std::optional<model::AuditEntry> note(model::AuditEntry entry);

    // One entry for each counter, and all start anew. Called once a minute.
    std::vector<model::AuditEntry> take(base::WallTime now);

  private:
    struct Counter {
        std::uint32_t passed = 0;   // written singly
        std::uint64_t counted = 0;  // not
        model::AuditEntry first;    // of the counted ones
    };
    std::map<std::pair<std::string, std::string>, Counter> counters_;  // principal, action
};

}  // namespace pollux::access
