// What the alert engine knows of the fleet, and which tasks answer for a device. Immutable, made
// with each image of the fleet.
#pragma once

#include <memory>

#include "alert/alert_fleet.hpp"
#include "config/expand.hpp"
#include "config/fleet.hpp"
#include "runtime/alerts/device_verifier.hpp"

namespace pollux::runtime {

struct FleetImage;

struct AlertImage {
    std::shared_ptr<const alert::AlertFleet> fleet = std::make_shared<const alert::AlertFleet>();
    std::shared_ptr<const DeviceTasks> tasks = std::make_shared<const DeviceTasks>();
};

// Of an image that is complete but for this.
AlertImage make_alert_image(const config::Fleet& fleet, const FleetImage& image);

}  // namespace pollux::runtime
