// Writers name every field, see spec_codec.cpp.
#include "engine/event_codec.hpp"

#include <memory>
#include <utility>
#include <variant>

namespace pollux::engine {
namespace {

using base::ByteWriter;
using model::RunId;
using model::TaskHandle;
using schedule::Event;
using schedule::RestoredTask;

// On disk: a kind keeps its number for ever.
enum class Kind : std::uint8_t {
    kTasksUpserted,
    kTaskRemoved,
    kTasksRestored,
    kRunFinished,
    kRunExpired,
    kObserved,
    kPoked,
    kParentChanged,
    kDeviceChanged,
    kCreditChanged,
    kOperatorAction,
    kSettingsChanged,
    kTick,
};
static_assert(std::variant_size_v<Event> == std::to_underlying(Kind::kTick) + 1,
              "a new event needs a kind, a writer and a reader");

constexpr std::size_t kLeastRestoredBytes = kLeastSpecBytes + kLeastRecordBytes;

void kind(ByteWriter& out, Kind value) { out.u8(std::to_underlying(value)); }

void write(ByteWriter& out, TaskHandle task) {
    const auto& [index, generation] = task;
    out.varint(index);
    out.varint(generation);
}

void write(ByteWriter& out, RunId run) {
    const auto& [epoch, counter] = run;
    out.varint(epoch);
    out.varint(counter);
}

TaskHandle read_task(FieldReader& in) {
    TaskHandle task;
    task.index = in.u32("task.index");
    task.generation = in.u32("task.generation");
    return task;
}

RunId read_run(FieldReader& in) {
    RunId run;
    run.epoch = in.u32("run.epoch");
    run.counter = in.u64("run.counter");
    return run;
}

struct Writer {
    ByteWriter& out;

