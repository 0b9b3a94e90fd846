// How the fleet of a server changes: by files, by discovery, by a reload.
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <set>
#include <utility>

#include "config/check_fleet.hpp"
#include "config/service_discovery.hpp"
#include "runtime/random_bits.hpp"
#include "runtime/server.hpp"
#include "runtime/zone_files.hpp"

namespace pollux::runtime {
namespace {

constexpr base::Duration kCommitWait = std::chrono::seconds(30);
constexpr base::Duration kTakenWait = std::chrono::seconds(5);

// Those that are added or changed: what was stored before must not stand in the way of an edit.
config::ByName<model::Receiver> receivers_in(const config::Fleet& fleet,
                                             const config::FleetDiff& changes) {
    config::ByName<model::Receiver> out;
    const auto take = [&](const model::ConfigObject& object) {
        if (object.kind != model::ObjectKind::kReceiver) return;
        const auto found = fleet.receivers.find(object.name);
        if (found != fleet.receivers.end()) out.insert(*found);
    };
    for (const model::ConfigObject& one : changes.additions) take(one);
    for (const config::ObjectChange& one : changes.changes) take(one.after);
    return out;
}

// Entries that do not say yet what they changed say it.
Cause with_states(Cause cause, const config::FleetDiff& changes) {
    for (model::AuditEntry& entry : cause.audit) {
        if (!entry.before.empty() || !entry.after.empty()) continue;
        config::ObjectStates states = config::states_of(changes, entry.object);
        // The only entry is about everything, under whatever name a person gave it.
        if (states == config::ObjectStates{} && cause.audit.size() == 1) {
            states = config::states_of(changes, "");
        }
        entry.before = std::move(states.before);
        entry.after = std::move(states.after);
    }
    return cause;
}

}  // namespace

// What is given outlives the inputs.
ImageInputs Server::inputs_of(const config::Fleet& fleet, const config::Places& places,
                              std::span<const model::ConfigObject> objects,
                              const config::Settings& settings, const AddonShelf& shelf) {
    return {.fleet = fleet,
            .places = places,
            .addons = *shelf.addons,
            .settings = settings,
            .ids = config::target_ids(objects),
            .secrets = secret_source(options_.environment, secrets_.get()),
            .shards = std::max<std::size_t>(shards_.size(), 1),
            .inbound_key = [this] { return inbound_key(); },
            .hears_traps = hears_traps_,
            .hears_http = hears_http_,
            .jobs = jobs_ ? &jobs_->types() : nullptr,
            .disabled = shelf.disabled};
}

base::Result<FleetImage> Server::image_of(const config::Fleet& fleet, const config::Places& places,
                                          std::span<const model::ConfigObject> objects,
                                          const config::Settings& settings,
                                          std::vector<document::Diagnostic>* warnings,
                                          const AddonShelf* shelf) {
    document::Diagnostics diagnostics;
    if (shelf == nullptr) shelf = &shelf_;
    FleetImage image = make_image(inputs_of(fleet, places, objects, settings, *shelf), diagnostics);
    // At the start, what was stored must not keep the rest from being polled.
    if (!diagnostics.ok() && warnings != nullptr) {
        return std::unexpected(diagnostics.as_error("fleet.invalid"));
    }
    for (const auto& item : diagnostics.items()) {
        log_.warn("fleet", {{"error", document::to_string(item)}});
        if (warnings != nullptr) warnings->push_back(item);
    }
    return image;
}

base::Result<ApplyReport> Server::apply(const std::vector<config::FileText>& files,
                                        OwnedElsewhere owned, const std::string& principal) {
    document::Diagnostics diagnostics;
    const config::LoadedFleet loaded = config::read_fleet(files, diagnostics);
    if (diagnostics.ok()) {
        config::check_fleet(loaded.fleet, loaded.places, diagnostics);
        check_zones(loaded.fleet, loaded.places, diagnostics);
        check_channels(loaded.fleet.receivers, loaded.places, diagnostics);
        check_silences(loaded.fleet, diagnostics);
    }
    if (!diagnostics.ok()) {
        return std::unexpected(
            base::Error{"fleet.invalid", base::ErrorClass::kConfig, diagnostics.text()});
    }
    const auto wanted = config::to_objects(loaded.fleet);
    config::FleetDiff changes =
        config::diff(*objects_, wanted, {.adopt = owned == OwnedElsewhere::kAdopt});
    if (!changes.conflicts.empty() && owned == OwnedElsewhere::kRefuse) {
        return base::config_error("fleet.conflict", changes.conflicts.front().message);
    }
    for (const config::Conflict& one : std::exchange(changes.conflicts, {})) {
        log_.warn("fleet files name what they do not own; it stays as it is",
                  {{"object", one.current.name}, {"reason", one.message}});
    }
    ApplyReport report;
    report.difference = config::describe(changes);
    report.added = changes.additions.size();
    report.changed = changes.changes.size();
    report.removed = changes.removals.size();
    for (const auto& item : diagnostics.items()) report.warnings.push_back(item);
    if (changes.empty()) {
        if (auto status = refresh(); !status) return std::unexpected(status.error());
        return report;
    }

    model::AuditEntry entry;
    entry.at = net::wall_now();
    entry.principal = principal;
    entry.action = "fleet.apply";
    entry.object = "fleet";
    entry.after = fmt::format("{} added, {} changed, {} removed", report.added, report.changed,
                              report.removed);
    if (auto status =
            take_objects(changes, loaded.places, {"fleet files", {entry}}, report.warnings);
        !status) {
        return std::unexpected(status.error());
    }
    follow_sources();
    log_.info("fleet applied", {{"added", std::to_string(report.added)},
                                {"changed", std::to_string(report.changed)},
                                {"removed", std::to_string(report.removed)},
                                {"tasks", std::to_string(image_->expansion.tasks.size())}});
    return report;
}

base::Result<ApplyReport> Server::edit(std::span<const config::WantedObject> wanted,
                                       const Cause& cause, document::Diagnostics& diagnostics) {
    auto changes = config::plan_edit(*objects_, wanted, diagnostics);
    if (!changes) return std::unexpected(changes.error());
    ApplyReport report;
    report.difference = config::describe(*changes);
    report.added = changes->additions.size();
    report.changed = changes->changes.size();
    report.removed = changes->removals.size();
    if (changes->empty()) return report;
    const auto next =
        config::apply_edits(*objects_, config::make_edits(*changes, net::wall_now(), random_bits));
    const auto fleet = config::from_objects(next);
    if (!fleet) return std::unexpected(fleet.error());
    config::check_fleet(*fleet, {}, diagnostics);
    check_zones(*fleet, {}, diagnostics);
    check_channels(receivers_in(*fleet, *changes), {}, diagnostics);
    const auto adds_silence = [](const model::ConfigObject& one) {
        return one.kind == model::ObjectKind::kSilence;
    };
    if (std::ranges::any_of(changes->additions, adds_silence)) check_silences(*fleet, diagnostics);
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("fleet.invalid"));
    if (auto status = take_objects(*changes, {}, with_states(cause, *changes), report.warnings);
        !status) {
        return std::unexpected(status.error());
    }
    follow_sources();
    return report;
}

