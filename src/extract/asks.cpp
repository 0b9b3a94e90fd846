// Requests of a target: the templates of its addon with everything filled in.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/scalar.hpp"
#include "document/write.hpp"
#include "extract/addon_plan.hpp"
#include "extract/compiled_addon.hpp"

namespace pollux::extract {
namespace {

using base::quoted;
using namespace std::chrono_literals;

constexpr base::Duration kHttpTimeout = 30s;
constexpr base::Duration kSnmpTimeout = 10s;
constexpr base::Duration kCommandTimeout = 30s;
constexpr base::Duration kCheckTimeout = 10s;
constexpr std::size_t kMaxUrl = 8192;

enum class Place : std::uint8_t { kUrl, kHeader, kText, kJson };

struct UrlParts {
    std::string host;
    std::uint16_t port = 0;
};

// Host and port of a URL that we built ourselves; no credentials in it.
base::Result<UrlParts> split_url(std::string_view url) {
    const auto refuse = [&](std::string_view why) {
        return base::config_error("addon.url", fmt::format("{} in {}", why, quoted(url, 200)));
    };
    if (url.size() > kMaxUrl) return refuse("the URL is too long");
    const std::size_t scheme_end = url.find("://");
    const std::string_view scheme = url.substr(0, scheme_end);
    if (scheme != "http" && scheme != "https") return refuse("no http:// or https://");
    const std::string_view rest = url.substr(scheme_end + 3);
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
    if (authority.find('@') != std::string_view::npos) {
        return refuse("credentials (before @) do not belong into a URL: use credentials");
    }
    UrlParts parts;
    parts.port = scheme == "https" ? 443 : 80;
    const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
    if (bracket == std::string_view::npos) return refuse("a ] is missing");
    const std::size_t colon = authority.find(':', bracket);
    std::string_view host = authority.substr(0, colon);
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    if (host.empty()) return refuse("the host is missing");
    parts.host = std::string(host);
    if (colon == std::string_view::npos) return parts;
    const auto port = document::parse_integer(authority.substr(colon + 1));
    if (!port || *port < 1 || *port > 65535) return refuse("the port is no number up to 65535");
    parts.port = static_cast<std::uint16_t>(*port);
    return parts;
}

class AskMaker {
  public:
    AskMaker(const AddonPlan& plan, const TargetBinding& binding)
        : plan_(plan), binding_(binding) {}

    std::string fill(const Template& text, Place place) const {
        return text.fill([&](std::string_view name) -> std::optional<std::string> {
            return value(name, place);
        });
    }

    base::Result<std::shared_ptr<const model::Ask>> http(const EndpointPlan& endpoint) const {
        const HttpPlan& http = plan_.http;
        model::HttpAsk request;
        request.method = endpoint.method;
        request.url = fill(http.base, Place::kUrl) + fill(endpoint.path, Place::kUrl);
        for (const auto* headers : {&http.headers, &endpoint.headers}) {
            for (const auto& [name, text] : *headers) {
                request.headers.emplace_back(name, fill(text, Place::kHeader));
            }
        }
        request.body = fill(endpoint.body, endpoint.json_body ? Place::kJson : Place::kText);
        request.auth = binding_.auth.value_or(http.auth);
        if (request.auth == model::HttpAuth::kNone && !binding_.auth) {
            request.auth = binding_.auth_if_none.value_or(model::HttpAuth::kNone);
        }
        request.api_key_header =
            binding_.api_key_header.empty() ? http.api_key_header : binding_.api_key_header;
        request.tls = {.verify = binding_.tls_verify.value_or(http.tls.verify),
                       .ca_file = binding_.tls_ca_file.value_or(http.tls.ca_file),
                       .pin_sha256 = binding_.tls_pin_sha256.value_or(http.tls.pin_sha256)};
        request.max_redirects = endpoint.max_redirects;
        request.max_body_bytes = endpoint.max_body_bytes;
        request.good_status = endpoint.expect;
        request.http2 = http.http2;
        const auto parts = split_url(request.url);
        if (!parts) return std::unexpected(parts.error());
        model::Ask ask = common(kHttpTimeout);
        ask.host = parts->host;
        ask.port = parts->port;
        if (endpoint.timeout && !binding_.timeout) ask.timeout = *endpoint.timeout;
        ask.request = std::move(request);
        return std::make_shared<const model::Ask>(std::move(ask));
    }

    std::shared_ptr<const model::Ask> snmp(const GroupPlan& group) const {
        model::SnmpAsk request;
        request.version = binding_.snmp_version.value_or(plan_.snmp.version);
        request.gets = group.gets;
        request.walks = group.walks;
        request.max_repetitions = plan_.snmp.max_repetitions;
        request.max_varbinds = plan_.snmp.max_varbinds;
        request.max_rows = plan_.snmp.max_rows;
        request.fixed = binding_.snmp_fixed;
        model::Ask ask = common(kSnmpTimeout);
        ask.host = bare_host();
        ask.port = port();
        ask.resends = binding_.resends.value_or(plan_.snmp.resends);
        ask.request = std::move(request);
        return std::make_shared<const model::Ask>(std::move(ask));
    }

