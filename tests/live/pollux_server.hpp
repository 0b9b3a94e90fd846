// `pollux serve` as a process of a test: started, asked, killed and started again on the same data
// folder. Every method blocks, at most for a generous time; what cannot be had fails the test.
//
//   net::test::TempDir folder;
//   PolluxServer server(folder, folder.write("fleet.yaml", text));
//   server.start();
//   ASSERT_TRUE(eventually([&] { return server.metrics().sum("pollux_targets_never_seen") == 0;
//   }));
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "document/node.hpp"
#include "net/test_process.hpp"
#include "net/unix_listener.hpp"
#include "tests/live/log_lines.hpp"
#include "tests/live/metrics_page.hpp"

namespace pollux::live {

using Environment = std::vector<std::pair<std::string, std::string>>;

// Far beyond what is needed: a loaded machine with sanitizers is slow.
inline constexpr std::chrono::seconds kLong{120};

// Whether the condition came to hold in time. Asks a few times a second: a page is not free.
bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds patience = kLong);

struct CommandResult {
    int code = -1;
    std::string output;  // both streams
};

// `pollux <arguments>`, to its end.
CommandResult run_pollux(const net::test::TempDir& folder, std::vector<std::string> arguments,
                         const Environment& environment = {});

class PolluxServer {
  public:
    // The data folder is <folder>/data unless it is given; an empty fleet: what was applied before.
    PolluxServer(const net::test::TempDir& folder, std::string fleet, Environment environment = {},
                 std::string data = "");

    void use_addons(std::string folder) { addons_ = std::move(folder); }
    void start();  // returns when its pages can be asked
    void kill();   // as a power cut does
    int stop();    // as an operator does; the exit code
    void hang_up() { process_->signal(SIGHUP); }
    void freeze() { process_->signal(SIGSTOP); }  // it is there, and does nothing
    void thaw() { process_->signal(SIGCONT); }
    bool running() { return process_ && process_->running(); }

    // Whether every target answered at least once in time; there is one at least.
    bool everyone_answers() const;
    MetricsPage metrics() const { return page("/metrics"); }
    MetricsPage device_metrics() const { return page("/metrics/devices"); }
    const std::string& address() const { return address_; }  // of the pages, "127.0.0.1:port"
    const std::string& api_address() const { return api_; }  // "127.0.0.1:port"
    // What a server without an admin prints for who started it; waits for it.
    std::string bootstrap_token() const;
    pid_t pid() const { return process_->pid(); }
    const std::string& data() const { return data_; }
    std::chrono::steady_clock::time_point started_at() const { return started_at_; }

    std::string log() const { return process_ ? process_->output() : ""; }  // of this life
    std::vector<LogLine> lines() const { return log_lines(log()); }
    // Of all lives, in order.
    std::vector<LogLine> all_lines() const;
    std::string all_logs() const;

    // What is said about a target, as `pollux explain --json` prints it.
    document::Node explain(const std::string& key) const;
    // Its field `task`.`field`; empty if there is none.
    std::string task_field(const std::string& key, const std::string& field) const;
    CommandResult command(std::vector<std::string> arguments) const;
    net::UnixAnswer ask_control(const std::string& method, const std::string& target) const;

  private:
    MetricsPage page(const std::string& path) const;

    const net::test::TempDir& folder_;
    std::string fleet_;
    Environment environment_;
    std::string data_;
    std::string addons_;
    std::string address_;
    std::string api_;
    std::string earlier_;  // logs of the lives before
    std::chrono::steady_clock::time_point started_at_;
    std::unique_ptr<net::test::Process> process_;
};

}  // namespace pollux::live
