// One number for everything the core asked for in a step: equal commands have equal hashes on every
// machine, and a replay compares nothing else.
#pragma once

#include <cstdint>

#include "schedule/command.hpp"

namespace pollux::engine {

// SipHash of all fields of all commands, in order.
std::uint64_t hash_commands(std::uint64_t seed, const schedule::Commands& commands);

}  // namespace pollux::engine
