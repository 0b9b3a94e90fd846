// A transition of a task as a line of the log. The words `circuit breaker` and `dead-letter` are
// part of the interface: people search for them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/persistence_pump.hpp"
#include "observe/log.hpp"
#include "schedule/command.hpp"
#include "store/store.hpp"

namespace pollux::runtime {

// A transition in words that stay: for pages, events and filters.
struct ChangeWords {
    std::string_view kind;  // "breaker", "dead_letter", "health", "enabled", "job", ...
    std::string_view from;  // "closed"; empty: nothing was before
    std::string_view to;
    std::string_view message;  // for people
};
ChangeWords change_words(schedule::ChangeKind kind, std::uint8_t from, std::uint8_t to);

// `reason`: the message of the failure behind it, if any.
void log_change(observe::Log& log, const engine::TaskChange& change, std::string_view reason,
                base::Instant now);

// The newest transitions that the store holds, one line each, the newest first. Blocks for a read.
base::Result<std::string> timeline(store::Store& store, std::size_t limit);

}  // namespace pollux::runtime
