// The settings of a server: read at the start, changed while it runs, mirrored in system.json.
#include "base/uuid.hpp"
#include "config/settings_registry.hpp"
#include "runtime/random_bits.hpp"
#include "runtime/server.hpp"
#include "runtime/shard_drivers.hpp"

namespace pollux::runtime {
namespace {

constexpr std::string_view kSettingsName = "settings";
constexpr const char* kEditedByHand = "system.json edited by hand";

observe::LogLevel log_level_of(config::LogLevel level) {
    return static_cast<observe::LogLevel>(level);
}

}  // namespace

base::Status Server::load_settings() {
    document::Diagnostics diagnostics;
    if (settings_object_.version > 0) {
        stored_ =
            config::read_system_json(settings_object_.body, "stored settings", diagnostics).stored;
    }
    if (settings_file_) {
        auto edited = settings_file_->edited();
        if (!edited) return std::unexpected(edited.error());
        if (edited->has_value() && is_mirror_of_before(**edited)) {
            log_.warn("system.json is that of the version before: the stored settings stay",
                      {{"version", std::to_string(settings_object_.version)}});
            if (!options_.offline) mirror_settings();
        } else if (edited->has_value()) {
            document::Diagnostics of_file;
            const auto read = config::read_system_json(**edited, settings_file_->path(), of_file);
            const auto resolved =
                config::resolve_settings(options_.environment, read.stored, of_file);
            if (of_file.ok()) {
                edited_while_down_ = read.stored != stored_;
                stored_ = read.stored;
            } else {
                log_.error("system.json was edited and is wrong: the stored settings stay",
                           {{"error", of_file.text()}});
            }
        }
    }
    settings_ = config::resolve_settings(options_.environment, stored_, diagnostics);
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("settings.invalid"));
    for (const auto& item : diagnostics.items()) {
        log_.warn("setting", {{"error", document::to_string(item)}});
    }
    log_.set_level(log_level_of(settings_.log_level));
    return {};
}

// A server that died between the commit of its settings and their mirror left the mirror of the
// version before. That is no edit: it must not undo what was committed.
bool Server::is_mirror_of_before(const std::string& text) const {
    if (settings_object_.version < 2 || text == settings_object_.body) return false;
    const auto before = store_->settings_versions(settings_object_.version, 1);
    return before && !before->empty() && before->front().object.body == text;
}

void Server::mirror_settings() {
    if (auto status = settings_file_->write(settings_object_.body); !status) {
        log_.warn("system.json could not be written: the store has the new settings",
                  {{"error", status.error().message}});
    }
}

// system.json was edited while nobody ran: that is the next version.
base::Status Server::store_hand_edit() {
    if (!edited_while_down_ || options_.offline) return {};
    return store_settings(stored_, {kEditedByHand});
}

// Commits them as the next version; what is in force does not change here.
base::Status Server::store_settings(const config::StoredSettings& wanted, const Cause& cause) {
    model::ConfigObject object = settings_object_;
    object.kind = model::ObjectKind::kSettings;
    object.name = kSettingsName;
    object.origin = model::Origin::kApi;
    object.body = config::write_system_json(wanted);
    object.changed_at = net::wall_now();
    if (object.id.empty()) {
        const auto [high, low] = random_bits();
        object.id = base::make_uuid7(net::wall_now(), high, low);
    }
    ++object.version;
    if (auto status = commit({{object}, {}}, cause); !status) return status;
    settings_object_ = std::move(object);
    return {};
}

base::Result<FleetImage> Server::preview_settings(const config::StoredSettings& wanted) {
    document::Diagnostics diagnostics;
    const config::Settings next =
        config::resolve_settings(options_.environment, wanted, diagnostics);
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("settings.invalid"));
    const auto fleet = config::from_objects(*objects_);
    if (!fleet) return std::unexpected(fleet.error());
    // What it warns of was told when the fleet was taken in.
    const config::Places places;
    FleetImage image = make_image(inputs_of(*fleet, places, *objects_, next, shelf_), diagnostics);
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("fleet.invalid"));
    return image;
}

base::Status Server::change_settings(config::StoredSettings wanted, const Cause& cause) {
    document::Diagnostics diagnostics;
    config::Settings next = config::resolve_settings(options_.environment, wanted, diagnostics);
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("settings.invalid"));
    const auto fleet = config::from_objects(*objects_);
    if (!fleet) return std::unexpected(fleet.error());
    std::vector<document::Diagnostic> warnings;
    auto image = image_of(*fleet, {}, *objects_, next, &warnings);
    if (!image) return std::unexpected(image.error());
    const auto egress = make_egress(next);
    if (!egress) return std::unexpected(egress.error());
    auto limits = inbound_limits(next);
    if (!limits) return std::unexpected(limits.error());
    auto channels = channels_for(next, *fleet);
    if (!channels) return std::unexpected(channels.error());

    if (auto status = store_settings(wanted, cause); !status) return status;
    for (const auto& change : config::changes(stored_, wanted)) {
        const config::SettingDef* known = config::find_setting_by_json(change.name);
        const bool later = known != nullptr && known->applies == config::Applies::kRestart;
        log_.info(later ? "setting changed; it takes effect at the next start" : "setting changed",
                  {{"setting", change.name},
                   {"from", change.before},
                   {"to", change.after},
                   {"by", cause.note}});
    }
    stored_ = std::move(wanted);
    settings_ = std::move(next);
    channels_ = std::move(*channels);
    log_.set_level(log_level_of(settings_.log_level));
    for (const auto& shard : shards_) {
        shard->set_egress(*egress);
        shard->set_rules(make_command_rules(settings_, host_keys_));
    }
    if (journal_) journal_->set_limits(limits->keep, limits->keep_for);
    if (desk_) desk_->set_limits(std::move(*limits));
    if (core_) core_->set_target_limit(static_cast<std::size_t>(settings_.metrics_target_limit));
    take_image(std::move(*image));
    follow_alerts();
    if (settings_changed_) settings_changed_(settings_);
    if (settings_file_) mirror_settings();
    return {};
}

base::Status Server::look_at_settings_file() {
    if (!settings_file_) return {};
    auto edited = settings_file_->edited();
    if (!edited) {
        log_.error("system.json cannot be read: the settings stay",
                   {{"error", edited.error().message}});
        return std::unexpected(edited.error());
    }
    if (!edited->has_value()) return {};
    document::Diagnostics diagnostics;
    auto read = config::read_system_json(**edited, settings_file_->path(), diagnostics);
    base::Status status;
    if (!diagnostics.ok()) {
        status = std::unexpected(diagnostics.as_error("settings.invalid"));
    } else if (read.stored != stored_) {
        status = change_settings(std::move(read.stored), {kEditedByHand});
        if (status) last_reload_ = net::wall_now();
    }
    if (!status) {
        log_.error("system.json was edited and is wrong: the old settings stay",
                   {{"error", status.error().message}});
    }
    return status;
}

}  // namespace pollux::runtime
