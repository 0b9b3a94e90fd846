#include "runtime/signal_log.hpp"

#include <string>

namespace pollux::runtime {

std::string_view step_words(derive::SignalStep step) {
    switch (step) {
        case derive::SignalStep::kRaised: return "signal raised";
        case derive::SignalStep::kUpdated: return "signal repeated";
        case derive::SignalStep::kCleared: return "signal cleared";
    }
    return "signal";
}

void log_signal(observe::Log& log, std::string_view key, const derive::SignalChange& change,
                std::string_view source) {
    const bool loud = change.step == derive::SignalStep::kRaised;
    log.write(loud ? observe::LogLevel::kWarn : observe::LogLevel::kInfo, step_words(change.step),
              {{"key", std::string(key)},
               {"type", change.signal.type},
               {"subject", change.signal.subject},
               {"severity", change.signal.severity},
               {"title", change.signal.title},
               {"message", change.signal.message},
               {"source", std::string(source)},
               {"occurrences", std::to_string(change.occurrences)}});
}

}  // namespace pollux::runtime
