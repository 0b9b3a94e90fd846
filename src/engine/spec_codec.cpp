// Writers name every field of a struct by a structured binding: a field that is added to the model
// does not compile here until it is written, and the round-trip tests then ask for the reader.
#include "engine/spec_codec.hpp"

#include <utility>

namespace pollux::engine {
namespace {

using base::ByteWriter;
using model::AdaptiveMode;
using model::Cadence;
using model::CadenceKind;
using model::ClassSettings;
using model::CoreSettings;
using model::DegradedChoice;
using model::DeviceSpec;
using model::FailureProfile;
using model::NeedGroup;
using model::Parent;
using model::ParentFailure;
using model::ParentKind;
using model::PolicyKind;
using model::Preset;
using model::ResourceDemand;
using model::ResourceSettings;
using model::TaskSpec;
using model::Tier;
using model::WhenUnmet;

constexpr std::size_t kLeastParentBytes = 2;
constexpr std::size_t kLeastGroupBytes = 2;
constexpr std::size_t kLeastDemandBytes = 2;
constexpr std::size_t kLeastClassBytes = 15;
constexpr std::size_t kLeastResourceBytes = 2;

template <class Enum>
void choice(ByteWriter& out, Enum value) {
    out.u8(std::to_underlying(value));
}

void duration(ByteWriter& out, base::Duration value) { out.zigzag(value.count()); }

void optional_duration(ByteWriter& out, const std::optional<base::Duration>& value) {
    out.boolean(value.has_value());
    if (value) duration(out, *value);
}

void write(ByteWriter& out, const Cadence& cadence) {
    const auto& [kind, min, base, max] = cadence;
    choice(out, kind);
    duration(out, min);
    duration(out, base);
    duration(out, max);
}

Cadence read_cadence(FieldReader& in) {
    Cadence cadence;
    cadence.kind = in.choice("spec.cadence.kind", CadenceKind::kAdaptive);
    cadence.min = in.duration("spec.cadence.min");
    cadence.base = in.duration("spec.cadence.base");
    cadence.max = in.duration("spec.cadence.max");
    return cadence;
}

void write(ByteWriter& out, const NeedGroup& group) {
    const auto& [any_of, when_unmet] = group;
    out.varint(any_of.size());
    for (const auto& [kind, name] : any_of) {
        choice(out, kind);
        out.string(name);
    }
    choice(out, when_unmet);
}

NeedGroup read_need_group(FieldReader& in) {
    NeedGroup group;
    group.any_of = in.list<Parent>("spec.needs.any_of", kLeastParentBytes, [](FieldReader& from) {
        Parent parent;
        parent.kind = from.choice("spec.needs.kind", ParentKind::kDevice);
        parent.name = from.text("spec.needs.name");
        return parent;
    });
    group.when_unmet = in.choice("spec.needs.when_unmet", WhenUnmet::kSlow);
    return group;
}

ResourceDemand read_demand(FieldReader& in) {
    ResourceDemand demand;
    demand.resource = in.text("spec.demand.resource");
    demand.amount = in.i64("spec.demand.amount");
    return demand;
}

void write(ByteWriter& out, const ClassSettings& one) {
    const auto& [name, weight, rate, slots, host_slots_exempt, policy, preset, staleness_bound] =
        one;
    out.string(name);
    out.varint(weight);
    out.f64(rate);
    out.varint(slots);
    out.boolean(host_slots_exempt);
    choice(out, policy);
    choice(out, preset);
    optional_duration(out, staleness_bound);
}

ClassSettings read_class(FieldReader& in) {
    ClassSettings one;
    one.name = in.text("settings.class.name");
    one.weight = in.u32("settings.class.weight");
    one.rate = in.f64("settings.class.rate");
    one.slots = in.u32("settings.class.slots");
    one.host_slots_exempt = in.boolean("settings.class.host_slots_exempt");
    one.policy = in.choice("settings.class.policy", PolicyKind::kKnownRate);
    one.preset = in.choice("settings.class.preset", Preset::kEconomy);
    one.staleness_bound = in.optional_duration("settings.class.staleness_bound");
    return one;
}

ResourceSettings read_resource(FieldReader& in) {
    ResourceSettings resource;
    resource.name = in.text("settings.resource.name");
    resource.capacity = in.i64("settings.resource.capacity");
    return resource;
}

}  // namespace

void write_part(ByteWriter& out, const TaskSpec& spec) {
    const auto& [key, device, region, cadence, tier, timeout, staleness_bound, failure_profile,
                 enabled, adaptive, needs, demand, slots, max_attempts, on_parent_failure,
                 version] = spec;
    out.string(key);
    out.string(device);
    out.string(region);
    write(out, cadence);
    choice(out, tier);
    duration(out, timeout);
    optional_duration(out, staleness_bound);
    choice(out, failure_profile);
    out.boolean(enabled);
    out.boolean(adaptive);
    out.varint(needs.size());
    for (const NeedGroup& group : needs) write(out, group);
    out.varint(demand.size());
    for (const auto& [resource, amount] : demand) {
        out.string(resource);
        out.zigzag(amount);
    }
    out.zigzag(slots);
    out.zigzag(max_attempts);
    choice(out, on_parent_failure);
    out.varint(version);
}

TaskSpec read_task_spec(FieldReader& in) {
    TaskSpec spec;
    spec.key = in.text("spec.key");
    spec.device = in.text("spec.device");
    spec.region = in.text("spec.region");
    spec.cadence = read_cadence(in);
    spec.tier = in.choice("spec.tier", Tier::kCritical);
    spec.timeout = in.duration("spec.timeout");
    spec.staleness_bound = in.optional_duration("spec.staleness_bound");
    spec.failure_profile = in.choice("spec.failure_profile", FailureProfile::kOpsconductor);
    spec.enabled = in.boolean("spec.enabled");
    spec.adaptive = in.boolean("spec.adaptive");
    spec.needs = in.list<NeedGroup>("spec.needs", kLeastGroupBytes, read_need_group);
    spec.demand = in.list<ResourceDemand>("spec.demand", kLeastDemandBytes, read_demand);
    spec.slots = in.i64("spec.slots");
    spec.max_attempts = in.i64("spec.max_attempts");
    spec.on_parent_failure = in.choice("spec.on_parent_failure", ParentFailure::kHold);
    spec.version = in.u64("spec.version");
    return spec;
}

void write_part(ByteWriter& out, const DeviceSpec& spec) {
    const auto& [name, rate, slots, slots_per_class] = spec;
    out.string(name);
    out.f64(rate);
    out.varint(slots);
    out.varint(slots_per_class);
}

DeviceSpec read_device_spec(FieldReader& in) {
    DeviceSpec spec;
    spec.name = in.text("device.name");
    spec.rate = in.f64("device.rate");
    spec.slots = in.u32("device.slots");
    spec.slots_per_class = in.u32("device.slots_per_class");
    return spec;
}

void write_part(ByteWriter& out, const CoreSettings& settings) {
    const auto& [mode, adaptive_percent, global_rate, global_slots, device_slots,
                 device_class_slots, device_rate, staleness_bound, aging_step, max_starts_per_step,
                 budget_headroom, degraded, seed, classes, resources] = settings;
    choice(out, mode);
    out.f64(adaptive_percent);
    out.f64(global_rate);
    out.varint(global_slots);
    out.varint(device_slots);
    out.varint(device_class_slots);
    out.f64(device_rate);
    duration(out, staleness_bound);
    duration(out, aging_step);
    out.varint(max_starts_per_step);
    out.f64(budget_headroom);
    choice(out, degraded);
    out.u64(seed);
    out.varint(classes.size());
    for (const ClassSettings& one : classes) write(out, one);
    out.varint(resources.size());
    for (const auto& [name, capacity] : resources) {
        out.string(name);
        out.zigzag(capacity);
    }
}

CoreSettings read_core_settings(FieldReader& in) {
    CoreSettings settings;
    settings.mode = in.choice("settings.mode", AdaptiveMode::kOn);
    settings.adaptive_percent = in.f64("settings.adaptive_percent");
    settings.global_rate = in.f64("settings.global_rate");
    settings.global_slots = in.u32("settings.global_slots");
    settings.device_slots = in.u32("settings.device_slots");
    settings.device_class_slots = in.u32("settings.device_class_slots");
    settings.device_rate = in.f64("settings.device_rate");
    settings.staleness_bound = in.duration("settings.staleness_bound");
    settings.aging_step = in.duration("settings.aging_step");
    settings.max_starts_per_step = in.u32("settings.max_starts_per_step");
    settings.budget_headroom = in.f64("settings.budget_headroom");
    settings.degraded = in.choice("settings.degraded", DegradedChoice::kTailFirst);
    settings.seed = in.hash("settings.seed");
    settings.classes = in.list<ClassSettings>("settings.classes", kLeastClassBytes, read_class);
    settings.resources =
        in.list<ResourceSettings>("settings.resources", kLeastResourceBytes, read_resource);
    return settings;
}

void encode(ByteWriter& out, const TaskSpec& spec) {
    out.u8(kSpecVersion);
    write_part(out, spec);
}

void encode(ByteWriter& out, const DeviceSpec& spec) {
    out.u8(kSpecVersion);
    write_part(out, spec);
}

void encode(ByteWriter& out, const CoreSettings& settings) {
    out.u8(kSettingsVersion);
    write_part(out, settings);
}

base::Result<TaskSpec> decode_task_spec(base::ByteReader& in) {
    FieldReader fields(in, "task spec");
    fields.version(kSpecVersion);
    return fields.result(read_task_spec(fields));
}

base::Result<DeviceSpec> decode_device_spec(base::ByteReader& in) {
    FieldReader fields(in, "device spec");
    fields.version(kSpecVersion);
    return fields.result(read_device_spec(fields));
}

base::Result<CoreSettings> decode_core_settings(base::ByteReader& in) {
    FieldReader fields(in, "core settings");
    fields.version(kSettingsVersion);
    return fields.result(read_core_settings(fields));
}

}  // namespace pollux::engine
