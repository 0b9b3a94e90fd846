#include "config/job_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace pollux::config {
namespace {

using base::quoted;
using model::JobSpec;

constexpr std::size_t kNamesTold = 20;  // of one circle

using Index = std::map<std::string_view, std::uint32_t>;

Index index_of(std::span<const JobSpec> jobs) {
    Index index;
    for (std::uint32_t i = 0; i < jobs.size(); ++i) {
        if (!jobs[i].name.empty()) index.emplace(jobs[i].name, i);
        if (!jobs[i].id.empty()) index.emplace(jobs[i].id, i);
    }
    return index;
}

std::string title(const JobSpec& job, std::size_t number) {
    return job.name.empty() ? fmt::format("number {}", number + 1) : quoted(job.name);
}

class Checker {
  public:
    Checker(const JobBatch& batch, const JobRules& rules, document::Diagnostics& diagnostics)
        : batch_(batch), rules_(rules), diagnostics_(diagnostics), index_(index_of(batch.jobs)) {}

    void check() {
        for (std::size_t i = 0; i < batch_.jobs.size(); ++i) {
            check_name(i);
            check_parents(i);
            check_demand(i);
            check_places(i);
            check_arguments(i);
        }
        check_circles();
    }

  private:
    void error(std::size_t job, std::string_view key, std::string message) {
        const bool alone = batch_.jobs.size() == 1;
        diagnostics_.error(batch_.places.size() > job ? batch_.places[job] : document::Mark{},
                           alone ? std::string(key) : fmt::format("jobs[{}].{}", job, key),
                           std::move(message));
    }

    void check_name(std::size_t i) {
        const JobSpec& job = batch_.jobs[i];
        if (job.name.empty()) return;
        const std::uint32_t first = index_.find(job.name)->second;
        if (first == i) return;
        error(i, "name",
              fmt::format("{} is the name of jobs[{}] too: a name is unique in its batch",
                          quoted(job.name), first));
    }

    void check_parents(std::size_t i) {
        for (const auto& group : batch_.jobs[i].depends_on) {
            for (const std::string& parent : group) {
                if (index_.contains(parent)) continue;
                if (rules_.stored && rules_.stored(parent)) continue;
                std::vector<std::string_view> names;
                // Past the bound nobody sees the hint, and it takes a walk over all names.
                if (diagnostics_.errors() < document::Diagnostics::kDefaultLimit) {
                    for (const auto& [name, job] : index_) names.push_back(name);
                }
                const auto hint = base::nearest(parent, names);
                error(i, "depends_on",
                      fmt::format("{} needs {}, which is neither a job of this batch nor the id of "
                                  "a stored one{}",
                                  title(batch_.jobs[i], i), quoted(parent),
                                  hint ? fmt::format(": did you mean {}?", quoted(*hint)) : ""));
            }
        }
    }

    void check_demand(std::size_t i) {
        const JobSpec& job = batch_.jobs[i];
        for (const auto& [resource, amount] : job.resources) {
            const auto known = rules_.resources.find(resource);
            if (known == rules_.resources.end()) {
                std::vector<std::string_view> names;
                for (const auto& [name, capacity] : rules_.resources) names.push_back(name);
                const auto hint = base::nearest(resource, names);
                error(i, "resources",
                      fmt::format("there is no resource {}{}", quoted(resource),
                                  hint ? fmt::format(": did you mean {}?", quoted(*hint))
                                       : ": declare it under `resources` of the fleet"));
            } else if (amount > known->second) {
                error(i, "resources",
                      fmt::format("{} of resource {} are wanted, but it has only {}", amount,
                                  quoted(resource), known->second));
            }
        }
        const auto type = std::ranges::find(rules_.types, job.type, &model::JobTypeDef::name);
        if (type == rules_.types.end()) return;  // the reader has said so
        const bool own = type->slots > 0 && type->slots < rules_.global_slots;
        const std::int64_t most = own ? std::int64_t{type->slots} : rules_.global_slots;
        if (job.slots > most) {
            error(i, "slots",
                  fmt::format("{} slots can never be had: {} has {}", job.slots,
                              own ? "type " + job.type : std::string("the server"), most));
        }
    }

