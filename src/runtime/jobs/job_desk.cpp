// JobDesk: what comes in, what is steered, what goes.
#include "runtime/jobs/job_desk.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "base/text.hpp"
#include "base/uuid.hpp"
#include "document/write.hpp"
#include "runtime/jobs/job_phase.hpp"
#include "runtime/random_bits.hpp"

namespace pollux::runtime {
namespace {

using base::quoted;
using model::JobPhase;
using model::JobSpec;
using model::JobState;
using schedule::OperatorVerb;

constexpr base::Duration kSweepEvery = std::chrono::minutes(1);
constexpr std::size_t kMostPerSweep = 1000;
constexpr std::size_t kIdsPerMillisecond = 4096;  // what the counter in a UUIDv7 holds

bool is_ours(std::string_view key) { return key.starts_with("job-"); }

base::Error transition_error(JobPhase from, std::string_view what) {
    return {
        "job.transition", base::ErrorClass::kConfig,
        fmt::format("a job that is {} cannot be {}: nothing was changed", to_string(from), what)};
}

}  // namespace

JobDesk::JobDesk(net::EventLoop& loop, store::Store& store, observe::Log& log, JobTypes types)
    : loop_(loop), store_(store), log_(log), types_(std::move(types)) {}

JobDesk::~JobDesk() { stop(); }

void JobDesk::later(std::move_only_function<void()> work) {
    loop_.post([alive = std::weak_ptr(alive_), work = std::move(work)]() mutable {
        if (alive.lock()) work();
    });
}

// --- start and end ------------------------------------------------------------------------------

void JobDesk::remember(store::JobRow row) {
    auto spec = config::job_from_text(row.spec);
    if (!spec || spec->id != row.id || model::job_key(spec->type, spec->id) != row.key) {
        log_.error(
            "a stored job is damaged and was left out",
            {{"key", row.key}, {"error", spec ? "it is another job" : spec.error().message}});
        return;
    }
    add_entry(std::move(*spec));
}

void JobDesk::add_entry(JobSpec spec) {
    Entry entry;
    entry.key = model::job_key(spec.type, spec.id);
    entry.held = spec.hold;
    const std::string id = spec.id;
    ids_.emplace(entry.key, id);
    batches_[spec.batch].push_back(id);
    for (const auto& group : spec.depends_on) {
        for (const std::string& parent : group) children_[parent].insert(id);
    }
    entry.spec = std::move(spec);
    entries_.insert_or_assign(id, std::move(entry));
}

void JobDesk::drop_entry(const std::string& id) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    ended_.erase({found->second.ended_at, id});
    ids_.erase(found->second.key);
    leaving_.erase(id);
    for (const auto& group : found->second.spec.depends_on) {
        for (const std::string& parent : group) {
            const auto own = children_.find(parent);
            if (own == children_.end()) continue;
            own->second.erase(id);
            if (own->second.empty()) children_.erase(own);
        }
    }
    const auto batch = batches_.find(found->second.spec.batch);
    if (batch != batches_.end()) {
        std::erase(batch->second, id);
        if (batch->second.empty()) batches_.erase(batch);
    }
    entries_.erase(found);
}

std::vector<std::vector<std::string>> JobDesk::parent_keys(const JobSpec& job) const {
    std::vector<std::vector<std::string>> keys;
    for (const auto& group : job.depends_on) {
        std::vector<std::string> own;
        bool met = false;
        for (const std::string& id : group) {
            const auto found = entries_.find(id);
            // One that is gone had completed, or nobody would have been left to need it.
            met = met || found == entries_.end();
            if (found != entries_.end()) own.push_back(found->second.key);
        }
        if (!met) keys.push_back(std::move(own));
    }
    return keys;
}

