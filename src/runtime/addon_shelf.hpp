// The addons that a server polls with: those that came with it (in its binary, in a folder), and
// what people stored over them. A stored manifest takes the place of one that came; a switch holds
// for either. Immutable, made anew by each change.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "base/result.hpp"
#include "document/diagnostic.hpp"
#include "model/object.hpp"
#include "runtime/fleet_image.hpp"

namespace pollux::runtime {

inline constexpr std::size_t kMostStoredAddons = 1000;
inline constexpr std::size_t kMostManifestBytes = 1U << 20U;

// The body of an object of kind `addon`.
struct StoredAddon {
    bool enabled = true;
    std::string manifest;  // as it was written; empty: the one that came with the server
    bool operator==(const StoredAddon&) const = default;
};

std::string to_body(const StoredAddon& addon);
base::Result<StoredAddon> read_stored_addon(const model::ConfigObject& object);

struct AddonShelf {
    std::shared_ptr<const AddonSet> addons = std::make_shared<const AddonSet>();
    AddonNames disabled;
    // What the stored manifests were compiled to, by name and body: not compiled again while they
    // stay.
    std::map<std::string, std::pair<std::string, std::shared_ptr<const extract::CompiledAddon>>,
             std::less<>>
        stored;
};

// `given` are those that came with the server. A stored manifest that is wrong is told and left
// out: what came stays in force.
AddonShelf make_shelf(const AddonSet& given, std::span<const model::ConfigObject> objects,
                      const AddonShelf& before, document::Diagnostics& diagnostics);

enum class AddonVerb : std::uint8_t { kCreate, kReplace, kRemove, kEnable, kDisable };

struct AddonChange {
    AddonVerb verb = AddonVerb::kCreate;
    std::string name;
    std::string manifest = {};                     // of kCreate and kReplace
    std::optional<std::uint64_t> if_version = {};  // what the caller has seen; 0: nothing stored
};

// What is to be stored after a change: nothing when the object is to go. Codes of errors:
// object.unknown, object.exists, object.version, operator.nothing_to_do, addon.given (there is
// nothing of one's own to remove).
base::Result<std::optional<StoredAddon>> plan_addon(const AddonChange& change,
                                                    const AddonSet& given,
                                                    const model::ConfigObject* current);

}  // namespace pollux::runtime
