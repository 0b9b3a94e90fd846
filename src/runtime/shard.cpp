#include "runtime/shard.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>

#include "base/check.hpp"
#include "derive/derive.hpp"
#include "extract/compiled_addon.hpp"
#include "runtime/jobs/job_reply.hpp"
#include "runtime/thread_heap.hpp"
#include "runtime/trial/fresh_trial.hpp"

namespace pollux::runtime {
namespace {

// Drivers give up this much before the engine does, so that their reason is heard.
constexpr base::Duration kBeforeDeadline = std::chrono::milliseconds(500);

// Conditions that hold are told again so often.
constexpr base::Duration kRemindAfter = std::chrono::minutes(10);

constexpr std::size_t kWeighedAtOnce = 500;            // states of tasks a second: under a ms
constexpr std::size_t kHeap = std::size_t{48} << 20U;  // 2000 HTTP requests at once take 40 MB

// Whether another address of the device is worth a try.
bool is_unreachable(model::FailureKind kind) {
    return kind == model::FailureKind::kConnection || kind == model::FailureKind::kTimeout ||
           kind == model::FailureKind::kDns;
}

}  // namespace

Shard::Shard(std::size_t number, MakeDrivers make_drivers, ShardWiring wiring)
    : number_(number),
      make_drivers_(std::move(make_drivers)),
      wiring_(std::move(wiring)),
      loop_(net::EventLoop::create().value()) {}

Shard::~Shard() { stop(); }

void Shard::start() {
    flush_timer_ = std::make_unique<net::Timer>(*loop_, [this] { flush(); });
    drivers_ = make_drivers_(*loop_);
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), fmt::format("pollux-io-{}", number_).c_str());
        prepare_thread_heap(kHeap);
        loop_->run();
    });
}

void Shard::stop() {
    loop_->stop();
    if (thread_.joinable()) thread_.join();
    drivers_.reset();
    flush_timer_.reset();
}

void Shard::dispatch(std::vector<RunOrder> orders) {
    loop_->post([this, orders = std::move(orders)]() mutable {
        for (RunOrder& order : orders) begin(std::move(order));
    });
}

void Shard::cancel(std::vector<RunCancel> cancels) {
    loop_->post([this, cancels = std::move(cancels)] {
        for (const RunCancel& cancel : cancels) {
            const auto found = by_run_.find(cancel.run);
            if (found == by_run_.end()) continue;
            ActiveRun& run = runs_[found->second];
            run.cancelled = true;
            drivers_->of(*run.ask).cancel(run.id);
        }
    });
}

void Shard::forget(std::uint32_t task) {
    loop_->post([this, task] {
        if (task < states_.size()) states_[task].reset();
    });
}

void Shard::set_egress(std::shared_ptr<const net::EgressPolicy> egress) {
    loop_->post(
        [this, egress = std::move(egress)]() mutable { drivers_->set_egress(std::move(egress)); });
}

void Shard::set_rules(CommandRules rules) {
    loop_->post(
        [this, rules = std::move(rules)]() mutable { drivers_->set_rules(std::move(rules)); });
}

void Shard::recall(std::vector<std::pair<std::string, std::string>> memories) {
    loop_->post([this, memories = std::move(memories)]() mutable {
        for (auto& [key, bytes] : memories) {
            if (key == kDriverMemory) {
                drivers_->recall(bytes);
            } else {
                recalled_[std::move(key)] = std::move(bytes);
            }
        }
    });
}

void Shard::collect_memories(
    std::move_only_function<void(std::vector<std::pair<std::string, std::string>>)> done) {
    loop_->post([this, done = std::move(done)]() mutable {
        std::vector<std::pair<std::string, std::string>> memories;
        for (const auto& state : states_) {
            if (!state || !state->changed) continue;
            base::ByteWriter bytes;
            state->memory.encode(bytes);
            memories.emplace_back(state->plan->key, bytes.take());
            state->changed = false;
        }
        if (std::string learned = drivers_->learned(); !learned.empty()) {
            memories.emplace_back(kDriverMemory, std::move(learned));
        }
        done(std::move(memories));
    });
}

void Shard::collect_devices(std::move_only_function<void(DevicePage)> done) {
    loop_->post([this, done = std::move(done)]() mutable {
        DevicePage page;
        const base::BootTime now = net::boot_now();
        for (const auto& state : states_) {
            if (!state || state->answered == base::BootTime::min()) continue;
            if (now - state->answered > state->plan->stale_after) continue;
            add_values(page, *state->plan, state->memory, state->answered, now);
        }
        done(std::move(page));
    });
}

void Shard::collect_learned(std::move_only_function<void(std::string)> done) {
    loop_->post([this, done = std::move(done)]() mutable { done(drivers_->all_learned()); });
}

void Shard::collect_profiles(std::move_only_function<void(std::vector<ProfileRow>)> done) {
    loop_->post([this, done = std::move(done)]() mutable { done(drivers_->profiles()); });
}

