// Messages of devices as they are stored and shown: bounded text, and signals as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/node.hpp"
#include "model/inbound.hpp"
#include "model/signal.hpp"

namespace pollux::runtime {

inline constexpr std::size_t kMostTextBytes = 4096;

// Cut with … after `most` bytes, between two characters.
std::string shortened(std::string text, std::size_t most);

// A trap with one line per variable, as Net-SNMP prints them with numbers for names; the body of a
// webhook; what a push says. Valid UTF-8, cut with … after kMostTextBytes.
std::string text_of(const model::InboundMessage& message);

// "1.3.6.1.2.1.2.2.1.1.3 = INTEGER: 3"
std::string text_of(const model::Oid& name, const model::SnmpValue& value);

document::Node signals_node(const std::vector<model::Signal>& signals);
// What signals_node() wrote, as stored text; nothing if it is damaged.
std::optional<std::vector<model::Signal>> read_signals(std::string_view json);

}  // namespace pollux::runtime
