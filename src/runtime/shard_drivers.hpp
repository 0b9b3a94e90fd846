// The drivers of one shard with what they share: resolver, egress policy, HTTP client.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "config/settings.hpp"
#include "net/egress_policy.hpp"
#include "observe/log.hpp"
#include "protocol/snmp/engine_clock.hpp"
#include "runtime/shard.hpp"

namespace pollux::runtime {

// For Shard: makes the drivers of all protocols on its loop. The policy holds for every connection
// and every datagram, the rules for what is run here and which hosts are trusted. What people
// should know about devices goes to the log, which may be null. `prove` is told what SNMP engines
// have proven of their clocks, from the shard's thread; it may be empty.
MakeDrivers real_drivers(
    std::shared_ptr<const net::EgressPolicy> egress, CommandRules rules = {},
    observe::Log* log = nullptr,
    std::function<void(const std::string& engine_id, const protocol::snmp::EngineClock&)> prove =
        nullptr);

// `host_keys` may be null: then no key of an SSH host is known or recorded.
CommandRules make_command_rules(const config::Settings& settings,
                                std::shared_ptr<protocol::ssh::HostKeys> host_keys);

// The policy of the settings; what is wrong is named with its setting.
base::Result<std::shared_ptr<const net::EgressPolicy>> make_egress(
    const config::Settings& settings);

}  // namespace pollux::runtime
