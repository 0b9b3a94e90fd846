// One I/O thread: asks devices, reads and derives their answers, reports to the core.
//
// A device always lives on the same shard, so its connections, its memory and its limits need no
// lock. Everything public is called from any thread; the work is done on the shard's own.
//
// Invariants
// 1. Each order leads to exactly one report, whatever the device does; orders under way when the
//    shard stops are reported by nobody and end as interrupted.
// 2. What a poll taught (counters, levels, rows) is kept per task and bounded; it goes with the
//    task.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/time.hpp"
#include "derive/target_memory.hpp"
#include "net/egress_policy.hpp"
#include "net/event_loop.hpp"
#include "protocol/driver.hpp"
#include "runtime/command_rules.hpp"
#include "runtime/device_page.hpp"
#include "runtime/poll_reading.hpp"
#include "runtime/profile_row.hpp"
#include "runtime/run_order.hpp"
#include "runtime/series_directory.hpp"
#include "runtime/signal_journal.hpp"
#include "runtime/worker_board.hpp"
#include "store/history/history.hpp"

namespace pollux::runtime {

// Counts since the start, by protocol.
struct ProtocolCounts {
    std::map<std::string, std::uint64_t, std::less<>> ended;  // by code; "ok" for success
    std::uint64_t in_flight = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
};

struct ShardCounts {
    std::map<std::string, ProtocolCounts, std::less<>> protocols;
    std::uint64_t snmp_pdus = 0;
    std::map<std::string, std::uint64_t, std::less<>> snmp_reports;  // of SNMPv3, by kind
    std::uint64_t snmp_discoveries = 0;
    std::uint64_t snmp_resyncs = 0;
    std::uint64_t snmp_untrusted = 0;
    SnmpProfileCounts snmp_profiles;
    std::uint64_t ssh_handshakes = 0;
    std::uint64_t ssh_connections = 0;  // open now
    base::Duration longest_turn{};
};

// The drivers of one shard, by what is asked, and what they share (resolver, clients).
class Drivers {
  public:
    virtual ~Drivers() = default;
    virtual protocol::Driver& of(const model::Ask& ask) = 0;
    // From the next connection on.
    virtual void set_egress(std::shared_ptr<const net::EgressPolicy> egress) = 0;
    // From the next command on.
    virtual void set_rules(CommandRules /*rules*/) {}
    // What the drivers learned about devices, to be kept over a restart. Empty: nothing new since
    // the last call.
    virtual std::string learned() { return {}; }
    // All of it, at any time.
    virtual std::string all_learned() const { return {}; }
    // What learned() gave to an earlier process; bytes that are no good are ignored.
    virtual void recall(std::string_view /*learned*/) {}
    virtual void count(ShardCounts& /*counts*/) const {}
    virtual std::vector<ProfileRow> profiles() const { return {}; }
};
// No key of a task: those have "::" in them.
inline constexpr std::string_view kDriverMemory = "drivers";
using MakeDrivers = std::function<std::unique_ptr<Drivers>(net::EventLoop&)>;

struct ShardWiring {
    std::function<void(std::vector<RunReport>)> report;
    store::History* history = nullptr;        // null: no history
    const SeriesDirectory* series = nullptr;  // with a history
    // What polls say about signals; empty: nobody wants to know.
    std::function<void(std::vector<PolledSignals>)> signals = {};
};

class Shard {
  public:
    Shard(std::size_t number, MakeDrivers make_drivers, ShardWiring wiring);
    ~Shard();

    void start();
    void stop();

    void dispatch(std::vector<RunOrder> orders);
    void cancel(std::vector<RunCancel> cancels);
    void forget(std::uint32_t task);
    void set_egress(std::shared_ptr<const net::EgressPolicy> egress);
    void set_rules(CommandRules rules);
    // Memory of an earlier process, as the store kept it: by key of the task, and what the drivers
    // learned by kDriverMemory.
    void recall(std::vector<std::pair<std::string, std::string>> memories);
    // Memories that changed since the last call: key and bytes.
    void collect_memories(
        std::move_only_function<void(std::vector<std::pair<std::string, std::string>>)> done);
    void collect_devices(std::move_only_function<void(DevicePage)> done);
    void collect_learned(std::move_only_function<void(std::string)> done);
    void collect_profiles(std::move_only_function<void(std::vector<ProfileRow>)> done);
    void collect_counts(std::move_only_function<void(ShardCounts)> done);

    // Calls back from the shard's thread: it is alive, and this is what it did.
    void ask_alive(std::move_only_function<void(WorkCounts)> answer);

  private:
    struct ActiveRun {
        RunOrder order;
        base::BootTime started;
        std::vector<std::optional<model::Reply>> replies;  // nothing: was not asked
        std::shared_ptr<const model::Ask> ask;             // under way
        std::uint64_t id = 0;                              // of the ask under way
        std::size_t address = 0;

        std::vector<const model::Reply*> given() const;
        bool cancelled = false;
    };
    struct TaskState {
        std::uint32_t generation = 0;
        std::shared_ptr<const PollPlan> plan;
        derive::TargetMemory memory;
        std::vector<std::int64_t> series;  // ids in history, by slot of the memory
        base::BootTime answered = base::BootTime::min();
        std::size_t address = 0;  // of the device's: the next after one that did not answer
        bool changed = false;     // since the memories were collected
        bool quiet = false;       // the last poll raised nothing, and that was told
        // What the conditions last told, and when; nothing: not since the plan changed.
        std::optional<std::uint64_t> alarms;
        base::BootTime alarms_told;
    };

    void weigh();
    void begin(RunOrder order);
    void ask(std::uint32_t index, std::size_t number);
    void on_reply(std::uint32_t index, model::Reply reply);
    void finish(std::uint32_t index);
    void keep_signals(TaskState& state, const ActiveRun& run, const PollReading& reading,
                      base::Instant now);
    bool has_news(TaskState& state, const PollReading& reading, base::BootTime now) const;
    void keep_samples(TaskState& state, const model::Observation& observation, base::WallTime at);
    TaskState& state_of(const RunOrder& order);
    TaskState* find_state(model::TaskHandle task);  // null: the task is gone
    void count(const model::Ask& ask, const model::Reply& reply);
    void flush();

    std::size_t number_;
    MakeDrivers make_drivers_;
    ShardWiring wiring_;
    std::unique_ptr<net::EventLoop> loop_;
    std::unique_ptr<net::Timer> flush_timer_;
    std::unique_ptr<Drivers> drivers_;
    std::thread thread_;

    // Only on the shard's thread.
    std::vector<ActiveRun> runs_;
    std::vector<std::uint32_t> free_runs_;
    std::map<model::RunId, std::uint32_t> by_run_;    // for cancels
    std::vector<std::unique_ptr<TaskState>> states_;  // by index of the task
    std::map<std::string, std::string, std::less<>> recalled_;
    std::vector<RunReport> reports_;
    store::SampleBatch samples_;
    std::vector<PolledSignals> signals_;
    ShardCounts counts_;
    std::uint64_t next_id_ = 1;
    // Of the states, walked a piece at a time: where it stands, what it found, the last whole walk.
    std::size_t weighed_ = 0;
    std::size_t weighing_bytes_ = 0;
    std::size_t memory_bytes_ = 0;
};

}  // namespace pollux::runtime
