#include "lab/fleet_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "lab/wiring.hpp"

namespace pollux::lab {
namespace {

// What a device needs to be let in; empty: nothing.
std::string_view credential_of(Personality personality) {
    switch (personality) {
        case Personality::kBasic: return "lab-basic";
        case Personality::kDigestMd5:
        case Personality::kDigestSha256: return "lab-digest";
        case Personality::kBearer: return "lab-bearer";
        case Personality::kApiKey: return "lab-api-key";
        default: return "";
    }
}

std::string_view auth_of(Personality personality) {
    switch (personality) {
        case Personality::kBasic: return "basic";
        case Personality::kDigestMd5:
        case Personality::kDigestSha256: return "digest";
        case Personality::kBearer: return "bearer";
        case Personality::kApiKey: return "api-key";
        default: return "none";
    }
}

void add_head(std::string& out, const FleetPorts& ports, const std::string& secrets) {
    out += "# The simulated fleet of `pollux fleet`. Made by it: written again at each start.\n";
    out += "schema: pollux-fleet/1\n\ncredentials:\n";
    const std::string password = fmt::format("file:{}.password", secrets);
    const std::string token = fmt::format("file:{}.token", secrets);
    for (const char* auth : {"basic", "digest"}) {
        out += fmt::format("  lab-{0}: {{username: {1}, password: \"{2}\", auth: {0}}}\n", auth,
                           kUser, password);
    }
    out += fmt::format("  lab-bearer: {{token: \"{}\", auth: bearer}}\n", token);
    out += fmt::format("  lab-api-key: {{token: \"{}\", auth: api_key}}\n", token);
    out += fmt::format("  lab-private: {{community: \"file:{}.community\"}}\n", secrets);
    out += fmt::format(
        "\ngroups:\n  switches: {{port: {}}}\n  web: {{port: {}}}\n"
        "  web-tls: {{port: {}, tls: {{verify: false}}}}\n\ndevices:\n",
        ports.snmp, ports.http, ports.https);
}

// The first switch of every fifty is the parent of the others.
void add_switch(std::string& out, const Device& device, const std::vector<Device>& all) {
    const std::uint32_t core = device.number() / kAccessPerCore * kAccessPerCore;
    const bool is_core = device.number() == core;
    out += fmt::format("  {}:\n    address: {}\n    groups: [switches]\n", device.name(),
                       address_text(device.address()));
    out += fmt::format("    labels: {{site: {}, role: {}}}\n", device.site(),
                       is_core ? "core" : "access");
    if (is_core) out += "    tier: high\n";
    if (!is_core) out += fmt::format("    parents: [{}]\n", all[core].name());
    if (device.community() != kPublicCommunity) out += "    credentials: lab-private\n";
    out += "    addons: [snmp-system, snmp-interfaces]\n";
}

void add_web(std::string& out, const Device& device) {
    const std::string_view scheme = device.uses_tls() ? "https" : "http";
    const std::string_view credential = credential_of(device.personality());
    out += fmt::format("  {}:\n    address: {}\n    groups: [{}]\n", device.name(),
                       address_text(device.address()), device.uses_tls() ? "web-tls" : "web");
    out +=
        fmt::format("    labels: {{site: {}, role: server, personality: {}, auth: {}}}\n",
                    device.site(), to_string(device.personality()), auth_of(device.personality()));
    if (!credential.empty()) out += fmt::format("    credentials: {}\n", credential);
    out += "    addons:\n";
    if (device.personality() != Personality::kXml) {
        out += fmt::format(
            "      - name: http-json\n        params: {{scheme: {}, path: /status, "
            "value_path: \"$.temperatures[0].celsius\", state_path: $.status, "
            "rows_path: \"$.disks[*]\", row_value_path: $.used_bytes}}\n",
            scheme);
    }
    out += fmt::format("      - name: http-status\n        params: {{scheme: {}, path: /health}}\n",
                       scheme);
}

base::Status write_file(const std::string& path, std::string_view text, int mode) {
    // Under another name first, so that a reader never sees half of it.
    const std::string next = path + ".new";
    const int fd = open(next.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, mode);
    bool written = fd >= 0;
    std::size_t done = 0;
    while (written && done < text.size()) {
        const ssize_t count = write(fd, text.data() + done, text.size() - done);
        if (count > 0) done += static_cast<std::size_t>(count);
        written = count > 0;
    }
    int number = errno;
    if (fd >= 0 && close(fd) != 0) written = false;
    if (written && rename(next.c_str(), path.c_str()) == 0) return {};
    if (written) number = errno;
    return base::config_error("lab.write",
                              fmt::format("cannot write {}: {}; choose another --write-fleet", path,
                                          std::strerror(number)));
}

}  // namespace

std::string fleet_file_text(const Fleet& fleet, const FleetPorts& ports,
                            const std::string& secrets) {
    std::string out;
    out.reserve((fleet.snmp().size() + fleet.http().size()) * 400);
    add_head(out, ports, secrets);
    for (const Device& device : fleet.snmp()) add_switch(out, device, fleet.snmp());
    for (const Device& device : fleet.http()) add_web(out, device);
    return out;
}

base::Status write_fleet_file(const Fleet& fleet, const FleetPorts& ports,
                              const std::string& path) {
    std::error_code problem;
    const std::string full = std::filesystem::absolute(path, problem).string();
    const std::pair<const char*, std::string_view> secrets[] = {
        {".password", kPassword}, {".token", kToken}, {".community", kPrivateCommunity}};
    for (const auto& [suffix, text] : secrets) {
        const std::string file = full + suffix;
        if (auto done = write_file(file, fmt::format("{}\n", text), 0600); !done) return done;
    }
    return write_file(full, fleet_file_text(fleet, ports, full), 0644);
}

}  // namespace pollux::lab
