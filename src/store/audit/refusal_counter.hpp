// Refusals of people nobody knows: counted, and written as one entry per minute, action and group
// of addresses. So everybody sees that somebody tries, and nobody can fill the disk by trying.
//
// Pure: the owner says what time it is and submits what drain() gives. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "model/audit.hpp"

namespace pollux::store {

struct RefusalLimits {
    base::Duration period = std::chrono::minutes(1);
    std::size_t groups = 20;  // per period; the rest is counted together
};

class RefusalCounter {
  public:
    explicit RefusalCounter(RefusalLimits limits = {}) : limits_(limits) {}

    // `reason` of the first one of a group is kept.
    void count(base::WallTime now, std::string_view action, std::string_view address,
               std::string_view reason);

    // The entries of a period that is over, at most `groups` + 1; empty before. With `all` also
    // those of the period under way (at the stop).
    std::vector<model::AuditEntry> drain(base::WallTime now, bool all = false);

    // When drain() has something; max: nothing was counted.
    base::WallTime due() const;

  private:
    struct Group {
        std::uint64_t count = 0;
        std::string reason;
    };

    RefusalLimits limits_;
    base::WallTime since_;                                         // of the first one of the period
    std::map<std::pair<std::string, std::string>, Group> groups_;  // by action and addresses
    Group rest_;
};

// The network that an address stands for: "192.0.2.0/24", "2001:db8:1:2::/64"; the text itself if
// it is no address.
std::string address_group(std::string_view address);

}  // namespace pollux::store
