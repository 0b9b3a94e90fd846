// Ctrl-C and SIGTERM end a command that goes on by itself: what it does is finished, then it ends.
// One at a time. Who was interrupted asks stopped().
#pragma once

#include <csignal>

namespace pollux::app {

class StopSignals {
  public:
    StopSignals();
    ~StopSignals();  // as it was before
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    static bool stopped();

  private:
    struct sigaction interrupt_{};
    struct sigaction terminate_{};
};

}  // namespace pollux::app
