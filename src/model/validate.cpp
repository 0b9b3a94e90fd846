#include "model/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "base/time.hpp"
#include "model/task_key.hpp"

namespace pollux::model {
namespace {

using base::config_error;
using base::Duration;
using base::format_duration;
using base::quoted;
using base::Status;

constexpr std::size_t kMaxNeedGroups = 64;
constexpr std::size_t kMaxParentsPerGroup = 256;
constexpr std::size_t kMaxResources = 16;
constexpr double kLeastRate = 0.001;
constexpr std::size_t kMaxClasses = 10'000;
constexpr double kMaxRate = 1e7;

Status check_range(std::string_view area, std::string_view where, std::string_view field,
                   Duration value, Duration low, Duration high) {
    if (value >= low && value <= high) return {};
    return config_error(
        fmt::format("{}.{}", area, field),
        fmt::format("{}: {} = {} is out of range: it must lie between {} and {}", where, field,
                    format_duration(value), format_duration(low), format_duration(high)));
}

Status check_order(std::string_view where, std::string_view small_field, Duration small,
                   std::string_view large_field, Duration large) {
    if (small <= large) return {};
    return config_error(fmt::format("task.{}", small_field),
                        fmt::format("{}: {} = {} is greater than {} = {}: the rule is min <= base "
                                    "<= max",
                                    where, small_field, format_duration(small), large_field,
                                    format_duration(large)));
}

Status check_cadence(std::string_view where, Cadence& cadence) {
    if (cadence.kind == CadenceKind::kOnce) {
        cadence = Cadence::once();
        return {};
    }
    const auto in_range = [&](std::string_view field, Duration value) {
        return check_range("task", where, field, value, kShortestInterval, kLongestInterval);
    };
    if (auto s = in_range("base", cadence.base); !s) return s;
    if (cadence.kind == CadenceKind::kFixed) {
        cadence = Cadence::fixed(cadence.base);
        return {};
    }
    if (auto s = in_range("min", cadence.min); !s) return s;
    if (auto s = in_range("max", cadence.max); !s) return s;
    if (auto s = check_order(where, "min", cadence.min, "base", cadence.base); !s) return s;
    return check_order(where, "base", cadence.base, "max", cadence.max);
}

Status check_parent(std::string_view where, Parent& parent) {
    if (parent.kind == ParentKind::kTask) {
        auto key = parse_task_key(parent.name);
        if (!key) {
            return config_error("task.needs",
                                fmt::format("{}: needs: {}", where, key.error().message));
        }
        parent.name = make_task_key(key->class_name, key->name);
        return {};
    }
    auto name = normalise_name("device", parent.name);
    if (!name) {
        return config_error("task.needs",
                            fmt::format("{}: needs: {}", where, name.error().message));
    }
    parent.name = std::move(*name);
    return {};
}

Status check_needs(std::string_view where, std::vector<NeedGroup>& groups) {
    if (groups.size() > kMaxNeedGroups) {
        return config_error("task.needs", fmt::format("{}: needs has {} groups, at most {} are "
                                                      "allowed",
                                                      where, groups.size(), kMaxNeedGroups));
    }
    for (auto& group : groups) {
        if (group.any_of.empty() || group.any_of.size() > kMaxParentsPerGroup) {
            return config_error("task.needs",
                                fmt::format("{}: a group of needs has {} parents, it must have 1 "
                                            "to {}",
                                            where, group.any_of.size(), kMaxParentsPerGroup));
        }
        for (auto& parent : group.any_of) {
            if (auto s = check_parent(where, parent); !s) return s;
        }
    }
    return {};
}

Status check_demand(std::string_view where, TaskSpec& spec) {
    if (spec.slots < 0 || spec.slots > 1'000'000) {
        return config_error("task.slots", fmt::format("{}: slots = {} is out of range: it must lie "
                                                      "between 0 and 1000000",
                                                      where, spec.slots));
    }
    if (spec.demand.size() > kMaxResources) {
        return config_error("task.demand", fmt::format("{}: demand names {} resources, at most {} "
                                                       "are allowed",
                                                       where, spec.demand.size(), kMaxResources));
    }
    std::set<std::string_view> seen;
    for (auto& part : spec.demand) {
        auto name = normalise_name("resource", part.resource);
        if (!name) {
            return config_error("task.demand",
                                fmt::format("{}: demand: {}", where, name.error().message));
        }
        part.resource = std::move(*name);
        if (part.amount <= 0) {
            return config_error("task.demand",
                                fmt::format("{}: demand of {} = {} is not positive", where,
                                            quoted(part.resource), part.amount));
        }
        if (!seen.insert(part.resource).second) {
            return config_error("task.demand", fmt::format("{}: demand names {} twice", where,
                                                           quoted(part.resource)));
        }
    }
    return {};
}

Status check_limits(const TaskSpec& spec) {
    if (auto s = check_range("task", spec.key, "timeout", spec.timeout,
                             std::chrono::milliseconds(1), kLongestTimeout);
        !s)
        return s;
    if (spec.staleness_bound) {
        if (auto s = check_range("task", spec.key, "staleness_bound", *spec.staleness_bound,
                                 kShortestInterval, kLongestInterval);
            !s)
            return s;
    }
    if (spec.max_attempts < 1 || spec.max_attempts > 1000) {
        return config_error("task.max_attempts",
                            fmt::format("{}: max_attempts = {} is out of range: it must lie "
                                        "between 1 and 1000",
                                        spec.key, spec.max_attempts));
    }
    return {};
}

Status check_rate(std::string_view where, std::string_view field, double rate, double low) {
    if (rate >= low && rate <= kMaxRate) return {};
    return config_error(fmt::format("settings.{}", field),
                        fmt::format("{}{} = {} is out of range: it must lie between {} and {:.0f} "
                                    "per second",
                                    where, field, rate, low, kMaxRate));
}

// Of a class or a device: 0 stands for the usual one.
Status check_own_rate(std::string_view where, double rate) {
    return rate == 0 ? Status() : check_rate(where, "rate", rate, kLeastRate);
}

Status check_class(ClassSettings& one, std::set<std::string_view>& seen) {
    if (auto s = check_class_name(one.name); !s) return s;
    if (!seen.insert(one.name).second) {
        return config_error("settings.classes",
                            fmt::format("class {} is listed twice", quoted(one.name)));
    }
    const std::string where = fmt::format("class {}: ", quoted(one.name));
    if (one.weight < 1 || one.weight > 1000) {
        return config_error("settings.weight", fmt::format("{}weight = {} is out of range: it must "
                                                           "lie between 1 and 1000",
                                                           where, one.weight));
    }
    if (one.staleness_bound) {
        if (auto s = check_range("settings", fmt::format("class {}", quoted(one.name)),
                                 "staleness_bound", *one.staleness_bound, kShortestInterval,
                                 kLongestInterval);
            !s)
            return s;
    }
    return check_own_rate(where, one.rate);
}

Status check_resources(std::vector<ResourceSettings>& resources) {
    std::set<std::string_view> seen;
    for (auto& resource : resources) {
        auto name = normalise_name("resource", resource.name);
        if (!name) return std::unexpected(std::move(name.error()));
        resource.name = std::move(*name);
    }
    for (const auto& resource : resources) {
        if (!seen.insert(resource.name).second) {
            return config_error("settings.resources",
                                fmt::format("resource {} is listed twice", quoted(resource.name)));
        }
        if (resource.capacity < 1) {
            return config_error("settings.resources",
                                fmt::format("resource {}: capacity = {} is not positive",
                                            quoted(resource.name), resource.capacity));
        }
    }
    return {};
}

Status check_global(const CoreSettings& settings) {
    if (auto s = check_rate("", "global_rate", settings.global_rate, kLeastRate); !s) return s;
    if (auto s = check_rate("", "device_rate", settings.device_rate, kLeastRate); !s) return s;
    if (!(settings.adaptive_percent >= 0 && settings.adaptive_percent <= 100)) {
        return config_error("settings.adaptive_percent",
                            fmt::format("adaptive_percent = {} is out of range: it must lie "
                                        "between 0 and 100",
                                        settings.adaptive_percent));
    }
    if (!(settings.budget_headroom > 0 && settings.budget_headroom <= 1)) {
        return config_error("settings.budget_headroom",
                            fmt::format("budget_headroom = {} is out of range: it must be above 0 "
                                        "and at most 1",
                                        settings.budget_headroom));
    }
    const bool counts_ok = settings.global_slots > 0 && settings.device_slots > 0 &&
                           settings.device_class_slots > 0 && settings.max_starts_per_step > 0;
    if (!counts_ok) {
        return config_error("settings.slots",
                            fmt::format("global_slots = {}, device_slots = {}, device_class_slots "
                                        "= {} and max_starts_per_step = {} must all be at least 1",
                                        settings.global_slots, settings.device_slots,
                                        settings.device_class_slots, settings.max_starts_per_step));
    }
    if (auto s = check_range("settings", "settings", "aging_step", settings.aging_step,
                             std::chrono::milliseconds(1), kLongestInterval);
        !s)
        return s;
    return check_range("settings", "settings", "staleness_bound", settings.staleness_bound,
                       kShortestInterval, kLongestInterval);
}

}  // namespace

Status validate(TaskSpec& spec) {
    auto key = parse_task_key(spec.key);
    if (!key) {
        return config_error("task.key",
                            fmt::format("key {}: {}", quoted(spec.key), key.error().message));
    }
    spec.key = make_task_key(key->class_name, key->name);
    for (auto* field : {&spec.device, &spec.region}) {
        if (field->empty()) continue;
        auto name = normalise_name(field == &spec.device ? "device" : "region", *field);
        if (!name) {
            return config_error("task.name", fmt::format("{}: {}", spec.key, name.error().message));
        }
        *field = std::move(*name);
    }
    if (auto s = check_cadence(spec.key, spec.cadence); !s) return s;
    if (auto s = check_needs(spec.key, spec.needs); !s) return s;
    if (auto s = check_demand(spec.key, spec); !s) return s;
    return check_limits(spec);
}

Status validate(DeviceSpec& spec) {
    auto name = normalise_name("device", spec.name);
    if (!name) return std::unexpected(std::move(name.error()));
    spec.name = std::move(*name);
    return check_own_rate(fmt::format("device {}: ", quoted(spec.name)), spec.rate);
}

Status validate(CoreSettings& settings) {
    if (auto s = check_global(settings); !s) return s;
    if (settings.classes.size() > kMaxClasses) {
        return config_error("settings.classes", fmt::format("{} classes are listed, at most {} are "
                                                            "allowed",
                                                            settings.classes.size(), kMaxClasses));
    }
    std::set<std::string_view> seen;
    for (auto& one : settings.classes) {
        if (auto s = check_class(one, seen); !s) return s;
    }
    return check_resources(settings.resources);
}

}  // namespace pollux::model
