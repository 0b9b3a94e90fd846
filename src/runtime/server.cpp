#include "runtime/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <thread>

#include "runtime/random_bits.hpp"
#include "runtime/shard_drivers.hpp"
#include "schedule/restored_switch.hpp"
#include "store/memory/memory_store.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace pollux::runtime {
namespace {

constexpr base::Duration kHouseEvery = std::chrono::seconds(1);
constexpr std::uint64_t kSettingsEvery = 2;   // turns of the house
constexpr std::uint64_t kMemoriesEvery = 60;  // turns of the house
constexpr std::uint64_t kAuditTrimEvery = 60;
constexpr std::uint64_t kSilencesEvery = 3600;
constexpr base::Duration kStopWait = std::chrono::seconds(5);
constexpr std::size_t kMaxShards = 8;

std::size_t shards_for(const config::Settings& settings) {
    if (settings.io_threads > 0) return static_cast<std::size_t>(settings.io_threads);
    // One core is left for the scheduler and the writers. With two, one shard would leave the other
    // core idle whenever many devices are asked at once.
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    return std::clamp<std::size_t>(cores - 1, std::min<std::size_t>(cores, 2), kMaxShards);
}

// Where the store keeps what the drivers of a shard learned. With another number of shards devices
// are spread otherwise, and it is learned again.
std::string driver_memory_key(std::size_t shard, std::size_t shards) {
    return fmt::format("{}/{}/{}", kDriverMemory, shard, shards);
}

store::HistoryOptions history_options(const config::Settings& settings) {
    store::HistoryOptions options;
    const auto days = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
    // The quota is shared: most of it for what is asked for most.
    const auto megabytes = static_cast<std::uint64_t>(settings.history_quota_megabytes) << 20U;
    store::RetentionLimits& usual = options.retention[0];
    usual.raw = {days(settings.history_raw_days), megabytes / 2};
    usual.minute = {days(settings.history_minute_days), megabytes / 3};
    usual.hour = {days(settings.history_hour_days), megabytes / 6};
    return options;
}

using KeyedMemories = std::vector<std::pair<std::string, std::string>>;
struct Memories {
    std::vector<KeyedMemories> of_shards;
    KeyedMemories heard;
};

// Each shard gets the memories of its own devices, and the desk those of what is heard; those of
// tasks that went go with their rows.
Memories share_out(KeyedMemories all, const FleetImage& image, std::size_t shards) {
    Memories memories;
    memories.of_shards.resize(shards);
    for (auto& memory : all) {
        // What drivers learned is of use to the same shard of as many.
        for (std::size_t i = 0; i < shards; ++i) {
            if (memory.first != driver_memory_key(i, shards)) continue;
            memories.of_shards[i].emplace_back(kDriverMemory, std::move(memory.second));
            break;
        }
        const auto plan = image.plans.find(memory.first);
        if (plan != image.plans.end()) {
            memories.of_shards[plan->second->shard].push_back(std::move(memory));
        } else if (image.inbound->find(memory.first) ||
                   memory.first.starts_with(TrapDesk::kMemoryPrefix)) {
            memories.heard.push_back(std::move(memory));
        }
    }
    return memories;
}

}  // namespace

Server::Server(net::EventLoop& loop, observe::Log& log, ServerOptions options)
    : loop_(loop),
      log_(log),
      options_(std::move(options)),
      given_addons_(std::exchange(options_.addons, {})),
      started_(net::instant_now()),
      house_timer_(loop, [this] { keep_house(); }) {}

Server::~Server() { stop(); }

base::Result<std::unique_ptr<Server>> Server::start(net::EventLoop& loop, observe::Log& log,
                                                    ServerOptions options) {
    std::unique_ptr<Server> server(new Server(loop, log, std::move(options)));
    const auto steps = {&Server::open_store,        &Server::load,
                        &Server::load_settings,     &Server::load_channels,
                        &Server::start_checkpoints, &Server::start_threads};
    for (const auto step : steps) {
        if (auto status = (server.get()->*step)(); !status) {
            return std::unexpected(status.error());
        }
    }
    if (auto status = server->store_hand_edit(); !status) return std::unexpected(status.error());
    if (server->options_.fleet_files) {
        auto files = server->options_.fleet_files();
        if (!files) return std::unexpected(files.error());
        auto applied = server->apply(*files, OwnedElsewhere::kKeep);
        if (!applied) return std::unexpected(applied.error());
    }
    if (!server->options_.offline) server->house_timer_.arm_in(kHouseEvery);
    server->follow_sources();
    server->publish_view();
    return server;
}

// --- start --------------------------------------------------------------------------------------

