// One WebSocket connection of a client, for commands and tests: blocks, with a limit in time. TLS
// is libcurl's. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "net/server_trust.hpp"

namespace pollux::net {

struct WebSocketTarget {
    std::string url;  // "http://host:port/path" or https
    std::vector<std::pair<std::string, std::string>> headers = {};
    ServerTrust trust = {};
    base::Duration patience = std::chrono::seconds(10);  // for the connection and the answer
    std::size_t message_limit = 1U << 20U;
    int receive_buffer = 0;  // of the socket, in bytes; 0: what the system gives
};

class WebSocketClient {
  public:
    // Errors: websocket.url, websocket.unreachable (transient, unless the certificate is wrong),
    // those of ServerTrustCheck, and websocket.refused, whose message has the answer of the server;
    // class auth for 401 and 403.
    static base::Result<std::unique_ptr<WebSocketClient>> connect(const WebSocketTarget& target);
    ~WebSocketClient();
    WebSocketClient(const WebSocketClient&) = delete;
    WebSocketClient& operator=(const WebSocketClient&) = delete;

    // websocket.broken: the connection is of no use any more.
    base::Status send(std::string_view text);
    // The next message; nothing: none came in time. Answers pings by itself. websocket.closed says
    // with which code and why, websocket.broken that the connection broke.
    base::Result<std::optional<std::string>> receive(base::Duration patience);
    void close();  // says goodbye; nothing more is to be done with it
    std::uint16_t close_code() const { return close_code_; }  // of the server; 0: none

  private:
    struct Connection;
    explicit WebSocketClient(std::unique_ptr<Connection> connection);
    base::Status open(const WebSocketTarget& target);

    std::unique_ptr<Connection> connection_;
    std::uint16_t close_code_ = 0;
};

}  // namespace pollux::net