    // A command, a query or a check.
    base::Result<std::shared_ptr<const model::Ask>> other(const EndpointPlan& endpoint) const {
        const auto text = [&](std::string_view name) -> std::optional<std::string> {
            if (name != "port") return value(name, Place::kText);
            return known_port() == 0 ? "" : fmt::format("{}", known_port());
        };
        auto request = make_request(endpoint.request, text);
        if (!request) return std::unexpected(request.error());
        if (auto* tls = std::get_if<model::TlsAsk>(&*request)) {
            tls->tls.ca_file = binding_.tls_ca_file.value_or(tls->tls.ca_file);
            tls->tls.pin_sha256 = binding_.tls_pin_sha256.value_or(tls->tls.pin_sha256);
        }
        const bool command = std::holds_alternative<model::SshAsk>(*request) ||
                             std::holds_alternative<model::ExecAsk>(*request);
        if (std::holds_alternative<model::TcpAsk>(*request) && known_port() == 0) {
            return base::config_error(
                "addon.port", fmt::format("addon {} has no port of its own; give the target a port",
                                          plan_.addon.name));
        }
        model::Ask ask = common(command ? kCommandTimeout : kCheckTimeout);
        ask.host = bare_host();
        ask.port = known_port();
        if (endpoint.timeout && !binding_.timeout) ask.timeout = *endpoint.timeout;
        ask.request = std::move(*request);
        return std::make_shared<const model::Ask>(std::move(ask));
    }

  private:
    std::uint16_t known_port() const { return binding_.port != 0 ? binding_.port : plan_.port; }

    std::uint16_t port() const {
        if (binding_.port != 0) return binding_.port;
        if (plan_.port != 0) return plan_.port;
        return value("scheme", Place::kText) == "https" ? 443 : 80;
    }

    std::string bare_host() const {
        std::string_view host = binding_.host;
        if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
        return std::string(host);
    }

    model::Ask common(base::Duration otherwise) const {
        model::Ask ask;
        ask.timeout = binding_.timeout.value_or(plan_.addon.timeout.value_or(otherwise));
        ask.credentials = credentials();
        return ask;
    }

    std::shared_ptr<const model::Credentials> credentials() const {
        const model::Credentials& usual = plan_.credentials;
        if (usual == model::Credentials{}) return binding_.credentials;
        auto out = std::make_shared<model::Credentials>();
        if (binding_.credentials != nullptr) *out = *binding_.credentials;
        if (out->username.empty()) out->username = usual.username;
        if (out->password.empty()) out->password = usual.password;
        if (out->token.empty()) out->token = usual.token;
        if (out->community.empty()) out->community = usual.community;
        if (out->ssh_key.empty()) out->ssh_key = usual.ssh_key;
        return out;
    }

    std::optional<std::string> value(std::string_view name, Place place) const {
        if (name == "port") return fmt::format("{}", port());
        if (name == "host") {
            const std::string host = bare_host();
            // A colon means IPv6, which stands in brackets; a zone's % is written as %25.
            if (place != Place::kUrl || host.find(':') == std::string::npos) return host;
            const std::size_t zone = host.find('%');
            return zone == std::string::npos
                       ? "[" + host + "]"
                       : "[" + host.substr(0, zone) + "%25" + host.substr(zone + 1) + "]";
        }
        if (name == "device") return escaped(binding_.device_name, place, ParameterType::kString);
        const auto known = std::ranges::find(plan_.parameters, name, &ParameterDef::name);
        if (known == plan_.parameters.end()) return std::nullopt;
        const auto given = binding_.parameters.find(name);
        const std::string text =
            given != binding_.parameters.end() ? given->second : known->initial.value_or("");
        return escaped(text, place, known->type);
    }

    static std::string escaped(const std::string& text, Place place, ParameterType type) {
        switch (place) {
            case Place::kUrl:
                return type == ParameterType::kPath ? percent_encoded_path(text)
                                                    : percent_encoded(text);
            case Place::kJson: {
                const std::string quoted_text = document::json_string(text);
                return quoted_text.substr(1, quoted_text.size() - 2);
            }
            case Place::kHeader:
            case Place::kText: break;
        }
        return text;
    }

