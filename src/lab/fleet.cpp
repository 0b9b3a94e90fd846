#include "lab/fleet.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/text.hpp"

namespace pollux::lab {
namespace {

const Device* at(const std::vector<Device>& devices, std::uint32_t first, std::uint32_t address) {
    const std::uint32_t number = address - first;  // wraps below the first, and is too large then
    return number < devices.size() ? &devices[number] : nullptr;
}

std::string range(std::string_view prefix, std::size_t count) {
    return count == 0 ? "" : fmt::format(" {}-00001 to {}-{:05}", prefix, prefix, count);
}

}  // namespace

std::string address_text(std::uint32_t address) {
    return fmt::format("{}.{}.{}.{}", address >> 24U, address >> 16U & 0xFFU, address >> 8U & 0xFFU,
                       address & 0xFFU);
}

Fleet::Fleet(std::uint32_t snmp, std::uint32_t http, std::uint64_t seed, Profile profile)
    : profile_(std::make_unique<Profile>(std::move(profile))) {
    snmp_.reserve(snmp);
    http_.reserve(http);
    for (std::uint32_t i = 0; i < snmp; ++i) {
        snmp_.emplace_back(DeviceKind::kSnmp, i, kFirstSnmpAddress + i, seed, *profile_);
    }
    for (std::uint32_t i = 0; i < http; ++i) {
        http_.emplace_back(DeviceKind::kHttp, i, kFirstHttpAddress + i, seed, *profile_);
    }
}

const Device* Fleet::find_snmp(std::uint32_t address) const {
    return at(snmp_, kFirstSnmpAddress, address);
}

const Device* Fleet::find_http(std::uint32_t address) const {
    return at(http_, kFirstHttpAddress, address);
}

base::Result<const Device*> Fleet::find(std::string_view name) const {
    const std::size_t dash = name.find('-');
    if (dash != std::string_view::npos) {
        const std::string_view prefix = name.substr(0, dash);
        const std::string_view digits = name.substr(dash + 1);
        std::uint32_t number = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
        const std::vector<Device>& devices = prefix == "sw" ? snmp_ : http_;
        if (number >= 1 && number <= devices.size() && devices[number - 1].name() == name) {
            return &devices[number - 1];
        }
    }
    return base::config_error(
        "lab.device", fmt::format("there is no device {}; there are{}{}", base::quoted(name),
                                  range("sw", snmp_.size()), range("web", http_.size())));
}

base::Status Fleet::set_fault(std::string_view name, const Fault& fault, FleetTime now) {
    const auto found = find(name);
    if (!found) return std::unexpected(found.error());
    std::vector<Device>& devices = (*found)->kind() == DeviceKind::kSnmp ? snmp_ : http_;
    devices[(*found)->number()].set_fault(fault, now);
    return {};
}

base::Status Fleet::clear_faults(std::string_view name) {
    const auto found = find(name);
    if (!found) return std::unexpected(found.error());
    std::vector<Device>& devices = (*found)->kind() == DeviceKind::kSnmp ? snmp_ : http_;
    devices[(*found)->number()].clear_faults();
    return {};
}

void Fleet::clear_all_faults() {
    for (Device& device : snmp_) device.clear_faults();
    for (Device& device : http_) device.clear_faults();
}

void Fleet::set_profile(Profile profile) { *profile_ = std::move(profile); }

std::array<std::uint32_t, kFaultKinds> Fleet::count_faults(FleetTime now) const {
    std::array<std::uint32_t, kFaultKinds> counts{};
    for (const std::vector<Device>* devices : {&snmp_, &http_}) {
        for (const Device& device : *devices) {
            const FaultState state = device.faults(now);
            for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
                counts[kind] += state.has(static_cast<FaultKind>(kind)) ? 1U : 0U;
            }
        }
    }
    return counts;
}

}  // namespace pollux::lab