void JobDesk::restore(std::map<std::string, model::TaskRecord, std::less<>>& records,
                      CoreEdit& edit, std::vector<schedule::RestoredTask>& restored,
                      std::vector<model::TaskSpec>& fresh) {
    for (auto& [id, entry] : entries_) {
        model::TaskSpec task = types_.task(entry.spec, parent_keys(entry.spec));
        const auto record = records.find(entry.key);
        if (record == records.end()) {
            fresh.push_back(std::move(task));  // it was stored, and then the process ended
        } else {
            entry.state = record->second.job;
            entry.held = !record->second.enabled && entry.state == JobState::kPending;
            if (entry.state != JobState::kPending) {
                entry.ended_at = std::max(record->second.last_success, record->second.last_error);
                if (entry.ended_at.us == model::kNever) entry.ended_at = entry.spec.created_at;
                ended_.emplace(entry.ended_at, id);
            }
            restored.push_back({std::move(task), std::move(record->second)});
            records.erase(record);
        }
        if (entry.spec.type == "maintenance") {
            last_maintenance_ = std::max(last_maintenance_, entry.spec.created_at);
        }
        if (entry.state == JobState::kPending)
            edit.plans.push_back(types_.plan(entry.spec, around_));
    }
}

void JobDesk::wire(CoreWiring& wiring) {
    wiring.work = [this](std::vector<RunOrder> orders) { workers_->take(std::move(orders)); };
    wiring.job_started = [this](const RunOrder& order) {
        later([this, id = order.plan->job->spec.id] {
            const auto found = entries_.find(id);
            if (found != entries_.end()) {
                tell(JobEventKind::kStarted, found->second, JobPhase::kRunning);
            }
        });
    };
    wiring.published = [this,
                        before = std::move(wiring.published)](const engine::TaskChange& change) {
        if (before) before(change);
        const bool about_jobs = change.change.kind == schedule::ChangeKind::kJob ||
                                change.change.kind == schedule::ChangeKind::kEnabled;
        if (!about_jobs || !is_ours(change.key)) return;
        later([this, change] { on_change(change); });
    };
    wiring.cancel = [this, before = std::move(wiring.cancel)](
                        std::vector<RunCancel> cancels, std::shared_ptr<const PollPlan> plan) {
        if (!plan || plan->job) {
            for (const RunCancel& one : cancels) workers_->cancel(one.run);
        }
        const bool elsewhere = plan && plan->job && plan->job->host != JobHost::kShard;
        if (!elsewhere) before(std::move(cancels), std::move(plan));
    };
}

void JobDesk::start(CoreLoop& core, std::size_t worker_threads) {
    core_ = &core;
    workers_ = std::make_unique<JobWorkers>(
        worker_threads,
        [this](std::vector<RunReport> reports) { core_->deliver(std::move(reports)); },
        [this](JobProgress progress) {
            later([this, progress = std::move(progress)]() mutable {
                const auto found = entries_.find(progress.id);
                if (found == entries_.end()) return;
                tell(JobEventKind::kProgress, found->second, JobPhase::kRunning,
                     std::move(progress));
            });
        });
}

void JobDesk::stop() {
    if (workers_) workers_->stop();
    alive_.reset();
}

// Plans hold addresses and credentials: those of jobs that are still to run are made anew.
void JobDesk::set_surroundings(std::shared_ptr<const JobSurroundings> around) {
    around_ = std::move(around);
    if (core_ == nullptr) return;
    CoreEdit edit;
    for (const auto& [id, entry] : entries_) {
        if (entry.state != JobState::kPending) continue;
        edit.plans.push_back(types_.plan(entry.spec, around_));
    }
    if (!edit.plans.empty()) core_->edit(std::move(edit), [](std::vector<base::Error>) {});
}

// --- submit -------------------------------------------------------------------------------------

config::JobBatch JobDesk::read(std::string_view text, const std::string& file,
                               document::Diagnostics& diagnostics) const {
    return config::read_jobs(text, file, types_.definitions(), diagnostics);
}

