// What the messages of one inbound target taught: which signals are raised and, for push targets,
// when and how they were last heard. Durable, as a row of learned memory; plain data.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "derive/signal_keeper.hpp"
#include "runtime/inbound/push_watch.hpp"

namespace pollux::runtime {

struct InboundMemory {
    derive::SignalKeeper signals;
    PushRecord push;

    std::string encode(std::string_view target_id) const;
    // Error inbound.memory: damaged, or of another target that had the same name.
    static base::Result<InboundMemory> decode(std::string_view bytes, std::string_view target_id);
};

}  // namespace pollux::runtime
