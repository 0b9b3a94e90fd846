#include "net/websocket_client.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "net/event_loop.hpp"
#include "net/websocket.hpp"

namespace pollux::net {
namespace {

constexpr std::size_t kLongestHead = 64 * 1024;

template <std::size_t Size>
std::array<unsigned char, Size> random_bytes() {
    std::array<unsigned char, Size> bytes{};
    RAND_bytes(bytes.data(), static_cast<int>(Size));
    return bytes;
}

std::string new_key() {
    const auto bytes = random_bytes<16>();
    std::array<unsigned char, 32> text{};
    const int length = EVP_EncodeBlock(text.data(), bytes.data(), static_cast<int>(bytes.size()));
    return {reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(length)};
}

std::uint32_t new_mask() {
    const auto bytes = random_bytes<4>();
    std::uint32_t mask = 0;
    for (const unsigned char byte : bytes) mask = mask << 8U | byte;
    return mask;
}

base::Error broken(std::string why) {
    return {"websocket.broken", base::ErrorClass::kTransient,
            "the connection broke: " + std::move(why)};
}

int set_buffer(void* context, curl_socket_t socket, curlsocktype) {
    const int bytes = *static_cast<const int*>(context);
    return setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) == 0
               ? CURL_SOCKOPT_OK
               : CURL_SOCKOPT_ERROR;
}

// "http://host:port" of "http://host:port/path?query", and the rest.
struct UrlParts {
    std::string base;
    std::string host;
    std::string path;
};
base::Result<UrlParts> split(const std::string& url) {
    const std::size_t scheme = url.find("://");
    const std::string name = url.substr(0, scheme == std::string::npos ? 0 : scheme);
    if (name != "http" && name != "https") {
        return base::config_error("websocket.url",
                                  fmt::format("{} is no URL with http:// or https://", url));
    }
    const std::size_t slash = std::min(url.find('/', scheme + 3), url.size());
    UrlParts parts{url.substr(0, slash), url.substr(scheme + 3, slash - scheme - 3),
                   url.substr(slash)};
    if (parts.path.empty()) parts.path = "/";
    return parts;
}

}  // namespace

struct WebSocketClient::Connection {
    explicit Connection(std::size_t limit) : easy(curl_easy_init()), decoder(false, limit) {}
    ~Connection() { curl_easy_cleanup(easy); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Whether the socket became ready in time.
    bool wait(short what, base::BootTime until) const {
        curl_socket_t socket = CURL_SOCKET_BAD;
        curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket);
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - boot_now());
        pollfd one{.fd = socket, .events = what, .revents = 0};
        return left.count() > 0 && ::poll(&one, 1, static_cast<int>(left.count())) > 0;
    }
    base::Status write(std::string_view bytes, base::BootTime until) const {
        while (!bytes.empty()) {
            std::size_t sent = 0;
            const CURLcode code = curl_easy_send(easy, bytes.data(), bytes.size(), &sent);
            if (code == CURLE_AGAIN) {
                if (!wait(POLLOUT, until)) return std::unexpected(broken("nothing can be sent"));
            } else if (code != CURLE_OK) {
                return std::unexpected(broken(curl_easy_strerror(code)));
            }
            bytes.remove_prefix(sent);
        }
        return {};
    }
    // Adds to `in`. False: nothing came in time.
    base::Result<bool> read(base::BootTime until) {
        std::array<char, 16384> buffer;
        while (true) {
            std::size_t got = 0;
            const CURLcode code = curl_easy_recv(easy, buffer.data(), buffer.size(), &got);
            if (code == CURLE_AGAIN) {
                if (!wait(POLLIN, until)) return false;
                continue;
            }
            if (code != CURLE_OK) return std::unexpected(broken(curl_easy_strerror(code)));
            if (got == 0) return std::unexpected(broken("the server closed it"));
            in.append(buffer.data(), got);
            return true;
        }
    }

    ServerTrustCheck trust;  // the handle uses it to its end
    CURL* easy;
    std::string in;  // received, not yet decoded
    WebSocketDecoder decoder;
};

WebSocketClient::WebSocketClient(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}
WebSocketClient::~WebSocketClient() = default;

base::Result<std::unique_ptr<WebSocketClient>> WebSocketClient::connect(
    const WebSocketTarget& target) {
    std::unique_ptr<WebSocketClient> client(
        new WebSocketClient(std::make_unique<Connection>(target.message_limit)));
    if (auto status = client->open(target); !status) return std::unexpected(status.error());
    return client;
}

