#include "store/object_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/siphash.hpp"

namespace pollux::store {

namespace {

using ObjectRef = std::pair<model::ObjectKind, std::string_view>;

base::Status note(std::set<ObjectRef>& seen, model::ObjectKind kind, std::string_view id) {
    if (id.empty()) {
        return base::internal_error(
            "store.internal", fmt::format("store: {} without an id in a batch: give it one before "
                                          "it is stored",
                                          to_string(kind)));
    }
    if (!seen.emplace(kind, id).second) {
        return base::internal_error(
            "store.internal", fmt::format("store: {} {} stands twice in one batch: merge the two "
                                          "changes into one",
                                          to_string(kind), id));
    }
    return {};
}

}  // namespace

base::Status check(const ObjectBatch& batch) {
    std::set<ObjectRef> removed;
    std::set<ObjectRef> written;
    for (const auto& removal : batch.removals) {
        if (removal.kind == model::ObjectKind::kSettings) {
            return base::internal_error("store.internal",
                                        "store: settings are never removed, every version is kept: "
                                        "write a new version instead");
        }
        if (auto status = note(removed, removal.kind, removal.id); !status) return status;
    }
    for (const auto& write : batch.writes) {
        const auto& object = write.object;
        if (auto status = note(written, object.kind, object.id); !status) return status;
        if (object.name.empty()) {
            return base::internal_error("store.internal",
                                        fmt::format("store: {} {} has no name in a batch",
                                                    to_string(object.kind), object.id));
        }
    }
    return {};
}

base::Error version_conflict(model::ObjectKind kind, const std::string& id,
                             std::uint64_t expected_version, std::uint64_t found) {
    const auto told = [](std::uint64_t version) {
        return version == 0 ? std::string("none") : fmt::format("version {}", version);
    };
    return {"store.conflict", base::ErrorClass::kPermanent,
            fmt::format("store: {} {}: expected {}, found {}: it was changed meanwhile; read it "
                        "again and repeat the change. Nothing of this batch was applied",
                        to_string(kind), id, told(expected_version), told(found))};
}

base::Error name_conflict(model::ObjectKind kind, const std::string& name,
                          const std::string& holder_id) {
    return {"store.conflict", base::ErrorClass::kPermanent,
            fmt::format("store: the name '{}' of a {} is taken by {}: choose another, or remove "
                        "that one first. Nothing of this batch was applied",
                        name, to_string(kind), holder_id)};
}

base::Error job_conflict(const std::string& key) {
    return {
        "store.conflict", base::ErrorClass::kPermanent,
        fmt::format("store: a job {} is stored already. Nothing of this batch was applied", key)};
}

std::uint32_t partition_of_key(std::string_view task_key) {
    if (const auto colons = task_key.find("::"); colons != std::string_view::npos) {
        task_key.remove_prefix(colons + 2);
    }
    task_key = task_key.substr(0, task_key.rfind('#'));
    constexpr base::SipKey kPartitionKey{};
    return static_cast<std::uint32_t>(base::siphash24(kPartitionKey, task_key) % kPartitions);
}

std::uint32_t partition_of(const model::ConfigObject& object) {
    return partition_of_key(object.name);
}

std::uint64_t first_change_number(std::uint32_t epoch, std::uint64_t newest_stored) {
    return std::max(std::uint64_t{epoch} << 32U, newest_stored + 1);
}

}  // namespace pollux::store
