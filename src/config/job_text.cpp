// A job as it is stored: canonical JSON of all of it.
#include <fmt/format.h>

#include "config/fleet_parts.hpp"
#include "config/job_reader.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::config {
namespace {

using document::MapReader;
using document::Node;
using model::JobSpec;

constexpr std::int64_t kFormat = 1;
constexpr document::ParseLimits kLimits{
    .max_bytes = 4U << 20U, .max_depth = 16, .max_nodes = 200'000};

Node nanoseconds(base::Duration duration) { return Node::integer(duration.count()); }

base::Duration duration_of(MapReader& reader, std::string_view key) {
    return base::Duration(reader.integer(key, 0, INT64_MAX).value_or(0));
}

}  // namespace

std::string to_text(const JobSpec& job) {
    Node node = Node::map();
    const auto text = [&](const char* key, const std::string& value) {
        if (!value.empty()) node.set(key, Node::text(value));
    };
    node.set("format", Node::integer(kFormat));
    text("id", job.id);
    text("name", job.name);
    text("batch", job.batch);
    text("type", job.type);
    node.set("tier", Node::integer(static_cast<int>(job.tier)));
    Node depends = Node::sequence();
    for (const auto& group : job.depends_on) {
        Node names = Node::sequence();
        for (const std::string& name : group) names.push(Node::text(name));
        depends.push(std::move(names));
    }
    if (!depends.items().empty()) node.set("depends_on", std::move(depends));
    Node resources = Node::map();
    for (const auto& [resource, amount] : job.resources) {
        resources.set(resource, Node::integer(amount));
    }
    if (!resources.entries().empty()) node.set("resources", std::move(resources));
    node.set("slots", Node::integer(job.slots));
    node.set("timeout", nanoseconds(job.timeout));
    node.set("estimate", nanoseconds(job.estimate));
    node.set("attempts", Node::integer(job.retry.attempts));
    node.set("backoff", nanoseconds(job.retry.backoff));
    node.set("parent_failure", Node::integer(static_cast<int>(job.on_parent_failure)));
    if (job.hold) node.set("hold", Node::boolean(true));
    text("arguments", job.arguments);
    text("target", job.target);
    text("device", job.device);
    text("created_by", job.created_by);
    node.set("created_at", Node::integer(job.created_at.us));
    if (!job.labels.empty()) node.set("labels", parts::texts_node(job.labels));
    return document::to_json(node);
}

base::Result<JobSpec> job_from_text(std::string_view text) {
    document::Diagnostics diagnostics;
    const document::Parsed parsed = document::parse_json(text, "stored job", diagnostics, kLimits);
    if (!parsed.ok) return std::unexpected(diagnostics.as_error("job.stored"));
    MapReader reader(parsed.root, "", diagnostics);
    JobSpec job;
    reader.integer("format", kFormat, kFormat, document::Need::kRequired);
    job.id = reader.string("id", document::Need::kRequired).value_or("");
    job.name = reader.string("name").value_or("");
    job.batch = reader.string("batch").value_or("");
    job.type = reader.string("type", document::Need::kRequired).value_or("");
    job.tier = static_cast<model::Tier>(reader.integer("tier", 0, 3).value_or(1));
    if (const Node* groups = reader.list("depends_on")) {
        for (const Node& group : groups->items()) {
            auto& names = job.depends_on.emplace_back();
            for (const Node& name : group.items()) names.push_back(name.scalar());
        }
    }
    if (const Node* node = reader.map("resources")) {
        MapReader resources(*node, "resources", diagnostics);
        for (const auto& entry : node->entries()) {
            job.resources.push_back({entry.key, resources.amount(entry.key).value_or(0)});
        }
    }
    job.slots = reader.integer("slots", 0, 1'000'000).value_or(1);
    job.timeout = duration_of(reader, "timeout");
    job.estimate = duration_of(reader, "estimate");
    job.retry.attempts = reader.integer("attempts", 1, 1000).value_or(1);
    job.retry.backoff = duration_of(reader, "backoff");
    job.on_parent_failure =
        static_cast<model::ParentFailure>(reader.integer("parent_failure", 0, 1).value_or(0));
    job.hold = reader.boolean("hold").value_or(false);
    job.arguments = reader.string("arguments").value_or("");
    job.target = reader.string("target").value_or("");
    job.device = reader.string("device").value_or("");
    job.created_by = reader.string("created_by").value_or("");
    job.created_at = base::WallTime{reader.integer("created_at", INT64_MIN, INT64_MAX).value_or(0)};
    job.labels = parts::read_texts(reader, "labels", diagnostics);
    reader.finish();
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("job.stored"));
    return job;
}

}  // namespace pollux::config
