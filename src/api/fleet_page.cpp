// GET /api/fleet: the page.
#include <algorithm>
#include <limits>

#include "api/fleet_snapshot.hpp"
#include "document/json_writer.hpp"
#include "extract/compiled_addon.hpp"
#include "runtime/task_rows.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;
using runtime::shown_seconds;

constexpr std::uint32_t kNotShown = std::numeric_limits<std::uint32_t>::max();

// A dictionary without the entries that no shown row uses: what somebody may not see is not in it.
class Renumbering {
  public:
    explicit Renumbering(std::size_t size) : numbers_(size, kNotShown) {}

    void use(std::uint32_t old) {
        if (numbers_[old] != kNotShown) return;
        numbers_[old] = static_cast<std::uint32_t>(used_.size());
        used_.push_back(old);
    }
    std::uint32_t operator[](std::uint32_t old) const { return numbers_[old]; }
    const std::vector<std::uint32_t>& used() const { return used_; }

  private:
    std::vector<std::uint32_t> numbers_;
    std::vector<std::uint32_t> used_;
};

void write_ms(JsonWriter& json, base::WallTime at) {
    if (at == base::WallTime{}) {
        json.null();
    } else {
        json.value(at.us / 1000);
    }
}

void write_seconds(JsonWriter& json, base::Duration duration) {
    if (duration == base::Duration::zero()) {
        json.null();
    } else {
        json.value(shown_seconds(duration));
    }
}

void write_run_seconds(JsonWriter& json, const std::optional<base::Duration>& duration) {
    if (duration) {
        json.value(base::to_seconds(*duration));
    } else {
        json.null();
    }
}

void write_value(JsonWriter& json, const model::MetricDef& metric,
                 const runtime::Headline::Value& value) {
    json.object();
    json.field("name", value.row.empty() ? metric.name : metric.name + " " + value.row);
    json.field("value", value.value);
    const bool percent = metric.unit == "percent" || metric.unit == "%";
    std::string unit = percent ? "%" : metric.unit;
    if (metric.type == model::MetricType::kCounter) unit += "/s";
    json.field("unit", unit);
    if (percent) json.field("max", 100);
    json.end_object();
}

void write_headline(JsonWriter& json, const FleetRow& row) {
    json.array();
    if (row.headline) {
        const auto& metrics = row.headline->addon->addon().metrics;
        for (const auto& value : row.headline->values) {
            write_value(json, metrics[value.metric], value);
        }
    } else if (row.value) {
        json.object().field("name", "value").field("value", *row.value).field("unit", "");
        json.end_object();
    }
    json.end_array();
}

void write_parents(JsonWriter& json, const alert::ParentGroups* parents) {
    json.array();
    if (parents != nullptr) {
        for (const auto& any_of : *parents) {
            for (const std::string& parent : any_of) json.value(parent);
        }
    }
    json.end_array();
}

class FleetPage {
  public:
    explicit FleetPage(const FleetSnapshot& fleet)
        : fleet_(fleet),
          groups_(fleet.frame->groups().size()),
          labels_(fleet.frame->label_sets().size()),
          json_(page_) {
        page_.reserve(1024 + fleet.rows.size() * 480);
        for (const std::uint32_t i : fleet.shown) {
            const FleetFrame::Row& row = fleet.frame->rows()[i];
            for (const std::uint32_t group : row.groups) groups_.use(group);
            labels_.use(row.labels);
        }
    }

    std::string write(std::string_view version, bool partial) {
        json_.object().field("time", fleet_.now).field("seq", fleet_.seq);
        json_.text_field("version", version).field("partial", partial);
        write_dictionaries();
        json_.field("count", fleet_.shown.size()).key("columns").object();
        write_names();
        write_schedule();
        write_trouble();
        write_alerts();
        column("duration", [&](const FleetRow& row) { write_run_seconds(json_, row.duration); });
        column("lag", [&](const FleetRow& row) { write_run_seconds(json_, row.lag); });
        column("headline", [&](const FleetRow& row) { write_headline(json_, row); });
        json_.end_object().end_object();
        return std::move(page_);
    }

