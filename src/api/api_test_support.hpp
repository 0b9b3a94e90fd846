// For tests of the API: a server with routes of the test, an authenticator that believes what the
// request says, and a client. Included after gtest.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/api_server.hpp"

namespace pollux::api::test {

// "X-API-Token: admin", "viewer" or "later-admin" (told in a later turn); anything else is 401.
class FakeAuthenticator final : public Authenticator {
  public:
    explicit FakeAuthenticator(net::EventLoop& loop) : loop_(loop) {}

    void authenticate(const net::Request& request, const Route&, Done done) override {
        std::string_view token = request.header("X-API-Token").value_or("");
        const bool later = token.starts_with("later-");
        if (later) token.remove_prefix(6);
        std::expected<access::Principal, Problem> who = principal(token);
        who_ = token;
        if (!later) return done(std::move(who));
        loop_.post(
            [done = std::move(done), who = std::move(who)]() mutable { done(std::move(who)); });
    }
    access::RateDecision check_rate(const access::Principal&, const net::Request&,
                                    const Route& route) override {
        if (route.rate == access::RateClass::kNone) return {};
        if (left_ > 0) --left_;
        return {.admitted = left_ > 0,
                .limited = true,
                .limit = 1000,
                .remaining = left_,
                .reset = std::chrono::milliseconds(59'100),
                .retry_after_seconds = 60};
    }
    void refused(const Refusal& one) override {
        refusals_.push_back(fmt::format("{} {} {}", one.principal.name, one.code, one.object));
    }
    // On the API's thread, or before it runs.
    void set_left(std::uint32_t left) { left_ = left; }
    const std::vector<std::string>& refusals() const { return refusals_; }

  private:
    static std::expected<access::Principal, Problem> principal(std::string_view token) {
        access::Principal one;
        one.name = one.owner = token;
        one.kind = "user";
        if (token == "admin") {
            one.grants = {{.role = access::Role::kAdmin, .selector = {}}};
        } else if (token == "viewer") {
            one.grants = {{.role = access::Role::kViewer, .selector = {}}};
        } else {
            return std::unexpected(
                Problem{.status = 401, .code = "access.unauthenticated", .detail = "send a token"});
        }
        return one;
    }
    net::EventLoop& loop_;
    std::uint32_t left_ = 1000;
    std::string who_;
    std::vector<std::string> refusals_;
};

struct Reply {
    int status = 0;
    std::map<std::string, std::string> fields;  // names in lower case
    std::string body;
    std::string field(const std::string& name) const {
        const auto found = fields.find(name);
        return found == fields.end() ? "" : found->second;
    }
};

// A connection that waits: the test's thread is not the API's.
class Client {
  public:
    explicit Client(const net::SocketAddress& at) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
        timeval patience{.tv_sec = 30, .tv_usec = 0};
        setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
        if (connect(fd_, at.data(), at.length()) != 0) close();
    }
    ~Client() { close(); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    void send(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    // At least `count` bytes, or what there was before the end.
    std::string_view peek(std::size_t count) {
        while (in_.size() < count && more()) continue;
        return in_;
    }
    std::string take(std::size_t count) {
        std::string taken(peek(count).substr(0, count));
        in_.erase(0, taken.size());
        return taken;
    }
    bool ended() { return in_.empty() && !more(); }

    Reply reply(bool head_only = false) {
        std::size_t end = std::string::npos;
        while ((end = in_.find("\r\n\r\n")) == std::string::npos && more()) continue;
        if (end == std::string::npos) return {};
        Reply reply = parse_head(take(end + 4));
        if (head_only || reply.status == 304 || reply.status == 204 || reply.status == 101) {
            return reply;
        }
        if (reply.field("transfer-encoding") == "chunked") {
            reply.body = take_chunks();
        } else {
            reply.body = take(std::strtoul(reply.field("content-length").c_str(), nullptr, 10));
        }
        return reply;
    }
    Reply ask(std::string_view method, std::string_view target, std::string_view fields = {},
              std::string_view body = {}) {
        std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: a\r\n{}", method, target, fields);
        if (!body.empty()) text += fmt::format("Content-Length: {}\r\n", body.size());
        send(text + "\r\n" + std::string(body));
        return reply(method == "HEAD");
    }

  private:
    void close() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }
    bool more() {
        char buffer[16384];
        const auto got = fd_ < 0 ? 0 : recv(fd_, buffer, sizeof(buffer), 0);
        if (got <= 0) return false;
        in_.append(buffer, static_cast<std::size_t>(got));
        return true;
    }
    static Reply parse_head(std::string_view head) {
        Reply reply;
        reply.status = std::atoi(std::string(head.substr(9, 3)).c_str());
        head.remove_prefix(head.find("\r\n") + 2);
        while (head != "\r\n") {
            const std::string_view line = head.substr(0, head.find("\r\n"));
            head.remove_prefix(line.size() + 2);
            std::string name(line.substr(0, line.find(':')));
            for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            reply.fields[name] = line.substr(line.find(':') + 2);
        }
        return reply;
    }
    std::string take_chunks() {
        std::string body;
        while (true) {
            std::size_t end = std::string::npos;
            while ((end = in_.find("\r\n")) == std::string::npos && more()) continue;
            if (end == std::string::npos) return body;
            const std::size_t size = std::strtoul(take(end + 2).c_str(), nullptr, 16);
            body += take(size);
            take(2);
            if (size == 0) return body;
        }
    }
    int fd_;
    std::string in_;
};

// A log whose lines the test reads.
class LogLines {
  public:
    explicit LogLines(observe::LogLevel level)
        : log({.level = level, .repeats_per_minute = 0}, &net::wall_now,
              [this](std::string_view line) {
                  const std::scoped_lock lock(mutex_);
                  text_ += line;
              }) {}
    std::string text() {
        const std::scoped_lock lock(mutex_);
        return text_;
    }

  private:
    std::mutex mutex_;
    std::string text_;

  public:
    observe::Log log;
};

struct Stage {
    explicit Stage(std::vector<Route> routes, ApiServerOptions options = {})
        : server([&] {
              options.listen = {net::SocketAddress::loopback(0)};
              options.random = {1, 2};
              return ApiServer::create(std::move(options), lines.log).value();
          }()),
          authenticator(server->loop()) {
        const base::Status started =
            server->start(Router::create(std::move(routes)).value(), authenticator);
        EXPECT_TRUE(started) << started.error().message;
    }
    ~Stage() { server->stop(); }

    Reply ask(std::string_view method, std::string_view target, std::string_view fields = {},
              std::string_view body = {}) {
        return Client(server->addresses().at(0)).ask(method, target, fields, body);
    }

    LogLines lines{observe::LogLevel::kDebug};
    std::unique_ptr<ApiServer> server;
    FakeAuthenticator authenticator;
};

}  // namespace pollux::api::test
