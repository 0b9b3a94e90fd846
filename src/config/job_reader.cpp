#include "config/job_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "config/fleet_parts.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"
#include "model/validate.hpp"

namespace pollux::config {
namespace {

using base::quoted;
using document::Diagnostics;
using document::MapReader;
using document::Need;
using document::Node;
using model::ArgumentDef;
using model::ArgumentKind;
using model::JobSpec;
using model::JobTypeDef;

constexpr document::ParseLimits kLimits{
    .max_bytes = 16U << 20U, .max_depth = 64, .max_nodes = 1'000'000};
constexpr std::size_t kMostGroups = 100;
constexpr std::size_t kMostNames = 1000;  // in one group
constexpr std::size_t kMostLabels = 64;

std::vector<std::string_view> names_of(std::span<const JobTypeDef> types) {
    std::vector<std::string_view> names;
    for (const JobTypeDef& type : types) names.push_back(type.name);
    return names;
}

class JobReader {
  public:
    JobReader(std::span<const JobTypeDef> types, Diagnostics& diagnostics)
        : types_(types), diagnostics_(diagnostics) {}

    JobBatch read(const Node& root) {
        JobBatch batch;
        if (root.is_map() && root.find("jobs") == nullptr && root.find("type") != nullptr) {
            read_job(root, "", batch);
            return batch;
        }
        MapReader reader(root, "", diagnostics_);
        batch.name = reader.string("name").value_or("");
        const Node* list = reader.list("jobs", Need::kRequired);
        reader.finish();
        if (list == nullptr) return batch;
        if (list->items().empty() || list->items().size() > model::kMostJobsPerBatch) {
            diagnostics_.error(list->mark(), "jobs",
                               fmt::format("has {} jobs; a batch has 1 to {}", list->items().size(),
                                           model::kMostJobsPerBatch));
            return batch;
        }
        for (std::size_t i = 0; i < list->items().size(); ++i) {
            read_job(list->items()[i], document::item_path("jobs", i), batch);
        }
        return batch;
    }

  private:
    void read_job(const Node& node, const std::string& path, JobBatch& batch) {
        MapReader reader(node, path, diagnostics_);
        JobSpec job;
        const auto type_name = reader.string("type", Need::kRequired);
        const JobTypeDef* type = type_name ? find_type(reader, *type_name) : nullptr;
        job.type = type_name.value_or("");
        if (const auto name = reader.string("name")) {
            job.name = parts::read_name("job", *name, reader.any("name")->mark(),
                                        reader.path_of("name"), diagnostics_)
                           .value_or("");
        }
        read_terms(reader, type, job);
        read_dependencies(reader, job);
        read_places(reader, type, job);
        const Node* arguments = reader.map("arguments");
        if (type != nullptr) read_arguments(arguments, reader, *type, job);
        reader.finish();
        batch.jobs.push_back(std::move(job));
        batch.places.push_back(node.mark());
    }

    const JobTypeDef* find_type(MapReader& reader, const std::string& name) {
        const auto found = std::ranges::find(types_, name, &JobTypeDef::name);
        if (found != types_.end()) return &*found;
        const auto names = names_of(types_);
        const auto hint = base::nearest(name, names);
        reader.error("type", hint ? fmt::format("{} is no type of jobs: did you mean {}?",
                                                quoted(name), quoted(*hint))
                                  : fmt::format("{} is no type of jobs: there are {}", quoted(name),
                                                document::word_list(names)));
        return nullptr;
    }

    void read_terms(MapReader& reader, const JobTypeDef* type, JobSpec& job) {
        const JobTypeDef usual = type != nullptr ? *type : JobTypeDef{};
        const auto tier = reader.one_of("priority", model::kTierNames);
        job.tier = tier ? static_cast<model::Tier>(*tier) : usual.tier;
        job.slots = reader.integer("slots", 1, 1'000'000).value_or(1);
        job.timeout =
            reader.duration("timeout", std::chrono::milliseconds(100), usual.longest_timeout)
                .value_or(usual.timeout);
        job.estimate = reader.duration("estimate", base::Duration::zero(), model::kLongestTimeout)
                           .value_or(base::Duration::zero());
        job.hold = reader.boolean("hold").value_or(false);
        job.on_parent_failure =
            reader
                .choice<model::ParentFailure>(
                    "on_parent_failure",
                    {{"fail", model::ParentFailure::kFail}, {"hold", model::ParentFailure::kHold}})
                .value_or(model::ParentFailure::kFail);
        job.retry = {usual.attempts, usual.backoff};
        if (const Node* node = reader.map("retry")) {
            MapReader retry(*node, reader.path_of("retry"), diagnostics_);
            job.retry.attempts = retry.integer("attempts", 1, 20).value_or(job.retry.attempts);
            job.retry.backoff =
                retry.duration("backoff", std::chrono::milliseconds(1), std::chrono::hours(1))
                    .value_or(job.retry.backoff);
            retry.finish();
        }
        if (const Node* node = reader.map("resources")) {
            MapReader resources(*node, reader.path_of("resources"), diagnostics_);
            for (const auto& entry : node->entries()) {
                const auto amount = resources.amount(entry.key);
                if (amount) job.resources.push_back({entry.key, *amount});
            }
            std::ranges::sort(job.resources, {}, &model::ResourceDemand::resource);
        }
        job.labels = parts::read_texts(reader, "labels", diagnostics_);
        if (job.labels.size() > kMostLabels) {
            reader.error("labels", fmt::format("has {} entries, at most {} are allowed",
                                               job.labels.size(), kMostLabels));
        }
    }

