#include "config/capacity.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pollux::config {
namespace {

constexpr double kSecondsPerDay = 86'400;

double samples_per_poll(const model::Addon* addon, const CostFigures& figures) {
    if (addon == nullptr) return figures.samples_per_poll;
    const auto kept = std::count_if(
        addon->metrics.begin(), addon->metrics.end(),
        [](const model::MetricDef& metric) { return metric.type != model::MetricType::kText; });
    const bool rows = std::any_of(addon->metrics.begin(), addon->metrics.end(),
                                  [](const model::MetricDef& metric) { return metric.per_row; });
    // How many rows a device has is only known once it was asked.
    const double count = static_cast<double>(kept) * (rows ? figures.samples_per_poll : 1);
    return std::max(count, 1.0);
}

std::string bytes_text(double bytes) {
    if (bytes >= 1e9) return fmt::format("{:.1f} GB", bytes / 1e9);
    if (bytes >= 1e6) return fmt::format("{:.1f} MB", bytes / 1e6);
    return fmt::format("{:.0f} kB", bytes / 1e3);
}

}  // namespace

Capacity capacity(const Expansion& expansion, const AddonLookup& addons, const Settings& settings,
                  const CostFigures& figures) {
    Capacity result;
    ByName<ClassCapacity> classes;
    for (const model::ClassSettings& one : expansion.classes) {
        classes[one.name] = {one.name, 0, 0, one.rate};
    }
    for (std::size_t i = 0; i < expansion.tasks.size(); ++i) {
        const model::TaskSpec& task = expansion.tasks[i];
        if (!task.enabled) {
            ++result.disabled;
            continue;
        }
        const double rate = 1 / base::to_seconds(task.cadence.base);
        const auto found = addons.find(expansion.targets[i].addon);
        const model::Addon* addon = found == addons.end() ? nullptr : found->second;
        const bool snmp = addon != nullptr && addon->protocol == model::ProtocolKind::kSnmp;
        ClassCapacity& own = classes[expansion.targets[i].addon];
        ++own.tasks;
        own.polls_per_second += rate;
        ++result.tasks;
        result.polls_per_second += rate;
        result.cpu_cores += rate * (snmp ? figures.snmp_cpu_seconds : figures.http_cpu_seconds);
        result.history_bytes_per_day +=
            rate * kSecondsPerDay * samples_per_poll(addon, figures) * figures.bytes_per_sample;
        // A task's row is written at most once per flush, however often it is polled.
        result.state_bytes_per_day +=
            std::min(rate * kSecondsPerDay, figures.flushes_per_day) * figures.bytes_per_task;
    }
    if (!settings.history_enabled) result.history_bytes_per_day = 0;
    result.devices = expansion.devices.size();
    result.global_rate = settings.global_rate;
    for (auto& [name, one] : classes) result.classes.push_back(std::move(one));
    return result;
}

void check_capacity(const Capacity& capacity, document::Diagnostics& diagnostics) {
    if (capacity.polls_per_second > capacity.global_rate) {
        diagnostics.warning(
            {}, "global_rate",
            fmt::format("the intervals ask for {:.1f} polls per second, but at most {:g} are "
                        "allowed, so targets will be polled less often than they say: raise "
                        "POLLUX_GLOBAL_RATE (globalRate in system.json) to at least {:.0f}, or "
                        "lengthen `interval` in the largest classes",
                        capacity.polls_per_second, capacity.global_rate,
                        // Whole polls, rounded up with a tenth to spare.
                        capacity.polls_per_second * 1.1 + 0.5));
    }
    for (const ClassCapacity& one : capacity.classes) {
        if (one.rate_limit <= 0 || one.polls_per_second <= one.rate_limit) continue;
        diagnostics.warning(
            {}, fmt::format("classes.{}.rate", one.name),
            fmt::format("the intervals ask for {:.1f} polls per second, but the class allows {:g}: "
                        "raise `rate`, or lengthen `interval` of its targets",
                        one.polls_per_second, one.rate_limit));
    }
}

std::string describe(const Capacity& capacity) {
    std::string text =
        fmt::format("{:<32} {:>8} {:>10} {:>10}\n", "class", "tasks", "polls/s", "limit");
    for (const ClassCapacity& one : capacity.classes) {
        text += fmt::format("{:<32} {:>8} {:>10.2f} {:>10}\n", one.name, one.tasks,
                            one.polls_per_second,
                            one.rate_limit > 0 ? fmt::format("{:g}", one.rate_limit) : "-");
    }
    text += fmt::format("{:<32} {:>8} {:>10.2f} {:>10g}\n", "total", capacity.tasks,
                        capacity.polls_per_second, capacity.global_rate);
    text += fmt::format(
        "{} devices, {} tasks switched off\n"
        "estimated: {:.1f} % of one core, {} of history per day, {} written to the state per day\n",
        capacity.devices, capacity.disabled, capacity.cpu_cores * 100,
        bytes_text(capacity.history_bytes_per_day), bytes_text(capacity.state_bytes_per_day));
    return text;
}

}  // namespace pollux::config
