#include "runtime/jobs/job_metrics.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "observe/metric_writer.hpp"
#include "schedule/core_view.hpp"

namespace pollux::runtime {
namespace {

using observe::MetricId;

struct TypeRow {
    std::uint16_t class_index = 0;
    std::string_view type;
    std::array<std::size_t, model::kJobPhaseCount> phases{};
};

std::vector<TypeRow> rows_of(const schedule::SchedulerCore& core) {
    static const std::string kPrefix = model::job_class("");
    const auto& classes = core.settings().classes;
    std::vector<TypeRow> rows;
    std::vector<std::size_t> row_of(classes.size(), classes.size());
    for (std::size_t c = 0; c < classes.size(); ++c) {
        if (!classes[c].name.starts_with(kPrefix)) continue;
        row_of[c] = rows.size();
        rows.push_back({static_cast<std::uint16_t>(c),
                        std::string_view(classes[c].name).substr(kPrefix.size()),
                        {}});
    }
    for (std::uint32_t index = 0; index < core.capacity(); ++index) {
        if (!core.occupied(index)) continue;
        const schedule::TaskSlot& slot = core.slot(core.handle_at(index));
        if (slot.recurring() || row_of[slot.class_index] >= rows.size()) continue;
        ++rows[row_of[slot.class_index]].phases[static_cast<std::size_t>(schedule::phase_of(slot))];
    }
    return rows;
}

}  // namespace

void write_job_metrics(const CoreLoop::View& view, std::string& out) {
    const schedule::SchedulerCore& core = view.engine.core();
    observe::MetricWriter writer(out);
    const std::vector<TypeRow> rows = rows_of(core);
    writer.family(MetricId::kJobs);
    for (const TypeRow& row : rows) {
        for (std::size_t phase = 0; phase < model::kJobPhaseCount; ++phase) {
            writer.sample({row.type, model::kJobPhaseNames[phase]},
                          static_cast<double>(row.phases[phase]));
        }
    }
    writer.family(MetricId::kJobRuns);
    for (const TypeRow& row : rows) {
        const JobCounts& counts = view.jobs.of_class(row.class_index);
        writer.sample({row.type, "ok"}, static_cast<double>(counts.ok));
        writer.sample({row.type, "failed"}, static_cast<double>(counts.failed));
        writer.sample({row.type, "interrupted"}, static_cast<double>(counts.interrupted));
    }
    writer.family(MetricId::kJobLatency);
    for (const TypeRow& row : rows) {
        const auto& latency = view.jobs.of_class(row.class_index).latency;
        writer.histogram({row.type}, observe::kQueueWaitBounds, latency.counts(), latency.sum());
    }
    writer.family(MetricId::kStartBatch);
    const auto& batches = view.jobs.batches();
    writer.histogram({}, kBatchSizeBounds, batches.counts(), batches.sum());
    writer.family(MetricId::kResourceUsed);
    const schedule::Admission& admission = core.admission();
    for (std::uint32_t i = 0; i < admission.resource_count(); ++i) {
        writer.sample({admission.resource_name(i)},
                      static_cast<double>(admission.resource_pool(i).used));
    }
    writer.family(MetricId::kResourceCapacity);
    for (std::uint32_t i = 0; i < admission.resource_count(); ++i) {
        writer.sample({admission.resource_name(i)},
                      static_cast<double>(admission.resource_pool(i).capacity));
    }
}

}  // namespace pollux::runtime
