// A notification as a mail: plain text and HTML, encoded so that no value can become a field, a
// part or a line of the protocol. A plain function over values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/notification.hpp"

namespace pollux::feed {

inline constexpr std::size_t kMostRecipients = 50;

struct MailAddress {
    std::string name;  // as it is shown; empty: only the address
    std::string address;
    bool operator==(const MailAddress&) const = default;
};

// "ops@example.org" or "Operators <ops@example.org>"; nothing if it could not be written into a
// command of SMTP as it is.
std::optional<MailAddress> parse_mail_address(std::string_view text);

struct Mail {
    std::string from;  // the address alone, for the envelope
    std::vector<std::string> to;
    std::string message;  // header and body, CR LF at the ends of lines
};

// The Message-ID is made of the notification's id, so that a repeated attempt is the same mail.
// Mails of one incident refer to one that never existed, which makes them one thread. Errors are
// "feed.bad_address" and those of templates.
base::Result<Mail> make_mail(const model::Notification& notification, std::string_view from,
                             const std::vector<std::string>& to);

}  // namespace pollux::feed
