#include "runtime/zone_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "config/notify.hpp"
#include "store/durable_file.hpp"

namespace pollux::runtime {
namespace {

constexpr std::size_t kMaxBytes = 1U << 20U;
constexpr std::size_t kMaxName = 64;
constexpr std::size_t kMaxZones = 1'000;

std::unexpected<base::Error> unknown(std::string_view name, std::string_view why) {
    return base::config_error("zone.unknown",
                              fmt::format("there is no time zone {}{}; write a name such as "
                                          "Europe/Berlin or UTC",
                                          base::quoted(name), why));
}

// A name that stays below the folder.
bool is_zone_name(std::string_view name) {
    const auto good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '+' || c == '-' || c == '/';
    };
    return !name.empty() && name.size() <= kMaxName && name.front() != '/' && name.back() != '/' &&
           std::ranges::all_of(name, good);
}

}  // namespace

base::Result<std::shared_ptr<const base::TimeZone>> ZoneFiles::find(std::string_view name) const {
    if (name == "UTC") return std::make_shared<const base::TimeZone>();
    if (!is_zone_name(name)) return unknown(name, "");
    const std::lock_guard lock(mutex_);
    if (const auto known = zones_.find(name); known != zones_.end()) return known->second;
    const auto bytes = store::read_file(folder_ + '/' + std::string(name), kMaxBytes);
    if (!bytes) return unknown(name, fmt::format(" ({})", bytes.error().message));
    if (!*bytes) return unknown(name, fmt::format(" below {}", folder_));
    auto zone = base::TimeZone::parse(**bytes);
    if (!zone) return unknown(name, fmt::format(" ({})", zone.error().message));
    auto result = std::make_shared<const base::TimeZone>(std::move(*zone));
    if (zones_.size() < kMaxZones) zones_.emplace(name, result);
    return result;
}

alert::ZoneLookup zone_lookup() {
    return [files = std::make_shared<const ZoneFiles>()](std::string_view name) {
        return files->find(name);
    };
}

void check_zones(const config::Fleet& fleet, const config::Places& places,
                 document::Diagnostics& diagnostics) {
    const ZoneFiles zones;
    config::check_zones(
        fleet, places,
        [&](std::string_view name) -> base::Status {
            const auto zone = zones.find(name);
            if (!zone) return std::unexpected(zone.error());
            return {};
        },
        diagnostics);
}

}  // namespace pollux::runtime
