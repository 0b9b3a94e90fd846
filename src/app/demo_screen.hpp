// Draws the live view of the demo: one page for a terminal, one line per second for a log.
#pragma once

#include <cstdint>
#include <string>

#include "sim/world.hpp"

namespace pollux::app {

class DemoScreen {
  public:
    DemoScreen(double budget, double speed) : budget_(budget), speed_(speed) {}

    // Every line of the page ends with "clear to the end of the line".
    std::string page(const sim::World& world, int width);
    std::string line(const sim::World& world);

  private:
    struct Counts {
        std::size_t healthy = 0;
        std::size_t confirming = 0;
        std::size_t broken = 0;  // breaker not closed
        std::size_t dead_letters = 0;
        std::size_t held = 0;
        std::size_t slowed = 0;
        std::size_t jobs_open = 0;
        std::size_t jobs_done = 0;
        double oldest_healthy_s = 0;
        std::string explained;  // key of a task worth explaining
    };
    Counts count(const sim::World& world) const;
    double rate(const sim::World& world);
    std::string intervals(const sim::World& world, int width) const;
    std::string newest(const sim::World& world, int width) const;
    std::string why(const sim::World& world, const std::string& key, int width) const;

    double budget_;
    double speed_;
    double last_s_ = 0;
    std::uint64_t last_polls_ = 0;
    double shown_rate_ = 0;
};

}  // namespace pollux::app
