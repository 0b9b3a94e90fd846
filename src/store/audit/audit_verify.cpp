#include "store/audit/audit_verify.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "store/audit/checkpoint.hpp"
#include "store/sqlite/audit_rows.hpp"
#include "store/sqlite/migrations.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/sqlite/state_schema.hpp"

namespace pollux::store {
namespace {

std::string bytes_of(const AuditMac& mac) {
    return {reinterpret_cast<const char*>(mac.data()), mac.size()};
}

// Signature, form and order of the lines; those that count are returned.
std::vector<AuditCheckpoint> check_lines(const CheckpointLines& file, const std::string& path,
                                         const AuditKey& key, ChainVerifier& verifier) {
    std::vector<AuditCheckpoint> good;
    for (const CheckpointLine& line : file.lines) {
        if (!line.checkpoint || !signed_by(key, *line.checkpoint)) {
            const bool other = line.checkpoint && line.checkpoint->key_id != key.id();
            verifier.find("audit.checkpoint", 0,
                          fmt::format("line {} of {} {}", line.line, path,
                                      other ? "is signed by another key"
                                            : "was changed: it is no checkpoint of this trail"));
            continue;
        }
        if (!good.empty() && line.checkpoint->head.number < good.back().head.number) {
            verifier.find("audit.checkpoint_order", line.checkpoint->head.number,
                          fmt::format("line {} of {} is about record {}, the one before about {}: "
                                      "lines were moved, or the trail was cut there",
                                      line.line, path, line.checkpoint->head.number,
                                      good.back().head.number));
        }
        good.push_back(*line.checkpoint);
    }
    return good;
}

void compare(const std::vector<AuditCheckpoint>& checkpoints,
             const std::optional<AuditAnchor>& anchor, ChainVerifier& verifier) {
    for (const AuditCheckpoint& checkpoint : checkpoints) {
        const std::uint64_t number = checkpoint.head.number;
        if (number == 0 || number > verifier.last()) continue;
        std::optional<std::string> stored = verifier.mac_of(number);
        if (anchor && number == anchor->first - 1) stored = bytes_of(anchor->before);
        if (stored && *stored != bytes_of(checkpoint.head.mac)) {
            verifier.find("audit.rewritten", number,
                          fmt::format("record {} is another one than at the checkpoint of {}",
                                      number, checkpoint.time));
        }
    }
    const auto newest = std::ranges::max_element(
        checkpoints, {}, [](const AuditCheckpoint& one) { return one.head.number; });
    if (newest == checkpoints.end() || newest->head.number <= verifier.last()) return;
    verifier.find("audit.cut", verifier.last() + 1,
                  fmt::format("the trail ends at record {}, but record {} was there at the "
                              "checkpoint of {}: the end was cut off",
                              verifier.last(), newest->head.number, newest->time));
}

}  // namespace

base::Result<std::unique_ptr<Database>> open_state_for_reading(const std::string& data_folder) {
    auto database = Database::open(
        data_folder + "/" + kStateFile,
        {false, true, "", "PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 5000;"});
    if (!database) return database;
    if (auto status = check_shape(**database, state_schema()); !status) {
        return std::unexpected(std::move(status.error()));
    }
    auto tables = (*database)->integer("SELECT count(*) FROM sqlite_schema WHERE name = 'audit'");
    if (!tables) return std::unexpected(std::move(tables.error()));
    if (*tables == 0) {
        return base::config_error(
            "store.access", fmt::format("store: {}/{} was written by a version without an audit "
                                        "trail: start the server once",
                                        data_folder, kStateFile));
    }
    return database;
}

base::Result<AuditReport> verify_audit(Database& database, const AuditKey& key,
                                       const std::string& checkpoint_file) {
    // First the checkpoints: each is written after its record, so what they name is there now.
    auto file = read_checkpoints(checkpoint_file);
    if (!file) return std::unexpected(std::move(file.error()));
    // One moment of the state, whatever a running server does meanwhile.
    if (auto status = database.execute("BEGIN"); !status) return std::unexpected(status.error());
    struct End {
        Database& database;
        ~End() { static_cast<void>(database.execute("ROLLBACK")); }
    };
    const End end{database};
    auto anchor = read_anchor(database);
    if (!anchor) return std::unexpected(std::move(anchor.error()));
    ChainVerifier verifier(key, *anchor);
    std::vector<AuditCheckpoint> checkpoints;
    if (*file) {
        checkpoints = check_lines(**file, checkpoint_file, key, verifier);
        for (const AuditCheckpoint& one : checkpoints) verifier.watch(one.head.number);
    }
    auto read = each_audit_row(database, 0, [&](const StoredAuditRow& row) {
        verifier.take(row);
        return true;
    });
    if (!read) return std::unexpected(std::move(read.error()));
    compare(checkpoints, *anchor, verifier);
    if (!*file) {
        verifier.find("audit.no_checkpoints", 0,
                      fmt::format("there are no checkpoints: {} is missing, so a cut of the newest "
                                  "records cannot be found",
                                  checkpoint_file));
    }
    AuditReport report;
    report.records = verifier.records();
    report.first = verifier.first();
    report.last = verifier.last();
    report.removed = *anchor ? (*anchor)->removed : 0;
    report.checkpoints = checkpoints.size();
    if (!checkpoints.empty()) {
        report.newest_checkpoint = checkpoints.back().head.number;
        report.newest_checkpoint_time = checkpoints.back().time;
    }
    report.found = verifier.found();
    report.findings = verifier.findings();
    return report;
}

}  // namespace pollux::store