// Checked against everything, committed, then given to the core.
base::Status Server::take_objects(const config::FleetDiff& changes, const config::Places& places,
                                  const Cause& cause, std::vector<document::Diagnostic>& warnings) {
    const config::ObjectEdits edits = config::make_edits(changes, net::wall_now(), random_bits);
    std::vector<model::ConfigObject> next = config::apply_edits(*objects_, edits);
    const auto fleet = config::from_objects(next);
    if (!fleet) return std::unexpected(fleet.error());
    auto image = image_of(*fleet, places, next, settings_, &warnings);
    if (!image) return std::unexpected(image.error());
    if (auto status = commit(edits, cause); !status) return status;
    objects_ = std::make_shared<const std::vector<model::ConfigObject>>(std::move(next));
    take_image(std::move(*image));
    return {};
}

void Server::follow_sources() {
    if (!sources_) return;
    const auto fleet = config::from_objects(*objects_);
    if (fleet) sources_->set(fleet->sources, fleet->credentials);
}

void Server::take_discovered(const SourceKeeper::Devices& found) {
    std::vector<model::ConfigObject> own;
    for (const model::ConfigObject& object : *objects_) {
        if (object.origin != model::Origin::kDiscovery) own.push_back(object);
    }
    auto fleet = config::from_objects(own);
    if (!fleet) return;
    document::Diagnostics diagnostics;
    std::set<std::string> names;
    for (const auto& [source, devices] : found) {
        for (const auto& [name, device] : devices) {
            if (!fleet->devices.contains(name)) names.insert(name);
        }
        config::add_devices(*fleet, devices, source, diagnostics);
    }
    const config::FleetDiff changes = config::diff(*objects_, config::to_objects(*fleet, names),
                                                   {.adopt = false, .discovery = true});
    if (changes.empty()) return;
    std::vector<document::Diagnostic> warnings;
    const auto status =
        changes.conflicts.empty()
            ? take_objects(changes, {}, {"discovery"}, warnings)
            : base::Status(base::config_error("fleet.conflict", changes.conflicts.front().message));
    if (!status) {
        log_.error("discovered devices could not be taken in", {{"error", status.error().message}});
        return;
    }
    log_.info("discovered devices taken in",
              {{"devices", std::to_string(names.size())},
               {"added", std::to_string(changes.additions.size())},
               {"removed", std::to_string(changes.removals.size())}});
}

