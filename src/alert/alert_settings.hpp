// The times and bounds of the alert engine.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/siphash.hpp"
#include "base/time.hpp"

namespace pollux::alert {

struct FlapSettings {
    // Of the last 20 states, weighted from 0.8 (oldest) to 1.15 (newest), the share that were
    // changes. A time of one slot without a change counts as a state that did not change.
    double high_percent = 30;
    double low_percent = 25;
    base::Duration slot = std::chrono::minutes(1);
    // Flapping ends after so long without a change; and at most `tellings` messages about one
    // fingerprint go out in any such time: with the last of them it counts as flapping.
    base::Duration cool_down = std::chrono::minutes(15);
    std::uint32_t tellings = 3;
    bool operator==(const FlapSettings&) const = default;
};

struct ObserverSettings {
    // We suspect ourselves when so many devices without a common cause begin to fail within
    // `window`.
    std::uint32_t least = 5;
    double share = 0.20;
    base::Duration window = std::chrono::minutes(1);
    // From so many on, others that were well are asked before anything is told: `sample` of them.
    // If no more answer than fail, and at least three fail, it is us.
    std::uint32_t suspect_from = 3;
    std::uint32_t sample = 16;
    base::Duration sample_wait = std::chrono::seconds(10);  // for the answers
    // While impaired: how often others are asked whether it is over.
    base::Duration recheck = std::chrono::minutes(1);
    bool operator==(const ObserverSettings&) const = default;
};

struct AlertSettings {
    base::Duration settle = std::chrono::seconds(2);  // between the last verification and telling
    base::Duration verify_timeout = std::chrono::seconds(30);
    // A target whose device answers again has so long to answer itself before it is told again.
    base::Duration reconfirm = std::chrono::minutes(5);
    // How often a device is asked again that was verified down although none of its targets fails.
    base::Duration recheck = std::chrono::minutes(1);
    // A parent that dies takes over what its children told so long before.
    base::Duration takeover = std::chrono::minutes(2);
    // Alerts of one type that a target raises within so long of the first one have one cause: the
    // ports of a line card, the volumes of a shelf. Zero: each for itself.
    base::Duration gather = std::chrono::minutes(1);
    FlapSettings flap;
    ObserverSettings observer;

    std::size_t max_open = 100'000;       // alerts; one more is refused and counted
    std::size_t max_histories = 200'000;  // fingerprints remembered; the longest unchanged one goes
    std::size_t max_fields = 64;
    std::size_t max_notes = 100;  // per incident; the oldest goes
    std::size_t max_title_bytes = 300;
    std::size_t max_text_bytes = 8192;  // message, note
    std::size_t max_name_bytes = 512;   // a field's name and value, a label, a subject
    bool operator==(const AlertSettings&) const = default;
};

// What makes ids: the same seed and inputs give the same ids.
struct AlertSeed {
    base::SipKey key;
    std::uint64_t first_number = 1;  // above every number that was ever used
};

}  // namespace pollux::alert