void JobDesk::check(const config::JobBatch& batch, document::Diagnostics& diagnostics) const {
    config::JobRules rules;
    rules.types = types_.definitions();
    rules.resources = around_->resources;
    rules.global_slots = around_->global_slots;
    rules.stored = [this](std::string_view id) {
        return entries_.contains(std::string(id)) && !leaving_.contains(std::string(id));
    };
    const config::Fleet& fleet = around_->fleet;
    rules.target = [this](std::string_view key) { return around_->targets.contains(key); };
    rules.device = [&](std::string_view name) { return fleet.devices.contains(name); };
    rules.arguments = [this](const JobSpec& job) { return types_.check(job); };
    config::check_jobs(batch, rules, diagnostics);
}

base::Result<std::vector<store::JobRow>> JobDesk::prepare(config::JobBatch& batch,
                                                          const std::string& by) {
    document::Diagnostics diagnostics;
    check(batch, diagnostics);
    if (!diagnostics.ok()) {
        return base::config_error("job.invalid", diagnostics.text());
    }
    const base::WallTime now = net::wall_now();
    if (entries_.size() + batch.jobs.size() > model::kMostStoredJobs) {
        sweep(now, batch.jobs.size());
        return base::make_error(
            base::ErrorClass::kTransient, "job.too_many",
            fmt::format("{} jobs are stored, and {} more would be above {}: the oldest that have "
                        "ended go now; try again",
                        entries_.size(), batch.jobs.size(), model::kMostStoredJobs));
    }
    const auto id_at = [&](std::size_t i) {
        const auto [high, low] = random_bits();
        const base::WallTime at = now + std::chrono::milliseconds(i / kIdsPerMillisecond);
        return base::make_uuid7(at, i % kIdsPerMillisecond, low ^ high);
    };
    const std::string batch_id = id_at(0);
    std::map<std::string, std::string> by_name;
    for (std::size_t i = 0; i < batch.jobs.size(); ++i) {
        JobSpec& job = batch.jobs[i];
        job.id = id_at(i);
        job.batch = batch_id;
        job.created_at = now;
        job.created_by = by;
        if (!job.name.empty()) by_name.emplace(job.name, job.id);
    }
    std::vector<store::JobRow> rows;
    for (JobSpec& job : batch.jobs) {
        for (auto& group : job.depends_on) {
            for (std::string& parent : group) {
                const auto named = by_name.find(parent);
                if (named != by_name.end()) parent = named->second;
            }
        }
        rows.push_back(
            {model::job_key(job.type, job.id), job.id, batch_id, now, config::to_text(job)});
    }
    return rows;
}

void JobDesk::submit(config::JobBatch batch, const std::string& by, Record record,
                     Done<JobSubmitted> done) {
    auto rows = prepare(batch, by);
    if (!rows) {
        later([error = rows.error(), done = std::move(done)]() mutable {
            done(std::unexpected(std::move(error)));
        });
        return;
    }
    JobSubmitted answer;
    answer.batch = batch.jobs.front().batch;
    for (const JobSpec& job : batch.jobs) answer.ids.push_back(job.id);
    auto shared = std::make_shared<Done<JobSubmitted>>(std::move(done));
    store::JobBatch stored{std::move(*rows), {}, {}};
    if (record) stored.audit.push_back(std::move(*record));
    const auto accepted = store_.submit(std::move(stored), [this, shared, batch = std::move(batch),
                                                            answer](base::Status status) mutable {
        later([this, shared, batch = std::move(batch), answer = std::move(answer),
               status = std::move(status)]() mutable {
            if (!status) {
                (*shared)(std::unexpected(std::move(status.error())));
                return;
            }
            std::vector<std::string> ids = answer.ids;
            for (JobSpec& job : batch.jobs) add_entry(std::move(job));
            give_to_core(std::move(ids), std::move(answer), std::move(*shared));
        });
    });
    if (!accepted) {
        later([error = accepted.error(), shared] { (*shared)(std::unexpected(error)); });
    }
}

