// Tasks, devices and settings come, change and go. An edit is checked whole before any of it is
// applied, so a refused one changes nothing.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "model/task_key.hpp"
#include "model/validate.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::schedule {
namespace {

using base::config_error;
using base::quoted;
using base::Status;
using model::JobState;
using model::kNoIndex;
using model::Parent;
using model::ParentKind;
using model::TaskSpec;

constexpr std::size_t kBulk = 16;                // more new tasks than this at once are phased
constexpr std::uint32_t kLeastProbeMs = 20'000;  // the shortest cap of the failure ladder
constexpr std::uint64_t kPhasePurpose = 0x7068617365ULL;

std::string_view class_of(std::string_view key) { return key.substr(0, key.find("::")); }

std::uint32_t to_ms(base::Duration value) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(value.count() / 1'000'000, 0, 0xFFFFFFFE));
}

}  // namespace

void SchedulerCore::reject(std::uint64_t correlation, base::Error error) {
    ++stats_.rejected_events;
    out_->rejections.push_back({correlation, std::move(error)});
}

std::uint16_t SchedulerCore::class_index(std::string_view name) const {
    const auto found = std::ranges::find(settings_.classes, name, &model::ClassSettings::name);
    return found == settings_.classes.end()
               ? std::uint16_t{0xFFFF}
               : static_cast<std::uint16_t>(found - settings_.classes.begin());
}

void SchedulerCore::on_upserted(const TasksUpserted& event) {
    std::vector<TaskSpec> specs = *event.specs;
    if (auto status = check_batch(specs); !status) {
        reject(event.correlation, std::move(status.error()));
        return;
    }
    std::vector<std::uint16_t> demands;
    for (const TaskSpec& spec : specs) {
        auto demand = admission_.intern(spec);
        if (!demand) {
            reject(event.correlation, std::move(demand.error()));
            return;
        }
        demands.push_back(*demand);
    }
    // Parents may stand anywhere in the batch: all tasks exist before needs are linked.
    std::vector<std::pair<std::uint32_t, bool>> added;
    std::size_t fresh = 0;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const std::uint32_t known = tasks_.find(specs[i].key);
        const bool is_new = known == base::FlatIndex::kNone;
        added.emplace_back(is_new ? add_task(specs[i], demands[i]) : known, is_new);
        if (is_new && specs[i].cadence.kind != model::CadenceKind::kOnce) ++fresh;
    }
    for (std::size_t i = 0; i < specs.size(); ++i) link_needs(added[i].first, specs[i]);
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (added[i].second) {
            first_start(added[i].first, fresh > kBulk);
        } else {
            change_task(added[i].first, specs[i], demands[i]);
        }
    }
}

std::uint32_t SchedulerCore::add_task(const TaskSpec& spec, std::uint16_t demand) {
    const std::uint32_t task = tasks_.add(spec.key);
    planner_.grow(tasks_.capacity());
    planner_.reset(task);
    TaskSlot& slot = tasks_[task];
    slot.class_index = class_index(class_of(spec.key));
    slot.cadence = spec.cadence.kind;
    slot.set(kFlagUp, true);
    if (!slot.recurring()) slot.job = JobState::kPending;
    ++class_load_[slot.class_index].tasks;
    configure_task(task, spec, demand);
    return task;
}

// What an edit may change at any time, whatever the task is doing.
void SchedulerCore::configure_task(std::uint32_t task, const TaskSpec& spec, std::uint16_t demand) {
    TaskSlot& slot = tasks_[task];
    Timing timing;
    timing.min_ms = to_ms(spec.cadence.min);
    timing.base_ms = to_ms(spec.cadence.base);
    timing.max_ms = to_ms(spec.cadence.max);
    timing.timeout_ms = std::max(1U, to_ms(spec.timeout));
    timing.own_bound_ms = spec.staleness_bound ? to_ms(*spec.staleness_bound) : 0;
    timing.class_index = slot.class_index;
    slot.timing = timings_.acquire(timing);
    slot.cadence = spec.cadence.kind;
    slot.tier = spec.tier;
    if (slot.place != Place::kReady) slot.run_tier = spec.tier;
    slot.profile = spec.failure_profile;
    slot.region = admission_.region(spec.region);
    slot.device = spec.device.empty() ? kNoIndex : devices_.find_or_add(spec.device);
    slot.demand = demand;
    slot.version = static_cast<std::uint32_t>(spec.version);
    slot.set(kFlagAdaptive, spec.adaptive);
    slot.set(kFlagEnabled, spec.enabled);
    if (!slot.recurring()) jobs_[task] = {spec.max_attempts, spec.on_parent_failure};
}