base::Status Server::open_store() {
    auto sink = [this](engine::StoreAnswer answer, const base::Error* why) {
        if (core_) core_->answer(answer, why);
    };
    if (options_.data.empty()) {
        store_ = store::open_memory_store(std::make_shared<store::MemoryDisk>(), std::move(sink));
        return {};
    }
    auto directory = store::DataDirectory::open(options_.data);
    if (!directory) return std::unexpected(directory.error());
    directory_ = std::move(*directory);
    auto vault =
        store::SecretVault::open(store::KeySources::of_process(directory_->file("pollux.key")));
    if (!vault) return std::unexpected(vault.error());
    vault_ = std::make_unique<store::SecretVault>(std::move(*vault));
    secrets_ = std::make_unique<SecretFiles>(directory_->file("secrets"), *vault_);
    settings_file_ = std::make_unique<SettingsFile>(directory_->file("system.json"));
    auto audit_key = store::AuditKey::open_or_make(directory_->file(store::kAuditKeyFile), *vault_);
    if (!audit_key) return std::unexpected(audit_key.error());
    make_checkpointer(*audit_key);
    audit_key_ = *audit_key;
    store::SqliteOptions options;
    options.audit.key = *audit_key;
    options.audit.committed = [this](const store::AuditHead& head) { checkpointer_->note(head); };
    auto opened = store::open_sqlite_store(directory_, std::move(sink), std::move(options));
    if (!opened) return std::unexpected(opened.error());
    store_ = std::move(*opened);
    return {};
}

base::Status Server::load() {
    std::vector<std::string> unreadable;
    std::vector<model::ConfigObject> objects;
    store::LoadVisitor visitor;
    visitor.object = [&](model::ConfigObject&& object) {
        if (object.kind == model::ObjectKind::kSettings) {
            settings_object_ = std::move(object);
            return;
        }
        if (model::is_account_kind(object.kind)) {
            account_objects_.push_back(std::move(object));
            return;
        }
        if (object.kind == model::ObjectKind::kCredential && vault_) {
            auto opened = vault_->unseal(object.name, object.body);
            if (!opened) {
                unreadable.push_back(opened.error().message);
                return;
            }
            object.body = opened->reveal();
        }
        objects.push_back(std::move(object));
    };
    visitor.task = [&](model::TaskRecord&& record) {
        std::string key = record.key;
        records_.emplace(std::move(key), std::move(record));
    };
    visitor.memory = [&](store::MemoryRow&& row) {
        if (row.key.starts_with(FailureBook::kPrefix)) {
            row.key.erase(0, FailureBook::kPrefix.size());
            failures_.emplace_back(std::move(row.key), std::move(row.bytes));
            return;
        }
        if (row.key.starts_with(UptimeKeeper::kPrefix) || row.key == UptimeKeeper::kHeadKey) {
            uptime_rows_.push_back(std::move(row));
            return;
        }
        for (auto& [prefix, rows] : {std::pair{QueueHistory::kClasses, &queues_},
                                     std::pair{QueueHistory::kRegions, &regions_}}) {
            if (!row.key.starts_with(prefix)) continue;
            row.key.erase(0, prefix.size());
            rows->emplace_back(std::move(row.key), std::move(row.bytes));
            return;
        }
        memories_.emplace_back(std::move(row.key), std::move(row.bytes));
    };
    visitor.job = [&](store::JobRow&& row) { job_rows_.push_back(std::move(row)); };
    load_alerts(visitor);
    auto loaded = store_->load(visitor);
    if (!loaded) return std::unexpected(loaded.error());
    loaded_ = std::move(*loaded);
    alert_load_.numbers = loaded_.alert_numbers;
    event_epoch_ =
        directory_ ? loaded_.epoch : static_cast<std::uint32_t>(random_bits().first & 0xFFFFFU) + 1;
    if (!unreadable.empty()) {
        return base::config_error(
            "vault.wrong_key",
            fmt::format("{} stored credentials cannot be opened, the first because {}",
                        unreadable.size(), unreadable.front()));
    }
    for (const std::string& text : loaded_.damage) {
        log_.error("a stored row is damaged and was left out", {{"row", text}});
    }
    std::ranges::sort(objects, [](const auto& a, const auto& b) {
        return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
    });
    objects_ = std::make_shared<const std::vector<model::ConfigObject>>(std::move(objects));
    shelve_addons();
    return {};
}

