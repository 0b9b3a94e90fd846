// A server with its surroundings: loop, log, signals, control socket and metrics. Used by `serve`
// and `demo`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/api_service.hpp"
#include "app/control_server.hpp"
#include "app/notifying.hpp"
#include "base/result.hpp"
#include "config/settings_resolve.hpp"
#include "net/event_loop.hpp"
#include "observe/log.hpp"
#include "observe/log_tail.hpp"
#include "runtime/server.hpp"

namespace pollux::app {

struct ServeArguments {
    std::string data = "data";
    std::vector<std::string> fleet;
    std::string addons;
    std::string log_format = "logfmt";
    std::string log_file;  // empty: standard error
    bool memory = false;
};

class Serving final : private net::FdHandler {
  public:
    // Blocks SIGTERM, SIGINT and SIGHUP in this thread and those it makes: they arrive at the loop.
    static base::Result<std::unique_ptr<Serving>> start(const ServeArguments& arguments,
                                                        const config::Environment& environment);
    ~Serving();

    // Until SIGTERM or SIGINT; SIGHUP reloads. Returns when everything is written down.
    void run();

    net::EventLoop& loop() { return *loop_; }
    runtime::Server& server() { return *server_; }
    // Where the API is; empty: nowhere.
    std::string api_address() const;
    // With its scheme, for people: "http://127.0.0.1:7655"; empty: nowhere.
    std::string api_url() const;
    // Of a server without an admin; empty: it has one.
    std::string bootstrap_token() const;
    const net::SocketAddress& metrics_address() const { return metrics_->address(); }

  private:
    Serving() = default;
    base::Status open_log(const ServeArguments& arguments);
    base::Status watch_signals();
    base::Status start_api();
    void on_ready(int fd, std::uint32_t events) override;

    std::unique_ptr<net::EventLoop> loop_;
    observe::LogTail log_tail_;
    std::unique_ptr<observe::Log> log_;
    std::unique_ptr<runtime::Server> server_;
    std::unique_ptr<Notifying> notifying_;
    std::unique_ptr<ControlServer> control_;
    std::unique_ptr<api::ApiService> api_;
    std::unique_ptr<MetricsServer> metrics_;
    runtime::ServiceManager manager_{"", std::nullopt};
    int signal_fd_ = -1;
    int log_fd_ = -1;
};

// What to do with a server that has no admin yet, for the terminal and not for the log: whoever
// reads logs must not become the admin. Empty: it has one.
std::string first_steps(const Serving& serving);

// All addons: those in the binary, and those of a folder (may be empty) over them. Fails if one of
// the folder is wrong.
base::Result<runtime::AddonSet> load_addon_set(const std::string& folder);

}  // namespace pollux::app
