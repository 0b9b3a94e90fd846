#include "config/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/test_random.hpp"
#include "config/config_test_support.hpp"

namespace pollux::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::read;
using ::testing::UnorderedElementsAre;

Neighbour lldp(std::string name, std::uint32_t port = 0) {
    return {.by = Sighting::kLldp,
            .port = port,
            .hardware = {},
            .name = std::move(name),
            .addresses = {}};
}

std::string hardware(int number) { return "02:00:00:00:00:0" + std::to_string(number); }

// A fleet, and what its devices tell; each device has the address 10.0.0.N by its place in the
// file.
struct Scene {
    explicit Scene(const std::string& text, std::vector<std::string> roots)
        : fleet(read(text).fleet()),
          input{.devices = fleet.devices, .addresses = {}, .facts = {}, .roots = std::move(roots)} {
        int number = 0;
        for (const auto& [name, device] : fleet.devices) {
            input.addresses[name] = {"10.0.0." + std::to_string(++number)};
        }
    }
    NeighbourFacts& of(const std::string& device) {
        for (NeighbourFacts& facts : input.facts) {
            if (facts.device == device) return facts;
        }
        NeighbourFacts& facts = input.facts.emplace_back();
        facts.device = device;
        facts.name = device;
        return facts;
    }
    // Each names the other.
    void link(const std::string& one, const std::string& other) {
        of(one).neighbours.push_back(lldp(other));
        of(other).neighbours.push_back(lldp(one));
    }
    // The switch learned the hardware address there; the host is known by the ARP table of `by`.
    void behind(const std::string& host, const std::string& hardware, const std::string& at,
                std::uint32_t port, const std::string& by) {
        of(at).learned.emplace_back(hardware, port);
        of(by).arp.emplace_back(input.addresses.at(host).front(), hardware);
    }
    const Topology& run() { return result = find_topology(input); }
    const ProposedParents& proposal(const std::string& device) {
        for (const ProposedParents& one : result.proposals) {
            if (one.device == device) return one;
        }
        ADD_FAILURE() << "nothing about " << device;
        static const ProposedParents none;
        return none;
    }

    Fleet fleet;
    TopologyInput input;
    Topology result;
};

constexpr const char* kTree = "devices: {core: {}, sw1: {}, sw2: {}, h1: {}, h2: {}}\n";

TEST(Topology, ATreeOfSwitchesAndHosts) {
    Scene scene(kTree, {"core"});
    scene.link("core", "sw1");
    scene.link("core", "sw2");
    scene.behind("h1", hardware(1), "sw1", 7, "core");
    scene.behind("h2", hardware(2), "sw2", 7, "core");
    // The core sees both, on the ports of the switches.
    scene.of("core").hardware = {hardware(9)};
    scene.of("sw1").hardware = {hardware(3)};
    scene.of("core").learned = {{hardware(3), 1}, {hardware(1), 1}};
    scene.of("sw1").learned.emplace_back(hardware(9), 1);
    scene.run();
    EXPECT_THAT(scene.proposal("sw1").parents, ElementsAre("core"));
    EXPECT_THAT(scene.proposal("sw1").by, ElementsAre(Sighting::kLldp));
    EXPECT_THAT(scene.proposal("h1").parents, ElementsAre("sw1"));
    EXPECT_THAT(scene.proposal("h1").by, ElementsAre(Sighting::kBridge));
    EXPECT_EQ(scene.proposal("h1").distance, 2U);
    EXPECT_THAT(scene.proposal("h2").parents, ElementsAre("sw2"));
    EXPECT_THAT(scene.proposal("core").parents, IsEmpty());
    EXPECT_EQ(scene.proposal("core").standing, Standing::kSame);
    EXPECT_THAT(scene.result.unreached, IsEmpty());
    EXPECT_THAT(scene.result.unknown, IsEmpty());
    EXPECT_THAT(scene.result.ambiguous, IsEmpty());
}

