#include "app/stop_signals.hpp"

#include <signal.h>

namespace pollux::app {
namespace {

volatile std::sig_atomic_t g_stop = 0;
void request_stop(int) { g_stop = 1; }

}  // namespace

StopSignals::StopSignals() {
    g_stop = 0;
    struct sigaction action{};
    action.sa_handler = &request_stop;  // without SA_RESTART: waiting ends at once
    sigaction(SIGINT, &action, &interrupt_);
    sigaction(SIGTERM, &action, &terminate_);
}

StopSignals::~StopSignals() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
}

bool StopSignals::stopped() { return g_stop != 0; }

}  // namespace pollux::app
