// A store that forgets with its owner: for tests, and for trying things out without a data folder.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "store/audit/audit_chain.hpp"
#include "store/memory/memory_alerts.hpp"
#include "store/store.hpp"

namespace pollux::store {

// What a disk would hold. Outlives the store on it, so that a reopening finds what was committed;
// a copy is what a crash at that moment would leave behind.
struct MemoryDisk {
    struct Content {
        std::uint32_t epoch = 0;
        bool clean_stop = true;
        std::map<std::pair<model::ObjectKind, std::string>, model::ConfigObject> objects;  // by id
        std::map<std::pair<std::uint64_t, std::string>, SettingsVersion> settings;  // version, id
        std::map<std::string, model::TaskRecord> tasks;
        std::map<std::uint64_t, StoredChange> changes;
        std::map<std::string, std::string> memory;
        std::map<std::uint64_t, Observation> observations;
        std::uint64_t next_observation = 1;
        std::map<std::uint64_t, ChainedRecord> audit;
        AuditAnchor anchor;                  // first 1: nothing was removed yet
        std::map<std::string, JobRow> jobs;  // by key
        std::map<std::string, std::map<model::RunId, model::JobRun>> job_runs;  // by key
        MemoryAlerts alerts;
    };
    mutable std::mutex mutex;  // guards content
    Content content;
    std::shared_ptr<const AuditKey> audit_key;  // made by the first store that is given none
};

// Never fails. `disk` may be shared with one store at a time.
std::unique_ptr<Store> open_memory_store(std::shared_ptr<MemoryDisk> disk, AnswerSink sink,
                                         AuditOptions audit = {});

}  // namespace pollux::store
