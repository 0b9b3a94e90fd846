// Makes the inbound targets of a fleet: addons specialised, secrets read, tokens found.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/siphash.hpp"
#include "config/expand.hpp"
#include "config/fleet.hpp"
#include "config/secret_reference.hpp"
#include "document/diagnostic.hpp"
#include "runtime/inbound/inbound_target.hpp"

namespace pollux::runtime {

// What tokens are derived from; asked for only if a target needs one.
using InboundKeySource = std::function<base::Result<base::SipKey>()>;

struct InboundInputs {
    const config::Fleet& fleet;
    const config::Places& places;
    const config::Expansion& expansion;
    const std::map<std::string, std::shared_ptr<const extract::CompiledAddon>, std::less<>>& addons;
    const config::SecretSource& secrets;
    const InboundKeySource& key;
    bool hears_traps = true;
    bool hears_http = true;
};

// What is wrong with a target is its `problem`, told as a warning; wrong parameters are errors.
std::shared_ptr<const InboundImage> make_inbound_image(const InboundInputs& inputs,
                                                       document::Diagnostics& diagnostics);

}  // namespace pollux::runtime
