// What is checked before an edit is applied. Nothing here changes anything.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "model/validate.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::schedule {
namespace {

using base::config_error;
using base::quoted;
using base::Status;
using model::kNoIndex;
using model::Parent;
using model::ParentKind;
using model::TaskSpec;

constexpr std::size_t kMaxBatch = 2'000'000;

std::string_view class_of(std::string_view key) { return key.substr(0, key.find("::")); }

}  // namespace

Status SchedulerCore::check_batch(std::vector<TaskSpec>& specs) const {
    if (specs.size() > kMaxBatch) {
        return config_error("batch.size", fmt::format("the batch has {} tasks, at most {} are "
                                                      "allowed",
                                                      specs.size(), kMaxBatch));
    }
    std::vector<std::string_view> keys;
    keys.reserve(specs.size());
    for (TaskSpec& spec : specs) {
        if (auto status = model::validate(spec); !status) return status;
        keys.push_back(spec.key);
    }
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    if (twice != keys.end()) {
        return config_error("task.key", fmt::format("key {} stands twice in one batch: a key is "
                                                    "unique",
                                                    quoted(*twice)));
    }
    for (const TaskSpec& spec : specs) {
        if (auto status = check_against_fleet(spec, keys); !status) return status;
    }
    std::vector<const TaskSpec*> wanted;
    wanted.reserve(specs.size());
    for (const TaskSpec& spec : specs) wanted.push_back(&spec);
    if (const auto cycle = find_cycle(wanted); !cycle.empty()) return cycle_error(cycle);
    return {};
}

Status SchedulerCore::check_against_fleet(const TaskSpec& spec,
                                          std::span<const std::string_view> batch) const {
    if (class_index(class_of(spec.key)) == 0xFFFF) {
        std::vector<std::string_view> names;
        for (const auto& one : settings_.classes) names.push_back(one.name);
        const auto hint = base::nearest(class_of(spec.key), names);
        return config_error(
            "task.class",
            fmt::format("{}: class {} is unknown{}", quoted(spec.key), quoted(class_of(spec.key)),
                        hint ? fmt::format(": did you mean {}?", quoted(*hint))
                             : ": declare it in the settings first"));
    }
    const std::uint32_t class_slots = settings_.classes[class_index(class_of(spec.key))].slots;
    if (class_slots > 0 && spec.slots > class_slots) {
        return config_error("task.slots",
                            fmt::format("{}: slots = {} can never be had: its class has {}",
                                        quoted(spec.key), spec.slots, class_slots));
    }
    const std::uint32_t known = tasks_.find(spec.key);
    const bool once = spec.cadence.kind == model::CadenceKind::kOnce;
    if (known != base::FlatIndex::kNone && tasks_[known].recurring() == once) {
        return config_error("task.cadence",
                            fmt::format("{}: a recurring task cannot become a job, nor a job a "
                                        "recurring task: remove it and add it again",
                                        quoted(spec.key)));
    }
    if (known != base::FlatIndex::kNone && once && tasks_[known].place == Place::kEnded) {
        return config_error("task.key",
                            fmt::format("{}: this job has ended already ({}): submit "
                                        "it under a new key",
                                        quoted(spec.key), model::to_string(tasks_[known].job)));
    }
    for (const auto& group : spec.needs) {
        for (const Parent& parent : group.any_of) {
            if (parent.kind == ParentKind::kDevice) continue;
            const bool here = std::ranges::binary_search(batch, std::string_view(parent.name));
            if (here || tasks_.find(parent.name) != base::FlatIndex::kNone) continue;
            return config_error("task.needs", fmt::format("{}: needs {}, which does not exist: add "
                                                          "it first or in the same batch",
                                                          quoted(spec.key), quoted(parent.name)));
        }
    }
    return {};
}

// Follows the needs as they would be after the batch. New tasks can only be reached from inside
// the batch, so existing tasks are followed only where the batch changes one of them. Returns the
// keys of the first cycle found, each needing the next, or nothing.
std::vector<std::string> SchedulerCore::find_cycle(std::span<const TaskSpec* const> specs) const {
    std::map<std::string_view, const TaskSpec*> batch;
    bool edits_existing = false;
    for (const TaskSpec* spec : specs) {
        batch.emplace(spec->key, spec);
        edits_existing = edits_existing || tasks_.find(spec->key) != base::FlatIndex::kNone;
    }
    const auto parents_of = [&](std::string_view key) {
        std::vector<std::string_view> parents;
        const auto own = batch.find(key);
        if (own != batch.end()) {
            for (const auto& group : own->second->needs) {
                for (const Parent& parent : group.any_of) {
                    if (parent.kind == ParentKind::kTask) parents.push_back(parent.name);
                }
            }
        } else if (edits_existing) {
            const std::uint32_t task = tasks_.find(key);
            if (task == base::FlatIndex::kNone || tasks_[task].node == kNoIndex) return parents;
            for (const auto& group : graph_.groups(tasks_[task].node)) {
                for (const std::uint32_t node : group.parents) {
                    const std::uint32_t owner = graph_.owner(node);
                    if (owner != kNoIndex) parents.push_back(tasks_.key(owner));
                }
            }
        }
        return parents;
    };
    struct Visit {
        std::string_view key;
        std::vector<std::string_view> parents;
        std::size_t next = 0;
    };
    std::map<std::string_view, bool> done;  // false: on the path
    for (const TaskSpec* spec : specs) {
        if (spec->needs.empty() || done.contains(spec->key)) continue;
        std::vector<Visit> path;
        path.push_back({spec->key, parents_of(spec->key)});
        done[spec->key] = false;
        while (!path.empty()) {
            Visit& top = path.back();
            if (top.next == top.parents.size()) {
                done[top.key] = true;
                path.pop_back();
                continue;
            }
            const std::string_view parent = top.parents[top.next++];
            const auto seen = done.find(parent);
            if (seen == done.end()) {
                done[parent] = false;
                path.push_back({parent, parents_of(parent)});
            } else if (!seen->second) {
                std::vector<std::string> cycle;
                for (auto at = std::ranges::find(path, parent, &Visit::key); at != path.end(); ++at)
                    cycle.emplace_back(at->key);
                return cycle;
            }
        }
    }
    return {};
}

// A task that wants more slots than there are would stop its whole class for good.
Status SchedulerCore::check_slots(const model::CoreSettings& wanted) const {
    for (std::uint32_t task = 0; task < tasks_.capacity(); ++task) {
        const TaskSlot& slot = tasks_[task];
        if (slot.demand == 0 || slot.place == Place::kFree || slot.place == Place::kEnded) continue;
        const std::int64_t slots = admission_.demand(slot.demand).slots;
        const std::uint32_t of_class = wanted.classes[slot.class_index].slots;
        const bool too_few = slots > wanted.global_slots || (of_class > 0 && slots > of_class);
        if (!too_few) continue;
        return config_error(
            "settings.slots",
            fmt::format("{} needs {} slots: global_slots = {} and the {} of class {} must leave "
                        "room for it",
                        quoted(tasks_.key(task)), slots, wanted.global_slots,
                        of_class > 0 ? fmt::format("slots = {}", of_class) : "unlimited slots",
                        quoted(wanted.classes[slot.class_index].name)));
    }
    return {};
}

}  // namespace pollux::schedule
