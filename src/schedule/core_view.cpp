#include "schedule/core_view.hpp"

#include <algorithm>

namespace pollux::schedule {
namespace {

constexpr std::size_t kMostNeeds = 20;

std::vector<std::string> parents_of(const SchedulerCore& core, const TaskSlot& slot) {
    std::vector<std::string> keys;
    if (slot.node == model::kNoIndex) return keys;
    for (const auto& group : core.needs().groups(slot.node)) {
        for (const std::uint32_t node : group.parents) {
            const std::uint32_t owner = core.needs().owner(node);
            if (owner == model::kNoIndex) continue;
            if (keys.size() == kMostNeeds) return keys;
            keys.push_back(core.key(core.handle_at(owner)));
        }
    }
    return keys;
}

}  // namespace

std::vector<ResourceUsage> resource_usage(const SchedulerCore& core, std::size_t most_holders) {
    const Admission& admission = core.admission();
    std::vector<ResourceUsage> all(admission.resource_count());
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        all[i].name = admission.resource_name(i);
        all[i].capacity = admission.resource_pool(i).capacity;
        all[i].used = admission.resource_pool(i).used;
    }
    for (std::uint32_t index = 0; index < core.capacity(); ++index) {
        const TaskSlot& slot = core.slot(core.handle_at(index));
        const bool running = slot.place == Place::kRunning;
        if (!running && !is_due_and_waiting(slot.place)) continue;
        // What a run holds was taken when it started, whatever was edited since.
        const std::uint16_t demand = running ? core.leases()[slot.run].demand : slot.demand;
        for (const auto& [resource, amount] : admission.demand(demand).resources) {
            ResourceUsage& usage = all[resource];
            if (running) {
                ++usage.holder_count;
                usage.holders.push_back(
                    {core.handle_at(index), amount, core.leases()[slot.run].started});
            } else {
                ++usage.waiting;
                usage.wanted += amount;
            }
        }
    }
    for (ResourceUsage& usage : all) {
        std::ranges::sort(usage.holders, [](const ResourceHolder& a, const ResourceHolder& b) {
            return std::pair(a.since, a.task) < std::pair(b.since, b.task);
        });
        if (usage.holders.size() > most_holders) usage.holders.resize(most_holders);
    }
    std::erase_if(all, [&](const ResourceUsage& usage) {
        const auto& declared = core.settings().resources;
        return usage.used == 0 &&
               std::ranges::find(declared, usage.name, &model::ResourceSettings::name) ==
                   declared.end();
    });
    return all;
}

ReadySet ready_set(const SchedulerCore& core, base::BootTime now, std::size_t limit) {
    ReadySet set;
    for (std::uint32_t index = 0; index < core.capacity(); ++index) {
        const TaskSlot& slot = core.slot(core.handle_at(index));
        if (!is_due_and_waiting(slot.place)) continue;
        ReadyTask task;
        task.task = core.handle_at(index);
        task.place = slot.place;
        task.tier = slot.run_tier;
        task.effective = core.ready_queue().effective_tier(slot.run_tier, slot.ready_since, now);
        task.ready_since = slot.ready_since;
        task.due = slot.next_due;
        set.first.push_back(std::move(task));
    }
    set.size = set.first.size();
    const std::size_t kept = std::min(limit, set.first.size());
    std::ranges::partial_sort(set.first, set.first.begin() + static_cast<std::ptrdiff_t>(kept),
                              [](const ReadyTask& a, const ReadyTask& b) {
                                  if (a.effective != b.effective) return a.effective > b.effective;
                                  return std::pair(a.ready_since, a.task) <
                                         std::pair(b.ready_since, b.task);
                              });
    set.first.resize(kept);
    for (ReadyTask& task : set.first) {
        const TaskSlot& slot = core.slot(task.task);
        const Demand& demand = core.admission().demand(slot.demand);
        task.slots = demand.slots;
        for (const auto& [resource, amount] : demand.resources) {
            task.resources.emplace_back(core.admission().resource_name(resource), amount);
        }
        task.needs = parents_of(core, slot);
    }
    return set;
}

model::JobPhase phase_of(const TaskSlot& slot) {
    switch (slot.job) {
        case model::JobState::kCompleted: return model::JobPhase::kCompleted;
        case model::JobState::kFailed: return model::JobPhase::kFailed;
        case model::JobState::kCancelled: return model::JobPhase::kCancelled;
        default: break;
    }
    if (slot.place == Place::kRunning) return model::JobPhase::kRunning;
    if (slot.place == Place::kWaitsForNeeds) return model::JobPhase::kBlocked;
    return is_due_and_waiting(slot.place) ? model::JobPhase::kReady : model::JobPhase::kPending;
}

}  // namespace pollux::schedule
