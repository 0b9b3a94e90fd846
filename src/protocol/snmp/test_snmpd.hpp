// A real agent for tests, and what net-snmp's own tools read from it, to be compared with.
#pragma once

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "net/test_process.hpp"
#include "protocol/snmp/codec_test_support.hpp"
#include "protocol/snmp/value.hpp"

namespace pollux::protocol::snmp::test {

using model::SnmpType;
using model::SnmpValue;
using net::test::Process;
using net::test::TempDir;

using Values = std::map<model::Oid, SnmpValue>;

// Tables of the agent that mirror what else happens on this machine: with thousands of connections
// of somebody else it would be busy for minutes.
inline constexpr const char* kLeftOut =
    "-tcpTable,tcpConnectionTable,tcpListenerTable,udpTable,udpEndpointTable,hr_swrun,"
    "hrSWRunTable,hrSWRunPerfTable";

inline constexpr std::string_view kCommunity = "t3st-community";

// One agent on both loopback addresses, with the community above and what `extra` configures.
// Its state (engine id, boots) stays over restart(), unless it is wiped.
class Snmpd {
  public:
    explicit Snmpd(const std::string& extra = {}) : port_(net::test::free_port()) {
        folder_.write("snmpd.conf", "agentaddress udp:127.0.0.1:" + std::to_string(port_) +
                                        ",udp6:[::1]:" + std::to_string(port_) + "\nrocommunity " +
                                        std::string(kCommunity) + " 127.0.0.1\nrocommunity6 " +
                                        std::string(kCommunity) +
                                        " ::1\nsysLocation a room\nsysServices 72\n" + extra);
        start();
    }

    std::uint16_t port() const { return port_; }
    void stop() { process_->stop(); }
    void start() {
        process_ = std::make_unique<Process>(
            std::vector<std::string>{
                "/usr/sbin/snmpd", "-f", "-Lo", "-C", "-c",
                folder_.file("snmpd.conf") + "," + folder_.file("state/snmpd.conf"), "-I",
                kLeftOut},
            folder_, environment());
        Message probe;
        probe.community = kCommunity;
        probe.pdu.type = PduType::kGet;
        probe.pdu.varbinds.push_back({oid_of("1.3.6.1.2.1.1.3.0"), {}});
        const auto bytes = encoded(probe);
        const std::string_view question(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        POLLUX_CHECK_MSG(process_->wait_for_udp("127.0.0.1", port_, question),
                         "snmpd did not start");
        POLLUX_CHECK_MSG(process_->wait_for_udp("::1", port_, question), "snmpd did not start");
    }
    void restart() {
        stop();
        start();
    }
    // As after a new flash image: boots count from 1 again, and the engine id is a new one unless
    // it is configured.
    void restart_wiped() {
        stop();
        std::filesystem::remove_all(folder_.file("state"));
        start();
    }

    // What a tool of net-snmp reads: values by name. `security` is its "-v2c -c ..." or the like.
    Values read_with(const std::string& tool, const std::vector<std::string>& security,
                     const std::string& address, const std::vector<std::string>& oids) {
        std::vector<std::string> command = {tool, "-m", "", "-t", "30", "-On", "-Ox", "-Oe"};
        command.insert(command.end(), security.begin(), security.end());
        command.push_back(address);
        command.insert(command.end(), oids.begin(), oids.end());
        Process process(command, folder_, environment());
        if (!process.wait_for_end(std::chrono::seconds(120)) || process.exit_code() != 0) {
            std::fprintf(stderr, "%s failed: %s\n", tool.c_str(),
                         process.output().substr(0, 500).c_str());
            return {};
        }
        return parse(process.output());
    }
    static std::vector<std::string> community_of(const std::string& version) {
        return {"-v" + version, "-c", std::string(kCommunity)};
    }
    std::string v4() const { return "udp:127.0.0.1:" + std::to_string(port_); }
    std::string v6() const { return "udp6:[::1]:" + std::to_string(port_); }

  private:
    // Nothing of the machine's own configuration, state or MIBs.
    std::vector<std::pair<std::string, std::string>> environment() const {
        return {{"SNMP_PERSISTENT_DIR", folder_.file("state")},
                {"SNMPCONFPATH", folder_.path()},
                {"MIBS", ""}};
    }

    static SnmpValue parse_one(const std::string& text);
    static Values parse(const std::string& output);

    TempDir folder_;
    std::uint16_t port_;
    std::unique_ptr<Process> process_;
};

inline SnmpValue number(SnmpType type, const std::string& text) {
    SnmpValue value;
    value.type = type;
    if (type == SnmpType::kInteger) {
        value.integer = std::stoll(text);
    } else {
        value.unsigned_value = std::stoull(text);
    }
    return value;
}

inline SnmpValue Snmpd::parse_one(const std::string& text) {
    SnmpValue value;
    const std::size_t colon = text.find(": ");
    const std::string type = text.substr(0, colon);
    const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 2);
    if (type == "INTEGER") return number(SnmpType::kInteger, rest);
    if (type == "Counter32") return number(SnmpType::kCounter32, rest);
    if (type == "Gauge32") return number(SnmpType::kGauge32, rest);
    if (type == "Counter64") return number(SnmpType::kCounter64, rest);
    if (type == "Timeticks") return number(SnmpType::kTimeTicks, rest.substr(1));
    if (type == "OID") {
        value.type = SnmpType::kObjectId;
        value.oid = oid_of(rest);
    } else if (type == "IpAddress") {
        value.type = SnmpType::kIpAddress;
        std::istringstream parts(rest);
        for (std::string part; std::getline(parts, part, '.');) {
            value.bytes += static_cast<char>(std::stoi(part));
        }
    } else if (type == "Opaque") {
        POLLUX_CHECK_MSG(rest.starts_with("Float: "), "an unknown opaque value");
        value.type = SnmpType::kOpaque;
        value.bytes = opaque_float(std::stof(rest.substr(7)));
    } else if (type == "Hex-STRING" || text == "\"\"" || text == "\"\"\n") {
        const auto bytes = from_hex(rest);
        value.type = SnmpType::kOctetString;
        value.bytes.assign(bytes.begin(), bytes.end());
    } else if (text.starts_with("No Such Object")) {
        value.type = SnmpType::kNoSuchObject;
    } else if (text.starts_with("No Such Instance")) {
        value.type = SnmpType::kNoSuchInstance;
    } else {
        std::fprintf(stderr, "unknown output of the tool: %s\n", text.c_str());
        POLLUX_CHECK_MSG(false, "unknown output of the tool");
    }
    return value;
}

inline Values Snmpd::parse(const std::string& output) {
    Values values;
    std::istringstream lines(output);
    std::string name;
    std::string text;
    const auto keep = [&] {
        if (name.empty() || text.starts_with("No more variables")) return;
        values[oid_of(name)] = parse_one(text);
    };
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(".1.")) {  // long texts go on in the next line
            text += " " + line;
            continue;
        }
        keep();
        const std::size_t equals = line.find(" = ");
        name = line.substr(0, equals);
        text = line.substr(equals + 3);
    }
    keep();
    return values;
}

