// The devices of a simulated fleet and the ways to find and steer them. No threads, no sockets:
// FleetServer puts it to work.
//
// Addresses: SNMP devices count up from 127.16.0.1, HTTP devices from 127.128.0.1.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "lab/device.hpp"

namespace pollux::lab {

inline constexpr std::uint32_t kFirstSnmpAddress = 0x7F100001U;
inline constexpr std::uint32_t kFirstHttpAddress = 0x7F800001U;
inline constexpr std::uint32_t kMaxDevicesPerKind = 1'000'000;

class Fleet {
  public:
    Fleet(std::uint32_t snmp, std::uint32_t http, std::uint64_t seed, Profile profile);
    Fleet(const Fleet&) = delete;
    Fleet& operator=(const Fleet&) = delete;

    const std::vector<Device>& snmp() const { return snmp_; }
    const std::vector<Device>& http() const { return http_; }
    const Profile& profile() const { return *profile_; }

    const Device* find_snmp(std::uint32_t address) const;
    const Device* find_http(std::uint32_t address) const;
    base::Result<const Device*> find(std::string_view name) const;

    // An unknown name is an error that says what names there are.
    base::Status set_fault(std::string_view name, const Fault& fault, FleetTime now);
    base::Status clear_faults(std::string_view name);
    void clear_all_faults();
    // How devices change and fail from now on; what they are stays.
    void set_profile(Profile profile);

    // How many devices have each kind of fault now.
    std::array<std::uint32_t, kFaultKinds> count_faults(FleetTime now) const;

  private:
    std::unique_ptr<Profile> profile_;  // devices point to it
    std::vector<Device> snmp_;
    std::vector<Device> http_;
};

std::string address_text(std::uint32_t address);  // "127.16.0.1"

}  // namespace pollux::lab
