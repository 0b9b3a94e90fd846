// 500 hosts over SSH through the whole server, each an address of its own behind real sshds: how
// many logins they see, and what a poll costs beside a start of the `ssh` program.
#pragma once

#include <csignal>
#include <fstream>

#include "bench/server_process.hpp"
#include "protocol/ssh/test_sshd.hpp"

namespace pollux::bench {

constexpr const char* kSshAddon = R"(schema: pollux/1
name: bench-ssh
version: 1.0.0
title: Load of a host
protocol: ssh
interval: 60s
timeout: 30s
ssh:
  commands:
    - {name: load, command: cat /proc/loadavg}
metrics:
  - {name: load1, type: gauge, endpoint: load, pattern: '^([0-9.]+) '}
)";

// Each host is an address; one sshd can listen on 16 of them. Root may log in by one key.
class SshHosts {
  public:
    explicit SshHosts(std::uint32_t hosts) : hosts_(hosts), port_(net::test::free_port()) {
        namespace test = protocol::ssh::test;
        key_ = test::make_key(folder_, "user_key", "ed25519");
        for (std::uint32_t first = 0; first < hosts; first += kAddresses) {
            std::vector<std::string> addresses;
            for (std::uint32_t i = first; i < std::min(first + kAddresses, hosts); ++i) {
                addresses.push_back(device_text(i));
            }
            Listener& one = *listeners_.emplace_back(std::make_unique<Listener>());
            one.folder.write("authorized_keys", folder_.read("user_key.pub"));
            one.sshd = std::make_unique<test::Sshd>(one.folder, "LoginGraceTime 120\n", port_,
                                                    "host_key", std::move(addresses));
        }
    }

    std::string fleet(double interval_s) const {
        return fleet_text({{.addon = "bench-ssh",
                            .count = hosts_,
                            .port = port_,
                            .more = ", credentials: bench"}},
                          fmt::format("{:.0f}s", interval_s)) +
               fmt::format("credentials:\n  bench: {{username: root, ssh_key: {}}}\n", key_);
    }

    double logins() const {
        std::size_t count = 0;
        for (const auto& one : listeners_) count += one->sshd->logins();
        return static_cast<double>(count);
    }

    // Sessions that are still there; the listeners themselves are none.
    std::vector<pid_t> sessions() const {
        std::vector<pid_t> found;
        for (const auto& one : listeners_) {
            std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", one->sshd->pid()));
            for (pid_t child = 0; file >> child;) found.push_back(child);
        }
        return found;
    }

    struct Cost {
        double wall_ms = 0;
        double cpu_ms = 0;
    };
    // Of one start of the ssh program that runs the same command, one after the other.
    Cost client_cost(int starts) const {
        const std::string script = fmt::format(
            "for i in $(seq 1 {}); do ssh -F none -p {} -i {} -o BatchMode=yes -o "
            "StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR "
            "root@127.1.0.$i cat /proc/loadavg || exit 1; done",
            starts, port_, key_);
        const double cpu = children_cpu_seconds();
        const double begin = wall_seconds();
        net::test::run_tool({"sh", "-c", script}, folder_);
        return {.wall_ms = (wall_seconds() - begin) / starts * 1000,
                .cpu_ms = (children_cpu_seconds() - cpu) / starts * 1000};
    }

  private:
    static constexpr std::uint32_t kAddresses = 16;

    struct Listener {
        TempDir folder;
        std::unique_ptr<protocol::ssh::test::Sshd> sshd;
    };

    TempDir folder_;
    std::uint32_t hosts_;
    std::uint16_t port_;
    std::string key_;
    std::vector<std::unique_ptr<Listener>> listeners_;
};