void JobDesk::give_to_core(std::vector<std::string> ids, JobSubmitted answer,
                           Done<JobSubmitted> done) {
    CoreEdit edit;
    auto tasks = std::make_shared<std::vector<model::TaskSpec>>();
    for (const std::string& id : ids) {
        const Entry& entry = entries_.at(id);
        tasks->push_back(types_.task(entry.spec, parent_keys(entry.spec)));
        edit.plans.push_back(types_.plan(entry.spec, around_));
    }
    edit.upserted = std::move(tasks);
    core_->edit(std::move(edit), [this, ids = std::move(ids), answer = std::move(answer),
                                  done = std::move(done)](std::vector<base::Error> errors) mutable {
        later([this, ids = std::move(ids), answer = std::move(answer), done = std::move(done),
               errors = std::move(errors)]() mutable {
            if (!errors.empty()) {
                take_back(ids);
                done(std::unexpected(std::move(errors.front())));
                return;
            }
            for (const std::string& id : ids) {
                const auto found = entries_.find(id);
                if (found == entries_.end()) continue;
                tell(JobEventKind::kSubmitted, found->second, JobPhase::kPending);
            }
            done(std::move(answer));
        });
    });
}

// Refused by the core, though it was checked: settings changed meanwhile.
void JobDesk::take_back(const std::vector<std::string>& ids) {
    store::JobBatch batch;
    for (const std::string& id : ids) {
        batch.removed.push_back(key_of(id));
        drop_entry(id);
    }
    const auto status = store_.submit(std::move(batch), {});
    if (!status) log_.error("refused jobs stay stored", {{"error", status.error().message}});
}

// --- steer --------------------------------------------------------------------------------------

base::Result<JobDesk::Entry*> JobDesk::find(const std::string& id) {
    const auto found = entries_.find(id);
    if (found != entries_.end()) return &found->second;
    return base::config_error("job.unknown", fmt::format("there is no job {}", quoted(id)));
}

std::string JobDesk::key_of(const std::string& id) const {
    const auto found = entries_.find(id);
    return found == entries_.end() ? std::string() : found->second.key;
}

void JobDesk::operate(OperatorVerb verb, const std::string& key, const Record& record,
                      Done<void> done) {
    core_->operate({verb, key, 0, nullptr}, record,
                   [this, done = std::move(done)](base::Result<OperateResult> result) mutable {
                       base::Status status;
                       if (!result) status = std::unexpected(std::move(result.error()));
                       later([status = std::move(status), done = std::move(done)]() mutable {
                           done(std::move(status));
                       });
                   });
}

// To what depends on it, the farthest first.
std::vector<std::string> JobDesk::dependents(const std::string& id) const {
    std::vector<std::string> order{id};
    std::set<std::string_view> seen{id};
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto found = children_.find(order[i]);
        if (found == children_.end()) continue;
        for (const std::string& child : found->second) {
            const auto known = entries_.find(child);
            if (known != entries_.end() && seen.insert(known->first).second) {
                order.push_back(child);
            }
        }
    }
    std::ranges::reverse(order);
    return order;
}

void JobDesk::cancel(const std::string& id, bool cascade, Done<std::vector<std::string>> done,
                     const Record& record) {
    std::vector<std::string> ids = cascade ? dependents(id) : std::vector{id};
    std::vector<std::string> keys;
    for (const std::string& one : ids) keys.push_back(key_of(one));
    ask(std::move(keys), false,
        [this, id, ids = std::move(ids), record,
         done = std::move(done)](std::vector<Facts> facts) mutable {
            const auto own = find(id);
            if (!own) {
                done(std::unexpected(own.error()));
                return;
            }
            // Itself is the last of them.
            const auto allowed = model::transition(facts.back().phase, JobPhase::kCancelled);
            if (!allowed) {
                done(std::unexpected(allowed.error()));
                return;
            }
            std::vector<std::string> open;
            for (std::size_t i = 0; i < ids.size(); ++i) {
                if (facts[i].known && !model::has_ended(facts[i].phase)) open.push_back(ids[i]);
            }
            cancel_all(std::move(open), record, std::move(done));
        });
}

