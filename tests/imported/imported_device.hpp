// A device for tests of imported manifests: pages over real HTTP on loopback, asked by the real
// drivers as a shard does it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "extract/compiled_addon.hpp"
#include "net/event_loop.hpp"
#include "net/http_server.hpp"
#include "runtime/shard.hpp"

namespace pollux::tests {

// tests/imported/NAME.json, and compiled; the test fails with the diagnostics if it has errors.
std::string imported_text(const std::string& name);
extract::CompileResult load_imported(const std::string& name);

// "type/subject severity", with "clear " in front.
std::vector<std::string> told_of(const std::vector<model::Signal>& signals);

class ImportedDevice {
  public:
    ImportedDevice();
    ~ImportedDevice();

    // Path with its query: status and body. Others are 404.
    std::map<std::string, std::pair<int, std::string>> pages;
    std::vector<std::string> asked;  // "GET /path", in their order

    std::uint16_t port() const { return port_; }

    struct Poll {
        std::vector<std::optional<model::Reply>> replies;
        model::PollSignals signals;
        model::Readings readings;
        bool failed = false;

        std::vector<const model::Reply*> given() const;
        std::vector<std::string> told() const { return told_of(signals.signals); }
    };
    Poll poll(const extract::CompiledAddon& addon, extract::TargetBinding binding);

    // 127.0.0.1 and the port of this device.
    extract::TargetBinding binding() const;

  private:
    std::unique_ptr<net::EventLoop> loop_;
    std::unique_ptr<net::HttpServer> server_;
    std::unique_ptr<runtime::Drivers> drivers_;
    std::uint16_t port_ = 0;
    std::uint64_t last_id_ = 0;
};

}  // namespace pollux::tests