// What the command costs in ours beside a program that is started for each poll.
inline void add_ssh_costs(ResultTable& table, SshHosts::Cost ours, SshHosts::Cost peer) {
    table.add({.what = "  CPU of one poll",
               .ours = fmt::format("{:.2f} ms", ours.cpu_ms),
               .peer = "one start of ssh",
               .peers_figure = fmt::format("{:.1f} ms", peer.cpu_ms),
               .ratio = peer.cpu_ms / ours.cpu_ms});
    table.add({.what = "  time of one poll",
               .ours = fmt::format("{:.1f} ms", ours.wall_ms),
               .peer = "one start of ssh",
               .peers_figure = fmt::format("{:.1f} ms", peer.wall_ms),
               .ratio = peer.wall_ms / ours.wall_ms});
}

// The first round, in which every host is logged in to, and three more.
inline void watch_ssh(ResultTable& table, const SshHosts& hosts, const ServerProcess& server,
                      std::uint32_t count, double interval_s) {
    constexpr int kRounds = 3;
    const auto answered = [&] {
        sleep_seconds(0.5);
        const Metrics page = server.metrics();
        return page.sum("pollux_targets") == count && page.sum("pollux_targets_never_seen") == 0;
    };
    const std::chrono::seconds patience(120 + static_cast<int>(interval_s));
    table.require(Process::wait_until(patience, answered), "not every SSH host answered");
    const Metrics before = server.metrics();
    const Interval what = watch(server, interval_s * kRounds, "bench-ssh");
    const Metrics page = server.metrics();
    const auto grown = [&](std::string_view name) { return page.sum(name) - before.sum(name); };
    const double logins = hosts.logins();
    const double handshakes = page.sum("pollux_ssh_handshakes_total");
    const double good = page.sum("pollux_driver_asks_total", "protocol=\"ssh\",code=\"ok\"");
    const double all = page.sum("pollux_driver_asks_total", "protocol=\"ssh\"");
    table.require(what.polls >= count * (kRounds - 0.5), "SSH hosts were left out");
    table.add({.what = fmt::format("{} SSH hosts at {:.0f} s: handshakes", count, interval_s),
               .ours = fmt::format("{:.0f}, {:.0f} after the first", handshakes,
                                   grown("pollux_ssh_handshakes_total")),
               .goal = fmt::format("<= {}", count),
               .met = handshakes <= count && logins <= count,
               .peer = "logins in sshd's log",
               .peers_figure = fmt::format("{:.0f}", logins)});
    table.add({.what = "  polls over kept connections; failed",
               .ours = fmt::format("{:.0f}; {:.0f}", good - handshakes, all - good),
               .goal = "0 failed",
               .met = all == good});
    table.add(
        {.what = "  CPU, memory of the server",
         .ours = fmt::format("{:.1f} % of a core, {:.0f} MB", what.cpu_seconds / what.seconds * 100,
                             status_megabytes(server.pid(), "VmRSS"))});
    add_ssh_costs(table,
                  {.wall_ms = grown("pulse_monitor_poll_duration_seconds_sum") * 1000 /
                              grown("pulse_monitor_poll_duration_seconds_count"),
                   .cpu_ms = what.cpu_seconds / what.polls * 1000},
                  hosts.client_cost(20));
}

inline void measure_ssh(ResultTable& table, double interval_s) {
    constexpr std::uint32_t kHosts = 500;
    const TempDir folder;
    const SshHosts hosts(kHosts);
    folder.write("addons/bench-ssh.yaml", kSshAddon);
    const std::string file = folder.write("fleet.yaml", hosts.fleet(interval_s));
    const Settings limits = raised_limits(1000, 4096, 1000);
    fmt::print("# ssh: {} hosts at {:.0f} s,{}\n", kHosts, interval_s, to_text(limits));
    ServerProcess server(folder, {file}, limits);
    watch_ssh(table, hosts, server, kHosts, interval_s);
    server.stop();
    // Its sessions end with the connections; none may outlive the benchmark.
    const auto gone = [&] { return hosts.sessions().empty(); };
    const bool ended = Process::wait_until(std::chrono::seconds(30), gone);
    for (const pid_t left : hosts.sessions()) kill(left, SIGKILL);
    table.require(ended, "sessions of sshd did not end with their connections");
}

}  // namespace pollux::bench
