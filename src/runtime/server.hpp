// The running whole: store, history, core, shards, settings and fleet, wired together. Owned by the
// main thread, on whose loop it keeps house; everything public is called from that thread.
//
// What people change goes one way: checked against everything, committed to the store, then given
// to the core. What is refused changes nothing.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "config/fleet_edit.hpp"
#include "config/fleet_reader.hpp"
#include "config/notify.hpp"
#include "config/objects.hpp"
#include "config/settings_resolve.hpp"
#include "model/audit.hpp"
#include "net/event_loop.hpp"
#include "observe/log.hpp"
#include "protocol/ssh/host_keys.hpp"
#include "runtime/addon_shelf.hpp"
#include "runtime/alerts/alert_desk.hpp"
#include "runtime/core_loop.hpp"
#include "runtime/event_feed.hpp"
#include "runtime/fleet_image.hpp"
#include "runtime/fleet_view.hpp"
#include "runtime/inbound/inbound_desk.hpp"
#include "runtime/jobs/job_desk.hpp"
#include "runtime/secret_files.hpp"
#include "runtime/service_manager.hpp"
#include "runtime/settings_file.hpp"
#include "runtime/shard.hpp"
#include "runtime/signal_journal.hpp"
#include "runtime/source_keeper.hpp"
#include "runtime/uptime/uptime_keeper.hpp"
#include "runtime/worker_board.hpp"
#include "store/audit/audit_verify.hpp"
#include "store/audit/checkpointer.hpp"
#include "store/data_directory.hpp"
#include "store/history/history.hpp"
#include "store/secret_vault.hpp"
#include "store/store.hpp"

namespace pollux::runtime {

struct ServerOptions {
    std::string data;  // folder of everything durable; empty: in memory, forgotten at the end
    config::Environment environment;
    AddonSet addons;
    // The fleet files, read again at every reload; empty: the fleet is what is stored.
    std::function<base::Result<std::vector<config::FileText>>()> fleet_files;
    // The templates of channels, read again at every reload; empty: no channel is checked.
    std::function<base::Result<std::shared_ptr<const config::ChannelRules>>(
        const config::Settings&)>
        channels = {};
    ServiceManager manager{"", std::nullopt};
    std::string version;
    bool offline = false;  // only the store: nothing is polled
};

// What becomes of an object that files name and the API or discovery owns. Who starts or reloads a
// server keeps it, with a warning: what was adopted in the dashboard must not stop the monitor.
enum class OwnedElsewhere : std::uint8_t { kRefuse, kAdopt, kKeep };

struct ApplyReport {
    std::string difference;  // for people
    std::size_t added = 0;
    std::size_t changed = 0;
    std::size_t removed = 0;
    std::vector<document::Diagnostic> warnings;
};

// Why something is changed: kept with it, in the same transaction.
struct Cause {
    std::string note;                           // where it came from, for people
    std::vector<model::AuditEntry> audit = {};  // entries of the audit trail
};

class Server {
  public:
    // Opens everything, restores what was, takes in the fleet files, and starts polling. Blocks.
    static base::Result<std::unique_ptr<Server>> start(net::EventLoop& loop, observe::Log& log,
                                                       ServerOptions options);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Lets runs under way end, writes everything down, ends the threads. Blocks a few seconds.
    void stop();

