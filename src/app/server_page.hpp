// Answers about the running scheduler as JSON: what `pollux top`, `pollux explain` and the control
// socket show. Made on the core's thread from one moment.
#pragma once

#include <string>
#include <string_view>

#include "runtime/core_loop.hpp"

namespace pollux::app {

// Counts, rates, the next tasks, the worst ones.
std::string status_page(const runtime::CoreLoop::View& view, std::size_t limit);

// Gate by gate; an object with `error` if the key is not known.
std::string explain_page(const runtime::CoreLoop::View& view, std::string_view key);

}  // namespace pollux::app
