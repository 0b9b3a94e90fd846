// One simulated device: what it is, and what holds at a moment. Every answer it gives is computed
// from its chances and the time; what it remembers is only what somebody did to it by hand.
//
// Used from the thread of the fleet's loop; tests call it with any time they like.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lab/fault.hpp"
#include "lab/fleet_time.hpp"
#include "lab/profile.hpp"

namespace pollux::lab {

enum class DeviceKind : std::uint8_t { kSnmp, kHttp };

// What devices want to hear; nothing here is a secret of anybody.
inline constexpr std::string_view kPublicCommunity = "public";
inline constexpr std::string_view kPrivateCommunity = "lab-private";  // one of eight devices
inline constexpr std::string_view kUser = "pollux";
inline constexpr std::string_view kPassword = "lab-password";
inline constexpr std::string_view kToken = "lab-token-0123456789";
// Every SNMP device takes this user of SNMPv3 too, with SHA-256 and AES-128.
inline constexpr std::string_view kSnmpUser = "v3";
inline constexpr std::string_view kSnmpAuthPassword = "lab-auth-password";
inline constexpr std::string_view kSnmpPrivacyPassword = "lab-privacy-password";

class Device {
  public:
    // `number` counts within the kind, from 0. The profile must outlive the device;
    // its rates and faults may change meanwhile.
    Device(DeviceKind kind, std::uint32_t number, std::uint32_t address, std::uint64_t seed,
           const Profile& profile);

    DeviceKind kind() const { return kind_; }
    std::uint32_t number() const { return number_; }
    const std::string& name() const { return name_; }
    std::uint32_t address() const { return address_; }  // host byte order
    const Chances& chances() const { return chances_; }

    // What it is; follows from the seed and the profile it was made with.
    std::uint32_t interfaces() const { return interfaces_; }
    Personality personality() const { return personality_; }
    bool uses_tls() const { return tls_; }
    std::string_view community() const;
    std::string_view site() const;
    std::string_view model() const;

    // Steering. kReboot and kCounterWrap happen at `now`; the others hold until their end, and a
    // second one of a kind replaces the first.
    void set_fault(const Fault& fault, FleetTime now);
    void clear_faults() { steered_.clear(); }
    FaultState faults(FleetTime now) const;

    base::Duration change_period() const;  // by its profile: between the slowest and the fastest
    FleetTime booted_at(FleetTime now) const;
    base::Duration uptime(FleetTime now) const { return now - booted_at(now); }
    // A counter that begins at boot and runs at about `per_second`, unevenly. Grows with time.
    std::uint64_t counter(std::uint64_t item, std::uint64_t per_second, FleetTime now) const;
    // The same, as a 32-bit counter shows it.
    std::uint32_t counter32(std::uint64_t item, std::uint64_t per_second, FleetTime now) const;

  private:
    std::uint64_t running_total(std::uint64_t item, std::uint64_t per_second, FleetTime time) const;
    void add_planned(FaultState& state, FleetTime now) const;

    DeviceKind kind_;
    std::uint32_t number_;
    std::uint32_t address_;
    Chances chances_;
    const Profile* profile_;
    std::string name_;
    std::uint32_t interfaces_ = 0;
    Personality personality_ = Personality::kJson;
    bool tls_ = false;

    std::vector<Fault> steered_;  // at most one of each kind
    FleetTime rebooted_at_ = FleetTime::min();
    FleetTime wrap_set_at_ = FleetTime::min();
};

}  // namespace pollux::lab
