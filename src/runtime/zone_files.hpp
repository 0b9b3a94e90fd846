// Time zones of the system (tzdata), each read once. May be used by several threads at once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "alert/time_windows.hpp"
#include "base/result.hpp"
#include "base/time_zone.hpp"
#include "config/fleet.hpp"
#include "document/diagnostic.hpp"

namespace pollux::runtime {

class ZoneFiles {
  public:
    explicit ZoneFiles(std::string folder = "/usr/share/zoneinfo") : folder_(std::move(folder)) {}

    // "Europe/Berlin"; UTC is always there. Blocks for the file at the first time. Error
    // zone.unknown: there is none of that name, or it cannot be read.
    base::Result<std::shared_ptr<const base::TimeZone>> find(std::string_view name) const;

  private:
    std::string folder_;
    mutable std::mutex mutex_;
    mutable std::map<std::string, std::shared_ptr<const base::TimeZone>, std::less<>> zones_;
};

// The zones of this system, for who works with windows of time; it keeps what it has read.
alert::ZoneLookup zone_lookup();

// An error for each time zone of a fleet that this system does not have.
void check_zones(const config::Fleet& fleet, const config::Places& places,
                 document::Diagnostics& diagnostics);

}  // namespace pollux::runtime