TEST(Topology, SeveralWaysAreOneGroupOfWhichAnyIsEnough) {
    Scene scene("devices: {r: {}, a: {}, b: {}, db: {}}\n", {"r"});
    scene.link("r", "a");
    scene.link("r", "b");
    scene.link("a", "b");  // beside each other: neither is behind the other
    scene.link("a", "db");
    scene.link("b", "db");
    scene.run();
    EXPECT_THAT(scene.proposal("db").parents, ElementsAre("a", "b"));
    EXPECT_THAT(scene.proposal("a").parents, ElementsAre("r"));
    EXPECT_THAT(scene.proposal("b").parents, ElementsAre("r"));
}

TEST(Topology, ARingIsCutAtItsFarEnd) {
    Scene scene("devices: {a: {}, b: {}, c: {}, d: {}}\n", {"a"});
    scene.link("a", "b");
    scene.link("b", "c");
    scene.link("c", "d");
    scene.link("d", "a");
    scene.run();
    EXPECT_THAT(scene.proposal("c").parents, ElementsAre("b", "d"));
    EXPECT_THAT(scene.proposal("b").parents, ElementsAre("a"));
}

TEST(Topology, WhoIsMeantIsKnownByChassisAddressAndName) {
    Scene scene("devices: {core: {}, by-mac: {}, by-address: {}, by-name: {}}\n", {"core"});
    NeighbourFacts& core = scene.of("core");
    core.neighbours.push_back({.by = Sighting::kLldp,
                               .port = 1,
                               .hardware = hardware(1),
                               .name = "renamed since",
                               .addresses = {}});
    core.neighbours.push_back({.by = Sighting::kCdp,
                               .port = 2,
                               .hardware = {},
                               .name = "whatever",
                               .addresses = scene.input.addresses.at("by-address")});
    core.neighbours.push_back(lldp("BY-NAME.example.org"));
    scene.of("by-mac").hardware = {hardware(1)};
    scene.run();
    for (const char* name : {"by-mac", "by-address", "by-name"}) {
        EXPECT_THAT(scene.proposal(name).parents, ElementsAre("core")) << name;
    }
    EXPECT_THAT(scene.proposal("by-address").by, ElementsAre(Sighting::kCdp));
}

TEST(Topology, TheSameNameInTwoDomainsIsTwoDevices) {
    Scene scene("devices: {core: {}, sw1.berlin.example: {}}\n", {"core"});
    scene.of("core").neighbours = {lldp("sw1.paris.example")};
    scene.run();
    ASSERT_EQ(scene.result.unknown.size(), 1U);
    EXPECT_EQ(scene.result.unknown[0].name, "sw1.paris.example");
    scene.of("core").neighbours = {lldp("sw1")};
    scene.run();
    EXPECT_THAT(scene.proposal("sw1.berlin.example").parents, ElementsAre("core"));
}

TEST(Topology, ASightingFromOneSideCountsAndIsMarked) {
    Scene scene("devices: {core: {}, deaf: {}, dark: {}}\n", {"core"});
    scene.of("core").neighbours = {lldp("deaf"), lldp("dark")};
    scene.of("deaf");  // was read, and names nobody; dark was not read
    scene.run();
    EXPECT_THAT(scene.proposal("deaf").parents, ElementsAre("core"));
    ASSERT_EQ(scene.result.edges.size(), 2U);
    EXPECT_EQ(scene.result.edges[0].other, "dark");
    EXPECT_FALSE(scene.result.edges[0].one_sided);
    EXPECT_TRUE(scene.result.edges[1].one_sided);
}

