// Looks at an installation from outside and says what is wrong with it, and what to do. Changes
// nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/fleet_ports.hpp"
#include "app/support_bundle.hpp"
#include "config/fleet.hpp"
#include "config/settings.hpp"

namespace pollux::app {

enum class Finding : std::uint8_t { kOk, kWarning, kProblem };

struct DoctorLine {
    Finding finding = Finding::kOk;
    std::string subject;  // "data folder", "key", ...
    std::string text;     // what was seen, and what to do
};

struct DoctorReport {
    std::vector<DoctorLine> lines;
    std::size_t problems = 0;
    std::size_t warnings = 0;
    bool store_opens = false;  // there is one, sound and with its key

    void add(Finding finding, std::string subject, std::string text);
    std::string text() const;
};

struct DoctorArguments {
    std::string data = "data";
    std::string addons;  // a folder of addons beside that of the data folder
};

DoctorReport examine(const DoctorArguments& arguments, const FleetPorts& ports);

// Fills the bundle: what examine() found, settings with their origin, the state of the scheduler,
// both metric pages, the tail of the log and the newest transitions. Every secret that the
// installation knows is taken out.
void fill_bundle(SupportBundle& bundle, const DoctorArguments& arguments, const FleetPorts& ports,
                 const DoctorReport& report);

// The parts of examine(), by what they look at.
void examine_folder(const std::string& data, DoctorReport& report);          // doctor_files.cpp
void examine_key(const std::string& data, DoctorReport& report);             // doctor_files.cpp
void examine_databases(const std::string& data, DoctorReport& report);       // doctor_files.cpp
void examine_machine(std::size_t targets, DoctorReport& report);             // doctor_machine.cpp
void examine_ports(const config::Settings& settings, DoctorReport& report);  // doctor_doors.cpp
void examine_certificates(const config::Settings& settings,
                          DoctorReport& report);                               // doctor_doors.cpp
void examine_plugins(const config::Settings& settings, DoctorReport& report);  // doctor_doors.cpp
void examine_host_keys(const std::string& data, DoctorReport& report);         // doctor_doors.cpp
void examine_agent(const config::Fleet& fleet, const config::Environment& environment,
                   DoctorReport& report);  // doctor_doors.cpp

}  // namespace pollux::app
