// What each input means.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "alert/alert_engine.hpp"
#include "alert/fingerprint.hpp"

namespace pollux::alert {

using model::AlertSource;
using model::ResolvedBy;

namespace {

constexpr std::string_view kOwnAddon = "pollux";
constexpr std::string_view kExternalAddon = "external";

ResolvedBy resolved_by(AlertSource source) {
    return source == AlertSource::kMessage || source == AlertSource::kExternal
               ? ResolvedBy::kClear
               : ResolvedBy::kRecovery;
}

FleetMap::Fault fault_of(const TargetHealth& input) {
    if (input.answered) return FleetMap::Fault::kAnswer;
    return input.permanent ? FleetMap::Fault::kOther : FleetMap::Fault::kSilence;
}

std::string_view value_of(const model::AlertLabels& labels, std::string_view name) {
    const auto found = labels.find(name);
    return found == labels.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace

const TypeFacts* AlertEngine::type_facts(std::uint32_t target, std::string_view type) const {
    if (target == kNone) return nullptr;
    const auto& types = fleet_.target(target).facts->types;
    if (types == nullptr) return nullptr;
    const auto found = std::ranges::lower_bound(types->types, type, {}, &TypeFacts::type);
    return found != types->types.end() && found->type == type ? &*found : nullptr;
}

std::string AlertEngine::fingerprint_of(std::uint32_t target, std::string_view type,
                                        std::string_view subject, std::string_view address) const {
    if (target == kNone) return own_fingerprint({}, kOwnAddon, type, subject);
    const TargetFacts& facts = *fleet_.target(target).facts;
    if (facts.fingerprint == FingerprintStyle::kImported) {
        return imported_fingerprint(facts.addon, type, address.empty() ? facts.address : address,
                                    subject);
    }
    return own_fingerprint(facts.id, facts.addon, type, subject);
}

AlertEngine::Sighting AlertEngine::sight(const Observed& input) const {
    Sighting out{.of = &input, .target = kNone, .fingerprint = {}};
    if (!input.target.empty()) {
        out.target = fleet_.target_by_key(input.target);
        if (out.target == kNone) return out;
    }
    const model::Signal& signal = input.signal;
    out.fingerprint =
        fingerprint_of(out.target, signal.type, signal.subject, signal.device_address);
    return out;
}

// Finds what the next observations are about, and has it fetched from memory meanwhile.
void AlertEngine::look_ahead(std::span<const Input> inputs) {
    std::array<std::uint32_t, kAhead> slots;
    slots.fill(kNone);
    for (std::size_t i = 0; i < kAhead; ++i) {
        const auto* next = i < inputs.size() ? std::get_if<Observed>(&inputs[i]) : nullptr;
        ahead_[i] = next == nullptr ? Sighting{} : sight(*next);
        if (!ahead_[i].fingerprint.empty()) slots[i] = alerts_.fetch(ahead_[i].fingerprint);
    }
    for (const std::uint32_t slot : slots) {
        if (slot != kNone) alerts_.fetch_texts(slot);
    }
}

void AlertEngine::apply(const Observed& input) {
    ++stats_.observations;
    Sighting& ahead = ahead_[turn_ % kAhead];
    Sighting seen = ahead.of == &input ? std::move(ahead) : sight(input);
    const std::uint32_t target = seen.target;
    if (target == kNone && !input.target.empty()) {
        ++stats_.unknown_targets;
        return;
    }
    const model::Signal& signal = input.signal;
    const Terms terms = terms_of(target, signal.type, signal.subject);
    if (!terms.wanted) {
        ++stats_.disabled;
        return;
    }
    Raise what;
    what.fingerprint = std::move(seen.fingerprint);
    if (input.step == ObservedStep::kCleared || signal.clear) {
        const std::uint32_t slot = alerts_.find(what.fingerprint);
        if (slot == kNone) return;
        if (alerts_[slot].target != target) {
            ++stats_.foreign_clears;
            return;
        }
        lower(slot, resolved_by(input.source), terms.keep_firing_for);
        return;
    }
    what.source = input.source;
    what.target = target;
    what.addon = target == kNone ? kOwnAddon : std::string_view(fleet_.target(target).facts->addon);
    what.type = signal.type;
    what.subject = signal.subject;
    what.address = signal.device_address;
    what.severity = terms.severity.value_or(
        model::severity_of(signal.severity).value_or(model::Severity::kWarning));
    what.category = signal.category;
    if (what.category.empty() && target != kNone)
        what.category = fleet_.target(target).facts->category;
    what.title = signal.title;
    what.message = signal.message;
    what.rule = signal.rule;
    what.fields = &signal.fields;
    what.occurrences = input.occurrences;
    what.at = signal.at.value_or(input.at);
    what.missing_answer = input.missing_answer || terms.missing_answer;
    what.hold = terms.hold;
    raise(what);
}

void AlertEngine::apply(const TargetHealth& input) {
    ++stats_.observations;
    const std::uint32_t target = fleet_.target_by_key(input.target);
    if (target == kNone) {
        ++stats_.unknown_targets;
        return;
    }
    const TargetFacts& facts = *fleet_.target(target).facts;
    if (!facts.enabled) {
        ++stats_.disabled;
        return;
    }
    if (input.health == Health::kStale) {
        set_stale(target, true);
        return;
    }
    const bool up = input.health == Health::kUp;
    const bool told = !up && (facts.failure_threshold == FailureThreshold::kFirst ||
                              (input.health == Health::kDown && input.confirmed));
    const std::uint32_t device = fleet_.target(target).device;
    const bool asked = fleet_.device(device).asked_at > fleet_.device(device).answered_at;
    const auto belief = fleet_.set_health(target, input.health, fault_of(input), told, now_.boot);
    if (up) {
        set_stale(target, false);
        recover(target);
    } else if (told) {
        set_stale(target, true);
        fail(target, input);
    }
    if (belief != FleetMap::Believed::kAsBefore || asked) believed(device, belief);
}

void AlertEngine::recover(std::uint32_t target) {
    std::vector<std::uint32_t> slots = fleet_.target(target).alerts;
    std::erase_if(slots, [&](std::uint32_t slot) {
        return alerts_[slot].alert.source != AlertSource::kHealth;
    });
    alerts_.sort(slots);
    for (const std::uint32_t slot : slots) {
        const model::Alert& alert = alerts_[slot].alert;
        lower(slot, ResolvedBy::kRecovery,
              terms_of(target, alert.type, alert.subject).keep_firing_for);
    }
}

void AlertEngine::fail(std::uint32_t target, const TargetHealth& input) {
    const TargetFacts& facts = *fleet_.target(target).facts;
    const Terms terms = terms_of(target, facts.failure_type, {});
    if (!terms.wanted) {
        ++stats_.disabled;
        return;
    }
    const bool silent = fault_of(input) == FleetMap::Fault::kSilence;
    const std::string title =
        facts.failure_title.empty()
            ? fmt::format("{} {}", facts.key, silent ? "does not answer" : "fails")
            : facts.failure_title;
    const std::vector<std::pair<std::string, std::string>> fields = {
        {"code", input.code}, {"failures", std::to_string(input.failures)}};
    Raise what;
    what.source = AlertSource::kHealth;
    what.target = target;
    what.fingerprint = fingerprint_of(target, facts.failure_type, {}, {});
    what.addon = facts.addon;
    what.type = facts.failure_type;
    what.severity = terms.severity.value_or(facts.failure_severity);
    what.category = facts.category;
    what.title = title;
    what.message = input.message.empty() ? std::string_view(input.code) : input.message;
    what.rule =
        facts.failure_threshold == FailureThreshold::kFirst ? "failed once" : "failed, confirmed";
    what.fields = &fields;
    what.occurrences = 0;
    what.at = input.at;
    what.missing_answer = silent;
    what.hold = terms.hold;
    const std::uint32_t slot = raise(what);
    // An imported fingerprint may be shared: the failure of another target is not ours to count.
    if (slot != kNone && alerts_[slot].target != target) ++stats_.shared;
}

void AlertEngine::apply(const DeviceVerified& input) {
    const std::uint32_t device = fleet_.device_by_name(input.device);
    if (device == kNone) return;
    believed(device, fleet_.verified(device, input.up, now_.boot));
}

void AlertEngine::apply(const External& input) {
    ++stats_.observations;
    Raise what;
    what.fingerprint = label_fingerprint(input.labels);
    const bool given = input.ends != base::WallTime{};
    if (given && input.ends <= now_.wall) {
        const std::uint32_t slot = alerts_.find(what.fingerprint);
        if (slot != kNone) lower(slot, ResolvedBy::kClear, {});
        return;
    }
    what.source = AlertSource::kExternal;
    what.addon = kExternalAddon;
    what.type = value_of(input.labels, "alertname");
    what.severity =
        model::severity_of(value_of(input.labels, "severity")).value_or(model::Severity::kWarning);
    what.title = value_of(input.annotations, "summary");
    what.message = value_of(input.annotations, "description");
    what.labels = &input.labels;
    what.at = input.starts;
    const std::vector<std::pair<std::string, std::string>> fields(input.annotations.begin(),
                                                                  input.annotations.end());
    what.fields = &fields;
    const std::uint32_t slot = raise(what);
    if (slot == kNone) return;
    alerts_[slot].expires_at = given ? TimeCodec(now_).boot_of(input.ends) : base::BootTime::max();
    alerts_[slot].alert.device = value_of(input.labels, "device");
    arm(slot);
}

void AlertEngine::apply(const ObserverReport& input) {
    const bool before = observer_.impaired();
    observer_.report(input.bad, input.why);
    if (observer_.impaired() && !before) begin_impairment();
    if (!observer_.impaired() && before) end_impairment();
}

}  // namespace pollux::alert