void Shard::collect_counts(std::move_only_function<void(ShardCounts)> done) {
    loop_->post([this, done = std::move(done)]() mutable {
        counts_.longest_turn = loop_->take_longest_turn();
        drivers_->count(counts_);
        done(counts_);
    });
}

void Shard::ask_alive(std::move_only_function<void(WorkCounts)> answer) {
    loop_->post([this, answer = std::move(answer)]() mutable {
        weigh();
        WorkCounts work;
        work.memory_bytes = memory_bytes_;
        for (const auto& [protocol, counts] : counts_.protocols) {
            work.active += counts.in_flight;
            for (const auto& [code, count] : counts.ended) {
                (code == "ok" ? work.completed : work.failed) += count;
            }
        }
        answer(work);
    });
}

// --- on the shard's thread ----------------------------------------------------------------------

// With very many targets a walk takes several turns, so that no turn is long.
void Shard::weigh() {
    const std::size_t end = std::min(states_.size(), weighed_ + kWeighedAtOnce);
    for (; weighed_ < end; ++weighed_) {
        const TaskState* state = states_[weighed_].get();
        if (state == nullptr) continue;
        weighing_bytes_ += sizeof(TaskState) + state->memory.memory_bytes() +
                           state->series.capacity() * sizeof(state->series[0]);
    }
    if (weighed_ < states_.size()) return;
    memory_bytes_ = weighing_bytes_ + states_.capacity() * sizeof(states_[0]) +
                    runs_.capacity() * sizeof(ActiveRun);
    weighed_ = 0;
    weighing_bytes_ = 0;
}

void Shard::begin(RunOrder order) {
    std::uint32_t index = 0;
    if (free_runs_.empty()) {
        index = static_cast<std::uint32_t>(runs_.size());
        runs_.emplace_back();
    } else {
        index = free_runs_.back();
        free_runs_.pop_back();
    }
    ActiveRun& run = runs_[index];
    run.order = std::move(order);
    run.started = loop_->now();
    run.cancelled = false;
    // Each attempt of a job tries the next address; a target remembers which one answered.
    const std::size_t turn =
        run.order.plan->job ? run.order.attempt - 1 : state_of(run.order).address;
    run.address = turn % run.order.plan->asks.size();
    by_run_[run.order.run] = index;
    ask(index, 0);
}

std::vector<const model::Reply*> Shard::ActiveRun::given() const {
    std::vector<const model::Reply*> out;
    out.reserve(replies.size());
    for (const auto& reply : replies) out.push_back(reply ? &*reply : nullptr);
    return out;
}

void Shard::ask(std::uint32_t index, std::size_t number) {
    ActiveRun& run = runs_[index];
    const auto& asks = run.order.plan->asks[run.address];
    run.replies.resize(number);  // those between are not asked
    run.ask = asks[number];
    run.id = next_id_++;
    ++counts_.protocols[model::protocol_name(*run.ask)].in_flight;
    drivers_->of(*run.ask).start(
        {.id = run.id,
         .ask = run.ask,
         .deadline = run.order.deadline - kBeforeDeadline,
         // The requests of a run share what the first one opened.
         .fresh_login = run.order.fresh_login && run.replies.empty(),
         .trace = false},
        [this, index](model::Reply&& reply) { on_reply(index, std::move(reply)); });
}

void Shard::on_reply(std::uint32_t index, model::Reply reply) {
    ActiveRun& run = runs_[index];
    count(*run.ask, reply);
    run.replies.emplace_back(std::move(reply));
    const PollPlan& plan = *run.order.plan;
    const auto next = run.cancelled || plan.addon == nullptr
                          ? std::nullopt
                          : plan.addon->next_ask(plan.group, run.given());
    if (next && *next < plan.asks[run.address].size()) {
        ask(index, *next);
    } else {
        finish(index);
    }
}

void Shard::count(const model::Ask& ask, const model::Reply& reply) {
    ProtocolCounts& counts = counts_.protocols[model::protocol_name(ask)];
    --counts.in_flight;
    counts.bytes_in += reply.bytes_in;
    counts.bytes_out += reply.bytes_out;
    if (const auto* failure = std::get_if<model::PollFailure>(&reply.answer)) {
        ++counts.ended[failure->code];
    } else {
        ++counts.ended["ok"];
    }
    if (const auto* snmp = std::get_if<model::SnmpReply>(&reply.answer)) {
        counts_.snmp_pdus += snmp->pdus;
    }
}