TEST(Topology, StrangersAreCandidatesAndTwinsAreNotGuessed) {
    Scene scene("devices: {core: {}, sw.a: {}, sw.b: {}}\n", {"core"});
    NeighbourFacts& core = scene.of("core");
    core.neighbours.push_back({.by = Sighting::kLldp,
                               .port = 1,
                               .hardware = hardware(8),
                               .name = "phone-1",
                               .addresses = {"10.9.9.9"}});
    core.neighbours.push_back(lldp("sw"));  // either of them
    scene.run();
    ASSERT_EQ(scene.result.unknown.size(), 1U);
    EXPECT_EQ(scene.result.unknown[0].name, "phone-1");
    EXPECT_EQ(scene.result.unknown[0].address, "10.9.9.9");
    EXPECT_EQ(scene.result.unknown[0].seen_by, "core");
    ASSERT_EQ(scene.result.ambiguous.size(), 1U);
    EXPECT_THAT(scene.result.ambiguous[0].devices, ElementsAre("sw.a", "sw.b"));
    EXPECT_THAT(scene.result.unreached, ElementsAre("sw.a", "sw.b"));
}

TEST(Topology, AHostOnTwoSwitchesIsNotGuessed) {
    Scene scene(kTree, {"core"});
    scene.link("core", "sw1");
    scene.link("core", "sw2");
    scene.behind("h1", hardware(1), "sw1", 7, "core");
    scene.behind("h1", hardware(1), "sw2", 7, "core");
    scene.run();
    EXPECT_THAT(scene.result.unreached, ElementsAre("h1", "h2"));
    ASSERT_EQ(scene.result.ambiguous.size(), 1U);
    EXPECT_EQ(scene.result.ambiguous[0].what, "device h1");
    EXPECT_THAT(scene.result.ambiguous[0].devices, ElementsAre("sw1", "sw2"));
}

// A port that leads on holds the addresses of everybody behind it.
TEST(Topology, APortThatLeadsOnSaysNothing) {
    struct Case {
        const char* why;
        std::function<void(Scene& scene)> beside;  // h1 on port 1 of the core
    };
    const Case cases[] = {
        {"a switch's own address is learned there",
         [](Scene& scene) {
             scene.of("sw1").hardware = {hardware(3)};
             scene.of("sw1").learned = {{hardware(4), 2}};
             scene.of("core").learned.emplace_back(hardware(3), 1);
         }},
        {"a switch is named there",
         [](Scene& scene) {
             scene.of("sw1").learned = {{hardware(4), 2}};
             scene.of("core").neighbours = {lldp("sw1", 1)};
         }},
        {"a device is named there that could not be read",
         [](Scene& scene) { scene.of("core").neighbours = {lldp("sw1", 1)}; }},
        {"a root is behind it",
         [](Scene& scene) {
             scene.input.roots = {"sw2"};
             scene.of("core").arp.emplace_back(scene.input.addresses.at("sw2").front(),
                                               hardware(5));
             scene.of("core").learned.emplace_back(hardware(5), 1);
         }},
    };
    for (const Case& one : cases) {
        Scene scene(kTree, {"core"});
        scene.behind("h1", hardware(1), "core", 1, "core");
        one.beside(scene);
        scene.run();
        EXPECT_THAT(scene.result.unreached, ::testing::Contains("h1")) << one.why;
    }
    // An end of the network that speaks LLDP, such as a phone or a server, does not lead on.
    Scene scene(kTree, {"core"});
    scene.behind("h1", hardware(1), "core", 1, "core");
    scene.of("h2");
    scene.of("core").neighbours = {lldp("h2", 1), lldp("phone", 1)};
    scene.run();
    EXPECT_THAT(scene.proposal("h1").parents, ElementsAre("core"));
}

TEST(Topology, ParentsWrittenByHandStay) {
    Scene scene(R"(
devices:
  core: {}
  sw1: {parents: [other]}
  sw2: {parents: [other], labels: {parents_discovered_by: job}}
  sw3: {parents: [core]}
  other: {}
)",
                {"core"});
    for (const char* name : {"sw1", "sw2", "sw3"}) scene.link("core", name);
    scene.run();
    EXPECT_EQ(scene.proposal("sw1").standing, Standing::kByHand);
    EXPECT_EQ(scene.proposal("sw2").standing, Standing::kChanged);
    EXPECT_EQ(scene.proposal("sw3").standing, Standing::kSame);
    EXPECT_THAT(scene.result.unreached, ElementsAre("other"));
}

