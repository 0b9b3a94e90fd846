// A fleet made by hand, for tests of pages about it. Included after gtest.
#pragma once

#include <memory>
#include <string>

#include "api/fleet_snapshot.hpp"
#include "document/parse.hpp"

namespace pollux::api::test {

inline document::Node parsed(const std::string& text) {
    document::Diagnostics diagnostics;
    const auto result = document::parse_json(text, "page", diagnostics);
    EXPECT_TRUE(result.ok) << text;
    return result.root;
}

// Three targets: two of one site, of which one stands behind the other and one has two tasks, and
// one that is heard, of another site.
inline std::shared_ptr<const runtime::FleetView> small_fleet() {
    auto fleet = std::make_shared<alert::AlertFleet>();
    const auto add = [&](std::string key, std::string device, std::string addon, std::string site,
                         std::vector<std::string> groups) {
        alert::TargetFacts facts;
        facts.key = std::move(key);
        facts.device = std::move(device);
        facts.addon = std::move(addon);
        facts.address = "192.0.2.1";
        facts.labels = {{"site", std::move(site)}};
        facts.groups = std::move(groups);
        fleet->targets.push_back(std::move(facts));
    };
    add("web::b", "b", "web", "berlin", {"north", "all"});
    add("web::a", "a", "web", "berlin", {"all"});
    add("push::c", "c", "push", "bonn", {"west"});
    fleet->devices.push_back({"b", {{"a", "spare"}}});
    auto image = std::make_shared<runtime::FleetImage>();
    image->alerts.fleet = fleet;
    for (const char* key : {"web::a", "web::a#slow", "web::b"}) {
        config::TargetPlanInput task;
        task.key = key;
        task.target = std::string(key).substr(0, std::string(key).find('#'));
        task.labels = {{"site", "berlin"}};
        image->expansion.targets.push_back(task);
        image->expansion.tasks.emplace_back().region = "eu";
    }
    auto heard = std::make_shared<runtime::InboundTarget>();
    heard->key = "push::c";
    heard->kind = model::ProtocolKind::kPush;
    heard->interval = std::chrono::minutes(1);
    heard->grace = std::chrono::seconds(30);
    auto inbound = std::make_shared<runtime::InboundImage>();
    inbound->targets.push_back(heard);
    image->inbound = inbound;
    auto view = std::make_shared<runtime::FleetView>();
    view->image = image;
    return view;
}

inline access::Principal viewer_of(std::string selector) {
    access::Principal one;
    one.name = "vera";
    one.kind = "user";
    one.grants = {{access::Role::kViewer, std::move(selector)}};
    return one;
}

}  // namespace pollux::api::test
