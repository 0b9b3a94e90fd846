#include "protocol/snmp/usm_reports.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace pollux::protocol::snmp {
namespace {

struct Row {
    std::string_view name;
    std::array<std::uint32_t, 11> oid;
};

constexpr std::array<Row, kReportKinds - 1> kRows = {{
    {"unsupported_level", {1, 3, 6, 1, 6, 3, 15, 1, 1, 1, 0}},
    {"not_in_time_window", {1, 3, 6, 1, 6, 3, 15, 1, 1, 2, 0}},
    {"unknown_user", {1, 3, 6, 1, 6, 3, 15, 1, 1, 3, 0}},
    {"unknown_engine", {1, 3, 6, 1, 6, 3, 15, 1, 1, 4, 0}},
    {"wrong_digest", {1, 3, 6, 1, 6, 3, 15, 1, 1, 5, 0}},
    {"decryption_error", {1, 3, 6, 1, 6, 3, 15, 1, 1, 6, 0}},
    {"unknown_security_model", {1, 3, 6, 1, 6, 3, 11, 2, 1, 1, 0}},
    {"invalid_message", {1, 3, 6, 1, 6, 3, 11, 2, 1, 2, 0}},
    {"unknown_pdu_handler", {1, 3, 6, 1, 6, 3, 11, 2, 1, 3, 0}},
    {"unavailable_context", {1, 3, 6, 1, 6, 3, 12, 1, 4, 0, 0}},
    {"unknown_context", {1, 3, 6, 1, 6, 3, 12, 1, 5, 0, 0}},
}};

// The counters of contexts have one arc less.
std::span<const std::uint32_t> arcs_of(const Row& row) {
    return row.oid[6] == 12 ? std::span(row.oid).first(10) : std::span(row.oid);
}

}  // namespace

std::string_view to_string(ReportKind kind) {
    const auto index = static_cast<std::size_t>(kind);
    return index < kRows.size() ? kRows[index].name : "other";
}

model::Oid report_oid(ReportKind kind) {
    const auto index = static_cast<std::size_t>(kind);
    if (index >= kRows.size()) return {};
    const std::span<const std::uint32_t> arcs = arcs_of(kRows[index]);
    return {{arcs.begin(), arcs.end()}};
}

ReportKind report_kind(const PduView& report) {
    VarbindReader reader(report.varbinds);
    const Parsed<VarbindView> varbind = reader.next();
    if (!varbind) return ReportKind::kOther;
    model::Oid name;
    if (!parse_oid(varbind->oid, name)) return ReportKind::kOther;
    for (std::size_t i = 0; i < kRows.size(); ++i) {
        const std::span<const std::uint32_t> arcs = arcs_of(kRows[i]);
        // Some agents leave the instance out.
        const bool bare = std::ranges::equal(name.arcs, arcs.first(arcs.size() - 1));
        if (bare || std::ranges::equal(name.arcs, arcs)) return static_cast<ReportKind>(i);
    }
    return ReportKind::kOther;
}

}  // namespace pollux::protocol::snmp