    void operator()(const schedule::TasksUpserted& event) const {
        const auto& [specs, correlation] = event;
        kind(out, Kind::kTasksUpserted);
        out.varint(correlation);
        out.varint(specs ? specs->size() : 0);
        if (!specs) return;
        for (const model::TaskSpec& spec : *specs) write_part(out, spec);
    }
    void operator()(const schedule::TaskRemoved& event) const {
        const auto& [key, correlation] = event;
        kind(out, Kind::kTaskRemoved);
        out.string(key);
        out.varint(correlation);
    }
    void operator()(const schedule::TasksRestored& event) const {
        const auto& [tasks, correlation] = event;
        kind(out, Kind::kTasksRestored);
        out.varint(correlation);
        out.varint(tasks ? tasks->size() : 0);
        if (!tasks) return;
        for (const auto& [spec, record] : *tasks) {
            write_part(out, spec);
            write_part(out, record);
        }
    }
    void operator()(const schedule::RunFinished& event) const {
        const auto& [task, run, outcome, has_digest, digest, known_rate, retry_after, job_delay] =
            event;
        kind(out, Kind::kRunFinished);
        write(out, task);
        write(out, run);
        out.u8(std::to_underlying(outcome));
        out.boolean(has_digest);
        out.u64(digest);
        out.f32(known_rate);
        out.zigzag(retry_after.count());
        out.zigzag(job_delay.count());
    }
    void operator()(const schedule::RunExpired& event) const {
        const auto& [task, run] = event;
        kind(out, Kind::kRunExpired);
        write(out, task);
        write(out, run);
    }
    void operator()(const schedule::Observed& event) const {
        const auto& [task, at, changed] = event;
        kind(out, Kind::kObserved);
        write(out, task);
        out.zigzag(at.ns);
        out.boolean(changed);
    }
    void operator()(const schedule::Poked& event) const {
        const auto& [task, reason] = event;
        kind(out, Kind::kPoked);
        write(out, task);
        out.u8(std::to_underlying(reason));
    }
    void operator()(const schedule::ParentChanged& event) const {
        const auto& [device, healthy] = event;
        kind(out, Kind::kParentChanged);
        out.string(device);
        out.boolean(healthy);
    }
    void operator()(const schedule::DeviceChanged& event) const {
        const auto& [spec, correlation] = event;
        kind(out, Kind::kDeviceChanged);
        out.varint(correlation);
        write_part(out, spec ? *spec : model::DeviceSpec{});
    }
    void operator()(const schedule::CreditChanged& event) const {
        const auto& [region, credit] = event;
        kind(out, Kind::kCreditChanged);
        out.string(region);
        out.zigzag(credit);
    }
    void operator()(const schedule::OperatorAction& event) const {
        const auto& [verb, key, correlation, filter] = event;
        kind(out, Kind::kOperatorAction);
        out.u8(std::to_underlying(verb));
        out.string(key);
        out.varint(correlation);
        out.boolean(filter != nullptr);
        if (!filter) return;
        const auto& [keys, class_name] = *filter;
        out.varint(keys.size());
        for (const std::string& one : keys) out.string(one);
        out.string(class_name);
    }
    void operator()(const schedule::SettingsChanged& event) const {
        const auto& [settings, correlation] = event;
        kind(out, Kind::kSettingsChanged);
        out.varint(correlation);
        write_part(out, settings ? *settings : model::CoreSettings{});
    }
    void operator()(const schedule::Tick&) const { kind(out, Kind::kTick); }
};

Event read_upserted(FieldReader& in) {
    schedule::TasksUpserted event;
    event.correlation = in.u64("tasks_upserted.correlation");
    event.specs = std::make_shared<const std::vector<model::TaskSpec>>(
        in.list<model::TaskSpec>("tasks_upserted.specs", kLeastSpecBytes, read_task_spec));
    return event;
}

Event read_removed(FieldReader& in) {
    schedule::TaskRemoved event;
    event.key = in.text("task_removed.key");
    event.correlation = in.u64("task_removed.correlation");
    return event;
}

Event read_restored(FieldReader& in) {
    schedule::TasksRestored event;
    event.correlation = in.u64("tasks_restored.correlation");
    event.tasks = std::make_shared<const std::vector<RestoredTask>>(
        in.list<RestoredTask>("tasks_restored.tasks", kLeastRestoredBytes, [](FieldReader& from) {
            RestoredTask task;
            task.spec = read_task_spec(from);
            task.record = read_task_record(from);
            return task;
        }));
    return event;
}

Event read_finished(FieldReader& in, std::uint8_t version) {
    schedule::RunFinished event;
    event.task = read_task(in);
    event.run = read_run(in);
    event.outcome = in.choice("run_finished.outcome", model::Outcome::kInterrupted);
    event.has_digest = in.boolean("run_finished.has_digest");
    event.digest = in.hash("run_finished.digest");
    event.known_rate = in.f32("run_finished.known_rate");
    event.retry_after = in.duration("run_finished.retry_after");
    if (version >= 2) event.job_delay = in.duration("run_finished.job_delay");
    return event;
}

Event read_expired(FieldReader& in) {
    schedule::RunExpired event;
    event.task = read_task(in);
    event.run = read_run(in);
    return event;
}

Event read_observed(FieldReader& in) {
    schedule::Observed event;
    event.task = read_task(in);
    event.at = in.boot("observed.at");
    event.changed = in.boolean("observed.changed");
    return event;
}

Event read_poked(FieldReader& in) {
    schedule::Poked event;
    event.task = read_task(in);
    event.reason = in.choice("poked.reason", schedule::PokeReason::kVerify);
    return event;
}

Event read_parent(FieldReader& in) {
    schedule::ParentChanged event;
    event.device = in.text("parent_changed.device");
    event.healthy = in.boolean("parent_changed.healthy");
    return event;
}

Event read_device(FieldReader& in) {
    schedule::DeviceChanged event;
    event.correlation = in.u64("device_changed.correlation");
    event.spec = std::make_shared<const model::DeviceSpec>(read_device_spec(in));
    return event;
}

Event read_credit(FieldReader& in) {
    schedule::CreditChanged event;
    event.region = in.text("credit_changed.region");
    event.credit = in.i64("credit_changed.credit");
    return event;
}

Event read_operator(FieldReader& in, std::uint8_t version) {
    schedule::OperatorAction event;
    event.verb = in.choice("operator_action.verb", schedule::OperatorVerb::kRetryJob);
    event.key = in.text("operator_action.key");
    event.correlation = in.u64("operator_action.correlation");
    if (version < 2 || !in.boolean("operator_action.has_filter")) return event;
    schedule::OperatorFilter filter;
    filter.keys = in.list<std::string>("operator_action.keys", 1, [](FieldReader& from) {
        return from.text("operator_action.keys");
    });
    filter.class_name = in.text("operator_action.class_name");
    event.filter = std::make_shared<const schedule::OperatorFilter>(std::move(filter));
    return event;
}

Event read_settings(FieldReader& in) {
    schedule::SettingsChanged event;
    event.correlation = in.u64("settings_changed.correlation");
    event.settings = std::make_shared<const model::CoreSettings>(read_core_settings(in));
    return event;
}

Event read_event(FieldReader& in, std::uint8_t version) {
    switch (in.choice("kind", Kind::kTick)) {
        case Kind::kTasksUpserted: return read_upserted(in);
        case Kind::kTaskRemoved: return read_removed(in);
        case Kind::kTasksRestored: return read_restored(in);
        case Kind::kRunFinished: return read_finished(in, version);
        case Kind::kRunExpired: return read_expired(in);
        case Kind::kObserved: return read_observed(in);
        case Kind::kPoked: return read_poked(in);
        case Kind::kParentChanged: return read_parent(in);
        case Kind::kDeviceChanged: return read_device(in);
        case Kind::kCreditChanged: return read_credit(in);
        case Kind::kOperatorAction: return read_operator(in, version);
        case Kind::kSettingsChanged: return read_settings(in);
        case Kind::kTick: break;
    }
    return schedule::Tick{};
}

}  // namespace

void encode(ByteWriter& out, const Event& event) {
    out.u8(kEventVersion);
    std::visit(Writer{out}, event);
}

base::Result<Event> decode_event(base::ByteReader& in) {
    FieldReader fields(in, "event");
    const std::uint8_t version = fields.version(kOldestEventVersion, kEventVersion);
    return fields.result(read_event(fields, version));
}

}  // namespace pollux::engine
