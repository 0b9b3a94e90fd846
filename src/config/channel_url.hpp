// What may stand in the URL of a channel. Text only; feed/ makes requests of it.
#pragma once

#include <string>
#include <string_view>

namespace pollux::config {

inline constexpr std::string_view kSecretPlace = "{secret}";

// What is wrong with it and what would be right, never with what was written where a secret
// belongs; empty: good. Secrets stand nowhere in a URL: {secret} names the place of the one that
// the channel's credential has.
std::string channel_url_fault(std::string_view url);

// "ntfys" of ntfys://host/topic; empty: no URL.
std::string_view url_scheme(std::string_view url);

// "a@example.org", ASCII, as a mail server takes it.
bool is_mail_address(std::string_view text);

}  // namespace pollux::config
