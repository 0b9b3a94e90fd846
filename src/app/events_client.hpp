// Follows the events of a server from a terminal or a script. Blocks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"
#include "net/server_trust.hpp"

namespace pollux::app {

struct FollowOptions {
    std::string url;     // of the API: "http://127.0.0.1:7655"
    base::Secret token;  // may be empty
    net::ServerTrust trust = {};
    std::vector<std::string> types = {};  // none: all
    std::vector<std::string> targets = {};
    std::vector<std::string> groups = {};
    std::uint64_t since = 0;  // number of the last event that was seen; 0: only what comes now
    // How often the sink is asked whether to go on while nothing comes.
    base::Duration look_up = std::chrono::milliseconds(500);
    // A connection that broke is made again, with longer and longer pauses.
    base::Duration first_pause = std::chrono::milliseconds(500);
    base::Duration longest_pause = std::chrono::seconds(30);
};

// Gets each event, and `resync` when events were missed, as one line of JSON; an empty text:
// nothing came for a while. False ends it.
using EventSink = std::function<bool(std::string_view message)>;
// What happens to the connection, for standard error; may be empty.
using EventNotice = std::function<void(std::string_view text)>;

// Until the sink says no (then a success) or the server refuses (class auth, or what is wrong with
// the types). A connection that breaks is resumed where it was, so that nothing is missed.
base::Status follow_events(const FollowOptions& options, const EventSink& sink,
                           const EventNotice& notice = {});

// An event as one line for people: "12:03:04 pve::node1 circuit breaker opened …".
std::string live_event_line(std::string_view message);

}  // namespace pollux::app