    // Takes in a fleet from files: all of it, or nothing with the reasons.
    base::Result<ApplyReport> apply(const std::vector<config::FileText>& files,
                                    OwnedElsewhere owned = OwnedElsewhere::kRefuse,
                                    const std::string& principal = "local:files");
    // Changes single objects, as the API does: all of them, or nothing with the reasons; codes as
    // in config/fleet_edit.hpp, and fleet.invalid. Fields of `diagnostics` are those of the bodies.
    base::Result<ApplyReport> edit(std::span<const config::WantedObject> wanted, const Cause& cause,
                                   document::Diagnostics& diagnostics);
    // Stores a manifest, takes it away, or switches an addon: checked with the whole fleet, then in
    // force at the next poll of each target. Codes as in addon_shelf.hpp, addon.in_use,
    // addon.invalid (see `diagnostics`: places are those of the manifest), fleet.invalid.
    base::Status change_addon(const AddonChange& change, bool only_check, const Cause& cause,
                              document::Diagnostics& diagnostics);
    // Reads the fleet files, the secrets and system.json again. An error: at least one of them was
    // refused, and what it says did not change.
    base::Status reload();
    // Changes settings; the note of the cause is kept with the version.
    base::Status change_settings(config::StoredSettings wanted, const Cause& cause);
    // What the fleet would be with other settings; changes nothing. An error as change_settings()
    // would give it.
    base::Result<FleetImage> preview_settings(const config::StoredSettings& wanted);
    // Called after each change of the settings, on the server's thread; empty: nobody.
    void on_settings(std::function<void(const config::Settings&)> changed) {
        settings_changed_ = std::move(changed);
    }
    void operate(schedule::OperatorAction action, std::move_only_function<void(base::Status)> done);

    // With an entry in the audit trail; `done` is called from the core's thread, see CoreLoop.
    void operate(schedule::OperatorAction action, std::optional<model::AuditEntry> entry,
                 CoreLoop::OperateDone done);

    // Answers come from the loop, in a later turn.
    void metrics(std::move_only_function<void(std::string)> done);
    void device_metrics(std::move_only_function<void(std::string)> done);
    // What was learned about SNMP devices.
    // What the drivers of each shard learned (see Drivers::recall()), so that a poll by hand knows
    // it too. Offline: what was stored.
    void learned(std::move_only_function<void(std::vector<std::string>)> done);
    void profiles(std::move_only_function<void(std::vector<ProfileRow>)> done);
    // `question` runs on the core's thread; what it returns is handed to `done` on the loop's.
    void ask(std::move_only_function<std::string(const CoreLoop::View&)> question,
             std::move_only_function<void(std::string)> done);

    // What is heard and not asked. False: no such target; `done` is then not called.
    bool explain_inbound(const std::string& key, std::move_only_function<void(std::string)> done);
    void inbound_page(std::move_only_function<void(std::string)> done);
    // See InboundDesk.
    void forget_sender(std::string engine, std::move_only_function<void(base::Status)> done);
    // `done` is called from the desk's thread; with nothing, at once, where nobody listens.
    void push_rows(std::move_only_function<void(std::vector<PushRow>)> done);
    // Where the sender of a webhook or a push finds its target. Holds the token.
    base::Result<base::Secret> inbound_url(const std::string& key, model::ProtocolKind kind) const;

    // The fleet and the settings of one moment. From any thread.
    std::shared_ptr<const FleetView> view() const;
    // Null when the server is offline. CoreLoop says which threads may call what.
    CoreLoop* core() { return core_.get(); }
    // What happens, for one reader. From any thread.
    EventFeed& events() { return events_; }
    // Of this life of the server; without a data folder, where nothing is counted, a random one.
    std::uint32_t event_epoch() const { return event_epoch_; }

