// From a definition, a channel and a notification to what is sent.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/parse.hpp"
#include "feed/channel_definition.hpp"

namespace pollux::feed {
namespace {

using document::Node;
using model::HttpAuth;
using model::HttpMethod;

constexpr std::size_t kMaxBody = 1U << 20U;
constexpr std::string_view kSecretPlace = "{secret}";
// What a token may hold when it is a part of a path, such as that of Slack.
constexpr std::string_view kKeptInSecret = "/:";

const base::Secret& secret_of(const model::Credentials& credentials) {
    return credentials.token.empty() ? credentials.password : credentials.token;
}

std::string percent(std::string_view text, std::string_view kept) {
    std::string out;
    append_percent(out, text, kept);
    return out;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

Node delivery_node(const model::Notification& notification) {
    Node node = Node::map();
    node.set("id", Node::text(notification.id));
    node.set("number", Node::unsigned_integer(notification.number));
    node.set("made", Node::text(base::format_utc(notification.made)));
    return node;
}

Node credential_node(const model::Credentials* credentials) {
    Node node = Node::map();
    if (credentials == nullptr) return node;
    node.set("username", Node::text(credentials->username));
    node.set("secret", Node::text(secret_of(*credentials).reveal()));
    return node;
}

Node param_node(const model::Channel& channel) {
    Node node = Node::map();
    for (const auto& [name, value] : channel.params) node.set(name, Node::text(value));
    return node;
}

// Where the request goes, before the path of the definition.
base::Result<std::string> base_url(const ChannelDefinition& definition,
                                   const model::Channel& channel,
                                   const model::Credentials* credentials) {
    std::string url = channel.url.empty() ? definition.fixed_origin : channel.url;
    if (url.empty()) {
        return base::config_error("feed.no_url",
                                  fmt::format("the channel {} has no url; {} needs one",
                                              base::quoted(channel.name), definition.title));
    }
    return with_secret(std::move(url), credentials);
}

std::string joined(std::string base, std::string_view path) {
    if (path.empty()) return base;
    while (base.ends_with('/')) base.pop_back();
    return base.append(path);
}

base::Status set_auth(const ChannelDefinition& definition, const model::Channel& channel,
                      model::HttpAsk& ask) {
    ask.auth = definition.auth;
    const auto auth = channel.params.find("auth");
    if (auth == channel.params.end()) return {};
    if (auth->second == "bearer") {
        ask.auth = HttpAuth::kBearer;
    } else if (auth->second == "basic") {
        ask.auth = HttpAuth::kBasic;
    } else if (auth->second == "header") {
        ask.auth = HttpAuth::kApiKey;
        const auto name = channel.params.find("auth_header");
        if (name != channel.params.end()) ask.api_key_header = name->second;
    } else if (auth->second == "none") {
        ask.auth = HttpAuth::kNone;
    } else {
        return base::config_error("feed.bad_param", "auth is none, bearer, basic or header");
    }
    return {};
}

base::Status set_common(const model::Channel& channel, model::HttpAsk& ask) {
    for (const auto& [name, value] : channel.params) {
        if (name.starts_with("header.")) {
            ask.headers.emplace_back(name.substr(7), clean_text(value, false));
        } else if (name == "verify") {
            ask.tls.verify = value != "false" && value != "no";
        } else if (name == "ca_file") {
            ask.tls.ca_file = value;
        } else if (name == "method") {
            if (value != "POST" && value != "PUT" && value != "GET") {
                return base::config_error("feed.bad_param", "method is POST, PUT or GET");
            }
            ask.method = value == "PUT"   ? HttpMethod::kPut
                         : value == "GET" ? HttpMethod::kGet
                                          : HttpMethod::kPost;
        }
    }
    return {};
}

}  // namespace

base::Result<model::HttpAsk> make_request(const ChannelDefinition& definition,
                                          const model::Channel& channel,
                                          const model::Credentials* credentials,
                                          const model::Notification& notification) {
    document::Diagnostics diagnostics;
    document::ParseLimits limits;
    limits.max_bytes = kMaxBody;
    const document::Parsed body =
        document::parse_json(notification.body, "notification", diagnostics, limits);
    if (!body.ok) return std::unexpected(diagnostics.as_error("feed.bad_body"));
    const Node param = param_node(channel);
    const Node credential = credential_node(credentials);
    const Node delivery = delivery_node(notification);
    const Node name = Node::text(channel.name);
    TemplateNames names = {{"notification", &body.root},
                           {"param", &param},
                           {"credential", &credential},
                           {"delivery", &delivery},
                           {"channel", &name}};
    for (const auto& [key, mark, value] : body.root.entries()) names.emplace_back(key, &value);

    model::HttpAsk ask;
    ask.method = definition.method;
    auto base = base_url(definition, channel, credentials);
    if (!base) return std::unexpected(base.error());
    auto path = definition.url.render(names);
    if (!path) return std::unexpected(path.error());
    ask.url = joined(std::move(*base), *path);
    for (const auto& [field, value] : definition.headers) {
        auto text = value.render(names);
        if (!text) return std::unexpected(text.error());
        if (!text->empty()) ask.headers.emplace_back(field, std::move(*text));
    }
    auto text = definition.body.render(names);
    if (!text) return std::unexpected(text.error());
    ask.body = std::move(*text);
    if (auto status = set_common(channel, ask); !status) return std::unexpected(status.error());
    if (auto status = set_auth(definition, channel, ask); !status)
        return std::unexpected(status.error());
    return ask;
}

base::Result<std::string> with_secret(std::string url, const model::Credentials* credentials) {
    if (url.find(kSecretPlace) == std::string::npos) return url;
    if (credentials == nullptr || secret_of(*credentials).empty()) {
        return base::config_error(
            "feed.no_credential",
            "the url has the place {secret}, but its credentials have no token or password");
    }
    replace_all(url, kSecretPlace, percent(secret_of(*credentials).reveal(), kKeptInSecret));
    return url;
}

std::string redacted(std::string text, const model::Credentials* credentials) {
    if (credentials == nullptr) return text;
    for (const base::Secret* secret : {&credentials->token, &credentials->password}) {
        if (secret->empty()) continue;
        replace_all(text, secret->reveal(), "***");
        replace_all(text, percent(secret->reveal(), kKeptInSecret), "***");
        replace_all(text, percent(secret->reveal(), {}), "***");
    }
    return text;
}

}  // namespace pollux::feed
