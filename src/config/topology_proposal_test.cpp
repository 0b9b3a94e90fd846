#include "config/topology_proposal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_test_support.hpp"
#include "config/fleet_edit.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::config {
namespace {

using model::ConfigObject;
using model::ObjectKind;
using model::Origin;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::read;

constexpr std::size_t kRoom = 64U << 10U;

class TopologyProposal : public ::testing::Test {
  protected:
    // Devices of the API but those in `filed`, with core above sw and sw above h1 to h3.
    void configure(const std::string& text, const std::set<std::string>& filed = {}) {
        fleet_ = read(text).fleet();
        objects_ =
            apply_edits({}, make_edits(diff({}, to_objects(fleet_)), base::WallTime{1},
                                       [this] { return std::pair{std::uint64_t{0}, ++ids_}; }));
        for (ConfigObject& object : objects_) {
            if (!filed.contains(object.name)) object.origin = Origin::kApi;
        }
    }
    document::Node discover(std::size_t room = kRoom) {
        TopologyInput input{
            .devices = fleet_.devices, .addresses = {}, .facts = {}, .roots = {"core"}};
        for (const auto& [name, device] : fleet_.devices) {
            if (name == "core" || name == "far") continue;
            NeighbourFacts& facts = input.facts.emplace_back();
            facts.device = name;
            facts.neighbours.push_back({.by = Sighting::kLldp,
                                        .port = 0,
                                        .hardware = {},
                                        .name = name.starts_with("sw") ? "core" : "sw",
                                        .addresses = {}});
        }
        const std::string text = document::to_yaml(
            topology_node(find_topology(input), {.asked = 9, .answered = 8}, room));
        EXPECT_LE(text.size(), room);
        document::Diagnostics diagnostics;
        auto parsed = document::parse(text, "output", diagnostics);
        EXPECT_TRUE(parsed.ok) << diagnostics.text() << text;
        return parsed.root;
    }
    std::vector<ParentsChange> changes(const document::Node& found) {
        return read_changes(found, "job-1", objects_);
    }
    // The code of the refusal; empty: taken.
    std::string accept(const ParentsChoice& choice) {
        const auto wanted = plan_parents(changes(discover()), "job-1", objects_, choice);
        if (!wanted) return wanted.error().code;
        document::Diagnostics diagnostics;
        const auto planned = plan_edit(objects_, *wanted, diagnostics);
        if (!planned) return planned.error().code;
        objects_ = apply_edits(objects_, make_edits(*planned, base::WallTime{2}, [this] {
                                   return std::pair{std::uint64_t{0}, ++ids_};
                               }));
        fleet_ = from_objects(objects_).value();
        return "";
    }
    Origin origin_of(std::string_view name) const {
        for (const ConfigObject& object : objects_) {
            if (object.kind == ObjectKind::kDevice && object.name == name) return object.origin;
        }
        ADD_FAILURE() << name;
        return Origin::kFile;
    }
    using Parents = std::vector<std::vector<std::string>>;
    const Device& device(const std::string& name) const { return fleet_.devices.at(name); }

