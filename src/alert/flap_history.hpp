// How often one fingerprint changed lately: the last 20 states, as Icinga weighs them, and what was
// told about it.
//
// Invariants
// 1. A change is one state; each whole slot of time without a change is one state too. So the share
//    falls by itself, and depends on the moments of the changes alone: looking at it changes
//    nothing, so that it is the same after a restart.
// 2. Flapping begins when the share reaches the high threshold, or with the last telling that the
//    settings allow within one cool-down. It ends when the share is at the low threshold or below
//    and nothing changed for a cool-down. So no more than that many tellings fit into any
//    cool-down.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alert/alert_settings.hpp"
#include "alert/time_codec.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"

namespace pollux::alert {

class FlapHistory {
  public:
    static constexpr std::uint32_t kStates = 20;

    // It was raised or cleared now.
    void change(base::BootTime now, const FlapSettings& settings);

    // One more message about it goes out now.
    void tell(base::BootTime now, const FlapSettings& settings);
    // Messages within the last cool-down.
    std::uint32_t recent(base::BootTime now, const FlapSettings& settings) const;

    void begin_flapping() { flapping_ = true; }
    // Whether it flaps now.
    bool flaps(base::BootTime now, const FlapSettings& settings) const;
    // When that is over, if nothing changes until then.
    base::BootTime steady_at(const FlapSettings& settings) const;

    bool flapping() const { return flapping_; }  // at the last change or telling
    double percent(base::BootTime now, const FlapSettings& settings) const;
    base::BootTime changed_at() const { return changed_at_; }

    std::string previous;  // id of the last alert; empty: none known

    void encode(base::ByteWriter& out, const TimeCodec& times) const;
    static FlapHistory decode(base::ByteReader& in, const TimeCodec& times);
    bool operator==(const FlapHistory&) const = default;

  private:
    std::int64_t slots_until(base::BootTime now, base::Duration slot) const;

    std::uint32_t changes_ = 0;                       // bit 0: the newest state
    base::BootTime counted_ = base::BootTime::min();  // the newest state ended here
    base::BootTime changed_at_ = base::BootTime::min();
    std::vector<base::BootTime> told_;  // within the last cool-down, oldest first
    bool flapping_ = false;
};

}  // namespace pollux::alert