void JobDesk::cancel_all(std::vector<std::string> ids, const Record& record,
                         Done<std::vector<std::string>> done) {
    struct Gathered {
        std::vector<std::string> cancelled;
        std::size_t missing = 0;
        std::optional<base::Error> last;
        Done<std::vector<std::string>> done;
    };
    auto all = std::make_shared<Gathered>();
    all->missing = ids.size();
    all->done = std::move(done);
    for (const std::string& id : ids) {
        Record own = record;
        if (own) own->object = key_of(id);
        operate(OperatorVerb::kCancelJob, key_of(id), own, [all, id](base::Status status) {
            if (status) {
                all->cancelled.push_back(id);
            } else {
                all->last = status.error();  // it ended meanwhile
            }
            if (--all->missing > 0) return;
            if (all->cancelled.empty() && all->last) {
                all->done(std::unexpected(
                    base::Error{"job.transition", base::ErrorClass::kConfig, all->last->message}));
            } else {
                all->done(std::move(all->cancelled));
            }
        });
    }
}

void JobDesk::steer(const std::string& id, OperatorVerb verb, JobPhase to, const Record& record,
                    Done<void> done) {
    ask({key_of(id)}, false,
        [this, id, verb, to, record, done = std::move(done)](std::vector<Facts> facts) mutable {
            const auto entry = find(id);
            if (!entry) {
                done(std::unexpected(entry.error()));
                return;
            }
            const JobPhase from = facts.front().phase;
            const bool held = facts.front().held;
            base::Status allowed;
            if (verb == OperatorVerb::kRetryJob) {
                if (!model::has_ended(from) || !model::may_follow(from, to)) {
                    allowed = std::unexpected(transition_error(from, "tried again (pending)"));
                }
            } else if (verb == OperatorVerb::kDisable) {
                const bool waits = from == JobPhase::kPending || from == JobPhase::kBlocked ||
                                   from == JobPhase::kReady;
                if (!waits || held) {
                    allowed = std::unexpected(transition_error(
                        from, held ? "held: it is held already" : "held (pending)"));
                }
            } else if (!held) {
                allowed = std::unexpected(transition_error(from, "released: it is not held"));
            }
            if (!allowed) {
                done(std::move(allowed));
                return;
            }
            POLLUX_CHECK(from == to || model::may_follow(from, to));
            if (verb == OperatorVerb::kRetryJob) {
                CoreEdit edit;
                edit.plans.push_back(types_.plan((*entry)->spec, around_));
                core_->edit(std::move(edit), [](std::vector<base::Error>) {});
            }
            operate(verb, (*entry)->key, record,
                    [done = std::move(done)](base::Status status) mutable {
                        // What the disk did not take is no matter of states.
                        if (!status && status.error().error_class == base::ErrorClass::kConfig) {
                            status.error().code = "job.transition";
                        }
                        done(std::move(status));
                    });
        });
}

void JobDesk::retry(const std::string& id, Done<void> done, const Record& record) {
    steer(id, OperatorVerb::kRetryJob, JobPhase::kPending, record, std::move(done));
}

void JobDesk::hold(const std::string& id, Done<void> done, const Record& record) {
    steer(id, OperatorVerb::kDisable, JobPhase::kPending, record, std::move(done));
}

void JobDesk::release(const std::string& id, Done<void> done, const Record& record) {
    steer(id, OperatorVerb::kEnable, JobPhase::kPending, record, std::move(done));
}

// --- what the core says -------------------------------------------------------------------------

