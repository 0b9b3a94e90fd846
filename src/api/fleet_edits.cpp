#include "api/fleet_edits.hpp"

#include <fmt/format.h>

#include <array>

namespace pollux::api {
namespace {

constexpr std::size_t kLongestReason = 500;

}  // namespace

Problem problem_of_fleet(const base::Error& error, const document::Diagnostics& diagnostics) {
    Problem problem = problem_of_edit(error);
    if (diagnostics.ok()) return problem;
    const int status = problem.status;
    problem = problem_of(diagnostics);
    problem.code = error.code;
    problem.status = status;
    return problem;
}

void edit_fleet(const ServerLink& link, Call call, MakeEdits make,
                std::vector<model::AuditEntry> entries, AfterEdit after) {
    auto held = std::make_shared<Call>(std::move(call));
    link.on_main([link, held, make = std::move(make), entries = std::move(entries),
                  after = std::move(after)]() mutable {
        document::Diagnostics diagnostics;
        const auto wanted = make(link.server.objects(), diagnostics);
        if (!wanted) {
            held->problem(problem_of_fleet(wanted.error(), diagnostics));
            return;
        }
        const std::string note =
            fmt::format("{} by {}", entries.front().action, entries.front().principal);
        const auto report = link.server.edit(*wanted, {note, std::move(entries)}, diagnostics);
        if (!report) {
            held->problem(problem_of_fleet(report.error(), diagnostics));
            return;
        }
        link.loop->post([held, after = std::move(after)]() mutable { after(std::move(*held)); });
    });
}

void edit_fleet(const ServerLink& link, Call call, MakeEdits make, model::AuditEntry entry,
                AfterEdit after) {
    std::vector<model::AuditEntry> entries;
    entries.push_back(std::move(entry));
    edit_fleet(link, std::move(call), std::move(make), std::move(entries), std::move(after));
}

void edit_fleet(const ServerLink& link, Call call, std::vector<config::WantedObject> wanted,
                model::AuditEntry entry, AfterEdit after) {
    edit_fleet(
        link, std::move(call),
        [wanted = std::move(wanted)](auto, document::Diagnostics&) mutable
            -> base::Result<std::vector<config::WantedObject>> { return std::move(wanted); },
        std::move(entry), std::move(after));
}

void record(const ServerLink& link, model::AuditEntry entry, Recorded done) {
    store::AuditBatch batch;
    batch.entries.push_back(std::move(entry));
    const auto accepted = link.server.store().submit(std::move(batch), [done](auto result) {
        done(result ? base::Status{} : std::unexpected(result.error()));
    });
    if (!accepted) done(accepted);
}

void record_refusal(const ServerLink& link, model::AuditEntry entry, std::string_view code,
                    Recorded done) {
    entry.result = model::AuditResult::kRefused;
    if (entry.after.empty()) entry.after = code;
    record(link, std::move(entry), std::move(done));
}

void refuse(const ServerLink& link, Call call, model::AuditEntry entry) {
    auto held = std::make_shared<Call>(std::move(call));
    Problem forbidden{403, "access.forbidden", "your grants do not reach this part of the fleet"};
    record_refusal(link, std::move(entry), "access.forbidden",
                   [held, forbidden](const base::Status& recorded) {
                       held->problem(recorded ? forbidden : problem_of(recorded.error()));
                   });
}

document::Node without_key(const document::Node& body, std::string_view key) {
    document::Node result = document::Node::map();
    for (const document::MapEntry& entry : body.entries()) {
        if (entry.key != key) result.append(entry);
    }
    return result;
}

void take_reason(document::Node& body, std::string& reason) {
    const document::Node* given = body.find("reason");
    if (given == nullptr || !given->is_scalar()) return;
    reason = given->scalar().substr(0, kLongestReason);
    body = without_key(body, "reason");
}

std::string_view to_string(config::EditVerb verb) {
    constexpr std::array<std::string_view, 5> kWords = {"create", "change", "change", "remove",
                                                        "adopt"};
    return kWords[static_cast<std::size_t>(verb)];
}

}  // namespace pollux::api