base::Status Server::start_threads() {
    // Offline nobody knows where the server will listen.
    hears_traps_ = options_.offline || !settings_.trap_listen.items.empty();
    hears_http_ = options_.offline || !settings_.inbound_listen.items.empty();
    if (options_.offline) return {};
    auto fleet = config::from_objects(*objects_);
    if (!fleet) return std::unexpected(fleet.error());
    if (settings_.history_enabled && directory_) {
        auto history = store::History::open(directory_, history_options(settings_));
        if (!history) return std::unexpected(history.error());
        history_ = std::move(*history);
        if (auto status = series_.load(*history_); !status) return status;
    }
    auto egress = make_egress(settings_);
    if (!egress) return std::unexpected(egress.error());
    sources_ = std::make_unique<SourceKeeper>(
        loop_, log_, secret_source(options_.environment, secrets_.get()), *egress,
        [this](const SourceKeeper::Devices& found) { take_discovered(found); });
    host_keys_ = std::make_shared<protocol::ssh::HostKeys>(
        directory_ ? directory_->path() + "/ssh_known_hosts" : "",
        [this](std::string_view what) { log_.warn(what); });
    journal_ = std::make_unique<SignalJournal>(loop_, *store_, log_);
    const std::size_t shards = shards_for(settings_);
    for (std::size_t i = 0; i < shards; ++i) {
        ShardWiring wiring;
        wiring.report = [this](std::vector<RunReport> reports) {
            core_->deliver(std::move(reports));
        };
        wiring.history = history_.get();
        wiring.series = &series_;
        wiring.signals = [this](std::vector<PolledSignals> polls) {
            later([this, polls = std::move(polls)]() mutable {
                if (!stopped_) journal_->take(std::move(polls));
            });
        };
        shards_.push_back(std::make_unique<Shard>(
            i,
            real_drivers(*egress, make_command_rules(settings_, host_keys_), &log_, clock_proofs()),
            std::move(wiring)));
    }
    shard_silent_.resize(shards);
    make_jobs();
    CoreWiring wiring = core_wiring();
    jobs_->wire(wiring);
    wiring.events = &events_;
    wiring.news = [this](const TaskNews& news) {
        if (AlertDesk* desk = alerts()) desk->changed(news);
    };
    core_ = std::make_unique<CoreLoop>(*store_, log_, std::move(wiring), shards,
                                       static_cast<std::size_t>(settings_.metrics_target_limit));

    auto image = image_of(*fleet, {}, *objects_, settings_, nullptr);
    if (!image) return std::unexpected(image.error());
    for (const auto& [key, bytes] : memories_) journal_->recall(key, bytes);
    journal_->keep_only(image->plans);
    Memories memories = share_out(std::exchange(memories_, {}), *image, shards);
    for (std::size_t i = 0; i < shards; ++i) {
        shards_[i]->recall(std::move(memories.of_shards[i]));
        shards_[i]->start();
    }
    image_ = std::make_shared<const FleetImage>(std::move(*image));
    if (auto status = make_alerts(); !status) return status;
    core_->start(loaded_.epoch, loaded_.first_change, *image_->settings);
    follow_jobs();
    jobs_->start(*core_);
    make_uptime();
    restore_tasks();
    if (auto status = start_desk(std::move(memories.heard)); !status) return status;
    return run_alerts();
}

void Server::later(std::move_only_function<void()> work) {
    loop_.post([alive = std::weak_ptr(alive_), work = std::move(work)]() mutable {
        if (alive.lock()) work();
    });
}

CoreWiring Server::core_wiring() {
    CoreWiring wiring;
    wiring.dispatch = [this](std::size_t shard, std::vector<RunOrder> orders) {
        shards_[shard]->dispatch(std::move(orders));
    };
    wiring.cancel = [this](std::vector<RunCancel> cancels, std::shared_ptr<const PollPlan> plan) {
        if (plan) {
            shards_[plan->shard]->cancel(std::move(cancels));
            return;
        }
        for (const auto& shard : shards_) shard->cancel(cancels);
    };
    wiring.forgotten = [this](std::uint32_t task, const PollPlan& plan) {
        shards_[plan.shard]->forget(task);
    };
    return wiring;
}

// Before the records go to the core: they say how tasks stand of which no transition is kept.
void Server::make_uptime() {
    uptime_ = std::make_unique<UptimeKeeper>(*store_, log_, [this] { return view(); });
    for (const store::MemoryRow& row : uptime_rows_) uptime_->recall(row.key, row.bytes);
    uptime_rows_.clear();
    std::vector<UptimeKeeper::Seed> seeds;
    for (const model::TaskSpec& spec : image_->expansion.tasks) {
        const auto found = records_.find(spec.key);
        if (found == records_.end()) continue;
        const model::TaskRecord& record = found->second;
        const bool answered =
            record.last_success.us != model::kNever || record.last_error.us != model::kNever;
        if (record.job != model::JobState::kNotAJob || !answered) continue;
        seeds.push_back(
            {.key = spec.key, .up = record.was_up, .enabled = schedule::is_enabled(spec, record)});
    }
    uptime_->start(started_, loaded_.first_change, std::move(seeds));
}