inline Values values_of_walk(const model::SnmpAsk& ask, const model::SnmpReply& reply) {
    Values values;
    for (std::size_t walk = 0; walk < reply.walks.size(); ++walk) {
        for (const model::SnmpRow& row : reply.walks[walk]) {
            model::Oid name = ask.walks[walk];
            name.arcs.insert(name.arcs.end(), row.index.arcs.begin(), row.index.arcs.end());
            POLLUX_CHECK_MSG(!values.contains(name), "a walk brought a name twice");
            values[name] = row.value;
        }
    }
    return values;
}

// The tool prints six digits.
inline bool same_opaque(const SnmpValue& a, const SnmpValue& b) {
    const auto first = opaque_number(a.bytes);
    const auto second = opaque_number(b.bytes);
    return first && second && std::abs(*first - *second) <= 1e-5 * std::abs(*first) + 1e-5;
}

inline std::string shown(const SnmpValue& value) {
    return std::string(to_string(value.type)) + " " + std::to_string(value.integer) + " " +
           std::to_string(value.unsigned_value) + " " + value.bytes + " " +
           model::to_string(value.oid);
}

// Ours was read between the two others. What did not change there must be equal; what did must
// have the type. Neighbours and routes come and go, so only names that are in both are required,
// and a few of ours may be in none. The agent's list of its own caches changes by being read.
// Returns what is wrong, a line each.
inline std::string differences(const Values& before, const Values& ours, const Values& after) {
    const model::Oid caches = oid_of("1.3.6.1.4.1.8072.1.5.3");
    std::string found_wrong;
    const auto wrong = [&](const model::Oid& name, const std::string& what) {
        found_wrong += model::to_string(name) + ": " + what + "\n";
    };
    std::size_t stable = 0;
    for (const auto& [name, value] : before) {
        const auto later = after.find(name);
        if (later == after.end()) continue;
        const auto found = ours.find(name);
        if (found == ours.end()) {
            wrong(name, "missing");
            continue;
        }
        if (found->second.type != value.type) wrong(name, "has another type");
        if (later->second != value || name.starts_with(caches)) continue;
        ++stable;
        const bool same = value.type == SnmpType::kOpaque ? same_opaque(value, found->second)
                                                          : found->second == value;
        if (!same) wrong(name, shown(found->second) + " and not " + shown(value));
    }
    if (stable <= before.size() / 2) found_wrong += "nothing much was compared\n";
    std::size_t unknown = 0;
    for (const auto& [name, value] : ours) {
        if (!before.contains(name) && !after.contains(name)) ++unknown;
    }
    if (unknown > ours.size() / 100) found_wrong += "too many names that the tool does not see\n";
    if (ours.size() <= 1000) found_wrong += "too few values\n";
    return found_wrong;
}

}  // namespace pollux::protocol::snmp::test