    // A name, or a list whose items are names (all of them) or lists (any one of each).
    void read_dependencies(MapReader& reader, JobSpec& job) {
        const Node* node = reader.any("depends_on");
        if (node == nullptr) return;
        const auto add = [&](std::vector<std::string> group) {
            const bool fits = !group.empty() && group.size() <= kMostNames &&
                              std::ranges::find(group, "") == group.end();
            if (!fits) {
                reader.error("depends_on",
                             "an entry is a name, an id, or a list of 1 to 1000 of "
                             "them, of which one is enough");
                return;
            }
            job.depends_on.push_back(std::move(group));
        };
        if (node->is_scalar()) {
            add({node->scalar()});
        } else if (!node->is_sequence() || node->items().size() > kMostGroups) {
            reader.error("depends_on", fmt::format("is a list of at most {} entries", kMostGroups));
        } else {
            for (const Node& item : node->items()) {
                std::vector<std::string> group;
                if (item.is_scalar()) group.push_back(item.scalar());
                for (const Node& one : item.items()) group.push_back(one.scalar());
                add(std::move(group));
            }
        }
    }

    void read_places(MapReader& reader, const JobTypeDef* type, JobSpec& job) {
        job.device = reader.string("device").value_or("");
        job.target = reader.string("target").value_or("");
        if (type == nullptr) return;
        const auto check = [&](const char* key, const std::string& value, model::JobPlace place) {
            if (value.empty() && place == model::JobPlace::kRequired) {
                reader.error(key, fmt::format("is missing; jobs of type {} need it", type->name));
            } else if (!value.empty() && place == model::JobPlace::kNone) {
                reader.error(key, fmt::format("jobs of type {} have none", type->name));
            }
        };
        check("device", job.device, type->device);
        check("target", job.target, type->target);
    }

    void read_arguments(const Node* node, MapReader& outer, const JobTypeDef& type, JobSpec& job) {
        const Node none = Node::map();
        MapReader reader(node != nullptr ? *node : none, outer.path_of("arguments"), diagnostics_);
        Node arguments = Node::map();
        for (const ArgumentDef& def : type.arguments) {
            Node value = read_argument(reader, def);
            if (!value.is_null()) arguments.set(def.name, std::move(value));
        }
        reader.finish();
        job.arguments = document::to_json(arguments);
    }

    Node read_argument(MapReader& reader, const ArgumentDef& def) {
        const Need need = def.required ? Need::kRequired : Need::kOptional;
        switch (def.kind) {
            case ArgumentKind::kText: return text_argument(reader, def, need);
            case ArgumentKind::kInteger: {
                const auto value = reader.integer(def.name, static_cast<std::int64_t>(def.low),
                                                  static_cast<std::int64_t>(def.high), need);
                return value ? Node::integer(*value) : Node();
            }
            case ArgumentKind::kBoolean: {
                const auto value = reader.boolean(def.name, need);
                return value ? Node::boolean(*value) : Node();
            }
            case ArgumentKind::kDuration: {
                const auto value = reader.duration(def.name, base::from_seconds(def.low),
                                                   base::from_seconds(def.high), need);
                return value ? parts::duration_node(*value) : Node();
            }
            case ArgumentKind::kTexts: return texts_argument(reader, def, need);
            case ArgumentKind::kMap: {
                if (reader.map(def.name, need) == nullptr) return {};
                return parts::texts_node(parts::read_texts(reader, def.name, diagnostics_));
            }
        }
        return {};
    }

    Node text_argument(MapReader& reader, const ArgumentDef& def, Need need) {
        const auto value = reader.string(def.name, need);
        return value && check_text(reader, def, *value) ? Node::text(*value) : Node();
    }

    Node texts_argument(MapReader& reader, const ArgumentDef& def, Need need) {
        Node list = Node::sequence();
        const std::vector<std::string> values = reader.strings(def.name, need);
        if (values.size() > kMostNames) {
            reader.error(def.name, fmt::format("has {} entries, at most {} are allowed",
                                               values.size(), kMostNames));
            return {};
        }
        for (const std::string& value : values) {
            if (check_text(reader, def, value)) list.push(Node::text(value));
        }
        return list.items().empty() ? Node() : list;
    }

    bool check_text(MapReader& reader, const ArgumentDef& def, const std::string& value) {
        if (value.size() > def.longest || value.find('\0') != std::string::npos) {
            reader.error(def.name,
                         fmt::format("is no text of at most {} bytes without zeros", def.longest));
            return false;
        }
        if (def.words.empty() || std::ranges::find(def.words, value) != def.words.end())
            return true;
        const std::vector<std::string_view> words(def.words.begin(), def.words.end());
        reader.error(def.name, fmt::format("{} is wrong; it is one of {}", quoted(value),
                                           document::word_list(words)));
        return false;
    }

    std::span<const JobTypeDef> types_;
    Diagnostics& diagnostics_;
};

}  // namespace

JobBatch read_jobs(std::string_view text, const std::string& file,
                   std::span<const JobTypeDef> types, Diagnostics& diagnostics) {
    const document::Parsed parsed = document::parse(text, file, diagnostics, kLimits);
    if (!parsed.ok) return {};
    return read_jobs(parsed.root, types, diagnostics);
}

JobBatch read_jobs(const Node& root, std::span<const JobTypeDef> types, Diagnostics& diagnostics) {
    return JobReader(types, diagnostics).read(root);
}

Node arguments_of(const JobSpec& job) {
    Diagnostics diagnostics;
    document::Parsed parsed = document::parse_json(job.arguments.empty() ? "{}" : job.arguments,
                                                   "arguments", diagnostics);
    return std::move(parsed.root);
}

}  // namespace pollux::config
