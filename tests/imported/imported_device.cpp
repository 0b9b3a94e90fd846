#include "tests/imported/imported_device.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "base/check.hpp"
#include "runtime/shard_drivers.hpp"

namespace pollux::tests {

namespace {

std::string path_of(const std::string& name) {
    return "tests/imported/" + name + ".json";  // tests run in the root
}

}  // namespace

std::string imported_text(const std::string& name) {
    std::ifstream in(path_of(name));
    POLLUX_CHECK_MSG(in.good(), "a manifest is missing; run the test from the project's root");
    return {std::istreambuf_iterator<char>(in), {}};
}

extract::CompileResult load_imported(const std::string& name) {
    return extract::compile(imported_text(name), path_of(name));
}

std::vector<std::string> told_of(const std::vector<model::Signal>& signals) {
    std::vector<std::string> out;
    for (const model::Signal& signal : signals) {
        out.push_back(fmt::format("{}{}{} {}", signal.clear ? "clear " : "", signal.type,
                                  signal.subject.empty() ? "" : "/" + signal.subject,
                                  signal.severity));
    }
    return out;
}

ImportedDevice::ImportedDevice() : loop_(net::EventLoop::create().value()) {
    server_ = std::make_unique<net::HttpServer>(
        *loop_, net::HttpServerOptions{}, [this](net::Request request, net::Responder responder) {
            asked.push_back(request.method + " " + request.target);
            const auto found = pages.find(request.target);
            const auto [status, body] =
                found == pages.end() ? std::pair(404, std::string("nothing here")) : found->second;
            net::Response response = net::Response::text(status, body);
            if (status == 401) response.with("WWW-Authenticate", "Basic realm=\"device\"");
            responder.send(std::move(response));
        });
    port_ = server_->listen(net::SocketAddress::loopback(0)).value().port();
    drivers_ = runtime::real_drivers(std::make_shared<const net::EgressPolicy>())(*loop_);
}

ImportedDevice::~ImportedDevice() { drivers_.reset(); }

extract::TargetBinding ImportedDevice::binding() const {
    extract::TargetBinding binding;
    binding.host = "127.0.0.1";
    binding.port = port_;
    binding.device_name = "device";
    return binding;
}

std::vector<const model::Reply*> ImportedDevice::Poll::given() const {
    std::vector<const model::Reply*> out;
    for (const auto& reply : replies) out.push_back(reply ? &*reply : nullptr);
    return out;
}

ImportedDevice::Poll ImportedDevice::poll(const extract::CompiledAddon& addon,
                                          extract::TargetBinding binding) {
    const auto asks = addon.asks(0, binding);
    POLLUX_CHECK_MSG(asks.has_value(), "the requests could not be made");
    Poll out;
    auto next = addon.next_ask(0, {});
    while (next && *next < asks->size()) {
        out.replies.resize(*next);
        const auto& ask = (*asks)[*next];
        std::optional<model::Reply> got;
        const base::BootTime until = net::boot_now() + std::chrono::seconds(60);
        drivers_->of(*ask).start(
            {.id = ++last_id_, .ask = ask, .deadline = until, .fresh_login = false, .trace = false},
            [&](model::Reply&& reply) { got = std::move(reply); });
        while (!got) loop_->run_once(std::chrono::milliseconds(20));
        out.replies.emplace_back(std::move(got));
        next = addon.next_ask(0, out.given());
    }
    const base::WallTime now = net::instant_now().wall;
    out.failed = addon.failure(0, out.given()) != nullptr;
    out.readings = addon.read(0, out.given(), now);
    out.signals = addon.signals(0, out.given(), now, {binding.device_name, binding.host});
    return out;
}

}  // namespace pollux::tests