// What the store remembers of a task joins its specification; tasks that went while nobody ran are
// forgotten, new ones start as new.
void Server::restore_tasks() {
    auto restored = std::make_shared<std::vector<schedule::RestoredTask>>();
    auto fresh = std::make_shared<std::vector<model::TaskSpec>>();
    for (const model::TaskSpec& spec : image_->expansion.tasks) {
        const auto record = records_.find(spec.key);
        if (record == records_.end()) {
            fresh->push_back(spec);
        } else {
            restored->push_back({spec, std::move(record->second)});
            records_.erase(record);
        }
    }
    CoreEdit edit;
    jobs_->restore(records_, edit, *restored, *fresh);
    if (!records_.empty()) {
        auto batch = std::make_shared<engine::WriteBatch>();
        for (const auto& [key, record] : records_) batch->removed.push_back(key);
        [[maybe_unused]] const auto status = store_->submit(std::move(batch));
    }
    records_.clear();
    edit.devices = image_->expansion.devices;
    edit.restored = std::move(restored);
    edit.upserted = std::move(fresh);
    for (const auto& [key, plan] : image_->plans) edit.plans.push_back(plan);
    std::promise<void> taken;
    core_->edit(std::move(edit), [&taken](std::vector<base::Error>) { taken.set_value(); });
    taken.get_future().wait();
    core_->recall_failures(std::exchange(failures_, {}));
    core_->recall_queues(std::exchange(queues_, {}), std::exchange(regions_, {}));
}

void Server::stop() {
    if (std::exchange(stopped_, true)) return;
    house_timer_.cancel();
    sources_.reset();
    options_.manager.stopping();
    if (desk_) desk_->stop();
    if (core_) core_->stop(kStopWait);
    if (jobs_) jobs_->stop();
    save_memories(true);
    for (const auto& shard : shards_) shard->stop();
    journal_.reset();
    if (alerts_) alerts_->stop();
    if (uptime_) uptime_->stop();
    if (history_) {
        if (auto closed = history_->close(); !closed) {
            log_.error("the history did not close cleanly", {{"error", closed.error().message}});
        }
    }
    if (store_) {
        if (auto closed = store_->close(); !closed) {
            log_.error("the store did not close cleanly", {{"error", closed.error().message}});
        }
    }
    if (checkpointer_) checkpointer_->stop();
}

// --- house --------------------------------------------------------------------------------------

void Server::keep_house() {
    ++house_turn_;
    if (house_turn_ % kSettingsEvery == 0) {
        const base::WallTime before = last_reload_;
        if (!look_at_settings_file()) {
            ++reloads_failed_;
        } else if (last_reload_ != before) {
            ++reloads_ok_;
        }
    }
    if (house_turn_ % kMemoriesEvery == 0) save_memories(false);
    if (house_turn_ % kAuditTrimEvery == 1) trim_audit();
    if (house_turn_ % kSilencesEvery == 1) forget_silences();
    jobs_->tick(net::wall_now());
    well_.store(core_answers_ && !store_->stats().failing, std::memory_order_relaxed);
    watch_workers();
    house_timer_.arm_in(kHouseEvery);
}

void Server::save_memories(bool wait) {
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        const auto& shard = shards_[i];
        auto saved = std::make_shared<std::promise<void>>();
        auto future = saved->get_future();
        shard->collect_memories([this, saved, i](auto memories) {
            store::MemoryBatch batch;
            for (auto& [key, bytes] : memories) {
                if (key == kDriverMemory) key = driver_memory_key(i, shards_.size());
                batch.rows.push_back({std::move(key), std::move(bytes)});
            }
            if (!batch.rows.empty()) {
                [[maybe_unused]] const auto status = store_->submit(std::move(batch), {});
            }
            saved->set_value();
        });
        if (wait) future.wait_for(kStopWait);
    }
}

void Server::ask(std::move_only_function<std::string(const CoreLoop::View&)> question,
                 std::move_only_function<void(std::string)> done) {
    core_->ask([this, question = std::move(question),
                done = std::move(done)](const CoreLoop::View& view) mutable {
        std::string text = question(view);
        later(
            [text = std::move(text), done = std::move(done)]() mutable { done(std::move(text)); });
    });
}

void Server::operate(schedule::OperatorAction action,
                     std::move_only_function<void(base::Status)> done) {
    core_->operate(std::move(action), [this, done = std::move(done)](base::Status status) mutable {
        later([status = std::move(status), done = std::move(done)]() mutable {
            done(std::move(status));
        });
    });
}

}  // namespace pollux::runtime
