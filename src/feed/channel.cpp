#include "feed/channel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "feed/apprise_url.hpp"

namespace pollux::feed {
namespace {

using base::quoted;

base::Status expand(model::Channel& channel) {
    if (!is_apprise_url(channel.url)) return {};
    auto expanded = expand_apprise_url(channel.url);
    if (!expanded) return std::unexpected(expanded.error());
    if (!expanded->secret.empty()) {
        channel.url.clear();  // must not be shown
        return base::config_error(
            "feed.secret_in_url",
            fmt::format("the url of the channel {} holds a secret; store it as a credential, name "
                        "that in `credentials`, and write {{secret}} in its place",
                        quoted(channel.name)));
    }
    model::Channel& made = expanded->channel;
    channel.kind = made.kind;
    channel.url = std::move(made.url);
    if (channel.template_name.empty()) channel.template_name = std::move(made.template_name);
    if (channel.to.empty()) channel.to = std::move(made.to);
    if (channel.from.empty()) channel.from = std::move(made.from);
    channel.params.merge(made.params);  // what stands in the channel itself wins
    return {};
}

base::Status check_params(const model::Channel& channel, const ChannelDefinition* definition) {
    for (const auto& [name, value] : channel.params) {
        if (is_common_param(name)) continue;
        if (definition != nullptr && definition->params.contains(name)) continue;
        std::vector<std::string_view> known;
        if (definition != nullptr) {
            for (const auto& [param, about] : definition->params) known.push_back(param);
        }
        known.insert(known.end(), {"auth", "auth_header", "method", "verify", "ca_file", "user",
                                   "header.<name>"});
        return base::config_error(
            "feed.bad_param",
            fmt::format("the channel {} has no parameter {}; there are {}", quoted(channel.name),
                        quoted(name), document::word_list(known)));
    }
    return {};
}

base::Status complete(Endpoint& endpoint, const ChannelLibrary& library) {
    model::Channel& channel = endpoint.channel;
    if (auto status = expand(channel); !status) return status;
    if (!channel.credentials.empty() && endpoint.credentials == nullptr) {
        return base::config_error(
            "feed.no_credential",
            fmt::format("the channel {} names the credential {}, which is not there",
                        quoted(channel.name), quoted(channel.credentials)));
    }
    if (channel.kind == model::ChannelKind::kWebhook) {
        const std::string_view wanted = channel.template_name.empty()
                                            ? std::string_view("alertmanager")
                                            : channel.template_name;
        auto found = library.find(wanted);
        if (!found) return std::unexpected(found.error());
        endpoint.definition = std::move(*found);
        if (!endpoint.definition->credential.empty() && endpoint.credentials == nullptr) {
            return base::config_error(
                "feed.no_credential",
                fmt::format("the channel {} needs a credential: {}", quoted(channel.name),
                            endpoint.definition->credential));
        }
    }
    if (auto status = check_params(channel, endpoint.definition.get()); !status) return status;
    const auto user = channel.params.find("user");
    if (user != channel.params.end() && endpoint.credentials != nullptr) {
        auto own = std::make_shared<model::Credentials>(*endpoint.credentials);
        own->username = user->second;
        if (own->password.empty()) own->password = own->token;
        endpoint.credentials = std::move(own);
    }
    // A credential with a password only serves where a token is asked for, and the other way round.
    if (endpoint.credentials != nullptr && endpoint.credentials->token.empty() &&
        !endpoint.credentials->password.empty()) {
        auto own = std::make_shared<model::Credentials>(*endpoint.credentials);
        own->token = own->password;
        endpoint.credentials = std::move(own);
    }
    return {};
}

}  // namespace

std::string_view to_string(AttemptResult result) {
    switch (result) {
        case AttemptResult::kDelivered: return "delivered";
        case AttemptResult::kTransient: return "transient";
        case AttemptResult::kPermanent: return "permanent";
    }
    return "unknown";
}

std::shared_ptr<const Endpoint> make_endpoint(model::Channel channel,
                                              std::shared_ptr<const model::Credentials> credentials,
                                              const ChannelLibrary& library) {
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->channel = std::move(channel);
    endpoint->credentials = std::move(credentials);
    if (auto status = complete(*endpoint, library); !status) endpoint->problem = status.error();
    return endpoint;
}

}  // namespace pollux::feed
