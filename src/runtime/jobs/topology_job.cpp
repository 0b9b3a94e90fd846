#include "runtime/jobs/topology_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "config/job_reader.hpp"
#include "config/topology_proposal.hpp"
#include "document/scalar.hpp"
#include "document/write.hpp"
#include "net/event_loop.hpp"
#include "net/resolver.hpp"
#include "runtime/alerts/default_route.hpp"
#include "runtime/jobs/neighbour_tables.hpp"
#include "runtime/shard_drivers.hpp"

namespace pollux::runtime {
namespace {

using base::quoted;
using config::NeighbourFacts;
using document::Node;
using model::ArgumentKind;
using namespace std::chrono_literals;

using Addresses = config::ByName<std::vector<std::string>>;

constexpr base::Duration kTurn = 20ms;
constexpr std::size_t kLookupsAtOnce = 100;
constexpr std::size_t kMostRoots = 64;
// Below what is kept of an output, so that none is cut.
constexpr std::size_t kRoom = model::kMostJobOutput - 1024;

struct TopologyOptions {
    std::vector<std::string> roots;
    std::int64_t rate = 20;        // devices per second
    std::int64_t concurrency = 8;  // devices at once
    base::Duration timeout = 30s;  // of one table
};

// How each device is asked that is polled by SNMP: one ask for each of its addresses.
using SnmpAsks = std::map<std::string, std::vector<std::shared_ptr<const model::Ask>>, std::less<>>;

// The first plan of a device that asks by SNMP stands for all of them. What is switched off is not
// asked.
SnmpAsks snmp_asks(const FleetImage& image) {
    SnmpAsks devices;
    for (const model::TaskSpec& task : image.expansion.tasks) {
        if (!task.enabled || devices.contains(task.device)) continue;
        const auto found = image.plans.find(task.key);
        if (found == image.plans.end()) continue;
        const PollPlan& plan = *found->second;
        if (!plan.problem.empty() || !plan.paused.empty()) continue;
        std::vector<std::shared_ptr<const model::Ask>> asks;
        for (const auto& address : plan.asks) {
            const bool snmp = !address.empty() &&
                              std::holds_alternative<model::SnmpAsk>(address.front()->request);
            if (snmp) asks.push_back(address.front());
        }
        if (!asks.empty()) devices.emplace(task.device, std::move(asks));
    }
    return devices;
}

// Asks devices for their tables.
class NeighbourSweep {
  public:
    NeighbourSweep(const TopologyOptions& options, const SnmpAsks& devices,
                   const JobSurroundings& around, JobControl& control)
        : options_(options),
          devices_(devices),
          control_(control),
          loop_(net::EventLoop::create().value()),
          drivers_(real_drivers(around.egress, around.rules)(*loop_)) {}

    void run() {
        const base::BootTime begin = net::boot_now();
        const std::size_t all = devices_.size();
        auto next = devices_.begin();
        std::size_t started = 0;
        while (ended_ < all && !control_.cancelled()) {
            const double allowed =
                1 + base::to_seconds(net::boot_now() - begin) * static_cast<double>(options_.rate);
            while (next != devices_.end() && static_cast<double>(started) < allowed &&
                   open_.size() < static_cast<std::size_t>(options_.concurrency)) {
                Open& open = open_[next->first];
                open.asks = &next->second;
                open.facts.device = next->first;
                ask(next->first);
                ++next;
                ++started;
            }
            tell_progress();
            loop_->run_once(kTurn);
        }
        tell_progress();
    }

    bool complete() const { return ended_ == devices_.size(); }
    std::size_t ended() const { return ended_; }
    std::vector<NeighbourFacts> take_facts() { return std::move(facts_); }

  private:
    struct Open {
        const std::vector<std::shared_ptr<const model::Ask>>* asks = nullptr;  // one per address
        std::size_t address = 0;
        std::size_t table = 0;
        NeighbourFacts facts;
        bool answered = false;
    };

    void tell_progress() {
        control_.progress(ended_, devices_.size(), fmt::format("{} answered", facts_.size()));
    }

    void ask(const std::string& name) {
        Open& open = open_.at(name);
        auto ask = std::make_shared<model::Ask>(*(*open.asks)[open.address]);
        ask->timeout = options_.timeout;
        set_neighbour_request(static_cast<NeighbourTable>(open.table),
                              std::get<model::SnmpAsk>(ask->request));
        drivers_->of(*ask).start(
            {.id = ++last_id_,
             .ask = ask,
             .deadline = net::boot_now() + options_.timeout,
             .fresh_login = false,
             .trace = false},
            [this, name](model::Reply&& reply) { take(name, std::move(reply)); });
    }