    void check_arguments(std::size_t i) {
        if (!rules_.arguments) return;
        if (auto fault = rules_.arguments(batch_.jobs[i])) {
            error(i, "arguments." + fault->argument, std::move(fault->message));
        }
    }

    void check_places(std::size_t i) {
        const JobSpec& job = batch_.jobs[i];
        if (!job.target.empty() && rules_.target && !rules_.target(job.target)) {
            error(i, "target", fmt::format("there is no target {}", quoted(job.target)));
        }
        if (!job.device.empty() && rules_.device && !rules_.device(job.device)) {
            error(i, "device", fmt::format("there is no device {}", quoted(job.device)));
        }
    }

    void check_circles() {
        const JobGraph graph(batch_.jobs);
        for (const auto& circle : graph.circles()) {
            std::string text;
            for (std::size_t n = 0; n < std::min(circle.size(), kNamesTold); ++n) {
                text += title(batch_.jobs[circle[n]], circle[n]) + " needs ";
            }
            if (circle.size() > kNamesTold) {
                text += fmt::format("... ({} more) needs ", circle.size() - kNamesTold);
            }
            text += title(batch_.jobs[circle.front()], circle.front());
            error(circle.front(), "depends_on",
                  fmt::format("jobs need each other in a circle: {}", text));
        }
    }

    const JobBatch& batch_;
    const JobRules& rules_;
    document::Diagnostics& diagnostics_;
    Index index_;
};

}  // namespace

JobGraph::JobGraph(std::span<const JobSpec> jobs) : parents_(jobs.size()), groups_(jobs.size()) {
    const Index index = index_of(jobs);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        for (const auto& wanted : jobs[i].depends_on) {
            std::vector<std::uint32_t> group;
            for (const std::string& name : wanted) {
                const auto found = index.find(name);
                if (found != index.end()) group.push_back(found->second);
            }
            parents_[i].insert(parents_[i].end(), group.begin(), group.end());
            if (!group.empty()) groups_[i].push_back(std::move(group));
        }
        std::ranges::sort(parents_[i]);
        parents_[i].erase(std::ranges::unique(parents_[i]).begin(), parents_[i].end());
    }
    children_ = base::turned_round(parents_);
}

std::vector<std::vector<std::uint32_t>> JobGraph::circles() const {
    std::vector<std::vector<std::uint32_t>> circles;
    for (const auto& knot : base::find_knots(parents_)) {
        circles.push_back(base::circle_in(parents_, knot));
    }
    return circles;
}

std::vector<std::uint32_t> JobGraph::levels() const {
    const auto order = base::order_of(parents_);
    if (!order) return {};
    std::vector<std::uint32_t> levels(size(), 0);
    for (const std::uint32_t job : *order) {
        for (const std::uint32_t parent : parents_[job]) {
            levels[job] = std::max(levels[job], levels[parent] + 1);
        }
    }
    return levels;
}

JobGraph::Path JobGraph::critical_path(std::span<const base::Duration> durations) const {
    const auto order = base::order_of(parents_);
    if (!order || order->empty()) return {};
    constexpr std::uint32_t kNobody = 0xFFFFFFFFU;
    std::vector<base::Duration> ends(size());
    std::vector<std::uint32_t> decided_by(size(), kNobody);
    for (const std::uint32_t job : *order) {
        base::Duration start{};
        for (const auto& group : groups_[job]) {
            const std::uint32_t first =
                *std::ranges::min_element(group, {}, [&](std::uint32_t one) { return ends[one]; });
            if (decided_by[job] == kNobody || ends[first] > start) {
                decided_by[job] = first;
                start = ends[first];
            }
        }
        ends[job] = start + durations[job];
    }
    const auto last = std::ranges::max_element(ends) - ends.begin();
    Path path;
    path.length = ends[static_cast<std::size_t>(last)];
    for (auto job = static_cast<std::uint32_t>(last); job != kNobody; job = decided_by[job]) {
        path.jobs.push_back(job);
    }
    std::ranges::reverse(path.jobs);
    return path;
}

std::vector<std::uint32_t> JobGraph::impact(std::uint32_t job) const {
    return base::reach_of(children_, job);
}

void check_jobs(const JobBatch& batch, const JobRules& rules, document::Diagnostics& diagnostics) {
    Checker(batch, rules, diagnostics).check();
}

}  // namespace pollux::config