base::Status WebSocketClient::open(const WebSocketTarget& target) {
    const auto parts = split(target.url);
    if (!parts) return std::unexpected(parts.error());
    CURL* easy = connection_->easy;
    const base::BootTime until = boot_now() + target.patience;
    const auto limit = std::chrono::ceil<std::chrono::milliseconds>(target.patience);
    curl_easy_setopt(easy, CURLOPT_URL, parts->base.c_str());
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limit.count()));
    ServerTrustCheck& check = connection_->trust;
    if (auto status = check.apply(easy, parts->base, target.trust); !status) return status;
    int buffer = target.receive_buffer;
    if (buffer > 0) {
        curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, &set_buffer);
        curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, &buffer);
    }
    if (const CURLcode code = curl_easy_perform(easy); code != CURLE_OK) {
        const std::string refused = check.complaint();
        return base::make_error(
            refused.empty() ? base::ErrorClass::kTransient : base::ErrorClass::kPermanent,
            "websocket.unreachable",
            fmt::format("cannot connect to {}: {}", parts->base,
                        refused.empty() ? curl_easy_strerror(code) : refused));
    }
    const std::string key = new_key();
    std::string request = fmt::format(
        "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {}\r\n",
        parts->path, parts->host, key);
    for (const auto& [name, value] : target.headers) request += name + ": " + value + "\r\n";
    if (auto status = connection_->write(request + "\r\n", until); !status) return status;
    std::string& in = connection_->in;
    std::size_t end = std::string::npos;
    while ((end = in.find("\r\n\r\n")) == std::string::npos) {
        const auto more = connection_->read(until);
        if (!more) return std::unexpected(more.error());
        if (!*more || in.size() > kLongestHead) {
            return std::unexpected(broken("no answer to the upgrade"));
        }
    }
    const std::string head = in.substr(0, end + 4);
    if (head.starts_with("HTTP/1.1 101") && head.find(websocket_accept(key)) != std::string::npos) {
        in.erase(0, head.size());
        return {};
    }
    // What the server says about it stands in the body.
    while (connection_->read(std::min(until, boot_now() + std::chrono::milliseconds(200)))
               .value_or(false)) {
        if (in.size() > kLongestHead) break;
    }
    const std::string status = head.substr(0, head.find("\r\n"));
    const bool auth = status.contains(" 401") || status.contains(" 403");
    return base::make_error(
        auth ? base::ErrorClass::kAuth : base::ErrorClass::kPermanent, "websocket.refused",
        fmt::format("{} refused the WebSocket: {}: {}", parts->base, status, in.substr(end + 4)));
}

base::Status WebSocketClient::send(std::string_view text) {
    std::string frame;
    append_masked_frame(frame, WebSocketOpcode::kText, text, new_mask());
    return connection_->write(frame, boot_now() + std::chrono::seconds(10));
}

base::Result<std::optional<std::string>> WebSocketClient::receive(base::Duration patience) {
    using Event = WebSocketDecoder::Event;
    const base::BootTime until = boot_now() + patience;
    while (true) {
        std::string_view bytes = connection_->in;
        const Event event = connection_->decoder.next(bytes);
        connection_->in.erase(0, connection_->in.size() - bytes.size());
        WebSocketDecoder& decoder = connection_->decoder;
        if (event == Event::kText || event == Event::kBinary) return std::move(decoder.payload());
        if (event == Event::kFailed) return std::unexpected(broken(std::string(decoder.reason())));
        if (event == Event::kClose) {
            close_code_ = decoder.close_code();
            return base::make_error(base::ErrorClass::kTransient, "websocket.closed",
                                    fmt::format("the server closed the connection ({}): {}",
                                                close_code_, decoder.payload()));
        }
        if (event == Event::kPing) {
            std::string pong;
            append_masked_frame(pong, WebSocketOpcode::kPong, decoder.payload(), new_mask());
            if (auto status = connection_->write(pong, until); !status) {
                return std::unexpected(status.error());
            }
        }
        if (event != Event::kNeedMore) continue;
        const auto more = connection_->read(until);
        if (!more) return std::unexpected(more.error());
        if (!*more) return std::nullopt;
    }
}

void WebSocketClient::close() {
    std::string frame;
    append_masked_frame(frame, WebSocketOpcode::kClose, close_payload(kCloseNormal, {}),
                        new_mask());
    [[maybe_unused]] const auto status =
        connection_->write(frame, boot_now() + std::chrono::seconds(1));
}

}  // namespace pollux::net
