// JobDesk: what people ask.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/jobs/job_desk.hpp"
#include "runtime/jobs/job_phase.hpp"
#include "schedule/core_view.hpp"

namespace pollux::runtime {
namespace {

using model::JobPhase;

constexpr std::size_t kAskedAtOnce = 1000;  // jobs, in one question to the core
constexpr std::size_t kMostPerPage = 1000;
constexpr base::Duration kUnknownMean = std::chrono::seconds(30);

}  // namespace

// `closely`: also its place in line and the sentence of explain, which cost more.
void JobDesk::ask(std::vector<std::string> keys, bool closely,
                  std::move_only_function<void(std::vector<Facts>)> done) {
    core_->ask([this, keys = std::move(keys), closely,
                done = std::move(done)](const CoreLoop::View& view) mutable {
        const schedule::SchedulerCore& core = view.engine.core();
        std::vector<Facts> all(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const model::TaskHandle task = core.find(keys[i]);
            if (keys[i].empty() || !core.is_live(task)) continue;
            const schedule::TaskSlot& slot = core.slot(task);
            Facts& facts = all[i];
            facts.known = true;
            facts.phase = schedule::phase_of(slot);
            facts.held = !model::has_ended(facts.phase) && !slot.has(schedule::kFlagEnabled);
            facts.attempts = slot.attempt;
            facts.mean = view.jobs.of_class(slot.class_index).mean();
            facts.slots = core.settings().classes[slot.class_index].slots;
            if (facts.phase == JobPhase::kReady) facts.ready_for = view.now.boot - slot.ready_since;
            const auto failure = view.failures.find(task.index);
            if (failure != view.failures.end()) facts.failure = failure->second.message;
            if (!closely) continue;
            if (const auto story = core.explain(keys[i])) {
                facts.verdict = story->verdict;
                if (facts.phase == JobPhase::kReady) facts.position = story->place_in_line + 1;
            }
        }
        later([all = std::move(all), done = std::move(done)]() mutable { done(std::move(all)); });
    });
}

JobView JobDesk::view_of(const Entry& entry, const Facts& facts) {
    JobView view;
    view.spec = entry.spec;
    view.phase = facts.known ? facts.phase : phase_of(entry.state);
    view.held = facts.known ? facts.held : entry.held;
    view.attempts = facts.attempts;
    view.ended_at = entry.ended_at;
    const base::WallTime until = entry.ended_at.us != 0 ? entry.ended_at : net::wall_now();
    view.waited = std::max(base::Duration::zero(), until - entry.spec.created_at);
    view.ready_for = facts.ready_for;
    view.position = facts.position;
    if (facts.position) {
        const base::Duration mean = facts.mean > base::Duration::zero() ? facts.mean : kUnknownMean;
        view.estimate = mean * static_cast<std::int64_t>(*facts.position) /
                        std::max<std::int64_t>(facts.slots, 1);
    }
    view.verdict = facts.verdict;
    view.failure = facts.failure;
    if (view.phase == JobPhase::kRunning && workers_) {
        view.progress = workers_->progress_of(entry.spec.id);
    }
    return view;
}

void JobDesk::get(const std::string& id, Done<JobView> done) {
    ask({key_of(id)}, true, [this, id, done = std::move(done)](std::vector<Facts> facts) mutable {
        const auto entry = find(id);
        if (!entry) {
            done(std::unexpected(entry.error()));
            return;
        }
        done(view_of(**entry, facts.front()));
    });
}

bool JobDesk::fits(const Entry& entry, const JobFilter& filter) const {
    if (!filter.type.empty() && entry.spec.type != filter.type) return false;
    if (!filter.batch.empty() && entry.spec.batch != filter.batch) return false;
    if (filter.gate && !filter.gate(entry.spec)) return false;
    for (const auto& [name, value] : filter.labels) {
        const auto found = entry.spec.labels.find(name);
        if (found == entry.spec.labels.end() || found->second != value) return false;
    }
    if (!filter.phase) return true;
    // What has ended is known here; among the others only the core can tell.
    const bool ended = entry.state != model::JobState::kPending;
    return model::has_ended(*filter.phase) ? phase_of(entry.state) == *filter.phase : !ended;
}

std::size_t JobDesk::failed_since(base::WallTime since, const JobGate& gate) const {
    return static_cast<std::size_t>(std::ranges::count_if(entries_, [&](const auto& named) {
        const Entry& entry = named.second;
        return entry.state == model::JobState::kFailed && entry.ended_at >= since &&
               (!gate || gate(entry.spec));
    }));
}

struct JobDesk::Listing {
    JobFilter filter;
    JobPage page;
    std::string at;  // the last id that was looked at; empty: none yet
    std::vector<std::string> asked;
    Done<JobPage> done;
};

void JobDesk::list(JobFilter filter, Done<JobPage> done) {
    auto listing = std::make_shared<Listing>();
    listing->filter = std::move(filter);
    listing->filter.limit = std::clamp<std::size_t>(listing->filter.limit, 1, kMostPerPage);
    listing->at = listing->filter.before;
    listing->done = std::move(done);
    go_on_listing(std::move(listing));
}

// Asks the core about so many at a time until the page is full, so that no question is long.
void JobDesk::go_on_listing(std::shared_ptr<Listing> listing) {
    const std::size_t room = listing->filter.limit - listing->page.jobs.size();
    const std::size_t batch = listing->filter.phase ? kAskedAtOnce : room;
    std::vector<std::string> keys;
    listing->asked.clear();
    auto at = listing->at.empty() ? entries_.end() : entries_.lower_bound(listing->at);
    while (at != entries_.begin() && keys.size() < batch) {
        --at;
        listing->at = at->first;
        if (!fits(at->second, listing->filter)) continue;
        keys.push_back(at->second.key);
        listing->asked.push_back(at->first);
    }
    const bool last = at == entries_.begin();
    ask(std::move(keys), false, [this, listing, last](std::vector<Facts> facts) {
        JobPage& page = listing->page;
        for (std::size_t i = 0; i < facts.size(); ++i) {
            const auto found = entries_.find(listing->asked[i]);
            if (found == entries_.end()) continue;
            JobView view = view_of(found->second, facts[i]);
            if (listing->filter.phase && view.phase != *listing->filter.phase) continue;
            if (page.jobs.size() == listing->filter.limit) {
                page.next = page.jobs.back().spec.id;
                break;
            }
            page.jobs.push_back(std::move(view));
        }
        const bool full = page.jobs.size() == listing->filter.limit;
        if (!full && !last) {
            go_on_listing(listing);
            return;
        }
        if (page.next.empty() && full && !last) page.next = page.jobs.back().spec.id;
        page.stored = entries_.size();
        listing->done(std::move(page));
    });
}

const model::JobSpec* JobDesk::spec_of(const std::string& id) const {
    const auto found = entries_.find(id);
    return found == entries_.end() ? nullptr : &found->second.spec;
}

void JobDesk::graph(const std::string& batch, JobGate gate, Done<JobGraphView> done) {
    const auto found = batches_.find(batch);
    std::vector<std::string> ids =
        found == batches_.end() ? std::vector<std::string>{} : found->second;
    if (gate) {
        std::erase_if(ids, [&](const std::string& id) {
            const model::JobSpec* spec = spec_of(id);
            return spec == nullptr || !gate(*spec);
        });
    }
    std::vector<std::string> keys;
    for (const std::string& id : ids) keys.push_back(key_of(id));
    ask(std::move(keys), false,
        [this, batch, ids = std::move(ids),
         done = std::move(done)](std::vector<Facts> facts) mutable {
            if (ids.empty()) {
                done(base::config_error("job.unknown",
                                        fmt::format("there is no batch of jobs {}", batch)));
                return;
            }
            JobGraphView view;
            view.batch = batch;
            std::vector<model::JobSpec> specs;
            std::vector<base::Duration> durations;
            for (std::size_t i = 0; i < ids.size(); ++i) {
                const auto entry = entries_.find(ids[i]);
                if (entry == entries_.end()) continue;
                view.jobs.push_back(view_of(entry->second, facts[i]));
                specs.push_back(entry->second.spec);
                const base::Duration mean = facts[i].mean;
                durations.push_back(specs.back().estimate > base::Duration::zero()
                                        ? specs.back().estimate
                                    : mean > base::Duration::zero() ? mean
                                                                    : kUnknownMean);
            }
            const config::JobGraph graph(specs);
            view.levels = graph.levels();
            view.critical_path = graph.critical_path(durations);
            view.parents = graph.parents();
            done(std::move(view));
        });
}

base::Result<std::vector<std::string>> JobDesk::impact(const std::string& id) const {
    if (!entries_.contains(id)) {
        return base::config_error("job.unknown", fmt::format("there is no job \"{}\"", id));
    }
    std::vector<std::string> ids = dependents(id);
    ids.pop_back();  // itself
    std::ranges::sort(ids);
    return ids;
}

base::Result<std::vector<model::JobRun>> JobDesk::runs(const std::string& id) {
    const auto entry = find(id);
    if (!entry) return std::unexpected(entry.error());
    return store_.job_runs((*entry)->key);
}

}  // namespace pollux::runtime
