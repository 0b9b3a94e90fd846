// How a service wants to be told: address, header fields and body as templates. Shipped ones stand
// in channels/, operators may have their own.
//
//   channel: gotify
//   title: Gotify
//   about: A Gotify server of one's own.
//   url: /message                 # after the channel's URL; a whole https:// URL: a fixed service
//   method: POST
//   format: json                  # of the body: json, text, html or form
//   credential: the token of the application
//   digests: true                 # people read it: above the limit one digest of many messages.
//                                 # Without it each message is sent, so that what it opens is
//                                 closed
//   params: {priority: how loud it is}
//   headers: {X-Gotify-Key: "{{ credential.secret }}"}
//   body: |
//     {"title": "{{ incident.title }}", ...}
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "document/diagnostic.hpp"
#include "feed/template.hpp"
#include "model/ask.hpp"
#include "model/credentials.hpp"
#include "model/notification.hpp"

namespace pollux::feed {

struct ChannelDefinition {
    std::string name;
    std::string title;
    std::string about;
    std::string credential;                     // what its secret is; empty: it needs none
    bool digests = false;                       // people read it, see model::Channel
    std::map<std::string, std::string> params;  // name -> what it is
    model::HttpMethod method = model::HttpMethod::kPost;
    model::HttpAuth auth = model::HttpAuth::kNone;  // kBearer, kBasic: without a header of its own
    std::string fixed_origin;  // "https://api.example.com"; empty: the channel's URL says
    Template url;              // the path and the query
    std::vector<std::pair<std::string, Template>> headers;
    Template body;
};

// Nothing, with diagnostics, if it is wrong.
std::shared_ptr<const ChannelDefinition> read_channel_definition(
    std::string_view text, const std::string& file, document::Diagnostics& diagnostics);

// The shipped definitions, and those of the operator that take their places. Immutable.
class ChannelLibrary {
  public:
    static const ChannelLibrary& shipped();

    explicit ChannelLibrary(std::vector<std::shared_ptr<const ChannelDefinition>> own);

    // Error "feed.unknown_template" lists what there is.
    base::Result<std::shared_ptr<const ChannelDefinition>> find(std::string_view name) const;
    const std::map<std::string, std::shared_ptr<const ChannelDefinition>, std::less<>>& all()
        const {
        return all_;
    }

  private:
    ChannelLibrary() = default;
    std::map<std::string, std::shared_ptr<const ChannelDefinition>, std::less<>> all_;
};

// What is sent for a notification, the credentials filled in. The ask must not be shown.
base::Result<model::HttpAsk> make_request(const ChannelDefinition& definition,
                                          const model::Channel& channel,
                                          const model::Credentials* credentials,
                                          const model::Notification& notification);

// The URL with the secret of the credentials where {secret} stands. Error "feed.no_credential" if
// there is such a place but no secret.
base::Result<std::string> with_secret(std::string url, const model::Credentials* credentials);

// The text without any secret of the credentials, in whatever form it may stand in a URL.
std::string redacted(std::string text, const model::Credentials* credentials);

// Every name that may begin a path in a template.
std::span<const std::string_view> template_names();
// Whether the channel may have this parameter, whatever its definition says.
bool is_common_param(std::string_view name);

}  // namespace pollux::feed