void Shard::finish(std::uint32_t index) {
    ActiveRun& run = runs_[index];
    RunReport report;
    report.task = run.order.task;
    report.run = run.order.run;
    report.trigger = run.order.trigger;
    report.duration = net::boot_now() - run.started;
    for (const auto& reply : run.replies) {
        if (reply) add_cost(report.cost, *reply);
    }
    TaskState* const state = find_state(run.order.task);
    const PollPlan& plan = *run.order.plan;
    if (plan.job && plan.addon && !run.cancelled) {
        describe_trial(plan, plan.asks[run.address], run.given(), net::instant_now(), report);
    } else if (plan.job && !run.cancelled) {
        describe_job(*run.replies.back(), report);
    } else if (run.cancelled || state == nullptr) {
        report.outcome = model::Outcome::kInterrupted;
        report.kind = model::FailureKind::kCancelled;
    } else {
        const base::Instant now = net::instant_now();
        PollReading reading = read_poll(plan, run.given(), state->memory, now);
        describe(reading, report);
        keep_signals(*state, run, reading, now);
        if (model::is_success(report.outcome)) {
            state->answered = now.boot;
            state->changed = true;
            keep_samples(*state, reading.observation, now.wall);
            report.headline = make_headline(plan, state->memory);
        } else {
            report.heard = heard_of(*run.ask, run.given());
            if (is_unreachable(report.kind)) ++state->address;
        }
    }
    reports_.push_back(std::move(report));
    by_run_.erase(run.order.run);
    run.replies.clear();
    run.ask.reset();
    run.order.plan.reset();
    free_runs_.push_back(index);
    flush_timer_->arm(loop_->now());
}

Shard::TaskState* Shard::find_state(model::TaskHandle task) {
    if (task.index >= states_.size() || !states_[task.index]) return nullptr;
    TaskState& state = *states_[task.index];
    return state.generation == task.generation ? &state : nullptr;
}

Shard::TaskState& Shard::state_of(const RunOrder& order) {
    const std::uint32_t index = order.task.index;
    if (states_.size() <= index) states_.resize(index + std::size_t{1});
    auto& state = states_[index];
    // What was learned belongs to one addon: its metrics are known by their numbers.
    const bool usable = state && state->generation == order.task.generation &&
                        (state->plan == order.plan || state->plan->addon == order.plan->addon ||
                         state->plan->addon->same_as(*order.plan->addon));
    if (usable) {
        if (state->plan != order.plan) state->alarms.reset();  // words and severities may differ
        state->plan = order.plan;
        return *state;
    }
    state = std::make_unique<TaskState>();
    state->generation = order.task.generation;
    state->plan = order.plan;
    const auto recalled = recalled_.find(order.plan->key);
    if (recalled != recalled_.end()) {
        auto memory = derive::TargetMemory::decode(recalled->second, net::instant_now());
        const std::uint64_t owner = memory ? memory->owner() : 0;
        const bool ours = owner == 0 || owner == order.plan->addon->fingerprint();
        if (memory && ours) state->memory = std::move(*memory);
        recalled_.erase(recalled);
    }
    state->memory.set_owner(order.plan->addon->fingerprint());
    return *state;
}

// Conditions that say what they said have nothing to tell, but for a reminder while one holds:
// what the journal had to drop is so made good.
bool Shard::has_news(TaskState& state, const PollReading& reading, base::BootTime now) const {
    if (!model::is_success(reading.outcome)) return false;
    const std::uint64_t alarms = reading.observation.alarms;
    const bool remind = alarms != 0 && now - state.alarms_told >= kRemindAfter;
    if (state.alarms == alarms && !remind) return false;
    state.alarms = alarms;
    state.alarms_told = now;
    return true;
}

// A task that raised nothing twice in a row has nothing to tell.
void Shard::keep_signals(TaskState& state, const ActiveRun& run, const PollReading& reading,
                         base::Instant now) {
    if (!wiring_.signals) return;
    const PollPlan& plan = *run.order.plan;
    model::PollSignals signals;
    bool news = false;
    if (plan.addon->has_signals(plan.group)) {
        signals = plan.addon->signals(plan.group, run.given(), now.wall,
                                      {.device = plan.device, .address = run.ask->host});
        const bool quiet = signals.signals.empty() && signals.open.empty();
        news = !quiet || !state.quiet;
        state.quiet = quiet;
    }
    if (has_news(state, reading, now.boot)) {
        add_conditions(plan, reading, state.memory, signals);
        news = true;
    }
    if (news) signals_.push_back({run.order.plan, std::move(signals), now.wall});
}

void Shard::keep_samples(TaskState& state, const model::Observation& observation,
                         base::WallTime at) {
    if (wiring_.history == nullptr || !state.plan->history || state.plan->target_id.empty()) return;
    if (observation.renumbered) state.series.clear();
    define_series(*state.plan, state.memory, *wiring_.history, *wiring_.series, state.series,
                  samples_);
    for (const model::Sample& sample : observation.samples) {
        if (sample.slot >= state.series.size() || state.series[sample.slot] == 0) continue;
        samples_.samples.push_back({state.series[sample.slot], at.us, sample.value});
    }
}

void Shard::flush() {
    if (!samples_.samples.empty() || !samples_.definitions.empty()) {
        // A full queue is counted by the history itself, which is where people look.
        [[maybe_unused]] const auto status = wiring_.history->append(std::exchange(samples_, {}));
    }
    if (!signals_.empty()) wiring_.signals(std::exchange(signals_, {}));
    if (!reports_.empty()) wiring_.report(std::exchange(reports_, {}));
}

}  // namespace pollux::runtime