void SchedulerCore::link_needs(std::uint32_t task, const TaskSpec& spec) {
    if (spec.needs.empty() && tasks_[task].node == kNoIndex) return;
    std::vector<NeedsGraph::Group> groups;
    for (const auto& wanted : spec.needs) {
        NeedsGraph::Group group;
        group.when_unmet = wanted.when_unmet;
        for (const Parent& parent : wanted.any_of) {
            group.parents.push_back(parent.kind == ParentKind::kDevice
                                        ? node_of_device(devices_.find_or_add(parent.name))
                                        : node_of_task(tasks_.find(parent.name)));
        }
        groups.push_back(std::move(group));
    }
    graph_.set_groups(node_of_task(task), std::move(groups));
    tasks_[task].set(kFlagSlow, graph_.unmet_slow(tasks_[task].node) > 0);
    if (!tasks_[task].recurring()) raise_parents(task);
}

void SchedulerCore::first_start(std::uint32_t task, bool in_bulk) {
    TaskSlot& slot = tasks_[task];
    persist(task, Durability::kWriteBehind);
    if (!slot.has(kFlagEnabled)) return;
    slot.next_due = now();
    if (!slot.recurring()) {
        slot.trigger = model::Trigger::kJob;
        come_due(task);
        return;
    }
    join_planner(task);
    slot.interval_ms = timings_[slot.timing].base_ms;
    const bool at_once = !in_bulk && single_adds_.open(now());
    if (at_once) {
        single_adds_.take(now());
        come_due(task);
        return;
    }
    const double phase = base::unit_interval(base::siphash24(seed_, slot.key_hash, kPhasePurpose));
    schedule_at(task, now() + base::from_seconds(slot.interval_ms * 1e-3 * phase));
}

void SchedulerCore::change_task(std::uint32_t task, const TaskSpec& spec, std::uint16_t demand) {
    TaskSlot& slot = tasks_[task];
    const bool was_enabled = slot.has(kFlagEnabled);
    const std::uint32_t old_timing = slot.timing;
    // A task that waits somewhere waits there for what it wanted before: let it ask anew.
    const bool waiting = is_due_and_waiting(slot.place);
    if (waiting) leave_place(task);
    if (slot.recurring() && was_enabled) leave_planner(task);
    configure_task(task, spec, demand);
    timings_.release(old_timing);
    persist(task, Durability::kWriteBehind);
    if (!slot.recurring()) inherit_urgency(task);
    if (!slot.has(kFlagEnabled)) {
        if (was_enabled) change(task, ChangeKind::kEnabled, 1, 0);
        if (slot.place != Place::kRunning && slot.place != Place::kEnded) leave_place(task);
        return;
    }
    if (slot.recurring()) join_planner(task);
    if (waiting) {
        const base::BootTime since = slot.ready_since;
        come_due(task);
        if (slot.place == Place::kReady) {  // an edit does not send it to the end of the line
            ready_.note_left(task);
            slot.ready_since = since;
            ready_.push(task);
        }
    } else if (!was_enabled || slot.place == Place::kFaulted) {
        enable(task);
    } else if (slot.place == Place::kScheduled && slot.failure == kNoIndex) {
        // A pending slot may come sooner by an edit, never later.
        const base::BootTime sooner = now() + std::chrono::milliseconds(planner_.current_ms(task));
        if (sooner < slot.next_due) schedule_at(task, sooner);
    } else if (slot.place == Place::kWaitsForNeeds) {
        needs_changed(task);
    }
}

void SchedulerCore::enable(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    if (slot.place == Place::kEnded) return;
    change(task, ChangeKind::kEnabled, 0, 1);
    if (slot.place == Place::kRunning) return;  // it goes on when that run ends
    leave_place(task);
    slot.next_due = std::max(slot.next_due, now());
    if (!slot.recurring()) {
        come_due(task);
        return;
    }
    if (slot.interval_ms == 0) slot.interval_ms = timings_[slot.timing].base_ms;
    if (slot.next_due > now()) {
        schedule_at(task, slot.next_due);
    } else {
        come_due(task);
    }
}

void SchedulerCore::join_planner(std::uint32_t task) {
    planner_.join(task);
    const TaskSlot& slot = tasks_[task];
    const std::uint32_t base_ms = timings_[slot.timing].base_ms;
    class_load_[slot.class_index].base += rate_of(base_ms);
    if (slot.failure != kNoIndex) {
        count_down_rate(task, std::chrono::milliseconds(std::max(kLeastProbeMs, base_ms)));
    }
    solve_now_ = true;
}

void SchedulerCore::leave_planner(std::uint32_t task) {
    const TaskSlot& slot = tasks_[task];
    if (!slot.has(kFlagJoined)) return;
    if (slot.failure != kNoIndex) count_down_rate(task, base::Duration::zero());
    planner_.leave(task);
    class_load_[slot.class_index].base -= rate_of(timings_[slot.timing].base_ms);
    solve_now_ = true;
}

