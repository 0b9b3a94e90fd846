// A target whose device speaks first, complete: what it hears, from whom, and what to make of it.
// Immutable, replaced whole by an edit.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.hpp"
#include "base/time.hpp"
#include "extract/compiled_addon.hpp"
#include "model/addon.hpp"
#include "model/alert_policy.hpp"
#include "model/credentials.hpp"

namespace pollux::runtime {

struct InboundTarget {
    std::string key;  // `addon::device`
    std::string id;   // what stored messages refer to
    std::string device;
    model::ProtocolKind kind = model::ProtocolKind::kTrap;
    bool enabled = true;
    std::string problem;  // not empty: it hears nothing, and why
    std::shared_ptr<const extract::CompiledAddon> addon;
    std::vector<std::string> addresses;  // of the device; traps are known by them
    // Traps: who may send. A user name: only v3 of that user; a community: only v1 and v2c with
    // it; neither: any v1 and v2c.
    std::shared_ptr<const model::Credentials> credentials;
    base::Secret token;  // webhooks and pushes
    base::Duration interval{};
    base::Duration grace{};
    model::AlertPolicy alerts;              // what the fleet says over the addon
    std::vector<std::string> confirmed_by;  // polled tasks of the device; empty: none is asked

    bool hears() const { return enabled && problem.empty(); }
};

using InboundTargetPtr = std::shared_ptr<const InboundTarget>;

struct InboundImage {
    std::vector<InboundTargetPtr> targets;  // sorted by key

    InboundTargetPtr find(std::string_view key) const {
        const auto found = std::ranges::lower_bound(
            targets, key, {},
            [](const InboundTargetPtr& one) -> std::string_view { return one->key; });
        return found != targets.end() && (*found)->key == key ? *found : nullptr;
    }
};

}  // namespace pollux::runtime
