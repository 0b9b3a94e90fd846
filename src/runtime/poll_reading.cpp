#include "runtime/poll_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "derive/condition_signals.hpp"
#include "derive/derive.hpp"
#include "model/failure.hpp"
#include "observe/base_unit.hpp"
#include "observe/metric_writer.hpp"

namespace pollux::runtime {
namespace {

constexpr std::array<std::string_view, 4> kValueLabels = {"target", "device", "addon", "row"};

bool is_charted(const model::MetricDef& metric) { return metric.type != model::MetricType::kText; }

bool is_number(const model::MetricDef& metric) {
    return metric.type == model::MetricType::kGauge || metric.type == model::MetricType::kCounter;
}

store::SeriesType series_type(model::MetricType type) {
    switch (type) {
        case model::MetricType::kCounter: return store::SeriesType::kRate;
        case model::MetricType::kState: return store::SeriesType::kState;
        default: return store::SeriesType::kGauge;
    }
}

void add_line(DevicePage& page, const std::string& name, std::string_view help,
              std::span<const std::string_view> labels, double value) {
    DevicePage::Family& family = page.family(name, "gauge", help);
    family.lines += name;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i].empty()) continue;
        family.lines += i == 0 ? '{' : ',';
        family.lines += kValueLabels[i];
        family.lines += "=\"";
        observe::append_label_value(family.lines, labels[i]);
        family.lines += '"';
    }
    family.lines += "} ";
    observe::append_number(family.lines, value);
    family.lines += '\n';
}

std::string unreadable_message(const PollPlan& plan, const model::Readings& readings) {
    return fmt::format(
        "{}: {}; check what the device answers, and path and addon of the target", plan.key,
        readings.problems.empty() ? "the answer cannot be read" : readings.problems.front());
}

}  // namespace

PollReading read_poll(const PollPlan& plan, const std::vector<model::Reply>& replies,
                      derive::TargetMemory& memory, base::Instant now, extract::Trace* trace) {
    std::vector<const model::Reply*> given;
    given.reserve(replies.size());
    for (const model::Reply& reply : replies) given.push_back(&reply);
    return read_poll(plan, given, memory, now, trace);
}

PollReading read_poll(const PollPlan& plan, std::span<const model::Reply* const> given,
                      derive::TargetMemory& memory, base::Instant now, extract::Trace* trace) {
    PollReading reading;
    if (const auto* failure = plan.addon->failure(plan.group, given)) {
        reading.failure = *failure;
        // Drivers know the kind; their words may hold anything, such as an OID with an arc 401.
        const base::ErrorClass cause = model::classify(
            {.kind = failure->kind, .http_status = failure->http_status, .message = {}});
        reading.outcome = failure->kind == model::FailureKind::kCancelled
                              ? model::Outcome::kInterrupted
                          : model::is_retryable(cause) ? model::Outcome::kTransient
                                                       : model::Outcome::kPermanent;
        return reading;
    }
    reading.readings = plan.addon->read(plan.group, given, now.wall, trace);
    if (reading.readings.unreadable > 0) {
        // An answer that says nothing is no data: the target must not look fresh because of it.
        reading.outcome = model::Outcome::kTransient;
        reading.failure.kind = model::FailureKind::kApi;
        reading.failure.code = "read.unreadable";
        reading.failure.message = unreadable_message(plan, reading.readings);
        return reading;
    }
    reading.observation =
        derive::derive(plan.addon->addon(), reading.readings, now, memory, plan.alerts);
    if (reading.readings.missing > 0 || reading.readings.degraded) {
        reading.outcome = model::Outcome::kDegraded;
    }
    return reading;
}

void describe(PollReading& reading, RunReport& report) {
    report.outcome = reading.outcome;
    if (!model::is_success(reading.outcome)) {
        report.kind = reading.failure.kind;
        report.code = std::move(reading.failure.code);
        report.message = std::move(reading.failure.message);
        report.retry_after = reading.failure.retry_after;
        return;
    }
    report.has_digest = reading.observation.has_digest;
    report.digest = reading.observation.digest;
    report.problems = reading.readings.missing + reading.observation.dropped;
}

Heard heard_of(const model::Ask& ask, std::span<const model::Reply* const> given) {
    // A program speaks for itself, whatever it says of the device.
    if (std::holds_alternative<model::ExecAsk>(ask.request)) return Heard::kSilence;
    Heard heard = Heard::kNothing;
    for (const model::Reply* reply : given) {
        if (reply == nullptr) continue;
        const auto* failure = std::get_if<model::PollFailure>(&reply->answer);
        switch (failure == nullptr ? model::FailureKind::kNone : failure->kind) {
            case model::FailureKind::kConfiguration: break;
            case model::FailureKind::kConnection:
            case model::FailureKind::kTimeout:
            case model::FailureKind::kDns:
            case model::FailureKind::kInternal:
            case model::FailureKind::kCancelled:
            case model::FailureKind::kUnknown: heard = Heard::kSilence; break;
            default: return Heard::kAnswer;
        }
    }
    return heard;
}