    void take(const std::string& name, model::Reply&& reply) {
        Open& open = open_.at(name);
        const auto table = static_cast<NeighbourTable>(open.table);
        if (const auto* snmp = std::get_if<model::SnmpReply>(&reply.answer)) {
            open.answered = true;
            read_neighbour_reply(table, *snmp, open.facts);
        } else if (const auto* failure = std::get_if<model::PollFailure>(&reply.answer)) {
            control_.log(
                fmt::format("{}: {} not read: {}", name, to_string(table), failure->message));
            // Nothing from an address: the next one. One that answered is asked for the rest.
            if (!open.answered) {
                if (++open.address < open.asks->size()) return ask(name);
                return finish(name);
            }
        }
        if (++open.table < kNeighbourTables) return ask(name);
        finish(name);
    }

    void finish(const std::string& name) {
        const auto open = open_.find(name);
        if (open->second.answered) facts_.push_back(std::move(open->second.facts));
        open_.erase(open);
        ++ended_;
    }

    const TopologyOptions& options_;
    const SnmpAsks& devices_;
    JobControl& control_;
    std::unique_ptr<net::EventLoop> loop_;
    std::unique_ptr<Drivers> drivers_;
    std::map<std::string, Open> open_;  // by device
    std::vector<NeighbourFacts> facts_;
    std::size_t ended_ = 0;
    std::uint64_t last_id_ = 0;
};

// The addresses of all devices in their canonical form. Names are looked up, as polls do; one that
// is not found has no address here.
class AddressBook {
  public:
    explicit AddressBook(JobControl& control)
        : control_(control), loop_(net::EventLoop::create().value()) {}

    Addresses of(const config::Fleet& fleet) {
        auto resolver = net::Resolver::create(*loop_, {});
        if (!resolver) {
            control_.log(fmt::format("names are not looked up: {}", resolver.error().message));
        }
        for (const auto& [name, device] : fleet.devices) {
            if (device.addresses.empty()) add(resolver ? resolver->get() : nullptr, name, name);
            for (const std::string& address : device.addresses) {
                add(resolver ? resolver->get() : nullptr, name, address);
            }
        }
        while (waiting_ > 0 && !control_.cancelled()) loop_->run_once(kTurn);
        if (failed_ > 0) {
            control_.log(
                fmt::format("{} names of devices were not found; they are known by what "
                            "they call themselves only",
                            failed_));
        }
        return std::move(addresses_);
    }

  private:
    void add(net::Resolver* resolver, const std::string& device, const std::string& text) {
        if (const auto literal = net::IpAddress::parse(text)) {
            addresses_[device].push_back(literal->to_string());
            return;
        }
        if (resolver == nullptr) return;
        while (waiting_ >= kLookupsAtOnce && !control_.cancelled()) loop_->run_once(kTurn);
        ++waiting_;
        resolver->lookup(text, [this, device](const base::Result<net::SharedAddresses>& found) {
            --waiting_;
            if (!found) {
                ++failed_;
                return;
            }
            for (const net::IpAddress& address : **found) {
                addresses_[device].push_back(address.to_string());
            }
        });
    }

