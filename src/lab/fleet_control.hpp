// Steers a running fleet over HTTP, in JSON. Runs in the fleet's loop.
//
//   GET    /devices[?offset=0&limit=1000]     what there is, with the faults that hold
//   GET    /devices/{name}
//   POST   /devices/{name}/fault              {"kind": "down", "for": "60s", "amount": 20}
//   DELETE /devices/{name}/fault              ends what was set by hand
//   DELETE /faults                            the same for all devices
//   POST   /profile                           {"name": "storm"}
//   GET    /status                            counters, faults, profile
#pragma once

#include <functional>
#include <string>

#include "lab/fleet.hpp"
#include "net/http_message.hpp"

namespace pollux::lab {

class FleetControl {
  public:
    // `status` gives the JSON of GET /status.
    FleetControl(Fleet& fleet, std::function<FleetTime()> now, std::function<std::string()> status)
        : fleet_(fleet), now_(std::move(now)), status_(std::move(status)) {}

    net::Response answer(const net::Request& request);

  private:
    net::Response list(const net::Request& request) const;
    net::Response device(const net::Request& request, std::string_view name, std::string_view rest);
    net::Response set_fault(const net::Request& request, std::string_view name);
    net::Response set_profile(const net::Request& request);

    Fleet& fleet_;
    std::function<FleetTime()> now_;
    std::function<std::string()> status_;
};

// "500ms", "60s", "5m", "2h"; a bare number is seconds.
base::Result<base::Duration> parse_duration(std::string_view text);

}  // namespace pollux::lab
