#include "net/http_server.hpp"

#include <ctime>

#include "base/check.hpp"
#include "net/http_connection.hpp"
#include "net/sender_address.hpp"
#include "net/tls_stream.hpp"

namespace pollux::net {
namespace {

constexpr std::size_t kScratchBytes = 64 * 1024;
// Connections above the limit that are told so politely; further ones are reset.
constexpr std::size_t kRefusedPolitely = 64;
constexpr std::size_t kRefusedPolitelyOfOne = 8;

}  // namespace

// --- Responder ----------------------------------------------------------------------------------

Responder::Responder(Responder&& other) noexcept
    : link_(std::move(other.link_)), serial_(other.serial_) {}

Responder& Responder::operator=(Responder&& other) noexcept {
    if (this != &other) {
        if (link_ != nullptr) send(Response::text(500, "the request was dropped\n"));
        link_ = std::move(other.link_);
        serial_ = other.serial_;
    }
    return *this;
}

Responder::~Responder() {
    if (link_ != nullptr) send(Response::text(500, "the request was dropped\n"));
}

bool Responder::connected() const {
    return link_ != nullptr && link_->connection != nullptr && link_->serial == serial_;
}

HttpConnection* Responder::take() {
    HttpConnection* connection = connected() ? link_->connection : nullptr;
    link_ = nullptr;
    return connection;
}

void Responder::send(Response response) {
    if (HttpConnection* connection = take()) connection->answer(std::move(response));
}

StreamHandle Responder::stream(Response head, BodySource source,
                               std::optional<std::uint64_t> length) {
    StreamHandle handle(link_, serial_);
    if (HttpConnection* connection = take()) {
        connection->answer_with(std::move(head), std::move(source), length);
    }
    return handle;
}

void Responder::upgrade(Response head, UpgradeTaker taker) {
    if (HttpConnection* connection = take()) {
        connection->answer_with_upgrade(std::move(head), std::move(taker));
    }
}

void Responder::take_over(UpgradeTaker taker) {
    if (HttpConnection* connection = take()) {
        connection->answer_with_upgrade(std::nullopt, std::move(taker));
    }
}

void Responder::abort() {
    if (HttpConnection* connection = take()) connection->abort();
}

bool StreamHandle::connected() const {
    return link_ != nullptr && link_->connection != nullptr && link_->serial == serial_;
}

void StreamHandle::resume() const {
    if (connected()) link_->connection->resume();
}

// --- HttpServer ---------------------------------------------------------------------------------

HttpServer::HttpServer(EventLoop& loop, HttpServerOptions options, Handler handler)
    : loop_(loop),
      options_(std::move(options)),
      handler_(std::move(handler)),
      scratch_(kScratchBytes),
      drain_timer_(loop, [this] { finish_drain(); }) {
    if (options_.body_limit) options_.limits.body_limit = &options_.body_limit;
}

HttpServer::~HttpServer() {
    listeners_.clear();
    // A destroyed connection destroys its body source, which may hold responders of others.
    while (!connections_.empty()) {
        auto last = std::move(connections_.back());
        connections_.pop_back();
    }
}

base::Result<SocketAddress> HttpServer::listen(SocketAddress at, const TlsServerContext* tls,
                                               TcpListenerOptions listener) {
    std::shared_ptr<const TlsServerContext> context;
    if (tls != nullptr) context = tls->share();
    auto opened = TcpListener::listen(
        loop_, at, listener, [this, context](std::unique_ptr<TcpStream> stream) {
            if (options_.accept && !options_.accept(*stream)) {
                ++counters_.refused;
                stream->abort();
            } else if (context == nullptr) {
                adopt(std::move(stream));
            } else if (auto secured = TlsStream::server(loop_, std::move(stream), *context)) {
                adopt(std::move(*secured), true);
            }
        });
    if (!opened) return std::unexpected(opened.error());
    listeners_.push_back(std::move(*opened));
    return listeners_.back()->address();
}

HttpServer::Crowd HttpServer::crowd_of(const std::optional<IpAddress>& sender) {
    const auto held = sender ? held_.find(*sender) : held_.end();
    if (held == held_.end() || held->second < options_.max_connections_per_sender) {
        return Crowd::kRoom;
    }
    if (options_.on_crowded) options_.on_crowded(*sender);
    return held->second < options_.max_connections_per_sender + kRefusedPolitelyOfOne
               ? Crowd::kFull
               : Crowd::kFlood;
}

void HttpServer::adopt(std::unique_ptr<ByteStream> stream, bool secure) {
    std::optional<IpAddress> sender;
    if (options_.max_connections_per_sender > 0) {
        const SocketAddress peer = stream->peer();
        sender = IpAddress::from_sockaddr(peer.data(), peer.length());
        if (sender) sender = sender_of(*sender);
    }
    const Crowd crowd = crowd_of(sender);
    const bool full = connections_.size() >= options_.max_connections || crowd != Crowd::kRoom;
    if (full || draining_) ++counters_.refused;
    if (draining_ || crowd == Crowd::kFlood ||
        connections_.size() >= options_.max_connections + kRefusedPolitely) {
        return stream->abort();
    }
    connections_.push_back(std::make_unique<HttpConnection>(*this, std::move(stream), secure));
    HttpConnection& connection = *connections_.back();
    connection.index_ = connections_.size() - 1;
    connection.sender_ = sender;
    if (sender) ++held_[*sender];
    if (full) return connection.refuse();
    ++counters_.connections;
    connection.start();
}

void HttpServer::remove(HttpConnection& connection) {
    const std::size_t index = connection.index_;
    POLLUX_CHECK(index < connections_.size() && connections_[index].get() == &connection);
    auto removed = std::move(connections_[index]);
    if (index + 1 != connections_.size()) {
        connections_[index] = std::move(connections_.back());
        connections_[index]->index_ = index;
    }
    connections_.pop_back();
    if (const auto& sender = removed->sender_) {
        const auto held = held_.find(*sender);
        POLLUX_CHECK(held != held_.end() && held->second > 0);
        if (--held->second == 0) held_.erase(held);
    }
    removed.reset();
    if (draining_ && connections_.empty()) drain_timer_.arm_in(base::Duration::zero());
}

void HttpServer::drain(base::Duration at_most, std::move_only_function<void()> drained) {
    draining_ = true;
    drained_ = std::move(drained);
    listeners_.clear();
    drain_timer_.arm_in(connections_.empty() ? base::Duration::zero() : at_most);
    // Each may remove itself, and then the last one takes its place.
    for (std::size_t i = connections_.size(); i > 0; --i) {
        if (i <= connections_.size()) connections_[i - 1]->close_when_done();
    }
}

void HttpServer::finish_drain() {
    while (!connections_.empty()) connections_.back()->close_now();
    drain_timer_.cancel();
    if (drained_) std::exchange(drained_, nullptr)();
}

std::string_view HttpServer::date() {
    const std::time_t second = std::time(nullptr);
    if (second != date_second_) {
        date_second_ = second;
        std::tm parts{};
        gmtime_r(&second, &parts);
        date_.resize(32);
        date_.resize(
            std::strftime(date_.data(), date_.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts));
    }
    return date_;
}

}  // namespace pollux::net
