#include "feed/apprise_url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "feed/escape.hpp"
#include "net/http_message.hpp"

namespace pollux::feed {
namespace {

constexpr std::size_t kLongestUrl = 8'192;
constexpr std::size_t kMostQueryParts = 32;
constexpr std::size_t kMostRecipients = 50;
constexpr std::string_view kSecretPlace = "{secret}";

// The parts of scheme://[user[:password]@]host[:port]/a/b?c=d, each decoded.
struct Parts {
    bool secure = false;  // the scheme ends with s
    std::optional<std::string> user;
    std::optional<std::string> password;
    std::string host;  // with its port
    std::vector<std::string> path;
    std::vector<std::pair<std::string, std::string>> query;

    std::string take_query(std::string_view name) {
        for (auto at = query.begin(); at != query.end(); ++at) {
            if (at->first != name) continue;
            std::string value = std::move(at->second);
            query.erase(at);
            return value;
        }
        return {};
    }
    std::string origin() const { return (secure ? "https://" : "http://") + host; }
    // The last part of the path, taken off.
    std::string take_last() {
        if (path.empty()) return {};
        std::string last = std::move(path.back());
        path.pop_back();
        return last;
    }
    // Encoded again; {secret} stays.
    std::string path_text() const {
        std::string out;
        for (const std::string& part : path) append_percent(out += '/', part, "{}:@!$&'()*+,;=");
        return out;
    }
};

std::string joined(const std::vector<std::string>& parts) {
    std::string out;
    for (const std::string& part : parts) out += (out.empty() ? "" : "/") + part;
    return out;
}

// One service: fills the channel, and gives what stands where the secret belongs. Nothing: the URL
// has another form than `form`.
struct Service {
    std::string_view scheme;
    bool has_secure;  // also with an s at the end
    std::string_view form;
    std::optional<std::string> (*expand)(Parts& parts, model::Channel& channel);
};

using Expanded = std::optional<std::string>;

Expanded slack(Parts& parts, model::Channel& channel) {
    std::vector<std::string> tokens = {parts.host};
    for (const std::string& part : parts.path) {
        if (part.starts_with('#')) {
            channel.params["channel"] = part;
        } else {
            tokens.push_back(part);
        }
    }
    if (parts.user) channel.params["username"] = *parts.user;
    channel.template_name = "slack";
    return joined(tokens);
}

Expanded discord(Parts& parts, model::Channel& channel) {
    if (parts.user) channel.params["username"] = *parts.user;
    channel.template_name = "discord";
    parts.path.insert(parts.path.begin(), parts.host);
    return joined(parts.path);
}

Expanded teams(Parts& parts, model::Channel& channel) {
    if (parts.path.size() != 2) return std::nullopt;
    channel.template_name = "teams";
    channel.url = "https://" + parts.host;
    channel.params["workflow"] = parts.path[0];
    return parts.path[1];
}

Expanded telegram(Parts& parts, model::Channel& channel) {
    if (parts.path.size() != 1) return std::nullopt;
    channel.template_name = "telegram";
    channel.params["chat"] = parts.path[0];
    const std::string topic = parts.take_query("topic");
    if (!topic.empty()) channel.params["topic"] = topic;
    return parts.host;
}

// user:{secret}@ is basic, {secret}@ alone a bearer token.
std::string login(Parts& parts, model::Channel& channel) {
    if (!parts.user) return {};
    if (!parts.password) {
        channel.params["auth"] = "bearer";
        return *parts.user;
    }
    channel.params["auth"] = "basic";
    channel.params["user"] = *parts.user;
    return *parts.password;
}

Expanded ntfy(Parts& parts, model::Channel& channel) {
    channel.template_name = "ntfy";
    if (parts.path.empty()) {  // ntfy://topic is the public service
        channel.url = "https://ntfy.sh";
        channel.params["topic"] = parts.host;
        return login(parts, channel);
    }
    channel.params["topic"] = parts.take_last();
    channel.url = parts.origin() + parts.path_text();
    return login(parts, channel);
}

Expanded gotify(Parts& parts, model::Channel& channel) {
    if (parts.path.empty()) return std::nullopt;
    channel.template_name = "gotify";
    std::string secret = parts.take_last();
    channel.url = parts.origin() + parts.path_text();
    return secret;
}

Expanded pushover(Parts& parts, model::Channel& channel) {
    if (!parts.user) return std::nullopt;
    channel.template_name = "pushover";
    channel.params["user_key"] = *parts.user;
    if (!parts.path.empty()) channel.params["device"] = parts.path[0];
    return parts.host;
}

Expanded pagerduty(Parts& parts, model::Channel& channel) {
    channel.template_name = "pagerduty";
    if (parts.take_query("region") == "eu") channel.url = "https://events.eu.pagerduty.com";
    return parts.user ? *parts.user : parts.host;
}

Expanded opsgenie(Parts& parts, model::Channel& channel) {
    channel.template_name = "opsgenie";
    if (parts.take_query("region") == "eu") channel.url = "https://api.eu.opsgenie.com";
    return parts.host;
}

Expanded matrix(Parts& parts, model::Channel& channel) {
    if (!parts.user || parts.password || parts.path.empty()) return std::nullopt;
    channel.template_name = "matrix";
    channel.params["room"] = parts.take_last();
    channel.url = parts.origin() + parts.path_text();
    return *parts.user;
}

Expanded mattermost(Parts& parts, model::Channel& channel) {
    if (parts.path.empty()) return std::nullopt;
    channel.template_name = "mattermost";
    if (parts.user) channel.params["username"] = *parts.user;
    const std::string room = parts.take_query("channel");
    if (!room.empty()) channel.params["channel"] = room;
    std::string secret = parts.take_last();
    channel.url = parts.origin() + parts.path_text();
    return secret;
}

Expanded json(Parts& parts, model::Channel& channel) {
    channel.template_name = "json";
    channel.url = parts.origin() + parts.path_text();
    return login(parts, channel);
}

Expanded mail(Parts& parts, model::Channel& channel) {
    channel.kind = model::ChannelKind::kEmail;
    std::string recipients = parts.take_query("to");
    channel.from = parts.take_query("from");
    const std::string mode = parts.take_query("mode");
    if (!mode.empty() && mode != "ssl" && mode != "starttls" && mode != "insecure")
        return std::nullopt;
    const std::string user = parts.user.value_or("");
    if (!user.empty() && channel.from.empty()) {
        channel.from = user.find('@') == std::string::npos
                           ? user + "@" + parts.host.substr(0, parts.host.find(':'))
                           : user;
    }
    if (recipients.empty()) recipients = channel.from;
    while (!recipients.empty() && channel.to.size() < kMostRecipients) {
        const std::string one = recipients.substr(0, recipients.find(','));
        if (!one.empty()) channel.to.push_back(one);
        recipients.erase(0, std::min(recipients.size(), one.size() + 1));
    }
    if (channel.to.empty() || !recipients.empty()) return std::nullopt;
    channel.url = (mode == "ssl" ? "smtps://" : "smtp://") + parts.host;
    if (mode != "ssl") {
        channel.params["tls"] = mode == "insecure"                   ? "none"
                                : parts.secure || mode == "starttls" ? "required"
                                                                     : "optional";
    }
    if (!user.empty()) channel.params["user"] = user;
    return parts.password.value_or("");
}

constexpr std::array kServices = std::to_array<Service>({
    {"slack", false, "slack://[name@]{secret}[/#channel]", &slack},
    {"discord", false, "discord://[name@]{secret}", &discord},
    {"msteams", false, "msteams://host/workflow/{secret}", &teams},
    {"tgram", false, "tgram://{secret}/chat[?topic=number]", &telegram},
    {"ntfy", true, "ntfys://[{secret}@|user:{secret}@]host/topic or ntfy://topic", &ntfy},
    {"gotify", true, "gotifys://host[:port][/path]/{secret}", &gotify},
    {"pover", false, "pover://user_key@{secret}[/device]", &pushover},
    {"pagerduty", false, "pagerduty://{secret}[?region=eu]", &pagerduty},
    {"opsgenie", false, "opsgenie://{secret}[?region=eu]", &opsgenie},
    {"matrix", true, "matrixs://{secret}@host[:port]/!room:server", &matrix},
    {"mmost", true, "mmosts://[name@]host[:port][/path]/{secret}[?channel=name]", &mattermost},
    {"mailto", true, "mailtos://[user:{secret}@]host[:port]?to=address,…[&from=address][&mode=ssl]",
     &mail},
    {"json", true, "jsons://[{secret}@|user:{secret}@]host[:port][/path]", &json},
});

const Service* service_of(std::string_view scheme, bool& secure) {
    for (const Service& service : kServices) {
        secure = service.has_secure && scheme.size() == service.scheme.size() + 1 &&
                 scheme.starts_with(service.scheme) && scheme.ends_with('s');
        if (scheme == service.scheme || secure) return &service;
    }
    return nullptr;
}

std::string_view scheme_of(std::string_view url) {
    const std::size_t end = url.find("://");
    return end == std::string_view::npos ? std::string_view() : url.substr(0, end);
}

bool is_host(std::string_view host) {
    return !host.empty() && host.size() <= 4'096 && !base::has_control(host) &&
           host.find_first_of(" \"<>\\^`?#") == std::string_view::npos;
}

std::optional<Parts> split(std::string_view rest) {
    Parts parts;
    const std::size_t query = rest.find('?');
    if (query != std::string_view::npos) {
        parts.query = net::query_parameters(rest.substr(query + 1), kMostQueryParts);
        rest = rest.substr(0, query);
    }
    const std::string_view authority = rest.substr(0, rest.find('/'));
    const std::size_t at = authority.rfind('@');
    if (at != std::string_view::npos) {
        const std::string_view login = authority.substr(0, at);
        const std::size_t colon = login.find(':');
        parts.user = net::percent_decode(login.substr(0, colon));
        if (!parts.user) return std::nullopt;
        if (colon != std::string_view::npos) {
            parts.password = net::percent_decode(login.substr(colon + 1));
            if (!parts.password) return std::nullopt;
        }
    }
    const auto host =
        net::percent_decode(authority.substr(at == std::string_view::npos ? 0 : at + 1));
    if (!host || !is_host(*host)) return std::nullopt;
    parts.host = *host;
    rest.remove_prefix(authority.size());
    while (!rest.empty()) {
        rest.remove_prefix(1);
        const std::string_view part = rest.substr(0, rest.find('/'));
        rest.remove_prefix(part.size());
        if (part.empty()) continue;
        auto decoded = net::percent_decode(part);
        if (!decoded || base::has_control(*decoded)) return std::nullopt;
        parts.path.push_back(std::move(*decoded));
    }
    return parts;
}

std::unexpected<base::Error> bad_form(std::string_view form) {
    return base::config_error(
        "feed.bad_channel_url",
        fmt::format("the address of the channel is not understood; it is written {}", form));
}

// Parameters of the channel that every service takes; everything else left over is a mistake.
bool take_rest(Parts& parts, model::Channel& channel) {
    for (auto& [name, value] : parts.query) {
        if (name == "verify" || name == "ca_file" || name.starts_with("header.") ||
            name == "method") {
            channel.params[name] = value;
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace

bool is_apprise_url(std::string_view url) {
    bool secure = false;
    return service_of(scheme_of(url), secure) != nullptr;
}

base::Result<ExpandedUrl> expand_apprise_url(std::string_view url) {
    bool secure = false;
    const std::string_view scheme = scheme_of(url);
    const Service* service = service_of(scheme, secure);
    if (service == nullptr) {
        std::string known;
        for (const Service& one : kServices) {
            known += fmt::format("{}{}://", known.empty() ? "" : ", ", one.scheme);
        }
        return base::config_error(
            "feed.bad_channel_url",
            fmt::format("the address of a channel begins with http://, https:// or one "
                        "of {}",
                        known));
    }
    if (url.size() > kLongestUrl) return bad_form(service->form);
    auto parts = split(url.substr(scheme.size() + 3));
    if (!parts) return bad_form(service->form);
    parts->secure = secure;
    ExpandedUrl out;
    out.channel.kind = model::ChannelKind::kWebhook;
    auto secret = service->expand(*parts, out.channel);
    if (!secret || !take_rest(*parts, out.channel)) return bad_form(service->form);
    if (*secret != kSecretPlace) out.secret = base::Secret(std::move(*secret));
    return out;
}

std::string shown_channel_url(std::string_view url) {
    const std::string_view scheme = scheme_of(url);
    if (!is_apprise_url(url)) {
        // Of a plain URL the query may hold a key.
        return std::string(url.substr(0, url.find('?')));
    }
    const auto expanded = expand_apprise_url(url);
    if (!expanded) return std::string(scheme) + "://…";
    if (expanded->secret.empty()) return std::string(url);
    return std::string(scheme) + "://… (with a secret that belongs into a credential)";
}

}  // namespace pollux::feed