TEST(Topology, WithWhatStaysNothingIsItsOwnAncestor) {
    // Somebody wrote that the core stands behind h1.
    Scene scene("devices: {core: {parents: [h1]}, sw1: {}, h1: {}, sw2: {}}\n", {"core"});
    scene.link("core", "sw1");
    scene.link("sw1", "h1");
    scene.link("core", "sw2");
    scene.run();
    EXPECT_EQ(scene.proposal("core").standing, Standing::kByHand);
    EXPECT_EQ(scene.proposal("sw1").standing, Standing::kCircle);
    EXPECT_EQ(scene.proposal("h1").standing, Standing::kCircle);
    EXPECT_EQ(scene.proposal("sw2").standing, Standing::kNew);
}

TEST(Topology, AnotherRootTurnsWhatWasDiscoveredRound) {
    Scene scene("devices: {a: {}, b: {parents: [a], labels: {parents_discovered_by: job}}}\n",
                {"b"});
    scene.link("a", "b");
    scene.run();
    EXPECT_THAT(scene.proposal("a").parents, ElementsAre("b"));
    EXPECT_EQ(scene.proposal("a").standing, Standing::kNew);
    EXPECT_THAT(scene.proposal("b").parents, IsEmpty());
    EXPECT_EQ(scene.proposal("b").standing, Standing::kChanged);
}

TEST(Topology, WordsForPeople) {
    EXPECT_EQ(parents_text({{"a"}, {"b", "c"}}), "a, b | c");
    EXPECT_EQ(to_string(Sighting::kBridge), "arp+bridge");
}

// --- any network at all --------------------------------------------------------------------------

std::string device_name(std::uint64_t number) { return "d" + std::to_string(number); }

Fleet random_fleet(base::TestRandom& random, std::size_t size) {
    Fleet fleet;
    for (std::size_t i = 0; i < size; ++i) {
        Device& device = fleet.devices[device_name(i)];
        // Only towards smaller numbers: what is configured has no circles.
        if (i == 0 || !random.one_in(3)) continue;
        device.parents.push_back({device_name(random.below(i))});
        if (random.one_in(2)) device.labels.emplace(kParentsLabel, "job");
    }
    return fleet;
}

std::vector<NeighbourFacts> random_facts(base::TestRandom& random, std::size_t size) {
    const auto address = [&](std::uint64_t of) { return "02:00:00:00:00:" + std::to_string(of); };
    std::vector<NeighbourFacts> all;
    for (std::size_t i = 0; i < size; ++i) {
        if (random.one_in(4)) continue;
        NeighbourFacts& facts = all.emplace_back();
        facts.device = device_name(i);
        facts.hardware = {address(i)};
        for (std::uint64_t n = random.below(4); n > 0; --n) {
            Neighbour& one = facts.neighbours.emplace_back();
            one.by = random.one_in(2) ? Sighting::kLldp : Sighting::kCdp;
            one.port = static_cast<std::uint32_t>(random.below(4));
            one.name = device_name(random.below(size + 2));  // two of them nobody knows
        }
        for (std::uint64_t n = random.below(6); n > 0; --n) {
            facts.learned.emplace_back(address(random.below(size)),
                                       static_cast<std::uint32_t>(random.below(4)));
            const std::uint64_t of = random.below(size);
            facts.arp.emplace_back("10.0.0." + std::to_string(of), address(of));
        }
    }
    return all;
}