void JobDesk::on_change(const engine::TaskChange& change) {
    const auto id = ids_.find(change.key);
    if (id == ids_.end()) return;
    Entry& entry = entries_.at(id->second);
    if (change.change.kind == schedule::ChangeKind::kEnabled) {
        entry.held = change.change.to == 0;
        tell(entry.held ? JobEventKind::kHeld : JobEventKind::kReleased, entry, JobPhase::kPending);
        return;
    }
    const auto to = static_cast<JobState>(change.change.to);
    POLLUX_CHECK_MSG(is_step(entry.state, to),
                     "the core moves a job along the table of its phases");
    entry.state = to;
    ended_.erase({entry.ended_at, id->second});
    if (entry.state == JobState::kPending) {
        entry.ended_at = {};
        entry.held = false;
        tell(JobEventKind::kRetried, entry, JobPhase::kPending);
        return;
    }
    entry.ended_at = change.at;
    ended_.emplace(entry.ended_at, id->second);
    tell(JobEventKind::kEnded, entry, phase_of(entry.state));
}

void JobDesk::tell(JobEventKind kind, const Entry& entry, JobPhase phase, JobProgress progress) {
    if (!tell_) return;
    tell_({kind, entry.spec.id, entry.spec.name, entry.spec.type, entry.spec.batch, phase,
           net::wall_now(), std::move(progress)});
}

// --- upkeep -------------------------------------------------------------------------------------

void JobDesk::tick(base::WallTime now) {
    if (now < next_sweep_) return;
    next_sweep_ = now + kSweepEvery;
    sweep(now, 0);
    recur(now);
}

bool JobDesk::is_needed(const std::string& id) const {
    const auto children = children_.find(id);
    if (children == children_.end()) return false;
    return std::ranges::any_of(children->second, [&](const std::string& child) {
        const auto found = entries_.find(child);
        return found != entries_.end() && found->second.state == JobState::kPending;
    });
}

// The oldest that have ended go first; one that somebody still waits for stays.
void JobDesk::sweep(base::WallTime now, std::size_t room_for) {
    const base::WallTime oldest = now - keeping_.keep_for;
    std::size_t too_many =
        ended_.size() > keeping_.keep_rows ? ended_.size() - keeping_.keep_rows : 0;
    const std::size_t wanted = entries_.size() + room_for;
    if (wanted > model::kMostStoredJobs) {
        too_many = std::max(too_many, wanted - model::kMostStoredJobs);
    }
    CoreEdit edit;
    std::vector<std::string> ids;
    for (const auto& [at, id] : ended_) {
        if (ids.size() >= kMostPerSweep || (at >= oldest && ids.size() >= too_many)) break;
        const Entry& entry = entries_.at(id);
        if (is_needed(id) || leaving_.contains(id)) continue;
        ids.push_back(id);
        edit.removed.push_back(entry.key);
    }
    if (ids.empty() || core_ == nullptr) return;
    leaving_.insert(ids.begin(), ids.end());
    core_->edit(std::move(edit), [this, ids = std::move(ids)](std::vector<base::Error>) mutable {
        later([this, ids = std::move(ids)] {
            for (const std::string& id : ids) {
                const auto found = entries_.find(id);
                if (found == entries_.end()) continue;
                tell(JobEventKind::kRemoved, found->second, JobPhase::kPending);
                drop_entry(id);
            }
        });
    });
}

// The upkeep of the store is a job like any other, of the lowest tier.
void JobDesk::recur(base::WallTime now) {
    const JobType* const type = types_.find("maintenance");
    if (type == nullptr || keeping_.maintenance_every <= base::Duration::zero()) return;
    if (last_maintenance_.us == 0) last_maintenance_ = now;  // the first one an interval from now
    if (now - last_maintenance_ < keeping_.maintenance_every) return;
    last_maintenance_ = now;
    document::Diagnostics diagnostics;
    config::JobBatch batch =
        read("{\"type\":\"maintenance\",\"name\":\"upkeep\"}", "upkeep", diagnostics);
    if (!diagnostics.ok()) return;
    submit(std::move(batch), "pollux", [this](base::Result<JobSubmitted> done) {
        if (!done) log_.error("no upkeep this time", {{"error", done.error().message}});
    });
}

}  // namespace pollux::runtime