    const AddonPlan& plan_;
    const TargetBinding& binding_;
};

base::Status check_host(const TargetBinding& binding) {
    const std::string_view host = binding.host;
    const bool odd = host.empty() || host.size() > 255 || base::has_control(host) ||
                     host.find_first_of("/?#@\\ \"'<>") != std::string_view::npos;
    if (!odd) return {};
    return base::config_error("addon.host",
                              fmt::format("{} is no host name or address", quoted(host)));
}

}  // namespace

bool is_tolerated(const AddonPlan& plan, std::size_t group, std::size_t ask,
                  std::span<const model::Reply* const> replies) {
    const auto& endpoints = plan.groups[group].endpoints;
    if (ask >= endpoints.size() || ask >= replies.size() || replies[ask] == nullptr) return false;
    const auto* failed = std::get_if<model::PollFailure>(&replies[ask]->answer);
    if (failed == nullptr) return false;
    // What stands in for another is spoken for by it.
    const EndpointPlan& asked = plan.http.endpoints[endpoints[ask]];
    const EndpointPlan& endpoint =
        asked.instead_of ? plan.http.endpoints[*asked.instead_of] : asked;
    return endpoint.signal_of(failed->http_status) != nullptr ||
           stand_in(plan, group, ask, replies) != nullptr;
}

const model::Reply* stand_in(const AddonPlan& plan, std::size_t group, std::size_t ask,
                             std::span<const model::Reply* const> replies) {
    const auto& endpoints = plan.groups[group].endpoints;
    for (std::size_t i = ask + 1; i < std::min(replies.size(), endpoints.size()); ++i) {
        const bool instead = plan.http.endpoints[endpoints[i]].instead_of == endpoints[ask];
        if (instead && replies[i] != nullptr) return replies[i];
    }
    return nullptr;
}

base::Result<std::vector<std::shared_ptr<const model::Ask>>> CompiledAddon::asks(
    std::size_t group, const TargetBinding& binding) const {
    if (group >= plan_->groups.size()) {
        return base::internal_error(
            "addon.group", fmt::format("addon {} has no group {}", plan_->addon.name, group));
    }
    if (const auto host = check_host(binding); !host) return std::unexpected(host.error());
    if (const auto checked = check(binding.parameters); !checked) {
        return std::unexpected(checked.error());
    }
    const AskMaker maker(*plan_, binding);
    std::vector<std::shared_ptr<const model::Ask>> out;
    if (model::is_inbound(plan_->addon.protocol)) return out;  // the device speaks first
    if (plan_->addon.protocol == model::ProtocolKind::kSnmp) {
        out.push_back(maker.snmp(plan_->groups[group]));
        return out;
    }
    for (const std::uint16_t index : plan_->groups[group].endpoints) {
        const EndpointPlan& endpoint = plan_->http.endpoints[index];
        const bool http = std::holds_alternative<std::monostate>(endpoint.request);
        auto ask = http ? maker.http(endpoint) : maker.other(endpoint);
        if (!ask) return std::unexpected(ask.error());
        out.push_back(std::move(*ask));
    }
    return out;
}

bool CompiledAddon::is_optional(std::size_t group, std::size_t ask) const {
    if (plan_->addon.protocol == model::ProtocolKind::kSnmp || group >= plan_->groups.size()) {
        return false;
    }
    const auto& endpoints = plan_->groups[group].endpoints;
    return ask < endpoints.size() && plan_->http.endpoints[endpoints[ask]].optional;
}

std::optional<std::size_t> CompiledAddon::next_ask(
    std::size_t group, std::span<const model::Reply* const> replies) const {
    if (group >= plan_->groups.size() || model::is_inbound(plan_->addon.protocol)) {
        return std::nullopt;
    }
    if (replies.empty()) return 0;
    const auto& endpoints = plan_->groups[group].endpoints;
    const std::size_t last = replies.size() - 1;
    const model::Reply* reply = replies[last];
    const auto* failed =
        reply == nullptr ? nullptr : std::get_if<model::PollFailure>(&reply->answer);
    if (failed != nullptr) {
        // Those that stand in for it follow it.
        for (std::size_t i = last + 1; i < endpoints.size(); ++i) {
            const EndpointPlan& other = plan_->http.endpoints[endpoints[i]];
            if (other.instead_of == endpoints[last] && other.replaces(failed->http_status)) {
                return i;
            }
        }
        if (!is_optional(group, last)) return std::nullopt;
    }
    for (std::size_t i = last + 1; i < endpoints.size(); ++i) {
        if (!plan_->http.endpoints[endpoints[i]].instead_of) return i;
    }
    return std::nullopt;
}

const model::PollFailure* CompiledAddon::failure(
    std::size_t group, std::span<const model::Reply* const> replies) const {
    for (std::size_t i = 0; i < replies.size(); ++i) {
        if (replies[i] == nullptr || is_optional(group, i)) continue;
        const auto* failed = std::get_if<model::PollFailure>(&replies[i]->answer);
        if (failed == nullptr || is_tolerated(*plan_, group, i, replies)) continue;
        return failed;
    }
    return nullptr;
}

}  // namespace pollux::extract