    const config::Settings& settings() const { return settings_; }
    const config::StoredSettings& stored_settings() const { return stored_; }
    const std::vector<model::ConfigObject>& objects() const { return *objects_; }
    const FleetImage& image() const { return *image_; }
    // Users, tokens and sessions as they were loaded; the API owns them from then on. Once.
    std::vector<model::ConfigObject> take_account_objects() {
        return std::exchange(account_objects_, {});
    }
    store::Store& store() { return *store_; }
    // Looks the audit trail over, from any thread; blocks for as long as reading it takes. Gives
    // the key too, which checked it. Fails without a data folder, or when it cannot be read.
    base::Result<std::pair<store::AuditReport, std::shared_ptr<const store::AuditKey>>>
    verify_audit() const;
    store::History* history() { return history_.get(); }
    // Who works here, as of the last turn of the house.
    std::vector<WorkerRow> workers() const { return board_.rows(net::wall_now()); }
    std::vector<WorkerPoint> worker_points(std::string_view name) const {
        return board_.points(name, net::wall_now());
    }
    JobDesk* jobs() { return jobs_.get(); }  // null: offline
    // Receivers, routes, silences and the settings of alerts.
    std::shared_ptr<const NotifyPolicy> notify_policy() const;
    // The templates in force; null: none were given.
    const std::shared_ptr<const config::ChannelRules>& channels() const { return channels_; }
    // How the sentinel fares, as it last said. From any thread.
    void note_sentinel(const model::SentinelStatus& status);
    model::SentinelStatus sentinel() const;
    // Called after each change of these, on the server's thread; empty: nobody.
    void on_notify_policy(std::function<void()> changed) { policy_changed_ = std::move(changed); }
    // The core answers and the store takes what it is given. From any thread.
    bool well() const { return well_.load(std::memory_order_relaxed); }
    // Null: offline. From any thread, until stop().
    AlertDesk* alerts() { return alert_desk_.load(std::memory_order_acquire); }
    // How long targets were up. Null: offline. From any thread that may block.
    UptimeKeeper* uptime() { return uptime_.get(); }
    base::WallTime started_at() const { return started_.wall; }

  private:
    Server(net::EventLoop& loop, observe::Log& log, ServerOptions options);
    base::Status open_store();
    base::Status load();
    base::Status load_settings();
    base::Status load_channels();
    static void check_silences(const config::Fleet& fleet, document::Diagnostics& diagnostics);
    void forget_silences();
    void check_channels(const config::ByName<model::Receiver>& receivers,
                        const config::Places& places, document::Diagnostics& diagnostics) const;
    base::Result<std::shared_ptr<const config::ChannelRules>> channels_for(
        const config::Settings& next, const config::Fleet& fleet) const;
    base::Status start_threads();
    void make_checkpointer(std::shared_ptr<const store::AuditKey> key);
    base::Status start_checkpoints();
    void trim_audit();
    void restore_tasks();
    void make_uptime();
    // In the loop's thread, unless the server is gone by then. From any thread.
    void later(std::move_only_function<void()> work);
    CoreWiring core_wiring();
    void make_jobs();
    void follow_jobs();
    ImageInputs inputs_of(const config::Fleet& fleet, const config::Places& places,
                          std::span<const model::ConfigObject> objects,
                          const config::Settings& settings, const AddonShelf& shelf);
    base::Result<FleetImage> image_of(const config::Fleet& fleet, const config::Places& places,
                                      std::span<const model::ConfigObject> objects,
                                      const config::Settings& settings,
                                      std::vector<document::Diagnostic>* warnings,
                                      const AddonShelf* shelf = nullptr);
    void shelve_addons();
    base::Status commit(config::ObjectEdits edits, const Cause& cause);
    base::Result<model::ConfigObject> sealed(model::ConfigObject object) const;
    base::Status take_objects(const config::FleetDiff& changes, const config::Places& places,
                              const Cause& cause, std::vector<document::Diagnostic>& warnings);
    void take_image(FleetImage next);
    void publish_view();
    void take_discovered(const SourceKeeper::Devices& found);
    void follow_sources();
    base::Status refresh();
    base::Status store_hand_edit();
    bool is_mirror_of_before(const std::string& text) const;
    void mirror_settings();
    base::Status store_settings(const config::StoredSettings& wanted, const Cause& cause);
    void keep_house();
    void watch_workers();
    void doubt_ourselves();
    void note_writers();
    base::Status look_at_settings_file();
    void save_memories(bool wait);
    base::Result<base::SipKey> inbound_key();
    // For the shards: what polls prove of clocks is news for whoever hears traps.
    std::function<void(const std::string&, const protocol::snmp::EngineClock&)> clock_proofs();
    base::Status start_desk(std::vector<std::pair<std::string, std::string>> memories);
    void load_alerts(store::LoadVisitor& visitor);
    base::Status make_alerts();
    base::Status run_alerts();
    void follow_alerts();
    void write_own_metrics(const std::vector<ShardCounts>& shards, const InboundCounts& inbound,
                           std::string& out) const;