  private:
    template <class Write>
    void column(std::string_view name, const Write& write) {
        json_.key(name).array();
        for (const FleetRow& row : fleet_.rows) write(row);
        json_.end_array();
    }
    template <class Write>
    void frame_column(std::string_view name, const Write& write) {
        json_.key(name).array();
        for (const std::uint32_t i : fleet_.shown) write(fleet_.frame->rows()[i]);
        json_.end_array();
    }

    void write_dictionaries() {
        json_.key("groups").array();
        for (const std::uint32_t i : groups_.used()) json_.value(fleet_.frame->groups()[i]);
        json_.end_array().key("label_sets").array();
        for (const std::uint32_t i : labels_.used()) {
            json_.object();
            for (const auto& [name, value] : *fleet_.frame->label_sets()[i]) {
                json_.field(name, value);
            }
            json_.end_object();
        }
        json_.end_array();
    }

    void write_names() {
        frame_column("key", [&](const auto& row) { json_.value(row.target->key); });
        frame_column("device", [&](const auto& row) { json_.value(row.target->device); });
        frame_column("addon", [&](const auto& row) { json_.value(row.target->addon); });
        frame_column("address", [&](const auto& row) { json_.value(row.target->address); });
        frame_column("groups", [&](const auto& row) {
            json_.array();
            for (const std::uint32_t group : row.groups) json_.value(groups_[group]);
            json_.end_array();
        });
        frame_column("labels", [&](const auto& row) { json_.value(labels_[row.labels]); });
        frame_column("region", [&](const auto& row) { json_.value(row.region); });
        frame_column("parents", [&](const auto& row) { write_parents(json_, row.parents); });
    }

    void write_schedule() {
        column("state", [&](const FleetRow& row) { json_.value(to_string(row.state)); });
        column("since_ms", [&](const FleetRow& row) { write_ms(json_, row.since); });
        column("tier", [&](const FleetRow& row) {
            if (row.tier) {
                json_.value(model::to_string(*row.tier));
            } else {
                json_.null();
            }
        });
        column("interval", [&](const FleetRow& row) { write_seconds(json_, row.interval); });
        column("suggested", [&](const FleetRow& row) { write_seconds(json_, row.suggested); });
        column("next_due_ms", [&](const FleetRow& row) { write_ms(json_, row.next_due); });
        column("last_success_ms", [&](const FleetRow& row) { write_ms(json_, row.last_success); });
        column("bound", [&](const FleetRow& row) { write_seconds(json_, row.bound); });
    }

    void write_trouble() {
        column("failures", [&](const FleetRow& row) { json_.value(row.failures); });
        column("breaker", [&](const FleetRow& row) { json_.value(model::to_string(row.breaker)); });
        column("dead_letter", [&](const FleetRow& row) {
            const bool dead = row.dead_letter != model::DeadLetterReason::kNone;
            json_.value(dead ? model::to_string(row.dead_letter) : std::string_view());
        });
        column("problem", [&](const FleetRow& row) { json_.value(row.problem); });
    }

    void write_alerts() {
        std::vector<const runtime::TargetAlerts*> found;
        found.reserve(fleet_.shown.size());
        for (const std::uint32_t i : fleet_.shown) {
            const auto one = fleet_.alerts.targets.find(fleet_.frame->rows()[i].target->key);
            found.push_back(one == fleet_.alerts.targets.end() ? nullptr : &one->second);
        }
        const auto each = [&](std::string_view name, const auto& write) {
            json_.key(name).array();
            for (const runtime::TargetAlerts* alerts : found) write(alerts);
            json_.end_array();
        };
        each("severity", [&](const auto* one) {
            json_.value(one == nullptr ? std::string_view() : model::to_string(one->worst));
        });
        each("alerts", [&](const auto* one) { json_.value(one == nullptr ? 0U : one->open); });
        each("acknowledged", [&](const auto* one) {
            json_.value(one != nullptr && one->acknowledged == one->open);
        });
    }

    const FleetSnapshot& fleet_;
    Renumbering groups_;
    Renumbering labels_;
    std::string page_;
    JsonWriter json_;
};

}  // namespace

std::string fleet_page(const FleetSnapshot& fleet, std::string_view version, bool partial) {
    return FleetPage(fleet).write(version, partial);
}

}  // namespace pollux::api
