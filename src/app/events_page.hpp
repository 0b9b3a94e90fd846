// Stored messages of devices as JSON, and as lines for a terminal.
#pragma once

#include <string>
#include <vector>

#include "document/node.hpp"
#include "store/observation.hpp"

namespace pollux::app {

// {"events": [...]}, in the order of the rows.
std::string events_page(const std::vector<store::Observation>& rows);

// One event of that page: time, target, sender, and what it says.
std::string event_line(const document::Node& event);

// The answer of GET /inbound for people: listeners, counts, targets, unknown senders.
std::string inbound_text(const document::Node& page);

}  // namespace pollux::app
