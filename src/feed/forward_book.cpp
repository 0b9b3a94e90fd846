#include "feed/forward_book.hpp"

#include <fmt/format.h>

#include "alert/alert_labels.hpp"
#include "document/json_writer.hpp"

namespace pollux::feed {
namespace {

using document::JsonWriter;

void write_texts(JsonWriter& json, std::string_view name, const model::AlertLabels& texts) {
    json.key(name).object();
    for (const auto& [key, value] : texts) json.field(key, value);
    json.end_object();
}

// What Alertmanager takes as a name of a label; labels of devices may have dots and slashes.
std::string label_name(std::string_view name) {
    std::string clean;
    for (const char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        const bool digit = c >= '0' && c <= '9';
        if (clean.empty() && digit) clean += '_';
        clean += letter || digit ? c : '_';
    }
    return clean;
}

model::AlertLabels labels_of(const model::Alert& alert) {
    model::AlertLabels labels;
    for (const auto& [name, value] : alert::labels_of(alert).values) {
        if (!value.empty()) labels.emplace(label_name(name), value);
    }
    // Two alerts of one type at one device stay two.
    labels["fingerprint"] = alert.fingerprint;
    return labels;
}

void write_alert(JsonWriter& json, const model::Alert& alert, const model::AlertLabels& labels,
                 base::WallTime ends, std::string_view external_url) {
    json.object();
    write_texts(json, "labels", labels);
    model::AlertLabels annotations;
    annotations["summary"] = alert.title;
    if (!alert.message.empty()) annotations["description"] = alert.message;
    if (alert.acknowledged) annotations["acknowledged_by"] = alert.acknowledged->by;
    if (!alert.incident.empty()) annotations["incident"] = alert.incident;
    write_texts(json, "annotations", annotations);
    const bool begun = alert.active_since != base::WallTime{};
    json.field("startsAt", begun ? alert.active_since : alert.first_seen).field("endsAt", ends);
    if (!external_url.empty()) {
        json.field("generatorURL", fmt::format("{}/alerts/{}", external_url, alert.id));
    }
    json.end_object();
}

}  // namespace

void ForwardBook::set_open(std::vector<model::Alert> alerts, base::WallTime now) {
    for (auto& [id, known] : known_) known.over = true;
    for (model::Alert& alert : alerts) {
        Known& known = known_[alert.id];
        known.over = false;
        known.ended = {};
        known.alert = std::move(alert);
    }
    for (auto& [id, known] : known_) {
        if (known.over && known.ended == base::WallTime{}) known.ended = now;
    }
    std::erase_if(known_, [&](const auto& entry) {
        const Known& known = entry.second;
        return known.over && (known.told_version == 0 || now - known.told_at > kLife);
    });
}

bool ForwardBook::due(const Known& known, base::WallTime now) {
    return known.over || known.told_version != known.alert.version ||
           now - known.told_at >= kRepeat;
}

std::string ForwardBook::next_post(base::WallTime now, std::string_view external_url) {
    posted_.clear();
    std::string text;
    JsonWriter json(text);
    json.array();
    for (const auto& [id, known] : known_) {
        if (!due(known, now)) continue;
        model::AlertLabels labels = known.over ? known.told_labels : labels_of(known.alert);
        if (known.told_version != 0 && labels != known.told_labels) {
            write_alert(json, known.alert, known.told_labels, now, external_url);
        }
        write_alert(json, known.alert, labels, known.over ? known.ended : now + kLife,
                    external_url);
        posted_.push_back({id, known.alert.version, std::move(labels), known.over});
        if (posted_.size() == kMostPerPost) break;
    }
    json.end_array();
    return posted_.empty() ? std::string() : text;
}

void ForwardBook::taken(bool success, base::WallTime now) {
    for (Posted& posted : posted_) {
        const auto found = known_.find(posted.id);
        if (!success || found == known_.end()) continue;
        if (posted.over) {
            known_.erase(found);
            continue;
        }
        found->second.told_version = posted.version;
        found->second.told_labels = std::move(posted.labels);
        found->second.told_at = now;
    }
    posted_.clear();
}

}  // namespace pollux::feed
