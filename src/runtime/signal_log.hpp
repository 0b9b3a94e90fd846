// A signal that was raised, repeated or cleared, as a line of the log.
#pragma once

#include <string_view>

#include "derive/signal_keeper.hpp"
#include "observe/log.hpp"

namespace pollux::runtime {

std::string_view step_words(derive::SignalStep step);

void log_signal(observe::Log& log, std::string_view key, const derive::SignalChange& change,
                std::string_view source);

}  // namespace pollux::runtime
