#include "lab/http_devices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/http_pages.hpp"
#include "net/gzip.hpp"
#include "net/tls_stream.hpp"

namespace pollux::lab {
namespace {

using net::Response;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kMaxWaiting = 100'000;
constexpr base::Duration kHoldTime = minutes(5);  // nobody waits longer for a device
constexpr std::uint64_t kHugeBytes = 1ULL << 30U;
constexpr base::Duration kRateWindow = seconds(5);

net::HttpServerOptions server_options(HttpDevices::FindDevice find) {
    net::HttpServerOptions options;
    options.max_connections = 200'000;  // the limit of descriptors comes first
    options.idle_timeout = minutes(10);
    options.handler_timeout = minutes(10);
    options.accept = [find = std::move(find)](const net::ByteStream& stream) {
        const std::uint32_t local = stream.local().ipv4_bits();
        return local >> 24U == 127 && find(local) != nullptr;
    };
    return options;
}

Response page(const Device& device, FleetTime now) {
    return Response::json(200, status_json(device, now));
}

}  // namespace

HttpDevices::HttpDevices(net::EventLoop& loop, base::BootTime epoch, std::uint64_t seed,
                         FindDevice find)
    : loop_(loop),
      epoch_(epoch),
      find_(find),
      digest_(seed),
      delayer_(loop, kMaxWaiting),
      server_(loop, server_options([this](std::uint32_t address) -> const Device* {
                  const Device* device = find_(address);
                  if (device == nullptr) return nullptr;
                  return device->faults(now()).has(FaultKind::kDown) ? nullptr : device;
              }),
              [this](net::Request request, net::Responder responder) {
                  handle(std::move(request), std::move(responder));
              }) {}

base::Result<std::uint16_t> HttpDevices::listen(std::uint16_t port,
                                                const net::TlsServerContext* tls) {
    net::TcpListenerOptions options;
    options.loopback_interface = true;
    auto address = server_.listen(net::SocketAddress::ipv4(INADDR_ANY, port), tls, options);
    if (!address) return std::unexpected(address.error());
    return address->port();
}

void HttpDevices::handle(net::Request request, net::Responder responder) {
    ++requests_;
    (request.secure ? counters_.secure : counters_.plain).fetch_add(1, std::memory_order_relaxed);
    const Device* device = find_(request.local.ipv4_bits());
    if (device == nullptr) return responder.abort();
    AtWork work(load_of(*device), loop_.now());
    const FaultState faults = device->faults(now());
    if (faults.kinds != 0 && answer_fault(*device, faults, responder)) return;
    if (faults.latency_ms == 0) return answer(*device, request, std::move(responder));
    delayer_.after(std::chrono::milliseconds(faults.latency_ms),
                   [this, device, work = std::move(work), request = std::move(request),
                    responder = std::move(responder)]() mutable {
                       answer(*device, request, std::move(responder));
                   });
}

DeviceLoad& HttpDevices::load_of(const Device& device) {
    if (loads_.size() <= device.number()) loads_.resize(device.number() + 1);
    return loads_[device.number()];
}

std::vector<DeviceLoad> HttpDevices::take_loads() {
    std::vector<DeviceLoad> taken;
    for (DeviceLoad& load : loads_) taken.push_back(load.taken());
    return taken;
}

bool HttpDevices::answer_fault(const Device& device, const FaultState& faults,
                               net::Responder& responder) {
    const bool lost = faults.loss_percent > 0 &&
                      device.chances().hash(Purpose::kLoss, requests_) % 100 < faults.loss_percent;
    if (faults.has(FaultKind::kDown)) {
        responder.abort();
    } else if (faults.has(FaultKind::kBlackHole) || lost) {
        hold(std::move(responder));
    } else if (faults.has(FaultKind::kServerError)) {
        responder.send(Response::text(500, "the device has a problem\n"));
    } else if (faults.has(FaultKind::kAuthFailure)) {
        responder.send(
            Response::text(401, "unknown user\n").with("WWW-Authenticate", "Basic realm=\"lab\""));
    } else if (faults.has(FaultKind::kGarbage)) {
        garbage(device, std::move(responder));
    } else {
        return false;
    }
    return true;
}

void HttpDevices::hold(net::Responder responder) {
    delayer_.after(kHoldTime, [responder = std::move(responder)]() mutable { responder.abort(); });
}

void HttpDevices::answer(const Device& device, const net::Request& request,
                         net::Responder responder) {
    if (request.method != "GET" && request.method != "HEAD") {
        return responder.send(
            Response::text(405, "only GET and HEAD\n").with("Allow", "GET, HEAD"));
    }
    const std::string_view path = request.path;
    constexpr std::string_view kAs = "/as/";
    if (path == "/" || path == "/status") {
        return answer_as(device, device.personality(), request, std::move(responder));
    }
    if (path == "/status.xml") {
        return answer_as(device, Personality::kXml, request, std::move(responder));
    }
    if (path == "/real-status") return responder.send(page(device, now()));
    if (path == "/health") {
        const std::string_view health = health_of(device, now());
        return responder.send(
            Response::text(health == "failed" ? 503 : 200, std::string(health) + "\n"));
    }
    if (path.starts_with(kAs) && path.ends_with("/status")) {
        const std::string_view name = path.substr(kAs.size(), path.size() - kAs.size() - 7);
        if (const auto personality = parse_personality(name)) {
            return answer_as(device, *personality, request, std::move(responder));
        }
    }
    responder.send(Response::text(404, "there are /status, /status.xml and /health\n"));
}

// Sends the refusal itself if the request is not allowed in.
bool HttpDevices::allowed(Personality personality, const net::Request& request,
                          net::Responder& responder) {
    std::string challenge;
    switch (personality) {
        case Personality::kBasic:
            if (basic_is_right(request)) return true;
            challenge = "Basic realm=\"lab\", charset=\"UTF-8\"";
            break;
        case Personality::kDigestMd5:
        case Personality::kDigestSha256: {
            const auto algorithm = personality == Personality::kDigestMd5
                                       ? DigestAlgorithm::kMd5
                                       : DigestAlgorithm::kSha256;
            const auto verdict = digest_.check(request, algorithm, now());
            if (verdict == DigestGuard::Verdict::kRight) return true;
            challenge =
                digest_.challenge(algorithm, verdict == DigestGuard::Verdict::kStale, now());
            break;
        }
        case Personality::kBearer:
            if (bearer_is_right(request)) return true;
            challenge = "Bearer realm=\"lab\"";
            break;
        case Personality::kApiKey:
            if (api_key_is_right(request)) return true;
            responder.send(Response::text(403, "X-API-Key is missing or wrong\n"));
            return false;
        default: return true;
    }
    responder.send(Response::text(401, "who are you?\n").with("WWW-Authenticate", challenge));
    return false;
}

void HttpDevices::answer_as(const Device& device, Personality personality,
                            const net::Request& request, net::Responder responder) {
    if (!allowed(personality, request, responder)) return;
    switch (personality) {
        case Personality::kXml: {
            Response response;
            response.with("Content-Type", "application/xml").body = status_xml(device, now());
            return responder.send(std::move(response));
        }
        case Personality::kGzip: {
            Response response = page(device, now());
            response.with("Vary", "Accept-Encoding");
            if (net::list_has(request.header("Accept-Encoding").value_or(""), "gzip")) {
                response.with("Content-Encoding", "gzip").body = net::gzip(response.body);
            }
            return responder.send(std::move(response));
        }
        case Personality::kRedirect:
            return responder.send(
                Response::text(302, "it moved\n").with("Location", "/real-status"));
        case Personality::kWrongType: {
            Response response;
            response.with("Content-Type", "image/png").body = status_json(device, now());
            return responder.send(std::move(response));
        }
        case Personality::kSlow:
        case Personality::kDrip:
        case Personality::kFlapping:
        case Personality::kHuge:
        case Personality::kGarbage:
        case Personality::kRateLimited:
            return answer_odd(device, personality, request, std::move(responder));
        default: return responder.send(page(device, now()));
    }
}

void HttpDevices::answer_odd(const Device& device, Personality personality,
                             const net::Request& request, net::Responder responder) {
    if (personality == Personality::kDrip) return drip(device, std::move(responder));
    if (personality == Personality::kFlapping) return flap(device, std::move(responder));
    if (personality == Personality::kGarbage) return garbage(device, std::move(responder));
    if (personality == Personality::kRateLimited) {
        return limit_rate(device, std::move(responder));
    }
    if (personality == Personality::kSlow) {
        // ?ms= lets a test choose; a device has a slowness of its own.
        const auto asked = net::query_parameter(request.query, "ms");
        const std::int64_t own = device.chances().between(1000, 4000, Purpose::kDelay);
        const long chosen = asked ? std::strtol(asked->c_str(), nullptr, 10) : own;
        const std::chrono::milliseconds delay(std::clamp<long>(chosen, 0, 60'000));
        delayer_.after(delay, [this, &device, responder = std::move(responder)]() mutable {
            responder.send(page(device, now()));
        });
        return;
    }
    // Huge: a JSON text without an end in sight, but with its length told.
    const auto left = std::make_shared<std::uint64_t>(kHugeBytes);
    Response head;
    head.with("Content-Type", "application/json");
    responder.stream(
        std::move(head),
        [left](std::string& out) {
            const bool first = *left == kHugeBytes;
            out.assign(static_cast<std::size_t>(std::min<std::uint64_t>(*left, 64 * 1024)), ' ');
            if (first) out[0] = '[';
            *left -= out.size();
            if (*left == 0) out.back() = ']';
            return *left == 0 ? net::Fill::kDone : net::Fill::kMore;
        },
        kHugeBytes);
}

void HttpDevices::drip(const Device& device, net::Responder responder) {
    struct Drip {
        std::string text;
        std::size_t sent = 0;
        net::StreamHandle handle;
    };
    const auto state = std::make_shared<Drip>();
    state->text = status_json(device, now());
    const std::uint64_t length = state->text.size();
    Response head;
    head.with("Content-Type", "application/json");
    state->handle = responder.stream(
        std::move(head),
        [this, state](std::string& out) {
            out += state->text[state->sent++];
            if (state->sent == state->text.size()) return net::Fill::kDone;
            const bool waits = delayer_.after(seconds(1), [state] { state->handle.resume(); });
            return waits ? net::Fill::kWait : net::Fill::kAbort;
        },
        length);
}

void HttpDevices::flap(const Device& device, net::Responder responder) {
    const base::Duration period =
        std::clamp<base::Duration>(device.change_period(), seconds(20), minutes(10));
    const auto happening = device.chances().last(now(), period, Purpose::kStatus, 2);
    const std::uint64_t hash = device.chances().hash(Purpose::kStatus, 3, happening.number);
    if (hash % 2 == 0) return responder.send(page(device, now()));
    switch (hash / 2 % 3) {
        case 0: return responder.abort();
        case 1: return responder.send(Response::text(500, "down for a while\n"));
        default: return hold(std::move(responder));
    }
}

void HttpDevices::garbage(const Device& device, net::Responder responder) {
    std::string noise(400, '\0');
    for (std::size_t i = 0; i < noise.size(); ++i) {
        noise[i] = static_cast<char>(
            device.chances().hash(Purpose::kGarbage, requests_, static_cast<std::int64_t>(i)));
    }
    if (device.chances().hash(Purpose::kGarbage, requests_) % 2 == 0) {
        return responder.send(Response::json(200, "{\"status\": " + noise));
    }
    responder.take_over([noise](std::unique_ptr<net::ByteStream> stream, const std::string&) {
        stream->write(noise);
        stream->shutdown_write();
    });
}

void HttpDevices::limit_rate(const Device& device, net::Responder responder) {
    if (last_served_.size() <= device.number()) {
        last_served_.resize(device.number() + 1, FleetTime::min() / 2);
    }
    FleetTime& last = last_served_[device.number()];
    const base::Duration since = now() - last;
    if (since >= kRateWindow) {
        last = now();
        return responder.send(page(device, now()));
    }
    const std::int64_t wait = base::ceil_ms(kRateWindow - since) / 1000 + 1;
    responder.send(Response::text(429, "too often\n").with("Retry-After", std::to_string(wait)));
}

}  // namespace pollux::lab
