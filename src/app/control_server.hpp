// The control socket of a running server: HTTP on `pollux.sock` in the data folder, for commands of
// the same user on the same machine. The files of the folder are the permission.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "net/event_loop.hpp"
#include "net/http_server.hpp"
#include "net/unix_listener.hpp"
#include "observe/log_tail.hpp"
#include "runtime/server.hpp"

namespace pollux::app {

inline constexpr const char* kControlSocket = "pollux.sock";

class ControlServer {
  public:
    // All outlive it; `log` may be null.
    static base::Result<std::unique_ptr<ControlServer>> start(
        net::EventLoop& loop, runtime::Server& server, const std::string& data_folder,
        const observe::LogTail* log = nullptr);

  private:
    ControlServer(net::EventLoop& loop, runtime::Server& server, const observe::LogTail* log);
    void handle(net::Request request, net::Responder responder);
    bool handle_text(const std::string& route, net::Responder& responder);
    bool explain_inbound(const std::string& key, net::Responder& responder);
    void events(const net::Request& request, net::Responder responder);
    void apply(const net::Request& request, net::Responder responder);
    void operate(const net::Request& request, net::Responder responder);
    void forget_sender(const net::Request& request, net::Responder responder);
    void change_setting(const net::Request& request, net::Responder responder);
    void answer(std::move_only_function<std::string(const runtime::CoreLoop::View&)> question,
                net::Responder responder);

    net::EventLoop& loop_;
    runtime::Server& server_;
    const observe::LogTail* log_;
    net::HttpServer http_;
    std::unique_ptr<net::UnixListener> listener_;
};

// The two pages of metrics, on a loopback port unless the settings say otherwise.
class MetricsServer {
  public:
    static base::Result<std::unique_ptr<MetricsServer>> start(net::EventLoop& loop,
                                                              runtime::Server& server);
    const net::SocketAddress& address() const { return address_; }
    // Appends further families to the page about Pollux itself.
    void set_more(std::function<void(std::string&)> more) { more_ = std::move(more); }

  private:
    MetricsServer(net::EventLoop& loop, runtime::Server& server);
    void handle(const net::Request& request, net::Responder responder);

    runtime::Server& server_;
    net::HttpServer http_;
    net::SocketAddress address_;
    std::function<void(std::string&)> more_;
};

// Body of POST /apply: the files as JSON, and back.
std::string encode_files(const std::vector<config::FileText>& files);
base::Result<std::vector<config::FileText>> decode_files(const std::string& body);

}  // namespace pollux::app
