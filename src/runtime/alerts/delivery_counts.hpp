// How notifications fare on their way out, by receiver and channel, since the start. Not
// thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "model/notification.hpp"
#include "observe/histogram.hpp"

namespace pollux::runtime {

// What became of an attempt.
enum class AttemptEnd : std::uint8_t { kDelivered, kRetry, kFailed, kCancelled };
inline constexpr std::size_t kAttemptEnds = 4;

std::string_view to_string(AttemptEnd end);

struct ChannelCounts {
    std::array<std::uint64_t, kAttemptEnds> attempts{};       // by AttemptEnd
    observe::Histogram<observe::kDeliveryDelayBounds> delay;  // from made to delivered
    base::WallTime last_success;                              // zero: not since the start
    std::size_t waiting = 0;
};

class DeliveryCounts {
  public:
    using Channel = std::pair<std::string, std::string>;  // receiver, name

    // Those that are gone are forgotten with their counts.
    void set_receivers(const std::vector<model::Receiver>& receivers);

    // An attempt ended now; the row is as it is afterwards.
    void attempted(const model::Notification& row, base::WallTime now);

    const std::map<Channel, ChannelCounts>& channels() const { return channels_; }

  private:
    std::map<Channel, ChannelCounts> channels_;
};

}  // namespace pollux::runtime
