// Silences made and ended on behalf of a call: objects of the fleet, changed on the server's thread
// with their entry in the trail.
#pragma once

#include <functional>
#include <string>

#include "api/server_link.hpp"
#include "model/notification.hpp"

namespace pollux::api {

// Whether a text is the name or the id of a silence.
enum class SilenceName : std::uint8_t { kName, kId };

// Both end on the API's thread. Codes of errors are those of config/fleet_edit.hpp, and
// access.forbidden.
using SilencePut = std::move_only_function<void(Call call, base::Result<std::string> id)>;
using SilenceEnded = std::move_only_function<void(Call call, base::Status done)>;

// A silence without an id is new and gets a name of its own; with one it replaces that silence.
void put_silence(const ServerLink& link, Call call, model::Silence silence, SilencePut done);

// Ends it now; what has not begun is removed.
void expire_silence(const ServerLink& link, Call call, const std::string& which, SilenceName kind,
                    SilenceEnded done);

}  // namespace pollux::api
