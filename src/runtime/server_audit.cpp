// Server: the audit trail. Its checkpoints, and how long records are kept.
#include "runtime/server.hpp"

namespace pollux::runtime {

void Server::make_checkpointer(std::shared_ptr<const store::AuditKey> key) {
    checkpointer_ = std::make_unique<store::AuditCheckpointer>(
        std::move(key), [this](const store::AuditCheckpointer::Told& told) {
            if (told.why != nullptr) {
                log_.error("audit trail", {{"error", told.why->message}});
            } else {
                // Whole, so that it can be checked from a copy of the log too.
                log_.info("audit checkpoint", {{"checkpoint", told.line}});
            }
        });
}

base::Status Server::start_checkpoints() {
    if (!checkpointer_ || options_.offline) return {};
    checkpoint_path_ = settings_.audit_checkpoint_file.text.empty()
                           ? directory_->file(store::kCheckpointFile)
                           : settings_.audit_checkpoint_file.text;
    return checkpointer_->start(checkpoint_path_, store_->audit_head());
}

base::Result<std::pair<store::AuditReport, std::shared_ptr<const store::AuditKey>>>
Server::verify_audit() const {
    if (!audit_key_ || checkpoint_path_.empty()) {
        return base::make_error(
            base::ErrorClass::kPermanent, "audit.no_folder",
            "this server has no data folder: its audit trail is in memory only");
    }
    auto database = store::open_state_for_reading(options_.data);
    if (!database) return std::unexpected(database.error());
    auto report = store::verify_audit(**database, *audit_key_, checkpoint_path_);
    if (!report) return std::unexpected(report.error());
    return std::pair(std::move(*report), audit_key_);
}

void Server::trim_audit() {
    if (settings_.audit_keep_days == 0 || options_.offline) return;
    const base::WallTime now = net::wall_now();
    store::AuditBatch batch;
    batch.retention =
        store::AuditRetention{now - std::chrono::hours(24 * settings_.audit_keep_days), now};
    const auto accepted =
        store_->submit(std::move(batch), [this](base::Result<store::AuditCommit> result) {
            if (!result) {
                log_.warn("old audit records were not removed",
                          {{"error", result.error().message}});
            } else if (result->removed > 0) {
                log_.info("old audit records were removed",
                          {{"count", std::to_string(result->removed)}});
            }
        });
    if (!accepted) {
        log_.warn("old audit records were not removed", {{"error", accepted.error().message}});
    }
}

void Server::operate(schedule::OperatorAction action, std::optional<model::AuditEntry> entry,
                     CoreLoop::OperateDone done) {
    core_->operate(std::move(action), std::move(entry), std::move(done));
}

}  // namespace pollux::runtime
