// The HTTP server of the API: a thread with a loop of its own, and the way of every request through
// it: id and trace → route → who asks → how often → may they → is it well formed → handler →
// answer.
//
//   auto server = ApiServer::create(options, log).value();
//   …authenticator and routes, which may use server->loop()…
//   server->start(std::move(router), authenticator);
//
// create(), start() and stop() belong to the owner's thread. Handlers and the authenticator run on
// the API's thread and must not block it. Nothing is reachable without a login but the routes that
// say so; there are no CORS headers, so that pages of other sites cannot read answers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/authenticator_port.hpp"
#include "api/call.hpp"
#include "api/http_metrics.hpp"
#include "api/idempotency.hpp"
#include "api/router.hpp"
#include "base/result.hpp"
#include "base/siphash.hpp"
#include "net/event_loop.hpp"
#include "net/http_server.hpp"
#include "net/tls_stream.hpp"
#include "observe/log.hpp"

namespace pollux::api {

struct ApiServerOptions {
    std::vector<net::SocketAddress> listen = {};
    bool allow_non_loopback = false;  // exposing the API is a decision somebody takes
    std::optional<net::TlsIdentity> tls = {};
    net::HttpServerOptions http = {};  // limits and timeouts; limits of bodies come from the routes
    base::Duration drain = std::chrono::seconds(2);  // how long stop() waits for answers under way
    base::SipKey random = {};  // of the system: for ids of requests and prints of bodies
};

class ApiServer final : private CallSink {
  public:
    static base::Result<std::unique_ptr<ApiServer>> create(ApiServerOptions options,
                                                           observe::Log& log);
    ~ApiServer();  // stops
    ApiServer(const ApiServer&) = delete;
    ApiServer& operator=(const ApiServer&) = delete;

    net::EventLoop& loop() { return *loop_; }
    HttpMetrics& metrics() { return metrics_; }

    // Listens on all addresses, then serves. The authenticator stays until stop().
    base::Status start(Router router, Authenticator& authenticator);
    // Where it listens, with the ports the kernel chose.
    const std::vector<net::SocketAddress>& addresses() const { return addresses_; }
    // Lets answers under way finish, then ends the thread. May be called again.
    void stop();

  private:
    ApiServer(ApiServerOptions options, observe::Log& log, std::unique_ptr<net::EventLoop> loop);

    // The stages of a request, in this order.
    void receive(net::Request request, net::Responder responder);
    void authenticate(Call call);
    void authenticated(Call call, std::expected<access::Principal, Problem> who);
    void admit(Call call);
    void validate(Call call);
    void handle(Call call);

    void tell_refusal(const Call& call, std::string_view code);
    bool limited(Call& call);  // whether it was refused for its rate; then it is answered
    void answer_unmatched(Call call, const RouteMatch& match);
    std::optional<Problem> check_body(const Call& call) const;
    // Whether the call shall be handled; otherwise it is answered.
    bool begin_idempotent(Call& call);

    void finish(Call call, net::Response response) override;
    net::StreamHandle finish_stream(Call call, net::Response head, net::BodySource source,
                                    std::optional<std::uint64_t> length) override;
    void finish_upgrade(Call call, net::Response head, net::UpgradeTaker taker) override;
    void add_fields(const Call& call, net::Response& response) const;
    void record(const Call& call, int status);
    net::Response error_page(int status, std::string_view reason);
    std::string next_id();

    ApiServerOptions options_;
    observe::Log& log_;
    std::unique_ptr<net::EventLoop> loop_;
    std::shared_ptr<CallHome> home_;
    std::optional<Router> router_;
    Authenticator* authenticator_ = nullptr;
    HttpMetrics metrics_;
    IdempotencyTable idempotency_;
    std::optional<net::TlsServerContext> tls_;
    std::unique_ptr<net::HttpServer> http_;
    std::vector<net::SocketAddress> addresses_;
    std::uint64_t requests_ = 0;
    std::thread thread_;
};

}  // namespace pollux::api