void add_cost(RunCost& cost, const model::Reply& reply) {
    ++cost.requests;
    cost.bytes += reply.bytes_in + reply.bytes_out;
    // Each says how long after the start it ended; zero: it did not happen.
    const model::Phases& ended = reply.phases;
    const std::array<base::Duration, kRunPhases> ends = {ended.dns, ended.connect, ended.tls,
                                                         ended.first_byte, ended.total};
    base::Duration before{};
    for (std::size_t i = 0; i < kRunPhases; ++i) {
        if (ends[i] <= before) continue;
        cost.phases[i] += ends[i] - before;
        before = ends[i];
    }
}

std::shared_ptr<const Headline> make_headline(const PollPlan& plan,
                                              const derive::TargetMemory& memory) {
    const auto& metrics = plan.addon->addon().metrics;
    auto made = std::make_shared<Headline>();
    made->addon = plan.addon;
    for (std::size_t i = 0; i < metrics.size() && made->values.size() < kMostHeadlines; ++i) {
        if (metrics[i].per_row || metrics[i].group != plan.group || !is_number(metrics[i]))
            continue;
        const auto metric = static_cast<std::uint16_t>(i);
        const std::uint32_t slot = memory.find(metric, "");
        if (slot == derive::TargetMemory::kNone) continue;
        if (const auto value = memory.latest(slot)) made->values.push_back({metric, "", *value});
    }
    for (std::uint32_t slot = 0; slot < memory.size() && made->values.empty(); ++slot) {
        const derive::SeriesName series = memory.series(slot);
        if (!memory.alive(slot) || !is_number(metrics[series.metric])) continue;
        if (const auto value = memory.latest(slot)) {
            made->values.push_back({series.metric, std::string(series.row), *value});
        }
    }
    if (made->values.empty()) return nullptr;
    return made;
}

void add_conditions(const PollPlan& plan, const PollReading& reading,
                    const derive::TargetMemory& memory, model::PollSignals& signals) {
    model::PollSignals own =
        derive::condition_signals(plan.addon->addon(), static_cast<std::uint16_t>(plan.group),
                                  reading.observation, memory, plan.alerts);
    std::ranges::move(own.signals, std::back_inserter(signals.signals));
    std::ranges::move(own.open, std::back_inserter(signals.open));
    signals.settled_types = std::move(own.settled_types);
}

void add_values(DevicePage& page, const PollPlan& plan, const derive::TargetMemory& memory,
                base::BootTime answered, base::BootTime now) {
    const std::array<std::string_view, 3> target = {plan.key, plan.device, plan.class_name};
    add_line(page, "pollux_device_age_seconds", "Age of the values of a target.", target,
             base::to_seconds(now - answered));
    const auto& metrics = plan.addon->addon().metrics;
    for (std::uint32_t slot = 0; slot < memory.size(); ++slot) {
        if (!memory.alive(slot)) continue;
        const derive::SeriesName series = memory.series(slot);
        const model::MetricDef& metric = metrics[series.metric];
        const std::optional<double> value = memory.latest(slot);
        if (!value || !is_charted(metric)) continue;
        if (now - memory.latest_at(slot) > plan.stale_after) continue;
        const bool rate = metric.type == model::MetricType::kCounter;
        const observe::BaseUnit base = observe::base_unit(metric.unit);
        const std::string name = observe::metric_name(
            "pollux_device", metric.name,
            rate ? (base.unit.empty() ? "per_second" : base.unit + "_per_second") : base.unit);
        const std::array<std::string_view, 4> labels = {plan.key, plan.device, plan.class_name,
                                                        series.row};
        add_line(page, name, metric.help.empty() ? metric.name : metric.help, labels,
                 *value * base.factor);
    }
}

void define_series(const PollPlan& plan, const derive::TargetMemory& memory,
                   store::History& history, const SeriesDirectory& known,
                   std::vector<std::int64_t>& ids, store::SampleBatch& batch) {
    const auto& metrics = plan.addon->addon().metrics;
    while (ids.size() < memory.size()) {
        const derive::SeriesName series = memory.series(static_cast<std::uint32_t>(ids.size()));
        const model::MetricDef& metric = metrics[series.metric];
        if (!is_charted(metric)) {
            ids.push_back(0);
            continue;
        }
        std::int64_t id = known.find(plan.target_id, metric.name, series.row);
        if (id == 0) {
            id = history.allocate_series().value_or(0);
            store::SeriesDefinition definition;
            definition.id = id;
            definition.target_id = plan.target_id;
            definition.target_key = plan.key;
            definition.metric = metric.name;
            definition.row = std::string(series.row);
            definition.unit = metric.unit;
            definition.type = series_type(metric.type);
            if (id != 0) batch.definitions.push_back(std::move(definition));
        }
        ids.push_back(id);
    }
}

}  // namespace pollux::runtime
