// How the addons of a server change while it runs: manifests that people store, and their switches.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "runtime/random_bits.hpp"
#include "runtime/server.hpp"

namespace pollux::runtime {
namespace {

constexpr std::size_t kNamedTargets = 10;

// The targets that would be without their addon.
std::vector<std::string> targets_of(const config::Expansion& expansion, std::string_view addon) {
    std::vector<std::string> keys;
    for (const auto& target : expansion.targets) {
        if (target.addon == addon && target.group == 0) keys.push_back(target.target);
    }
    for (const auto& target : expansion.inbound) {
        if (target.addon == addon) keys.push_back(target.key);
    }
    return keys;
}

base::Status refuse_in_use(const std::string& name, std::vector<std::string> keys) {
    if (keys.empty()) return {};
    const std::size_t all = keys.size();
    keys.resize(std::min(all, kNamedTargets));
    return base::config_error(
        "addon.in_use",
        fmt::format("addon {} is used by {} target{} and nothing would take its place: remove {}{} "
                    "first",
                    base::quoted(name), all, all == 1 ? "" : "s", fmt::join(keys, ", "),
                    all > kNamedTargets ? fmt::format(" and {} more", all - kNamedTargets) : ""));
}

// As a difference of one object.
config::FleetDiff difference_of(const std::string& name, const model::ConfigObject* current,
                                const std::optional<StoredAddon>& wanted) {
    config::FleetDiff changes;
    if (!wanted) {
        if (current != nullptr) changes.removals.push_back(*current);
        return changes;
    }
    model::ConfigObject after;
    if (current != nullptr) after = *current;
    after.kind = model::ObjectKind::kAddon;
    after.name = name;
    after.origin = model::Origin::kApi;
    after.body = to_body(*wanted);
    ++after.version;
    if (current == nullptr) {
        changes.additions.push_back(std::move(after));
    } else if (after.body != current->body) {
        changes.changes.push_back({*current, std::move(after), {}});
    }
    return changes;
}

}  // namespace

void Server::shelve_addons() {
    document::Diagnostics diagnostics;
    shelf_ = make_shelf(given_addons_, *objects_, shelf_, diagnostics);
    for (const auto& item : diagnostics.items()) {
        log_.warn("stored addon", {{"error", document::to_string(item)}});
    }
}

base::Status Server::change_addon(const AddonChange& change, bool only_check, const Cause& cause,
                                  document::Diagnostics& diagnostics) {
    const auto found = std::ranges::find_if(*objects_, [&](const model::ConfigObject& object) {
        return object.kind == model::ObjectKind::kAddon && object.name == change.name;
    });
    const model::ConfigObject* current = found == objects_->end() ? nullptr : &*found;
    const auto wanted = plan_addon(change, given_addons_, current);
    if (!wanted) return std::unexpected(wanted.error());
    const auto stored =
        std::ranges::count(*objects_, model::ObjectKind::kAddon, &model::ConfigObject::kind);
    if (current == nullptr && static_cast<std::size_t>(stored) >= kMostStoredAddons) {
        return base::config_error("addon.too_many", "1000 addons are stored: remove some first");
    }
    if (change.verb == AddonVerb::kRemove && !given_addons_.contains(change.name)) {
        auto status = refuse_in_use(change.name, targets_of(image_->expansion, change.name));
        if (!status) return status;
    }
    const config::FleetDiff changes = difference_of(change.name, current, *wanted);
    if (changes.empty()) return {};
    const auto edits = config::make_edits(changes, net::wall_now(), random_bits);
    auto next = config::apply_edits(*objects_, edits);
    AddonShelf shelf = make_shelf(given_addons_, next, shelf_, diagnostics);
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("addon.invalid"));
    const auto fleet = config::from_objects(next);
    if (!fleet) return std::unexpected(fleet.error());
    std::vector<document::Diagnostic> warnings;  // logged there
    auto image = image_of(*fleet, {}, next, settings_, &warnings, &shelf);
    if (!image) return std::unexpected(image.error());
    if (only_check) return {};
    if (auto status = commit(edits, cause); !status) return status;
    objects_ = std::make_shared<const std::vector<model::ConfigObject>>(std::move(next));
    shelf_ = std::move(shelf);
    take_image(std::move(*image));
    log_.info("addon changed", {{"addon", change.name}, {"by", cause.note}});
    return {};
}

}  // namespace pollux::runtime
