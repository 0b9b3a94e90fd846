// From what answered to a piece of a fleet file.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "document/write.hpp"
#include "model/job.hpp"
#include "model/task_key.hpp"
#include "runtime/jobs/discovery.hpp"

namespace pollux::runtime {
namespace {

using document::Node;

constexpr std::size_t kRoom = model::kMostJobOutput - 4096;
constexpr std::size_t kMostLabel = 200;

// The name that the device gives itself, if it can be one and nobody has it.
std::string name_for(const Fingerprint& one, const config::Fleet& fleet,
                     const std::set<std::string>& taken) {
    const auto free = [&](const std::string& name) {
        return !fleet.devices.contains(name) && !taken.contains(name);
    };
    const auto own = model::normalise_name("device", one.system_name);
    if (own && free(*own)) return *own;
    std::string name = "host-" + one.address;
    std::ranges::replace_if(name, [](char c) { return c == '.' || c == ':' || c == '%'; }, '-');
    while (!free(name)) name += "-new";
    return name;
}

std::vector<std::string> addons_for(const Fingerprint& one) {
    std::vector<std::string> addons;
    if (one.ping) addons.emplace_back("icmp-ping");
    if (one.snmp) {
        addons.emplace_back("snmp-system");
        addons.emplace_back("snmp-interfaces");
        if (one.description.find("Cisco") != std::string::npos) addons.emplace_back("cisco-basic");
    }
    if (!one.ssh.empty()) addons.emplace_back("linux-ssh");
    if (one.http != 0) addons.emplace_back("http-status");
    if (one.https != 0) addons.emplace_back("tls-certificate");
    return addons;
}

Node device_of(const Fingerprint& one, const std::string& job_id) {
    Node device = Node::map();
    device.set("address", Node::text(one.address));
    Node addons = Node::sequence();
    for (const std::string& addon : addons_for(one)) addons.push(Node::text(addon));
    device.set("addons", std::move(addons));
    if (!one.snmp_credentials.empty()) {
        device.set("credentials", Node::text(one.snmp_credentials));
    }
    Node labels = Node::map();
    const auto label = [&](const char* name, std::string_view value) {
        std::string text = base::plain_text(value.substr(0, kMostLabel));
        std::ranges::replace(text, '\n', ' ');
        std::ranges::replace(text, '\t', ' ');
        if (!text.empty()) labels.set(name, Node::text(std::move(text)));
    };
    label("discovered_by", job_id);
    label("description", one.description);
    label("ssh", one.ssh);
    label("title", one.title);
    device.set("labels", std::move(labels));
    return device;
}

}  // namespace

Proposal propose(const std::vector<Fingerprint>& found, const config::Fleet& fleet,
                 const std::string& job_id) {
    std::set<std::string_view> known;
    for (const auto& [name, device] : fleet.devices) {
        known.insert(name);
        for (const std::string& address : device.addresses) known.insert(address);
    }
    Proposal proposal;
    std::set<std::string> taken;
    std::string text;
    for (const Fingerprint& one : found) {
        if (!one.answered()) continue;
        if (known.contains(one.address)) {
            ++proposal.known;
            continue;
        }
        const std::string name = name_for(one, fleet, taken);
        Node entry = Node::map();
        entry.set(name, device_of(one, job_id));
        Node root = Node::map();
        root.set("devices", std::move(entry));
        std::string yaml = document::to_yaml(root);
        // Each is written alone and follows under the same head, so that the text can be measured.
        if (proposal.devices > 0) yaml.erase(0, yaml.find('\n') + 1);
        if (text.size() + yaml.size() > kRoom) {
            ++proposal.left_out;
            continue;
        }
        taken.insert(name);
        text += yaml;
        ++proposal.devices;
    }
    proposal.yaml = std::move(text);
    return proposal;
}

}  // namespace pollux::runtime
