// The port of everything that takes a message to people: e-mail, webhook, program.
//
// Used from the thread of one loop. Contract of a driver: every start() leads to exactly one Done,
// not later than the deadline (plus one turn of the loop), never from inside start() or cancel().
// When a driver is destroyed, attempts under way are dropped without Done.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "feed/channel_definition.hpp"
#include "model/credentials.hpp"
#include "model/notification.hpp"

namespace pollux::feed {

enum class AttemptResult : std::uint8_t {
    kDelivered,
    kTransient,  // worth another attempt
    kPermanent,  // the same message will not be taken: given up
};

std::string_view to_string(AttemptResult result);

struct AttemptOutcome {
    AttemptResult result = AttemptResult::kTransient;
    std::string code;              // stable and dotted; empty when delivered
    std::string message;           // for people; no secret
    base::Duration retry_after{};  // the receiver asked us to wait
};

// A channel ready for use: its URL expanded, its definition and credentials found.
struct Endpoint {
    model::Channel channel;
    std::shared_ptr<const model::Credentials> credentials;  // may be null
    std::shared_ptr<const ChannelDefinition> definition;    // webhooks
    std::optional<base::Error> problem;  // why it cannot be used; attempts fail with it, and are
                                         // repeated: somebody may mend it
};

// Credentials are those that the channel names; null: there are none of that name.
std::shared_ptr<const Endpoint> make_endpoint(model::Channel channel,
                                              std::shared_ptr<const model::Credentials> credentials,
                                              const ChannelLibrary& library);

struct Attempt {
    std::uint64_t id = 0;      // chosen by the caller, unique while it is under way
    std::uint32_t number = 1;  // of the notification, from 1
    std::shared_ptr<const Endpoint> endpoint;
    std::shared_ptr<const model::Notification> notification;
    base::BootTime deadline;
};

class ChannelDriver {
  public:
    using Done = std::move_only_function<void(AttemptOutcome&&)>;

    virtual ~ChannelDriver() = default;
    virtual void start(Attempt attempt, Done done) = 0;
    // Ends with a transient outcome "feed.cancelled".
    virtual void cancel(std::uint64_t id) = 0;
};

}  // namespace pollux::feed
