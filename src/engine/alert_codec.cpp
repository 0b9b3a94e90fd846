// Writers name every field, see spec_codec.cpp.
#include "engine/alert_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"
#include "engine/field_reader.hpp"

namespace pollux::engine {
namespace {

using base::ByteWriter;
using model::Acknowledgement;
using model::Alert;
using model::Incident;
using model::IncidentNote;

constexpr std::size_t kLeastPairBytes = 2;
constexpr std::size_t kLeastNoteBytes = 3;
constexpr std::uint8_t kShownNotesVersion = 2;

void write_pairs(ByteWriter& out, const auto& pairs) {
    out.varint(pairs.size());
    for (const auto& [name, value] : pairs) {
        out.string(name);
        out.string(value);
    }
}

std::vector<std::pair<std::string, std::string>> read_pairs(FieldReader& in,
                                                            std::string_view field) {
    using Pair = std::pair<std::string, std::string>;
    return in.list<Pair>(field, kLeastPairBytes, [&](FieldReader& one) {
        std::string name = one.text(field);
        std::string value = one.text(field);
        return Pair(std::move(name), std::move(value));
    });
}

void write(ByteWriter& out, const std::optional<Acknowledgement>& acknowledged) {
    out.boolean(acknowledged.has_value());
    if (!acknowledged) return;
    const auto& [by, note, at, until, sticky] = *acknowledged;
    out.string(by);
    out.string(note);
    out.zigzag(at.us);
    out.zigzag(until.us);
    out.boolean(sticky);
}

std::optional<Acknowledgement> read_acknowledgement(FieldReader& in) {
    if (!in.boolean("alert.acknowledged")) return std::nullopt;
    Acknowledgement acknowledged;
    acknowledged.by = in.text("alert.acknowledged.by");
    acknowledged.note = in.text("alert.acknowledged.note");
    acknowledged.at = in.wall("alert.acknowledged.at");
    acknowledged.until = in.wall("alert.acknowledged.until");
    acknowledged.sticky = in.boolean("alert.acknowledged.sticky");
    return acknowledged;
}

// What it is about and what was found. False: the labels are not in the one order they have.
bool read_subject(FieldReader& in, Alert& alert) {
    alert.id = in.text("alert.id");
    alert.number = in.u64("alert.number");
    alert.fingerprint = in.text("alert.fingerprint");
    alert.source = in.choice("alert.source", model::AlertSource::kExternal);
    alert.addon = in.text("alert.addon");
    alert.type = in.text("alert.type");
    alert.subject = in.text("alert.subject");
    alert.target = in.text("alert.target");
    alert.target_id = in.text("alert.target_id");
    alert.device = in.text("alert.device");
    alert.address = in.text("alert.address");
    auto labels = read_pairs(in, "alert.labels");
    const bool sorted = std::ranges::adjacent_find(labels, [](const auto& a, const auto& b) {
                            return a.first >= b.first;
                        }) == labels.end();
    for (auto& [name, value] : labels) alert.labels.emplace(std::move(name), std::move(value));
    alert.groups = in.list<std::string>("alert.groups", 1,
                                        [](FieldReader& one) { return one.text("alert.groups"); });
    alert.severity = in.choice("alert.severity", model::Severity::kCritical);
    alert.category = in.text("alert.category");
    alert.title = in.text("alert.title");
    alert.message = in.text("alert.message");
    alert.rule = in.text("alert.rule");
    alert.fields = read_pairs(in, "alert.fields");
    return sorted;
}

void read_course(FieldReader& in, Alert& alert) {
    alert.state = in.choice("alert.state", model::AlertState::kResolved);
    alert.suppressed_by = in.choice("alert.suppressed_by", model::SuppressedBy::kFlapping);
    alert.incident = in.text("alert.incident");
    alert.previous = in.text("alert.previous");
    alert.occurrences = in.u64("alert.occurrences");
    alert.first_seen = in.wall("alert.first_seen");
    alert.last_seen = in.wall("alert.last_seen");
    alert.active_since = in.wall("alert.active_since");
    alert.resolved_at = in.wall("alert.resolved_at");
    alert.resolved_by = in.choice("alert.resolved_by", model::ResolvedBy::kExpired);
    alert.resolved_who = in.text("alert.resolved_who");
    alert.acknowledged = read_acknowledgement(in);
    alert.flapping = in.boolean("alert.flapping");
    alert.stale = in.boolean("alert.stale");
    alert.unverified = in.boolean("alert.unverified");
    alert.version = in.u64("alert.version");
    alert.memory = in.text("alert.memory");
}

template <class Row>
base::Result<Row> whole(const FieldReader& fields, const base::ByteReader& in, Row row,
                        std::string_view object) {
    if (fields.ok() && !in.at_end()) {
        return base::config_error(
            "codec.damaged", fmt::format("{}: {} bytes are left over", object, in.remaining()));
    }
    return fields.result(std::move(row));
}

}  // namespace

std::string encode_alert(const Alert& alert) {
    const auto& [id, number, fingerprint, source, addon, type, subject, target, target_id, device,
                 address, labels, groups, severity, category, title, message, rule, fields, state,
                 suppressed_by, incident, previous, occurrences, first_seen, last_seen,
                 active_since, resolved_at, resolved_by, resolved_who, acknowledged, flapping,
                 stale, unverified, version, memory] = alert;
    ByteWriter out;
    out.u8(kAlertVersion);
    out.string(id);
    out.varint(number);
    out.string(fingerprint);
    out.u8(std::to_underlying(source));
    for (const auto* text : {&addon, &type, &subject, &target, &target_id, &device, &address}) {
        out.string(*text);
    }
    write_pairs(out, labels);
    out.varint(groups.size());
    for (const std::string& group : groups) out.string(group);
    out.u8(std::to_underlying(severity));
    for (const auto* text : {&category, &title, &message, &rule}) out.string(*text);
    write_pairs(out, fields);
    out.u8(std::to_underlying(state));
    out.u8(std::to_underlying(suppressed_by));
    out.string(incident);
    out.string(previous);
    out.varint(occurrences);
    for (const base::WallTime time : {first_seen, last_seen, active_since, resolved_at}) {
        out.zigzag(time.us);
    }
    out.u8(std::to_underlying(resolved_by));
    out.string(resolved_who);
    write(out, acknowledged);
    out.boolean(flapping);
    out.boolean(stale);
    out.boolean(unverified);
    out.varint(version);
    out.string(memory);
    return out.take();
}

base::Result<Alert> decode_alert(std::string_view bytes) {
    base::ByteReader in(bytes);
    FieldReader fields(in, "alert");
    fields.version(kAlertVersion);
    Alert alert;
    const bool sorted = read_subject(fields, alert);
    read_course(fields, alert);
    if (fields.ok() && !sorted) {
        return base::config_error("codec.damaged", "alert: its labels are not in order");
    }
    return whole(fields, in, std::move(alert), "alert");
}

std::string encode_incident(const Incident& incident) {
    const auto& [id, number, cause, root, device, title, severity, opened_at, resolved_at, affected,
                 notes, merged_into, told, version] = incident;
    ByteWriter out;
    out.u8(kIncidentVersion);
    out.string(id);
    out.varint(number);
    out.u8(std::to_underlying(cause));
    out.string(root);
    out.string(device);
    out.string(title);
    out.u8(std::to_underlying(severity));
    out.zigzag(opened_at.us);
    out.zigzag(resolved_at.us);
    out.varint(affected);
    out.varint(notes.size());
    for (const auto& [at, by, text, shown] : notes) {
        out.zigzag(at.us);
        out.string(by);
        out.string(text);
        out.boolean(shown);
    }
    out.string(merged_into);
    out.boolean(told);
    out.varint(version);
    return out.take();
}

base::Result<Incident> decode_incident(std::string_view bytes) {
    base::ByteReader in(bytes);
    FieldReader fields(in, "incident");
    const std::uint8_t version = fields.version(kOldestIncidentVersion, kIncidentVersion);
    Incident incident;
    incident.id = fields.text("incident.id");
    incident.number = fields.u64("incident.number");
    incident.cause = fields.choice("incident.cause", model::CauseKind::kObserver);
    incident.root = fields.text("incident.root");
    incident.device = fields.text("incident.device");
    incident.title = fields.text("incident.title");
    incident.severity = fields.choice("incident.severity", model::Severity::kCritical);
    incident.opened_at = fields.wall("incident.opened_at");
    incident.resolved_at = fields.wall("incident.resolved_at");
    incident.affected = fields.u32("incident.affected");
    incident.notes =
        fields.list<IncidentNote>("incident.notes", kLeastNoteBytes, [version](FieldReader& one) {
            IncidentNote note;
            note.at = one.wall("incident.notes.at");
            note.by = one.text("incident.notes.by");
            note.text = one.text("incident.notes.text");
            if (version >= kShownNotesVersion) note.shown = one.boolean("incident.notes.shown");
            return note;
        });
    incident.merged_into = fields.text("incident.merged_into");
    incident.told = fields.boolean("incident.told");
    incident.version = fields.u64("incident.version");
    return whole(fields, in, std::move(incident), "incident");
}

}  // namespace pollux::engine
