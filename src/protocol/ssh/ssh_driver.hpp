// Runs commands on hosts over SSH. Connections are kept per host, port and credentials, and used
// again: in steady state a host sees no handshake but the first.
//
// Invariants
// 1. A host's key is checked before anything is shown to it; see host_keys.hpp.
// 2. A connection that broke before the command was sent is replaced once, silently; after that the
//    command may have run, and the failure is told.
// 3. Connections and output are bounded; a server that stalls at any point costs one connection
//    until the deadline of the ask.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>

#include "net/egress_policy.hpp"
#include "net/resolver.hpp"
#include "protocol/run_table.hpp"
#include "protocol/ssh/ssh_connection.hpp"

namespace pollux::protocol {

class SshDriver final : public Driver {
  public:
    SshDriver(net::EventLoop& loop, net::Resolver& resolver,
              std::shared_ptr<const net::EgressPolicy> egress, ssh::SshRules rules);
    ~SshDriver() override;

    void start(Order order, Done done) override;
    void cancel(std::uint64_t id) override;
    std::size_t in_flight() const override { return runs_.size(); }

    void set_rules(ssh::SshRules rules) { rules_ = std::move(rules); }
    // Also closes what is idle: the next command asks the new policy.
    void set_egress(std::shared_ptr<const net::EgressPolicy> egress);

    std::size_t connections() const { return connections_.size(); }
    std::uint64_t handshakes() const { return handshakes_; }

  private:
    struct Run;
    using Connections = std::list<std::unique_ptr<ssh::SshConnection>>;

    void assign(Run& run, bool fresh);
    ssh::SshConnection* connection_for(const std::string& key, Run& run, bool fresh);
    bool make_room();
    void release(Run& run);
    void drop(ssh::SshConnection& connection);
    void command_ended(std::uint64_t id, std::optional<model::PollFailure> failure);
    void connection_failed(ssh::SshConnection& connection, const model::PollFailure& failure);
    void expire(Run& run);
    void maintain();
    void finish(Run& run);

    net::EventLoop& loop_;
    net::Resolver& resolver_;
    std::shared_ptr<const net::EgressPolicy> egress_;
    ssh::SshRules rules_;
    ssh::KeyFiles keys_;
    ssh::AgentThreads agent_threads_;
    std::uint64_t handshakes_ = 0;
    Connections connections_;
    std::map<std::string, ssh::SshConnection*, std::less<>> by_key_;  // who gets new commands
    Connections dropped_;
    net::Timer bury_;
    net::Timer maintain_;
    RunTable<Run> runs_;  // goes first: its runs let go of their connections
};

}  // namespace pollux::protocol
