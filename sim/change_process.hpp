// When one simulated device changes: a random process that is generated event by event.
//
// Invariants:
//  1. The stream of events depends on the parameters and the seed alone, never on when it is read:
//     all policies see the same world at the same seed.
//  2. next_event_s() is later than every event consumed so far.
//  3. Event times grow; they are seconds since the start of the simulation.
#pragma once

#include <cstdint>
#include <limits>

#include "sim/rng.hpp"

namespace pollux::sim {

enum class ChangeKind : std::uint8_t {
    kPoisson,          // constant rate
    kMarkovModulated,  // calm and burst periods of exponential length, a rate for each
    kDiurnal,          // rate * (1 + 0.9 sin(2 pi t / day + phase))
    kUpDown,           // every event flips the device between up and down
};

inline constexpr double kDaySeconds = 86400.0;
inline constexpr double kDiurnalSwing = 0.9;

struct ChangeParameters {
    double rate_per_s = 0.0;        // Poisson and diurnal: mean; Markov-modulated: while calm
    double burst_rate_per_s = 0.0;  // Markov-modulated: while in a burst
    double mean_calm_s = 0.0;       // mean length of a calm period; up/down: of being up
    double mean_burst_s = 0.0;      // mean length of a burst; up/down: of being down
    double phase = 0.0;             // diurnal, in radians
    double weight = 1.0;            // what a second of unseen change costs: 10 is tier critical
    ChangeKind kind = ChangeKind::kPoisson;

    // Events per second in the long run.
    double mean_rate() const;
    // Share of time in a burst, or down.
    double burst_share() const { return mean_burst_s / (mean_calm_s + mean_burst_s); }
    // Diurnal processes only: the rate at that moment.
    double diurnal_rate(double at_s) const;
};

struct ChangeEvent {
    double at_s = 0.0;
    bool went_down = false;  // up/down only: this event took the device down
};

// What happened between two readings of a process.
struct Consumed {
    static constexpr double kNone = std::numeric_limits<double>::infinity();

    std::uint32_t events = 0;
    double first_event_s = kNone;
    // What one look can tell: for up/down the state differs from the one left by the previous
    // reading (an outage that came and went in between is invisible), otherwise any event.
    bool changed = false;
};

class ChangeProcess {
  public:
    // Up/down and Markov-modulated processes start in equilibrium. A seed gives two streams.
    ChangeProcess(const ChangeParameters& parameters, std::uint64_t seed);

    const ChangeParameters& parameters() const { return parameters_; }
    double weight() const { return parameters_.weight; }

    // Infinity when nothing will ever happen.
    double next_event_s() const { return next_event_s_; }

    // Up/down: the state after the last consumed event. Other kinds are never down.
    bool down() const { return is_up_down() && in_second_state_; }

    // Stands for the meaning of what a poll reads at this moment: it differs exactly when a poll
    // can tell the difference.
    std::uint64_t digest() const { return is_up_down() ? std::uint64_t{down()} : changes_; }

    // Consumes all events up to and including now_s, in order, and reports each to on_event.
    template <typename OnEvent>
    Consumed consume_until(double now_s, OnEvent&& on_event) {
        Consumed consumed;
        const std::uint64_t digest_before = digest();
        while (next_event_s_ <= now_s) {
            const ChangeEvent event{next_event_s_, is_up_down() && !in_second_state_};
            if (consumed.events == 0) consumed.first_event_s = event.at_s;
            ++consumed.events;
            on_event(event);
            advance();
        }
        consumed.changed = digest() != digest_before;
        return consumed;
    }

    Consumed consume_until(double now_s) {
        return consume_until(now_s, [](const ChangeEvent&) {});
    }

  private:
    bool is_up_down() const { return parameters_.kind == ChangeKind::kUpDown; }
    double state_length();
    void advance();
    double event_after(double from_s);
    double diurnal_event_after(double from_s);
    double modulated_event_after(double from_s);

    ChangeParameters parameters_;
    double next_event_s_ = 0.0;
    double next_switch_s_ = 0.0;  // Markov-modulated: end of the period of next_event_s_
    Rng events_;
    Rng switches_;
    std::uint32_t changes_ = 0;
    bool in_second_state_ = false;  // in a burst (at next_event_s_), or down (now)
};

// A fleet of a million has to fit beside everything else.
static_assert(sizeof(ChangeProcess) <= 96);

}  // namespace pollux::sim