    Fleet fleet_;
    std::vector<ConfigObject> objects_;
    std::uint64_t ids_ = 0;
};

constexpr const char* kFleet = "devices: {core: {}, sw: {labels: {a: b}}, h1: {}, h2: {}}\n";

TEST_F(TopologyProposal, WhatIsAcceptedIsMarkedAndNotProposedAgain) {
    configure(kFleet);
    const document::Node found = discover();
    EXPECT_EQ(found.find("proposed")->scalar(), "3");
    EXPECT_EQ(found.find("asked")->scalar(), "9");
    EXPECT_EQ(accept({}), "");
    EXPECT_EQ(device("sw").parents, (Parents{{"core"}}));
    EXPECT_EQ(device("sw").labels.at("a"), "b");
    EXPECT_EQ(device("sw").labels.at("parents_discovered_by"), "job-1");
    EXPECT_EQ(device("h1").parents, (Parents{{"sw"}}));
    EXPECT_THAT(device("core").labels, IsEmpty());
    const document::Node again = discover();
    EXPECT_EQ(again.find("proposed")->scalar(), "0");
    EXPECT_EQ(again.find("same")->scalar(), "3");
    EXPECT_THAT(changes(again), IsEmpty());
}

TEST_F(TopologyProposal, SomeMayBeChosen) {
    configure(kFleet);
    EXPECT_EQ(accept({.devices = {"h1"}}), "");
    EXPECT_EQ(device("h1").parents, (Parents{{"sw"}}));
    EXPECT_THAT(device("sw").parents, IsEmpty());
    EXPECT_EQ(accept({.devices = {"nobody"}}), "topology.unknown");
}

TEST_F(TopologyProposal, WhatFilesOwnIsShownAndTakenOnlyIfAdopted) {
    configure(kFleet, {"sw"});
    const auto shown = changes(discover());
    ASSERT_EQ(shown.size(), 3U);
    EXPECT_EQ(shown[0].device, "sw");
    EXPECT_EQ(shown[0].origin, Origin::kFile);
    EXPECT_EQ(shown[0].text,
              "devices:\n  sw:\n    labels:\n      parents_discovered_by: job-1\n    parents:\n"
              "      - core\n");
    EXPECT_EQ(accept({.devices = {"sw"}}), "object.owned");
    EXPECT_EQ(accept({}), "") << "the others";
    EXPECT_THAT(device("sw").parents, IsEmpty());
    EXPECT_EQ(device("h1").parents, (Parents{{"sw"}}));
    EXPECT_EQ(accept({.devices = {"sw"}, .adopt = true}), "");
    EXPECT_EQ(device("sw").parents, (Parents{{"core"}}));
    EXPECT_EQ(origin_of("sw"), Origin::kApi);
}

TEST_F(TopologyProposal, WhatSomebodyWroteIsShownAsDifferentAndKept) {
    configure("devices: {core: {}, sw: {}, h1: {parents: [core]}}\n");
    const auto shown = changes(discover());
    ASSERT_EQ(shown.size(), 2U);
    EXPECT_EQ(shown[1].device, "h1");
    EXPECT_EQ(shown[1].standing, Standing::kByHand);
    EXPECT_EQ(shown[1].current, (Parents{{"core"}}));
    EXPECT_EQ(accept({.devices = {"h1"}}), "topology.by_hand");
    EXPECT_EQ(accept({}), "");
    EXPECT_EQ(device("h1").parents, (Parents{{"core"}}));
    EXPECT_EQ(device("sw").parents, (Parents{{"core"}}));
}

TEST_F(TopologyProposal, WhatChangedSinceIsComparedAgain) {
    configure(kFleet);
    const document::Node found = discover();
    configure("devices: {core: {}, sw: {parents: [core]}, h1: {parents: [core]}}\n");
    const auto shown = changes(found);
    ASSERT_EQ(shown.size(), 3U);
    EXPECT_EQ(shown[0].standing, Standing::kSame);
    EXPECT_EQ(shown[1].standing, Standing::kByHand);
    EXPECT_EQ(shown[2].device, "h2");
    EXPECT_FALSE(shown[2].origin) << "it is gone";
    EXPECT_EQ(plan_parents(shown, "job-1", objects_, {.devices = {"h2"}}).error().code,
              "topology.unknown");
    EXPECT_THAT(plan_parents(shown, "job-1", objects_, {}).value(), IsEmpty());
}

TEST_F(TopologyProposal, TheTextIsBoundedAndTheNearestComeFirst) {
    std::string text = "devices:\n  core: {}\n  far: {}\n  sw: {}\n";
    for (int i = 0; i < 3000; ++i) text += "  host-" + std::to_string(i) + ": {}\n";
    configure(text);
    const document::Node all = discover();
    EXPECT_EQ(all.find("proposed")->scalar(), "3001");
    EXPECT_EQ(all.find("left_out")->scalar(), "0");
    const document::Node some = discover(8192);
    const auto shown = changes(some);
    EXPECT_EQ(shown.front().device, "sw");
    EXPECT_GT(shown.size(), 100U);
    EXPECT_EQ(std::to_string(3001 - shown.size()), some.find("left_out")->scalar());
    EXPECT_EQ(some.find("unreached")->find("count")->scalar(), "1");
}

TEST_F(TopologyProposal, WhatNeighboursCallThemselvesDoesNoHarm) {
    Topology topology;
    for (int i = 0; i < 200; ++i) {
        topology.unknown.push_back(
            {.name = "\x1b[2J\": {\n- evil\xff" + std::string(5000, 'x') + std::to_string(i),
             .address = {},
             .hardware = {},
             .seen_by = "core",
             .by = Sighting::kCdp});
    }
    const std::string text = document::to_yaml(topology_node(topology, {}, kRoom));
    EXPECT_LE(text.size(), kRoom);
    document::Diagnostics diagnostics;
    const auto parsed = document::parse(text, "output", diagnostics);
    ASSERT_TRUE(parsed.ok) << diagnostics.text();
    const document::Node& notes = *parsed.root.find("unknown");
    EXPECT_EQ(notes.find("count")->scalar(), "200");
    EXPECT_EQ(notes.find("items")->items().size(), 50U);
    const std::string& name = notes.find("items")->items()[0].find("name")->scalar();
    EXPECT_EQ(name.find('\n'), std::string::npos);
    EXPECT_EQ(name.find('\x1b'), std::string::npos);
    EXPECT_LE(name.size(), 210U);
}

}  // namespace
}  // namespace pollux::config
