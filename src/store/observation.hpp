// What devices sent by themselves, as it is kept: one row per message, bounded by count and age.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/addon.hpp"
#include "store/store_types.hpp"

namespace pollux::store {

struct Observation {
    std::uint64_t id = 0;  // given by the store, rising, never twice
    std::string target_id;
    std::string key;  // of the target, when the message came
    base::WallTime received;
    std::string source;  // address of the sender
    model::ProtocolKind kind = model::ProtocolKind::kTrap;
    std::string signals;  // JSON: a list
    std::string text;     // the message for people, bounded by who made it
    bool operator==(const Observation&) const = default;
};

// What stays; the oldest go first. Applied with every batch, a bounded number at a time.
struct ObservationLimits {
    std::uint64_t most = 100'000;
    std::uint64_t most_per_key = 10'000;  // so that one device cannot push out all others
    base::WallTime not_before = base::WallTime::min();
};

// Applied whole or not at all. The ids of the rows are ignored: they are given in their order.
struct ObservationBatch {
    std::vector<Observation> rows;
    std::vector<MemoryRow> memory;  // learned memory that goes with them, see MemoryBatch
    ObservationLimits keep;
};

inline constexpr std::size_t kMostObservationsPerQuery = 1000;

// Rows with after < id < before, oldest or newest first.
struct ObservationQuery {
    std::uint64_t after = 0;
    std::uint64_t before = INT64_MAX;
    std::optional<std::string> key = {};  // of one target only
    bool newest_first = false;
    std::size_t limit = 100;  // at most kMostObservationsPerQuery are returned
};

}  // namespace pollux::store
