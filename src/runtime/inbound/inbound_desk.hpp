// The thread that listens: traps, webhooks and pushes arrive here, are stored, answered, and told.
// Devices speak when they want; so this thread has its own loop, its own bounds, and nothing that
// polling waits for.
//
// Everything public is called from any thread, unless it says otherwise; work is done on the desk's
// own thread. What is called back is called from that thread and must not block.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/siphash.hpp"
#include "config/settings.hpp"
#include "net/event_loop.hpp"
#include "net/resolver.hpp"
#include "observe/log.hpp"
#include "protocol/snmp/trap_security.hpp"
#include "runtime/inbound/confirm_gate.hpp"
#include "runtime/inbound/inbound_http.hpp"
#include "runtime/inbound/inbound_target.hpp"
#include "runtime/inbound/intake.hpp"
#include "runtime/inbound/trap_desk.hpp"
#include "runtime/inbound/trap_listener.hpp"
#include "runtime/worker_board.hpp"
#include "store/store.hpp"

namespace pollux::runtime {

// What can change while it runs.
struct InboundLimits {
    SourceRates rates;
    double confirm_rate = 10;
    base::Duration confirm_pause = std::chrono::seconds(10);
    store::ObservationLimits keep;
    base::Duration keep_for = std::chrono::hours(24 * 30);
    std::vector<net::IpRange> forwarders;
};

base::Result<InboundLimits> inbound_limits(const config::Settings& settings);

struct InboundOptions {
    std::vector<std::string> trap_listen;
    std::vector<int> passed_sockets;  // of systemd
    std::vector<std::string> http_listen;
    std::optional<net::TlsIdentity> tls = {};  // that senders over HTTP are shown
    std::size_t body_bytes = 256U << 10U;
    protocol::snmp::OwnEngine engine;
    base::SipKey random;  // for hashes of this process
    InboundLimits limits;
};

struct InboundWiring {
    // Makes the tasks due now; bounded by ConfirmGate.
    std::function<void(std::vector<std::string> tasks, model::ProtocolKind by)> confirm;
    SignalSink signals = {};  // from the desk's thread
};

// What is known of a target that sends heartbeats.
struct PushRow {
    std::string key;
    PushRecord record;
    base::WallTime expected;  // it counts as down then; zero: it is not awaited
};

class InboundDesk {
  public:
    // Opens the sockets, so that what is in the way is told at the start. `memories`: learned
    // memory of inbound targets by key, and of senders of traps. Store and log outlive it.
    static base::Result<std::unique_ptr<InboundDesk>> start(
        store::Store& store, observe::Log& log, InboundOptions options, InboundWiring wiring,
        std::vector<std::pair<std::string, std::string>> memories,
        std::shared_ptr<const InboundImage> image);
    ~InboundDesk();
    InboundDesk(const InboundDesk&) = delete;
    InboundDesk& operator=(const InboundDesk&) = delete;

    // Hears nothing more, stores what waits (at most a few seconds), ends the thread. Blocks.
    void stop();

    void set_image(std::shared_ptr<const InboundImage> image);
    void set_limits(InboundLimits limits);
    // A poll has proven the clock of an SNMP engine, which may send traps too.
    void prove(std::string engine_id, protocol::snmp::EngineClock clock);
    // What this engine (hexadecimal digits) says of its clock next is believed.
    void forget_sender(std::string engine, std::move_only_function<void(base::Status)> done);
    // What is raised now, as if it were told for the first time.
    void present(std::move_only_function<void(std::vector<SignalNews>)> done);
    void collect_counts(std::move_only_function<void(InboundCounts)> done);
    // Calls back from the desk's thread: it is alive; messages that wait, were stored, were not.
    void ask_alive(std::move_only_function<void(WorkCounts)> answer);
    // What is known of a target, as JSON.
    void explain(std::string key, std::move_only_function<void(std::string)> done);
    // Of all targets of push addons, sorted by key.
    void push_rows(std::move_only_function<void(std::vector<PushRow>)> done);
    // Listeners, counts, unknown senders, push targets, as JSON.
    void page(std::move_only_function<void(std::string)> done);

    // Of the opened sockets; does not change.
    const std::vector<std::string>& trap_addresses() const { return trap_addresses_; }
    const std::vector<std::string>& http_addresses() const { return http_addresses_; }

  private:
    InboundDesk(store::Store& store, observe::Log& log, InboundOptions options,
                InboundWiring wiring);
    base::Status open();
    void take_image(std::shared_ptr<const InboundImage> image);
    void take_limits(const InboundLimits& limits);
    void resolve_names();
    void tell(const HeardChange& change, std::uint64_t row, bool known);
    void follow(const HeardMessage& heard);
    void watch_pushes();
    void arm_push_timer();
    void keep_house();
    void save_clocks();
    void tell_crowd();
    InboundCounts counts();

    store::Store& store_;
    observe::Log& log_;
    InboundOptions options_;
    InboundWiring wiring_;
    std::vector<std::string> trap_addresses_;
    std::vector<std::string> http_addresses_;
    std::shared_ptr<net::EventLoop> loop_;
    std::thread thread_;

    // Only on the desk's thread, from its start on.
    InboundCounts counts_;
    TargetBook book_;
    std::unique_ptr<Intake> intake_;
    // Apart, because senders over UDP can be forged: what is said in the name of a host must not
    // use up what it may say over HTTP.
    std::unique_ptr<SourceLimiter> trap_limiter_;
    std::unique_ptr<SourceLimiter> http_limiter_;
    std::unique_ptr<ConfirmGate> gate_;
    std::unique_ptr<TrapListener> listener_;
    std::unique_ptr<TrapDesk> traps_;
    std::unique_ptr<InboundHttp> http_;
    std::unique_ptr<net::Resolver> resolver_;
    std::unique_ptr<net::Timer> push_timer_;
    std::unique_ptr<net::Timer> house_timer_;
    std::uint64_t house_turn_ = 0;
};

}  // namespace pollux::runtime