void SchedulerCore::on_removed(const TaskRemoved& event) {
    const std::uint32_t task = lookup(event.key);
    if (task == base::FlatIndex::kNone) {
        reject(event.correlation, config_error("task.unknown", fmt::format("task {} does not exist",
                                                                           quoted(event.key)))
                                      .error());
        return;
    }
    const std::uint32_t node = tasks_[task].node;
    const bool needed = node != kNoIndex && graph_.has_children(node) &&
                        (tasks_[task].recurring() || tasks_[task].job != JobState::kCompleted);
    if (needed) {
        const auto children = graph_.child_owners(node);
        reject(event.correlation,
               config_error(
                   "task.needed",
                   fmt::format(
                       "{} cannot be removed: {} needs it{}: change or remove that "
                       "first",
                       quoted(event.key), quoted(tasks_.key(children.front())),
                       children.size() > 1 ? fmt::format(" and {} more", children.size() - 1) : ""))
                   .error());
        return;
    }
    remove_task(task);
}

void SchedulerCore::remove_task(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    if (slot.place == Place::kRunning) {
        out_->cancels.push_back({tasks_.handle(task), leases_[slot.run].run});
        ++stats_.cancelled;
        end_run(slot.run);
    }
    leave_place(task);
    leave_planner(task);
    if (slot.failure != kNoIndex) {
        class_load_[slot.class_index].down -= failures_[slot.failure].down_rate;
        failures_.release(slot.failure);
    }
    if (slot.node != kNoIndex) {
        const auto children = graph_.child_owners(slot.node);
        graph_.remove_node(slot.node);
        slot.node = kNoIndex;
        for (const std::uint32_t child : children) {
            if (tasks_[child].place == Place::kWaitsForNeeds) needs_changed(child);
        }
    }
    timings_.release(slot.timing);
    jobs_.erase(task);
    --class_load_[slot.class_index].tasks;
    out_->forgets.push_back({tasks_.handle(task), tasks_.key(task)});
    tasks_.remove(task);
}

void SchedulerCore::on_device(const DeviceChanged& event) {
    model::DeviceSpec spec = *event.spec;
    if (auto status = model::validate(spec); !status) {
        reject(event.correlation, std::move(status.error()));
        return;
    }
    const std::uint32_t device = devices_.find_or_add(spec.name);
    if (!devices_.set_limits(now(), device, spec)) {
        reject(event.correlation,
               config_error("device.limits",
                            fmt::format("device {}: more than {} different sets of device limits "
                                        "are in use",
                                        quoted(spec.name), DeviceTable::kMaxLimitSets))
                   .error());
        return;
    }
    recheck_device(device);
}

void SchedulerCore::on_settings(const SettingsChanged& event) {
    model::CoreSettings wanted = *event.settings;
    if (auto status = model::validate(wanted); !status) {
        reject(event.correlation, std::move(status.error()));
        return;
    }
    // Classes keep their place in the list, because tasks name them by it.
    std::vector<model::ClassSettings> ordered;
    for (std::size_t c = 0; c < settings_.classes.size(); ++c) {
        const auto& name = settings_.classes[c].name;
        const auto found = std::ranges::find(wanted.classes, name, &model::ClassSettings::name);
        if (found == wanted.classes.end()) {
            if (class_load_[c].tasks > 0) {
                reject(event.correlation,
                       config_error("settings.classes",
                                    fmt::format("class {} cannot go: {} tasks belong to it",
                                                quoted(name), class_load_[c].tasks))
                           .error());
                return;
            }
            ordered.push_back(settings_.classes[c]);
        } else {
            ordered.push_back(std::move(*found));
            wanted.classes.erase(found);
        }
    }
    for (auto& one : wanted.classes) ordered.push_back(std::move(one));
    wanted.classes = std::move(ordered);
    if (auto status = check_slots(wanted); !status) {
        reject(event.correlation, std::move(status.error()));
        return;
    }
    settings_ = std::move(wanted);
    apply_settings();
    tend_everything();
}

void SchedulerCore::apply_settings() {
    seed_ = {settings_.seed, 0x706f6c6c757821ULL};
    class_load_.resize(settings_.classes.size());
    devices_.configure(now(), settings_);
    admission_.configure(now(), settings_);
    ready_.set_aging_step(settings_.aging_step);
    std::vector<std::uint32_t> bounds;
    for (std::size_t c = 0; c < settings_.classes.size(); ++c) {
        ready_.set_class_weight(static_cast<std::uint16_t>(c), settings_.classes[c].weight);
        const auto& bound = settings_.classes[c].staleness_bound;
        bounds.push_back(bound ? to_ms(*bound) : 0);
    }
    timings_.set_bounds(to_ms(settings_.staleness_bound), bounds);
    planner_.configure(settings_);
    solve_now_ = true;
}

}  // namespace pollux::schedule