base::Result<model::ConfigObject> Server::sealed(model::ConfigObject object) const {
    if (object.kind != model::ObjectKind::kCredential || !vault_) return object;
    auto body = vault_->seal(object.name, base::Secret(std::move(object.body)));
    if (!body) return std::unexpected(body.error());
    object.body = std::move(*body);
    return object;
}

base::Status Server::commit(config::ObjectEdits edits, const Cause& cause) {
    store::ObjectBatch batch;
    batch.note = cause.note;
    batch.audit = cause.audit;
    for (const model::ConfigObject& object : edits.removals) {
        batch.removals.push_back({object.kind, object.id, object.version});
    }
    for (model::ConfigObject& object : edits.upserts) {
        const std::uint64_t before = object.version - 1;
        auto closed = sealed(std::move(object));
        if (!closed) return std::unexpected(closed.error());
        batch.writes.push_back({std::move(*closed), before});
    }
    auto answer = std::make_shared<std::promise<base::Result<store::ObjectCommit>>>();
    auto future = answer->get_future();
    auto accepted = store_->submit(std::move(batch),
                                   [answer](auto result) { answer->set_value(std::move(result)); });
    if (!accepted) return accepted;
    if (future.wait_for(kCommitWait) != std::future_status::ready) {
        return base::make_error(base::ErrorClass::kTransient, "store.slow",
                                "the store did not answer within 30 s: look at the disk, then "
                                "try again");
    }
    auto result = future.get();
    if (!result) return std::unexpected(result.error());
    return {};
}

void Server::take_image(FleetImage next) {
    CoreEdit edit = difference(*image_, next);
    image_ = std::make_shared<const FleetImage>(std::move(next));
    publish_view();
    if (desk_) desk_->set_image(image_->inbound);
    if (journal_) journal_->keep_only(image_->plans);
    if (!core_) return;
    // Whoever asked for the change may ask about it at once: it must be there then.
    const auto taken = std::make_shared<std::promise<void>>();
    auto future = taken->get_future();
    core_->edit(std::move(edit), [taken](std::vector<base::Error>) { taken->set_value(); });
    if (future.wait_for(kTakenWait) != std::future_status::ready) {
        log_.warn("the core has not taken a change yet");
    }
    follow_jobs();
    follow_alerts();
}

void Server::publish_view() {
    auto view = std::make_shared<FleetView>();
    view->objects = objects_;
    view->image = image_;
    view->addons = shelf_.addons;
    view->disabled_addons = shelf_.disabled;
    view->settings = settings_;
    view->stored = stored_;
    view->settings_version = settings_object_.version;
    const std::lock_guard lock(view_mutex_);
    view_ = std::move(view);
}

std::shared_ptr<const FleetView> Server::view() const {
    const std::lock_guard lock(view_mutex_);
    return view_;
}

// The same objects seen anew: secrets may have changed in their files.
base::Status Server::refresh() {
    const auto fleet = config::from_objects(*objects_);
    if (!fleet) return std::unexpected(fleet.error());
    std::vector<document::Diagnostic> warnings;  // logged there
    auto image = image_of(*fleet, {}, *objects_, settings_, &warnings);
    if (!image) return std::unexpected(image.error());
    take_image(std::move(*image));
    return {};
}

base::Status Server::reload() {
    options_.manager.reloading();
    const auto channels_before = channels_;
    base::Status status = load_channels();
    if (status && options_.fleet_files) {
        auto files = options_.fleet_files();
        if (!files) {
            status = std::unexpected(files.error());
        } else if (auto applied = apply(*files, OwnedElsewhere::kKeep); !applied) {
            status = std::unexpected(applied.error());
        }
    } else if (status) {
        status = refresh();
    }
    if (!status) channels_ = channels_before;
    if (sources_) sources_->refresh();
    if (auto settings = look_at_settings_file(); !settings && status) status = std::move(settings);
    ++(status ? reloads_ok_ : reloads_failed_);
    if (status) {
        last_reload_ = net::wall_now();
        log_.info("reloaded");
    } else {
        log_.error("reload failed: the old state stays", {{"error", status.error().message}});
    }
    options_.manager.ready(fmt::format("{} tasks", image_->expansion.tasks.size()));
    return status;
}

}  // namespace pollux::runtime
