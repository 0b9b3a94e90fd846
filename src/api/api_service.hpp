// The API of a running server, whole: accounts, authenticator, routes, the HTTP server and its
// thread, wired to the server it shows. Owned by the main thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/account_handlers.hpp"
#include "api/accounts.hpp"
#include "api/api_server.hpp"
#include "api/authenticator.hpp"
#include "api/event_collector.hpp"
#include "api/event_hub.hpp"
#include "api/loop_door.hpp"
#include "api/server_link.hpp"
#include "base/result.hpp"
#include "base/secret.hpp"
#include "net/event_loop.hpp"
#include "net/work_pool.hpp"
#include "observe/log.hpp"
#include "runtime/server.hpp"
#include "store/audit/refusal_counter.hpp"

namespace pollux::api {

struct ApiServiceOptions {
    std::string version;  // of the program
    PasswordCost password_cost = {};
};

class ApiService {
  public:
    // Listens where the settings say and serves. `server` and `log` outlive it. An empty list of
    // addresses is no error: nothing is served then.
    static base::Result<std::unique_ptr<ApiService>> start(net::EventLoop& main,
                                                           runtime::Server& server,
                                                           observe::Log& log,
                                                           ApiServiceOptions options);
    ~ApiService();
    ApiService(const ApiService&) = delete;
    ApiService& operator=(const ApiService&) = delete;

    // Ends what is under way, then the thread. The server must still be there.
    void stop();

    // Tells everybody who follows events; from any thread. `data` is a JSON value.
    void publish(EventType type, std::string key, std::string data);

    const std::vector<net::SocketAddress>& addresses() const { return http_->addresses(); }
    // The one-time token of a server without an admin: to be shown to who started it.
    const std::optional<base::Secret>& bootstrap_token() const { return bootstrap_; }
    // Takes over what the settings say about access. On the main thread.
    void take_settings(const config::Settings& settings);
    void write_metrics(std::string& out) const;

  private:
    ApiService(net::EventLoop& main, runtime::Server& server, observe::Log& log,
               ApiServiceOptions options);
    base::Status open();
    base::Status load_accounts();
    void make_hub();
    ServerLink link();
    std::vector<Route> routes();
    void keep_house();
    void record_refusal(model::AuditEntry entry, store::RefusalCounter& unknown);
    void write_refusals(bool all);
    void submit_refusals(std::vector<model::AuditEntry> entries);
    base::Result<ApiServerOptions> server_options() const;

    net::EventLoop& main_;
    runtime::Server& server_;
    observe::Log& log_;
    ApiServiceOptions options_;
    std::unique_ptr<ApiServer> http_;
    std::shared_ptr<LoopDoor> door_;  // to the loop of http_
    std::unique_ptr<Accounts> accounts_;
    std::unique_ptr<AccountAuthenticator> authenticator_;
    std::unique_ptr<AccountHandlers> account_handlers_;
    std::unique_ptr<EventHub> hub_;
    std::unique_ptr<EventCollector> collector_;
    std::unique_ptr<net::Timer> house_;  // on the API's loop
    // Likewise. Of logins and of other requests each: many of one do not hide the other.
    store::RefusalCounter refused_logins_;
    store::RefusalCounter refused_requests_;
    std::optional<base::Secret> bootstrap_;
    bool stopped_ = false;
    // Last, so that they end first: their work posts to the loop above.
    net::WorkPool hashes_;  // passwords: two at once
    net::WorkPool reads_;   // of the store
};

}  // namespace pollux::api
