// What discoveries propose as text for people, made of what the API answers.
#pragma once

#include <string>

#include "document/node.hpp"

namespace pollux::app {

// The answer of getJobProposal.
std::string proposal_text(const document::Node& proposal, bool colour);

}  // namespace pollux::app
