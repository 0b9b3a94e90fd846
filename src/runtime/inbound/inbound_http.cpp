#include "runtime/inbound/inbound_http.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "config/network_text.hpp"
#include "document/write.hpp"
#include "runtime/inbound/message_text.hpp"

namespace pollux::runtime {
namespace {

constexpr std::size_t kMostParameters = 100;
constexpr std::size_t kMostPushText = 1024;

net::HttpServerOptions options(std::size_t body_bytes,
                               std::function<void(const net::IpAddress&)> on_crowded) {
    net::HttpServerOptions options;
    options.limits.body_bytes = body_bytes;
    options.limits.target_bytes = 4096;
    options.max_connections = 1024;
    options.max_connections_per_sender = InboundHttp::kMostConnectionsOfOne;
    options.on_crowded = std::move(on_crowded);
    options.idle_timeout = std::chrono::seconds(30);
    options.body_timeout = std::chrono::seconds(15);
    return options;
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

std::string content_type_of(const net::Request& request) {
    std::string_view value = request.header("Content-Type").value_or("");
    value = value.substr(0, value.find(';'));
    while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
    return lower(value);
}

std::string token_in_header(const net::Request& request) {
    if (const auto own = request.header("X-Pollux-Token")) return std::string(*own);
    const std::string_view value = request.header("Authorization").value_or("");
    constexpr std::string_view kBearer = "bearer ";
    if (lower(value.substr(0, kBearer.size())) != kBearer) return "";
    return std::string(value.substr(kBearer.size()));
}

net::Response problem(int status, std::string_view why) {
    return net::Response::json(
        status, fmt::format("{{\"ok\":false,\"error\":{}}}\n", document::json_string(why)));
}

// "12.5"; nothing if it is no finite number.
std::optional<double> number_of(const std::string& text) {
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

InboundHttp::InboundHttp(net::EventLoop& loop, Intake& intake, TargetBook& book,
                         SourceLimiter& limiter, InboundCounts& counts, base::SipKey key,
                         std::size_t body_bytes)
    : loop_(loop),
      intake_(intake),
      book_(book),
      limiter_(limiter),
      counts_(counts),
      tokens_(key),
      http_(loop,
            options(body_bytes,
                    [this](const net::IpAddress& sender) { crowded_ = sender.to_string(); }),
            [this](net::Request request, net::Responder responder) {
                handle(std::move(request), std::move(responder));
            }) {}

base::Status InboundHttp::listen(const std::vector<std::string>& addresses,
                                 const std::optional<net::TlsIdentity>& tls) {
    std::optional<net::TlsServerContext> context;
    if (tls) {
        auto made = net::TlsServerContext::create(*tls);
        if (!made) {
            return base::config_error(
                "inbound.tls",
                fmt::format("cannot use inbound_tls_certificate with inbound_tls_key: {}",
                            made.error().message));
        }
        context = std::move(*made);
    }
    for (const std::string& text : addresses) {
        const auto split = config::split_host_port(text);
        if (!split) {
            return base::config_error(
                "inbound.address",
                fmt::format("cannot listen for webhooks on {}: write an address with a port",
                            text));
        }
        auto at = net::SocketAddress::parse(split->host, split->port);
        if (!at) return std::unexpected(at.error());
        net::TcpListenerOptions listener;
        // Somebody wrote another address into the settings: that is the decision.
        listener.allow_non_loopback = true;
        auto listening = http_.listen(*at, context ? &*context : nullptr, listener);
        if (!listening) {
            base::Error error = listening.error();
            error.message = fmt::format(
                "cannot listen for webhooks and pushes (POLLUX_INBOUND_LISTEN): {}", error.message);
            return std::unexpected(std::move(error));
        }
        addresses_.push_back(listening->to_string());
    }
    return {};
}

void InboundHttp::set_image(const InboundImage& image) {
    tokens_.clear();
    for (const InboundTargetPtr& target : image.targets) {
        if (target->hears() && !target->token.empty()) tokens_.add(target);
    }
}

void InboundHttp::refuse(Asked asked, InboundResult result, int status, std::string_view why) {
    counts_.add(asked.kind, result);
    net::Response response = problem(status, why);
    if (status == 405) {
        response.with("Allow", asked.kind == InboundKind::kPush ? "GET, POST" : "POST, PUT");
    }
    if (status == 429) response.with("Retry-After", "1");
    if (status == 503) response.with("Retry-After", "5");
    asked.responder.send(std::move(response));
}

void InboundHttp::handle(net::Request request, net::Responder responder) {
    Asked asked{std::move(request), std::move(responder), InboundKind::kWebhook, ""};
    std::string_view path = asked.request.path;
    const auto under = [&](std::string_view folder) {
        if (path != folder && !path.starts_with(std::string(folder) + "/")) return false;
        path.remove_prefix(std::min(path.size(), folder.size() + 1));
        return true;
    };
    if (under("/push")) {
        asked.kind = InboundKind::kPush;
    } else if (!under("/hooks")) {
        return refuse(std::move(asked), InboundResult::kBadRequest, 404,
                      "nothing is here but /hooks/TOKEN and /push/TOKEN");
    }
    const bool push = asked.kind == InboundKind::kPush;
    const std::string& method = asked.request.method;
    const bool allowed = method == "POST" || method == (push ? "GET" : "PUT");
    const auto source =
        net::IpAddress::from_sockaddr(asked.request.peer.data(), asked.request.peer.length());
    if (!limiter_.admit(source.value_or(net::IpAddress()), loop_.now())) {
        return refuse(std::move(asked), InboundResult::kLimited, 429,
                      "more than one sender may say: repeat it later");
    }
    if (!allowed) {
        return refuse(std::move(asked), InboundResult::kBadRequest, 405,
                      push ? "a push is a GET or a POST" : "a webhook is a POST or a PUT");
    }
    std::string token = token_in_header(asked.request);
    if (token.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        token = path.substr(0, end);
        path.remove_prefix(end);
    }
    asked.rest = path;
    InboundTargetPtr target =
        tokens_.find(token, push ? model::ProtocolKind::kPush : model::ProtocolKind::kWebhook);
    if (!target) {
        return refuse(std::move(asked), InboundResult::kRefused, 404,
                      "the token is not known: `pollux push url` and `pollux hook url` tell it");
    }
    if (push) {
        take_push(std::move(asked), std::move(target));
    } else {
        take_hook(std::move(asked), std::move(target));
    }
}

void InboundHttp::take_hook(Asked asked, InboundTargetPtr target) {
    HeardMessage heard;
    heard.target = std::move(target);
    model::WebhookMessage hook;
    hook.path = asked.rest.empty() ? "/" : asked.rest;
    hook.content_type = content_type_of(asked.request);
    hook.query = net::query_parameters(asked.request.query, kMostParameters);
    hook.body = std::move(asked.request.body);
    heard.message.content = std::move(hook);
    hand_on(std::move(asked), std::move(heard));
}

void InboundHttp::take_push(Asked asked, InboundTargetPtr target) {
    std::string parameters = asked.request.query;
    if (content_type_of(asked.request) == "application/x-www-form-urlencoded") {
        parameters += "&" + asked.request.body;
    }
    model::PushMessage push;
    const auto status = net::query_parameter(parameters, "status");
    if (status && *status != "up" && *status != "down") {
        return refuse(std::move(asked), InboundResult::kMalformed, 400, "status is up or down");
    }
    push.up = status.value_or("up") == "up";
    push.message = shortened(net::query_parameter(parameters, "msg").value_or(""), kMostPushText);
    // Other systems call it so.
    auto value = net::query_parameter(parameters, "value");
    if (!value) value = net::query_parameter(parameters, "ping");
    if (value && !value->empty()) {
        push.value = number_of(*value);
        if (!push.value) {
            return refuse(std::move(asked), InboundResult::kMalformed, 400, "value is no number");
        }
    }
    HeardMessage heard;
    heard.target = std::move(target);
    heard.message.content = std::move(push);
    hand_on(std::move(asked), std::move(heard));
}

void InboundHttp::hand_on(Asked asked, HeardMessage heard) {
    heard.message.source = asked.request.peer.host();
    heard.message.received = net::wall_now();
    const InboundTarget& target = *heard.target;
    if (target.addon->read(heard.message).unreadable > 0) {
        return refuse(std::move(asked), InboundResult::kMalformed, 400,
                      "the body is not of the format that the addon reads");
    }
    heard.signals = target.addon->signals(heard.message, {.device = target.device, .address = ""});
    const InboundKind kind = asked.kind;
    if (kind == InboundKind::kPush) book_.heard(target, loop_.now());
    Incoming incoming;
    incoming.kind = kind;
    incoming.at = loop_.now();
    incoming.heard = std::move(heard);
    // Held in one place, so that it is still there if there is no room.
    auto waiting = std::make_shared<net::Responder>(std::move(asked.responder));
    incoming.answer = [waiting](Delivery delivery, std::uint64_t id) {
        if (delivery == Delivery::kStored) {
            waiting->send(net::Response::json(200, fmt::format("{{\"ok\":true,\"id\":{}}}\n", id)));
        } else {
            waiting->send(
                problem(503, "it could not be stored: repeat it").with("Retry-After", "5"));
        }
    };
    if (intake_.take(std::move(incoming))) return;
    counts_.add(kind, InboundResult::kQueueFull);
    waiting->send(problem(503, "too much waits to be stored: repeat it").with("Retry-After", "5"));
}

}  // namespace pollux::runtime
