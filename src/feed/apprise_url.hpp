// Addresses of services as Apprise writes them, such as slack://{secret} or ntfys://host/topic,
// expanded into a channel. The schemes are listed in docs/channels.md.
//
// A secret never stays in a URL: where one belongs stands {secret}, and the channel's credential
// has it. If somebody wrote the secret itself, it is handed back apart, for the caller to keep in a
// credential or to refuse; the channel has {secret} in its place or nothing at all.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/secret.hpp"
#include "model/notification.hpp"

namespace pollux::feed {

struct ExpandedUrl {
    model::Channel channel;  // kind, url, template_name, to, from, params
    base::Secret secret;     // that stood in the URL; empty: {secret} or none
};

bool is_apprise_url(std::string_view url);

// Errors "feed.bad_channel_url" name the form that is expected, and never what was written.
base::Result<ExpandedUrl> expand_apprise_url(std::string_view url);

// What a person may be shown of a URL: with {secret} where a secret stands; of what cannot be read
// only the scheme.
std::string shown_channel_url(std::string_view url);

}  // namespace pollux::feed