bool has_circle(const Fleet& fleet, const std::map<std::string, std::vector<std::string>>& taken) {
    // Takes away what stands behind nothing that is left, until nothing changes.
    std::map<std::string, std::set<std::string>> left;
    for (const auto& [name, device] : fleet.devices) {
        std::set<std::string>& parents = left[name];
        const auto found = taken.find(name);
        if (found != taken.end()) parents.insert(found->second.begin(), found->second.end());
        if (found != taken.end()) continue;
        for (const auto& any_of : device.parents) parents.insert(any_of.begin(), any_of.end());
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (auto at = left.begin(); at != left.end();) {
            const bool free = std::ranges::none_of(
                at->second, [&](const std::string& parent) { return left.contains(parent); });
            at = free ? left.erase(at) : std::next(at);
            changed = changed || free;
        }
    }
    return !left.empty();
}

std::string shown(const Topology& topology) {
    std::string text;
    for (const ProposedParents& one : topology.proposals) {
        text += one.device + " " + std::to_string(static_cast<int>(one.standing)) + " " +
                parents_text({one.parents}) + "\n";
        for (const Sighting by : one.by) text += std::string(to_string(by)) + " ";
    }
    for (const TopologyEdge& edge : topology.edges) text += edge.one + "-" + edge.other + "\n";
    for (const std::string& name : topology.unreached) text += name + "\n";
    for (const UnknownNeighbour& one : topology.unknown) text += one.name + one.seen_by + "\n";
    for (const AmbiguousSighting& one : topology.ambiguous) text += one.what + one.seen_by + "\n";
    return text;
}

TEST(Topology, WhateverTheNetworkThereIsAWayToARootAndNoCircle) {
    std::size_t proposed = 0;
    std::size_t circles = 0;
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
        base::TestRandom random(seed);
        const std::size_t size = 2 + random.below(20);
        const Fleet fleet = random_fleet(random, size);
        TopologyInput input{.devices = fleet.devices,
                            .addresses = {},
                            .facts = random_facts(random, size),
                            .roots = {device_name(random.below(size))}};
        if (random.one_in(3)) input.roots.push_back(device_name(random.below(size)));
        for (std::size_t i = 0; i < size; ++i) {
            input.addresses[device_name(i)] = {"10.0.0." + std::to_string(i)};
        }
        const Topology topology = find_topology(input);
        std::map<std::string, std::vector<std::string>> taken;
        std::map<std::string, const ProposedParents*> reached;
        for (const ProposedParents& one : topology.proposals) {
            reached.emplace(one.device, &one);
            circles += one.standing == Standing::kCircle ? 1 : 0;
            if (one.standing != Standing::kNew && one.standing != Standing::kChanged) continue;
            taken.emplace(one.device, one.parents);
            ++proposed;
        }
        ASSERT_FALSE(has_circle(fleet, taken)) << "seed " << seed << "\n" << shown(topology);
        for (const auto& [name, one] : reached) {
            const bool root = std::ranges::binary_search(topology.roots, name);
            ASSERT_EQ(one->parents.empty(), root) << "seed " << seed << " " << name;
            for (const std::string& parent : one->parents) {
                ASSERT_TRUE(reached.contains(parent)) << "seed " << seed << " " << name;
                ASSERT_EQ(reached.at(parent)->distance + 1, one->distance) << "seed " << seed;
            }
        }
        ASSERT_EQ(reached.size() + topology.unreached.size(), size);
        for (int round = 0; round < 3; ++round) {
            for (std::size_t i = input.facts.size(); i > 1; --i) {
                std::swap(input.facts[i - 1], input.facts[random.below(i)]);
            }
            for (NeighbourFacts& facts : input.facts) {
                std::ranges::reverse(facts.neighbours);
                std::ranges::reverse(facts.learned);
                std::ranges::reverse(facts.arp);
            }
            std::ranges::reverse(input.roots);
            ASSERT_EQ(shown(find_topology(input)), shown(topology)) << "seed " << seed;
        }
    }
    EXPECT_GT(proposed, 1000U);
    EXPECT_GT(circles, 10U);
}

}  // namespace
}  // namespace pollux::config