    net::EventLoop& loop_;
    observe::Log& log_;
    ServerOptions options_;
    AddonSet given_addons_;  // as they came: of the binary and of a folder
    AddonShelf shelf_;       // with what is stored over them
    base::Instant started_;
    std::shared_ptr<const store::DataDirectory> directory_;
    std::shared_ptr<protocol::ssh::HostKeys> host_keys_;
    std::unique_ptr<store::SecretVault> vault_;
    std::unique_ptr<SecretFiles> secrets_;
    std::unique_ptr<SettingsFile> settings_file_;
    std::unique_ptr<store::AuditCheckpointer> checkpointer_;  // outlives the store; null: no folder
    std::shared_ptr<const store::AuditKey> audit_key_;        // null: no folder
    std::string checkpoint_path_;                             // of this life; empty: none
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<store::History> history_;
    SeriesDirectory series_;
    store::LoadedState loaded_;
    std::vector<model::ConfigObject> account_objects_;
    // Credentials opened; sorted by kind and name.
    std::shared_ptr<const std::vector<model::ConfigObject>> objects_ =
        std::make_shared<const std::vector<model::ConfigObject>>();
    model::ConfigObject settings_object_;                            // version 0: never stored
    std::map<std::string, model::TaskRecord, std::less<>> records_;  // of the start only
    std::vector<std::pair<std::string, std::string>> memories_;      // of the start only
    std::vector<std::pair<std::string, std::string>> failures_;      // of the start only
    std::vector<std::pair<std::string, std::string>> queues_;        // of the start only
    std::vector<std::pair<std::string, std::string>> regions_;       // of the start only
    std::vector<store::MemoryRow> uptime_rows_;                      // of the start only
    std::vector<store::JobRow> job_rows_;                            // of the start only
    config::StoredSettings stored_;
    config::Settings settings_;
    std::shared_ptr<const FleetImage> image_ = std::make_shared<const FleetImage>();
    mutable std::mutex view_mutex_;  // guards view_
    std::shared_ptr<const FleetView> view_;
    std::function<void(const config::Settings&)> settings_changed_;
    EventFeed events_;
    std::uint32_t event_epoch_ = 0;
    std::vector<std::unique_ptr<Shard>> shards_;
    std::unique_ptr<CoreLoop> core_;
    std::shared_ptr<std::atomic<std::uint32_t>> backups_keep_ =
        std::make_shared<std::atomic<std::uint32_t>>(7);
    std::unique_ptr<JobDesk> jobs_;
    std::unique_ptr<SourceKeeper> sources_;
    std::optional<base::SipKey> inbound_key_;
    bool hears_traps_ = false;  // as of the start
    bool hears_http_ = false;
    std::unique_ptr<InboundDesk> desk_;
    std::unique_ptr<SignalJournal> journal_;
    AlertLoad alert_load_;  // of the start only
    std::unique_ptr<AlertDesk> alerts_;
    std::atomic<AlertDesk*> alert_desk_ = nullptr;  // alerts_, for other threads
    std::unique_ptr<UptimeKeeper> uptime_;
    std::shared_ptr<const config::ChannelRules> channels_;
    mutable std::mutex sentinel_mutex_;  // guards sentinel_
    model::SentinelStatus sentinel_;
    std::function<void()> policy_changed_;
    std::atomic<bool> well_ = true;
    WorkerBoard board_;
    std::uint64_t store_steps_ = 0;  // of the writers, as of the last turn
    std::uint64_t history_steps_ = 0;
    net::Timer house_timer_;
    std::uint64_t house_turn_ = 0;
    std::uint64_t reloads_ok_ = 0;
    std::uint64_t reloads_failed_ = 0;
    base::WallTime last_reload_;
    bool core_answers_ = true;
    std::uint32_t core_silent_ = 0;            // turns of the house without an answer
    std::vector<std::uint32_t> shard_silent_;  // likewise
    bool stopped_ = false;
    // Work that waits in the loop may outlive the server; it asks this first.
    const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    bool edited_while_down_ = false;  // system.json, and the store does not know yet
};

}  // namespace pollux::runtime
