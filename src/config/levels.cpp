#include "config/levels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/validate.hpp"

namespace pollux::config {
namespace {

using base::Duration;
using base::format_duration;

// A value with how near it was found (0 is nearest) and by whom.
struct Found {
    Duration value{};
    std::size_t rank = 0;
    std::string_view kind;
    std::string_view name;

    std::string where() const {
        return name.empty() ? std::string(kind) : fmt::format("{} {}", kind, name);
    }
};

using Part = std::optional<Duration> IntervalRange::*;

bool is_proxmox(std::string_view class_name) {
    return class_name == "pve" || class_name == "pbs" || class_name == "pmg";
}

// What the settings of the server say for the classes they know.
std::optional<Duration> class_setting(const IntervalInput& input, Part part) {
    const Settings& settings = input.settings;
    const std::string_view name = input.addon.name;
    if (!is_proxmox(name)) return std::nullopt;
    if (part == &IntervalRange::min) return settings.adaptive_min_interval;
    if (part == &IntervalRange::max) return settings.adaptive_max_interval;
    if (name == "pbs") return settings.pbs_interval;
    if (name == "pmg") return settings.pmg_interval;
    const bool adaptive_base =
        input.adaptive && settings.mode() == model::AdaptiveMode::kOn &&
        origin_of(settings, "adaptive_polling_base_interval") != ValueOrigin::kDefault;
    return adaptive_base ? settings.adaptive_base_interval : settings.pve_interval;
}

std::optional<Found> find_part(const IntervalInput& input, Part part) {
    std::size_t rank = 0;
    for (const Level& level : input.levels.near) {
        if (const auto& value = level.settings->interval.*part) {
            return Found{*value, rank, level.kind, level.name};
        }
        ++rank;
    }
    if (part == &IntervalRange::base && input.addon.interval) {
        return Found{*input.addon.interval, rank, "the manifest of", input.addon.name};
    }
    ++rank;
    if (input.options != nullptr && input.options->interval.*part) {
        return Found{*(input.options->interval.*part), rank, "class", input.addon.name};
    }
    ++rank;
    if (const auto value = class_setting(input, part)) {
        return Found{*value, rank, "the settings of class", input.addon.name};
    }
    ++rank;
    if (const auto& value = input.levels.defaults->interval.*part) {
        return Found{*value, rank, "defaults", ""};
    }
    return std::nullopt;
}

std::string conflict_place(const Found& bound) {
    return bound.name.empty() ? fmt::format("{}/interval", bound.kind)
                              : fmt::format("{}/{}/interval", bound.kind, bound.name);
}

std::string conflict_message(std::string_view word, const Found& bound, const Found& base) {
    return fmt::format(
        "{} = {} ({}) contradicts base = {} ({}): the rule is min <= base <= max; write the base "
        "beside it, like interval: {{{}: {}, base: ...}}",
        word, format_duration(bound.value), bound.where(), format_duration(base.value),
        base.where(), word, format_duration(bound.value));
}

Duration usual_timeout(const Settings& settings, model::ProtocolKind protocol) {
    switch (protocol) {
        case model::ProtocolKind::kSnmp: return settings.snmp_timeout;
        case model::ProtocolKind::kSsh:
        case model::ProtocolKind::kExec: return settings.command_timeout;
        case model::ProtocolKind::kTcp:
        case model::ProtocolKind::kTls:
        case model::ProtocolKind::kIcmp:
        case model::ProtocolKind::kDns: return settings.check_timeout;
        default: return settings.http_timeout;
    }
}

Duration default_min(Duration base) {
    return std::max(model::kShortestInterval, base::round_to_ms(base / 5));
}

Duration default_max(Duration base) {
    return std::min(model::kLongestInterval, base::saturating_mul(base, 2));
}

}  // namespace

model::Cadence resolve_cadence(const IntervalInput& input,
                               std::optional<IntervalConflict>& conflict) {
    const auto found_base = find_part(input, &IntervalRange::base);
    const std::size_t last = input.levels.near.size() + 4;
    const Found base =
        found_base.value_or(Found{input.settings.default_interval, last, "the settings", ""});
    const auto min = find_part(input, &IntervalRange::min);
    const auto max = find_part(input, &IntervalRange::max);
    Duration low = min ? min->value : default_min(base.value);
    Duration high = max ? max->value : default_max(base.value);
    if (low > base.value) {
        if (min && min->rank < base.rank) {
            conflict = {conflict_place(*min), conflict_message("min", *min, base)};
        }
        low = base.value;
    }
    if (high < base.value) {
        if (max && max->rank < base.rank) {
            conflict = {conflict_place(*max), conflict_message("max", *max, base)};
        }
        high = base.value;
    }
    return model::Cadence::adaptive(low, base.value, high);
}

model::Cadence group_cadence(Duration base) {
    return model::Cadence::adaptive(std::min(base, default_min(base)), base,
                                    std::max(base, default_max(base)));
}

Duration resolve_timeout(const IntervalInput& input) {
    const Settings& settings = input.settings;
    Duration timeout = usual_timeout(settings, input.addon.protocol);
    if (const auto near = input.levels.find_near(&PollSettings::timeout)) {
        timeout = *near;
    } else if (input.addon.timeout) {
        timeout = *input.addon.timeout;
    } else if (is_proxmox(input.addon.name)) {
        timeout = settings.connection_timeout;
    } else if (input.levels.defaults->timeout) {
        timeout = *input.levels.defaults->timeout;
    }
    return std::min(timeout, settings.max_poll_timeout);
}

}  // namespace pollux::config
