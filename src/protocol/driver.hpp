// Runs asks of one protocol on one I/O shard. Backends stand in sibling folders of one shape.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/time.hpp"
#include "model/ask.hpp"
#include "model/reply.hpp"

namespace pollux::protocol {

struct Order {
    std::uint64_t id = 0;  // chosen by the caller, unique while the ask lives
    std::shared_ptr<const model::Ask> ask;
    base::BootTime deadline;   // never later than this; the ask's own timeout may end it sooner
    bool fresh_login = false;  // no reused connection, session or ticket
    bool trace = false;
};

using Done = std::move_only_function<void(model::Reply&&)>;

// Not thread-safe: everything is called from the thread of the loop it was made with.
// Contract: every start() leads to exactly one Done, not later than the deadline (plus one turn of
// the loop), never from inside start() or cancel(); a cancelled ask ends with
// FailureKind::kCancelled. When the driver is destroyed, asks under way are dropped without Done.
class Driver {
  public:
    virtual ~Driver() = default;
    virtual void start(Order order, Done done) = 0;
    virtual void cancel(std::uint64_t id) = 0;
    virtual std::size_t in_flight() const = 0;
};

}  // namespace pollux::protocol