    JobControl& control_;
    std::unique_ptr<net::EventLoop> loop_;
    Addresses addresses_;
    std::size_t waiting_ = 0;
    std::size_t failed_ = 0;
};

TopologyOptions options_of(const Node& arguments) {
    TopologyOptions options;
    const auto number = [&](const char* key, std::int64_t usual) {
        const Node* node = arguments.find(key);
        return node == nullptr ? usual : document::parse_integer(node->scalar()).value_or(usual);
    };
    if (const Node* roots = arguments.find("root")) {
        for (const Node& item : roots->items()) options.roots.push_back(item.scalar());
    }
    options.rate = number("rate", options.rate);
    options.concurrency = number("concurrency", options.concurrency);
    if (const Node* timeout = arguments.find("table_timeout")) {
        options.timeout = document::parse_duration(timeout->scalar()).value_or(options.timeout);
    }
    return options;
}

std::optional<config::ArgumentFault> check_roots(const model::JobSpec& job) {
    const Node arguments = config::arguments_of(job);
    const Node* roots = arguments.find("root");
    if (roots == nullptr || roots->items().size() <= kMostRoots) return std::nullopt;
    return config::ArgumentFault{"root", fmt::format("names {} devices, at most {} are allowed",
                                                     roots->items().size(), kMostRoots)};
}

void tell(const config::Topology& topology, const Node& node, JobControl& control) {
    const auto number = [&](const char* key) { return node.find(key)->scalar(); };
    control.log(fmt::format("{} of {} devices answered; {} links between devices of the fleet",
                            number("answered"), number("asked"), topology.edges.size()));
    control.log(
        fmt::format("parents of {} devices are proposed, {} are as they should be, {} "
                    "did not fit, {} devices were not reached from {}",
                    number("proposed"), number("same"), number("left_out"),
                    topology.unreached.size(), fmt::join(topology.roots, ", ")));
    if (!topology.unknown.empty()) {
        control.log(
            fmt::format("{} neighbours are not in the fleet: sweep their network to add them",
                        topology.unknown.size()));
    }
    if (!topology.ambiguous.empty()) {
        control.log(fmt::format("{} sightings fit several devices and were left out",
                                topology.ambiguous.size()));
    }
}

JobResult discover_topology(const model::JobSpec& job, const JobSurroundings& around,
                            const FleetImage& image, JobControl& control) {
    const TopologyOptions options = options_of(config::arguments_of(job));
    Addresses addresses = AddressBook(control).of(around.fleet);
    const auto roots =
        topology_roots(options.roots, around.fleet, addresses, read_default_gateways());
    if (!roots) return JobResult::failed(roots.error());
    const SnmpAsks devices = snmp_asks(image);
    if (devices.empty()) {
        const auto nobody = base::config_error(
            "topology.nobody",
            "no device is polled by SNMP, so nobody can be asked for his neighbours: give switches "
            "and routers an addon such as snmp-system");
        return JobResult::failed(nobody.error());
    }
    NeighbourSweep sweep(options, devices, around, control);
    sweep.run();
    config::TopologyInput input{.devices = around.fleet.devices,
                                .addresses = std::move(addresses),
                                .facts = sweep.take_facts(),
                                .roots = *roots};
    const std::size_t answered = input.facts.size();
    const config::Topology topology = config::find_topology(input);
    const Node node =
        config::topology_node(topology, {.asked = devices.size(), .answered = answered}, kRoom);
    tell(topology, node, control);
    JobResult result;
    result.output = document::to_yaml(node);
    if (!sweep.complete()) {
        result.outcome = model::Outcome::kTransient;
        result.code = "job.timeout";
        result.message = fmt::format(
            "only {} of {} devices were asked in time: allow more time or a higher rate",
            sweep.ended(), devices.size());
    }
    return result;
}

}  // namespace

base::Result<std::vector<std::string>> topology_roots(const std::vector<std::string>& named,
                                                      const config::Fleet& fleet,
                                                      const Addresses& addresses,
                                                      const std::vector<net::IpAddress>& gateways) {
    constexpr const char* kHow =
        "name the device that all others stand behind, as argument `root`, for example root: "
        "[core-1]";
    std::vector<std::string> roots = named;
    for (const std::string& root : roots) {
        if (fleet.devices.contains(root)) continue;
        return base::config_error("topology.root",
                                  fmt::format("there is no device {}: {}", quoted(root), kHow));
    }
    if (!roots.empty()) return roots;
    for (const auto& [device, own] : addresses) {
        const bool gateway = std::ranges::any_of(gateways, [&](const net::IpAddress& one) {
            return std::ranges::find(own, one.to_string()) != own.end();
        });
        if (gateway) roots.push_back(device);
    }
    if (roots.size() == 1) return roots;
    std::vector<std::string> hops;
    for (const net::IpAddress& gateway : gateways) hops.push_back(gateway.to_string());
    if (gateways.empty()) {
        return base::config_error(
            "topology.root",
            fmt::format("this machine has no default gateway to begin at: {}", kHow));
    }
    return base::config_error(
        "topology.root",
        roots.empty() ? fmt::format("the default gateway of this machine ({}) is no device of the "
                                    "fleet: {}",
                                    fmt::join(hops, ", "), kHow)
                      : fmt::format("the default gateway of this machine ({}) is more than one "
                                    "device ({}): {}",
                                    fmt::join(hops, ", "), fmt::join(roots, ", "), kHow));
}

void add_topology_type(JobTypes& types, CurrentImage image) {
    JobType type;
    type.def.name = kTopologyJob;
    type.def.help =
        "Asks devices for their neighbours (LLDP, CDP, ARP and bridges) and proposes parents; "
        "nothing is applied.";
    type.def.slots = 1;
    type.def.tier = model::Tier::kLow;
    type.def.timeout = 1h;
    type.def.longest_timeout = 24h - 1min;
    type.def.arguments = {
        {.name = "root",
         .kind = ArgumentKind::kTexts,
         .help = "devices that the others stand behind; not given: the default gateway"},
        {.name = "rate",
         .kind = ArgumentKind::kInteger,
         .low = 1,
         .high = 1000,
         .help = "devices per second; 20"},
        {.name = "concurrency",
         .kind = ArgumentKind::kInteger,
         .low = 1,
         .high = 64,
         .help = "devices at once; 8"},
        {.name = "table_timeout",
         .kind = ArgumentKind::kDuration,
         .low = 1,
         .high = 300,
         .help = "of one table of one device; 30s"}};
    type.host = JobHost::kWorker;
    type.check = check_roots;
    type.run = [image = std::move(image)](const model::JobSpec& job, const JobSurroundings& around,
                                          JobControl& control) {
        return discover_topology(job, around, *image(), control);
    };
    types.add(std::move(type));
}

}  // namespace pollux::runtime
