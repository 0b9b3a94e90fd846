#include "lab/http_pages.hpp"

#include <fmt/format.h>

#include <array>

namespace pollux::lab {
namespace {

using std::chrono::seconds;

constexpr std::array<std::string_view, 3> kSensors = {"cpu", "board", "intake"};
constexpr base::Duration kSensorPeriod = seconds(10);

// Tenths of a degree: a level of its own, some noise every ten seconds, warmer when not well.
std::int64_t temperature(const Device& device, std::size_t sensor, FleetTime now) {
    const Chances& chances = device.chances();
    const auto noise = chances.last(now, kSensorPeriod, Purpose::kTemperature, sensor);
    const std::int64_t level = chances.between(250, 550, Purpose::kTemperature, 100 + sensor);
    const std::int64_t drift =
        chances.between(-15, 15, Purpose::kTemperature, 200 + sensor, noise.number);
    return level + drift + (health_of(device, now) == "ok" ? 0 : 250);
}

std::size_t disk_count(const Device& device) {
    return 1 + device.chances().hash(Purpose::kShape, 8) % 6;
}

struct Disk {
    std::uint64_t size = 0;
    std::uint64_t used = 0;
    bool well = true;
};

Disk disk(const Device& device, std::size_t number, FleetTime now) {
    const Chances& chances = device.chances();
    Disk disk;
    disk.size = 500'000'000'000ULL << chances.hash(Purpose::kDisk, 100 + number) % 4;
    const std::uint64_t start =
        disk.size / 100 *
        static_cast<std::uint64_t>(chances.between(10, 80, Purpose::kDisk, 200 + number));
    const std::uint64_t per_second = 1000 + chances.hash(Purpose::kDisk, 300 + number) % 200'000;
    // Fills up, is cleaned at 15 % more than it began with, and fills again.
    disk.used = start + device.counter(1000 + number, per_second, now) % (disk.size / 100 * 15);
    disk.well = number > 0 || health_of(device, now) != "failed";
    return disk;
}

}  // namespace

std::string_view health_of(const Device& device, FleetTime now) {
    const auto happening = device.chances().last(now, device.change_period() / 2, Purpose::kStatus);
    const double point = device.chances().unit(Purpose::kStatus, 1, happening.number);
    if (point < 0.6) return "ok";
    return point < 0.95 ? "degraded" : "failed";
}

std::string status_json(const Device& device, FleetTime now) {
    std::string out;
    auto add = std::back_inserter(out);
    fmt::format_to(add,
                   "{{\"name\":\"{}\",\"model\":\"{}\",\"site\":\"{}\",\"status\":\"{}\","
                   "\"uptime_seconds\":{},\"system\":{{\"hostname\":\"{}\",\"version\":\"7.{}\","
                   "\"load\":{}.{:02}}},\"temperatures\":[",
                   device.name(), device.model(), device.site(), health_of(device, now),
                   device.uptime(now).count() / 1'000'000'000, device.name(),
                   device.chances().hash(Purpose::kShape, 9) % 5, device.counter(2000, 1, now) % 4,
                   device.counter(2001, 7, now) % 100);
    for (std::size_t i = 0; i < kSensors.size(); ++i) {
        const std::int64_t tenths = temperature(device, i, now);
        fmt::format_to(add, "{}{{\"name\":\"{}\",\"celsius\":{}.{}}}", i == 0 ? "" : ",",
                       kSensors[i], tenths / 10, tenths % 10);
    }
    out += "],\"disks\":[";
    for (std::size_t i = 0; i < disk_count(device); ++i) {
        const Disk facts = disk(device, i, now);
        fmt::format_to(add,
                       "{}{{\"name\":\"sd{}\",\"size_bytes\":{},\"used_bytes\":{},"
                       "\"health\":\"{}\"}}",
                       i == 0 ? "" : ",", static_cast<char>('a' + i), facts.size, facts.used,
                       facts.well ? "ok" : "failing");
    }
    fmt::format_to(add, "],\"counters\":{{\"requests_total\":{},\"errors_total\":{}}}}}\n",
                   device.counter(3000, 40, now), device.counter(3001, 1, now) / 30);
    return out;
}

std::string status_xml(const Device& device, FleetTime now) {
    std::string out;
    auto add = std::back_inserter(out);
    fmt::format_to(add,
                   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<device name=\"{}\" site=\"{}\">\n"
                   "  <status>{}</status>\n  <uptime unit=\"s\">{}</uptime>\n",
                   device.name(), device.site(), health_of(device, now),
                   device.uptime(now).count() / 1'000'000'000);
    for (std::size_t i = 0; i < kSensors.size(); ++i) {
        const std::int64_t tenths = temperature(device, i, now);
        fmt::format_to(add, "  <temperature name=\"{}\" unit=\"C\">{}.{}</temperature>\n",
                       kSensors[i], tenths / 10, tenths % 10);
    }
    for (std::size_t i = 0; i < disk_count(device); ++i) {
        const Disk facts = disk(device, i, now);
        fmt::format_to(add, "  <disk name=\"sd{}\" size=\"{}\" used=\"{}\" health=\"{}\"/>\n",
                       static_cast<char>('a' + i), facts.size, facts.used,
                       facts.well ? "ok" : "failing");
    }
    out += "</device>\n";
    return out;
}

}  // namespace pollux::lab
