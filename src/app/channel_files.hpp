// Templates of channels: the shipped ones with those of a folder of the operator's own. For
// commands and the server; blocking.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "config/notify.hpp"
#include "config/settings.hpp"
#include "feed/channel_definition.hpp"

namespace pollux::app {

// The templates in force for these settings. Errors file.read, and channel.invalid with file, line
// and what is allowed.
base::Result<std::shared_ptr<const config::ChannelRules>> load_channels(
    const config::Settings& settings);

// What load_channels() made the rules of; of other rules, or none, the shipped ones.
const feed::ChannelLibrary& library_of(const config::ChannelRules* rules);

}  // namespace pollux::app
