// The messages of a case: a trap, a webhook or a push; and signals as a case writes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "document/diagnostic.hpp"
#include "document/node.hpp"
#include "model/inbound.hpp"
#include "model/signal.hpp"

namespace pollux::runtime {

inline constexpr const char* kNotAsked = "case.not_asked";  // code of a reply that is none

// From `trap`, `webhook` or `push` of a step; nothing: the step has none of them.
std::optional<model::InboundMessage> case_message(const document::Node& step,
                                                  const std::string& path, base::WallTime now,
                                                  document::Diagnostics& out);

// What differs between the list `signals` of an expectation and what was made, in any order. An
// entry is "type/subject severity", with "clear " in front, or a map of the parts that count.
std::vector<std::string> compare_signals(const document::Node& expected,
                                         const std::vector<model::Signal>& made);

}  // namespace pollux::runtime
