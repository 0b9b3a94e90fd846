// Runs programs of this machine, such as Nagios plugins, without a shell. See child_process.hpp for
// the world they run in and exec_rules.hpp for what may be run.
//
// Invariants
// 1. A program that runs past its deadline is asked to end (SIGTERM to its group, and to what left
//    it) when the ask ends, and killed after a short grace; neither it nor what it started holds
//    the ask longer.
// 2. At most kMaxProcesses run at once, the rest waits its turn; of the output only the allowed
//    bytes are kept, and who prints far more is killed.
// 3. Every process that was started is reaped here, and no other.
#pragma once

#include <deque>
#include <list>
#include <memory>

#include "net/egress_policy.hpp"
#include "protocol/exec/child_process.hpp"
#include "protocol/exec/exec_rules.hpp"
#include "protocol/run_table.hpp"

namespace pollux::protocol {

inline constexpr std::size_t kMaxProcesses = 128;

class ExecDriver final : public Driver {
  public:
    ExecDriver(net::EventLoop& loop, exec::ExecRules rules,
               std::shared_ptr<const net::EgressPolicy> egress);
    ~ExecDriver() override;

    void start(Order order, Done done) override;
    void cancel(std::uint64_t id) override;
    std::size_t in_flight() const override { return runs_.size(); }

    // From the next program on.
    void set_rules(exec::ExecRules rules) { rules_ = std::move(rules); }
    void set_egress(std::shared_ptr<const net::EgressPolicy> egress) {
        egress_ = std::move(egress);
    }

    std::size_t processes() const { return processes_; }  // those that are dying included

  private:
    struct Run;
    class Dying;

    void launch(Run& run);
    void launch_waiting();
    void expire(Run& run);
    void finish(Run& run);
    void let_die(exec::ChildProcess child);
    base::Status check_host(const model::Ask& ask) const;

    net::EventLoop& loop_;
    exec::ExecRules rules_;
    std::shared_ptr<const net::EgressPolicy> egress_;
    std::size_t processes_ = 0;
    std::deque<std::uint64_t> waiting_;
    std::list<std::unique_ptr<Dying>> dying_;
    RunTable<Run> runs_;
    net::Timer next_;  // starts what waits
};

}  // namespace pollux::protocol
