// Asks the lists of other systems (file_sd, http_sd) for devices, each at its own pace, and tells
// what it found. A list that cannot be read or is broken changes nothing and is told.
//
// Lives on the main loop; files are read there, servers are asked without blocking.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "config/fleet.hpp"
#include "config/secret_reference.hpp"
#include "net/egress_policy.hpp"
#include "net/event_loop.hpp"
#include "net/http_client.hpp"
#include "net/resolver.hpp"
#include "observe/log.hpp"

namespace pollux::runtime {

class SourceKeeper {
  public:
    using Found = config::ByName<config::Device>;
    using Devices = std::map<std::string, Found, std::less<>>;  // by source

    // `changed` is called when a list differs from what it was, and all lists are known.
    SourceKeeper(net::EventLoop& loop, observe::Log& log, config::SecretSource secrets,
                 std::shared_ptr<const net::EgressPolicy> egress,
                 std::move_only_function<void(const Devices&)> changed);
    ~SourceKeeper();

    // The sources of the fleet; those that are new or changed are asked at once.
    void set(const config::ByName<config::Source>& sources,
             const config::ByName<config::Credential>& credentials);
    // Asks all of them now.
    void refresh();

  private:
    struct Entry;

    void ask(Entry& entry);
    void ask_files(Entry& entry);
    void ask_server(Entry& entry);
    void stop_asking(Entry& entry);
    void take(Entry& entry, const std::string& text, const std::string& file, Found& into,
              bool& good);
    void finish(Entry& entry, Found found, bool good);
    void tell();

    net::EventLoop& loop_;
    observe::Log& log_;
    config::SecretSource secrets_;
    std::shared_ptr<const net::EgressPolicy> egress_;
    std::move_only_function<void(const Devices&)> changed_;
    config::ByName<config::Credential> credentials_;
    std::map<std::string, std::unique_ptr<Entry>, std::less<>> entries_;
    std::unique_ptr<net::Resolver> resolver_;  // made when the first server is asked
    std::unique_ptr<net::HttpClient> client_;
    std::uint64_t next_id_ = 1;
};

}  // namespace pollux::runtime
