#include "lab/fleet_server.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <future>
#include <utility>

#include "lab/fleet_control.hpp"
#include "lab/http_devices.hpp"
#include "lab/udp_agents.hpp"
#include "net/event_loop.hpp"
#include "net/http_server.hpp"
#include "net/tls_stream.hpp"

namespace pollux::lab {

// In the order they are built; the loop goes last.
struct FleetServer::Servers {
    std::unique_ptr<net::EventLoop> loop;
    base::BootTime epoch;
    std::unique_ptr<Wiring> wiring;
    std::unique_ptr<UdpAgents> agents;
    std::unique_ptr<HttpDevices> devices;
    std::unique_ptr<FleetControl> control;
    std::unique_ptr<net::HttpServer> control_server;

    FleetTime now() const { return loop->now() - epoch; }
};

void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

FleetServer::FleetServer(const FleetOptions& options) : options_(options) {}

FleetServer::~FleetServer() { stop(); }

void FleetServer::stop() {
    if (!thread_.joinable()) return;
    servers_->loop->stop();
    thread_.join();
    servers_->control_server.reset();
    servers_->devices.reset();
    servers_->agents.reset();
}

base::Result<std::unique_ptr<FleetServer>> FleetServer::start(const FleetOptions& options) {
    if (options.snmp > kMaxDevicesPerKind || options.http > kMaxDevicesPerKind) {
        return base::config_error(
            "lab.fleet",
            fmt::format("a fleet has at most {} devices of a kind", kMaxDevicesPerKind));
    }
    auto profile = find_profile(options.profile);
    if (!profile) return std::unexpected(profile.error());
    raise_descriptor_limit();
    std::unique_ptr<FleetServer> server(new FleetServer(options));
    server->fleet_ =
        std::make_unique<Fleet>(options.snmp, options.http, options.seed, std::move(*profile));
    if (auto opened = server->open(); !opened) return std::unexpected(opened.error());
    server->thread_ = std::thread([loop = server->servers_->loop.get()] { loop->run(); });
    return server;
}

base::Status FleetServer::open() {
    servers_ = std::make_unique<Servers>();
    auto loop = net::EventLoop::create();
    if (!loop) return std::unexpected(loop.error());
    servers_->loop = std::move(*loop);
    servers_->epoch = servers_->loop->now();
    servers_->wiring = std::make_unique<Wiring>(*fleet_);
    auto agents = UdpAgents::open(
        *servers_->loop, options_.port_snmp, servers_->epoch,
        [this](std::uint32_t address) { return fleet_->find_snmp(address); },
        servers_->wiring.get());
    if (!agents) return std::unexpected(agents.error());
    servers_->agents = std::move(*agents);
    servers_->devices = std::make_unique<HttpDevices>(
        *servers_->loop, servers_->epoch, options_.seed,
        [this](std::uint32_t address) { return fleet_->find_http(address); });
    const auto identity = net::make_self_signed(
        {.common_name = "lab device", .names = {"*.lab.example"}, .addresses = {}});
    if (!identity) return std::unexpected(identity.error());
    certificate_ = identity->certificate;
    const auto tls = net::TlsServerContext::create(*identity);
    if (!tls) return std::unexpected(tls.error());
    const auto http = servers_->devices->listen(options_.port_http, nullptr);
    if (!http) return std::unexpected(http.error());
    const auto https = servers_->devices->listen(options_.port_https, &*tls);
    if (!https) return std::unexpected(https.error());
    servers_->control = std::make_unique<FleetControl>(
        *fleet_, [this] { return servers_->now(); }, [this] { return status_json(); });
    servers_->control_server = std::make_unique<net::HttpServer>(
        *servers_->loop, net::HttpServerOptions{.max_connections = 64},
        [this](net::Request request, net::Responder responder) {
            responder.send(servers_->control->answer(request));
        });
    const auto control =
        servers_->control_server->listen(net::SocketAddress::loopback(options_.port_control));
    if (!control) return std::unexpected(control.error());
    ports_ = {.snmp = servers_->agents->port(),
              .http = *http,
              .https = *https,
              .control = control->port()};
    return {};
}

void FleetServer::run(std::function<void()> work) {
    if (!thread_.joinable()) return work();
    std::promise<void> done;
    servers_->loop->post([&] {
        work();
        done.set_value();
    });
    done.get_future().wait();
}

FleetCounters FleetServer::counters() const {
    FleetCounters counters;
    if (servers_->agents != nullptr) {
        counters.snmp_requests = servers_->agents->counters().requests;
        counters.snmp_answers = servers_->agents->counters().answers;
    }
    if (servers_->devices != nullptr) {
        counters.http_requests = servers_->devices->counters().plain;
        counters.https_requests = servers_->devices->counters().secure;
    }
    return counters;
}

std::vector<DeviceLoad> FleetServer::take_http_loads() {
    std::vector<DeviceLoad> loads;
    run([&] { loads = servers_->devices->take_loads(); });
    return loads;
}

std::array<std::uint32_t, kFaultKinds> FleetServer::count_faults() {
    std::array<std::uint32_t, kFaultKinds> counts{};
    run([&] { counts = fleet_->count_faults(servers_->now()); });
    return counts;
}

base::Status FleetServer::set_fault(const std::string& name, FaultKind kind, base::Duration lasts,
                                    std::uint32_t amount) {
    base::Status result;
    run([&] {
        const FleetTime now = servers_->now();
        const bool for_ever = lasts >= FleetTime::max() - now;
        const Fault fault{
            .kind = kind, .until = for_ever ? FleetTime::max() : now + lasts, .amount = amount};
        result = fleet_->set_fault(name, fault, now);
    });
    return result;
}

base::Status FleetServer::clear_faults(const std::string& name) {
    base::Status result;
    run([&] { result = fleet_->clear_faults(name); });
    return result;
}

void FleetServer::clear_all_faults() {
    run([&] { fleet_->clear_all_faults(); });
}

base::Status FleetServer::set_profile(const std::string& name) {
    auto profile = find_profile(name);
    if (!profile) return std::unexpected(profile.error());
    run([&] { fleet_->set_profile(std::move(*profile)); });
    return {};
}

std::string FleetServer::status_json() {
    const FleetCounters now = counters();
    const auto faults = fleet_->count_faults(servers_->now());
    std::string text = fmt::format(
        "{{\"profile\":\"{}\",\"seed\":{},\"snmp_devices\":{},\"http_devices\":{},"
        "\"snmp_requests\":{},\"snmp_answers\":{},\"http_requests\":{},\"https_requests\":{},"
        "\"connections\":{},\"faults\":{{",
        fleet_->profile().name, options_.seed, fleet_->snmp().size(), fleet_->http().size(),
        now.snmp_requests, now.snmp_answers, now.http_requests, now.https_requests,
        servers_->devices->connections());
    bool first = true;
    for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
        if (faults[kind] == 0) continue;
        text += fmt::format("{}\"{}\":{}", std::exchange(first, false) ? "" : ",",
                            kFaultNames[kind], faults[kind]);
    }
    return text + "}}\n";
}

}  // namespace pollux::lab
