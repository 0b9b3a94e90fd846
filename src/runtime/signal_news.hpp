// What was raised, repeated or cleared, on its way from who stores it to who makes alerts of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "derive/signal_keeper.hpp"

namespace pollux::runtime {

struct SignalNews {
    // Of the stored row: rises per origin, so that who takes it in can say how far it came. 0: it
    // could not be stored for long and is told all the same; the row follows.
    std::uint64_t row = 0;
    bool told = false;     // only the row is new: the rest was told before it could be stored
    bool message = false;  // the device spoke by itself; else a poll found it
    std::string key;       // of the task or the target
    std::string target_id;
    std::string source;  // address of the sender; "poll"
    base::WallTime at;
    std::vector<derive::SignalChange> changes;
};

// What a keeper holds raised, as if it were told for the first time; no changes: nothing.
SignalNews present_of(const derive::SignalKeeper& keeper);

// Called in the order of the rows; must not block.
using SignalSink = std::function<void(std::vector<SignalNews>)>;

// Above this a failing store does not hold back what people must know.
inline constexpr base::Duration kProvisionalAfter = std::chrono::seconds(5);

}  // namespace pollux::runtime
