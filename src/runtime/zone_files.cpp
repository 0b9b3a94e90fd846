#include "runtime/zone_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>

namespace pollux::runtime {
namespace {

constexpr std::size_t kMostZoneBytes = 256U << 10U;
constexpr std::size_t kMostNameBytes = 64;

using Zone = std::shared_ptr<const base::TimeZone>;

// Names come from people: nothing that leads out of the folder.
bool is_name(std::string_view name) {
    if (name.empty() || name.size() > kMostNameBytes || name.front() == '/') return false;
    if (name.find("..") != std::string_view::npos) return false;
    return std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '/' || c == '_' || c == '-' || c == '+';
    });
}

base::Result<Zone> read_zone(const std::string& folder, const std::string& name) {
    const auto unknown = [&] {
        return base::config_error(
            "zone.unknown",
            fmt::format("there is no time zone {}: names are as in {}, Europe/Berlin or UTC", name,
                        folder));
    };
    if (!is_name(name)) return unknown();
    std::ifstream file(folder + "/" + name, std::ios::binary);
    std::string bytes;
    char part[4096];
    while (file.read(part, sizeof(part)), file.gcount() > 0 && bytes.size() <= kMostZoneBytes) {
        bytes.append(part, static_cast<std::size_t>(file.gcount()));
    }
    auto zone = base::TimeZone::parse(bytes);
    if (!zone) return unknown();
    return std::make_shared<const base::TimeZone>(std::move(*zone));
}

struct Cache {
    std::mutex mutex;  // guards what follows
    std::map<std::string, Zone, std::less<>> zones;
};

}  // namespace

alert::ZoneLookup zone_lookup(std::string folder) {
    auto cache = std::make_shared<Cache>();
    cache->zones.emplace("UTC", std::make_shared<const base::TimeZone>());
    return [cache, folder = std::move(folder)](std::string_view name) -> base::Result<Zone> {
        const std::lock_guard lock(cache->mutex);
        const auto known = cache->zones.find(name);
        if (known != cache->zones.end()) return known->second;
        auto zone = read_zone(folder, std::string(name));
        if (zone) cache->zones.emplace(name, *zone);
        return zone;
    };
}

}  // namespace pollux::runtime
