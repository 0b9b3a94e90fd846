// The server's side of alerts: makes the desk, gives it the fleet and the rules, and lets it run.
#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "config/notify.hpp"
#include "runtime/random_bits.hpp"
#include "runtime/server.hpp"
#include "runtime/zone_files.hpp"

namespace pollux::runtime {
namespace {

constexpr base::Duration kKeepSilences = std::chrono::hours(24 * 30);  // after their end
constexpr std::size_t kMostOverSilences = 10'000;  // above it, the oldest go before that
constexpr std::size_t kForgottenAtOnce = 1'000;

// A channel for mail that names no server has that of the settings.
void add_mail_server(model::Channel& channel, const config::Settings& settings) {
    if (channel.kind != model::ChannelKind::kEmail || !channel.url.empty()) return;
    if (settings.smtp_host.text.empty()) return;
    const bool tls = settings.smtp_security == config::SmtpSecurity::kTls;
    channel.url = fmt::format("{}://{}:{}", tls ? "smtps" : "smtp", settings.smtp_host.text,
                              settings.smtp_port);
    if (settings.smtp_security == config::SmtpSecurity::kNone) channel.params["tls"] = "none";
    if (channel.credentials.empty()) channel.credentials = settings.smtp_credentials.text;
}

alert::AlertSettings engine_settings(const config::Settings& settings) {
    alert::AlertSettings made;
    made.settle = settings.alert_settle;
    made.verify_timeout = settings.alert_verify_timeout;
    made.gather = settings.alert_gather;
    made.flap.high_percent = settings.flap_high_percent;
    made.flap.low_percent = settings.flap_low_percent;
    made.flap.cool_down = settings.flap_cool_down;
    made.flap.tellings = static_cast<std::uint32_t>(settings.flap_notifications);
    made.observer.least = static_cast<std::uint32_t>(settings.observer_least);
    made.observer.share = settings.observer_share;
    made.observer.window = settings.observer_window;
    return made;
}

alert::PlannerSettings planner_settings(const config::Settings& settings) {
    alert::PlannerSettings made;
    made.review = settings.alerts_review;
    made.flap_limit = static_cast<std::uint32_t>(settings.flap_notifications);
    made.flap_cool_down = settings.flap_cool_down;
    made.external_url = settings.external_url.text;
    while (made.external_url.ends_with('/')) made.external_url.pop_back();
    return made;
}

// When it cannot hold anything any more; max: it has no end.
base::WallTime end_of(const model::Silence& silence) {
    if (silence.until == base::WallTime{}) return base::WallTime::max();
    const bool flexible = silence.kind == model::SilenceKind::kFlexible;
    return silence.until + (flexible ? silence.duration : base::Duration::zero());
}

// What is well again follows from what is wrong, in the proportions of the defaults.
alert::SelfLimits self_limits(const config::Settings& settings) {
    alert::SelfLimits made;
    made.on = settings.self_monitoring;
    made.backlog_share = settings.self_backlog_share;
    made.start_lag = settings.self_start_lag;
    made.dead_letters_more = static_cast<std::uint64_t>(settings.self_dead_letters);
    made.breaker_for = settings.self_breaker_open;
    // Between wrong and well there must be room, also where every poll has to succeed.
    made.success_low = std::min(settings.self_success_ratio, 0.999);
    made.success_well = 1 - (1 - made.success_low) / 5;
    made.poll_slow_s = base::to_seconds(settings.self_average_poll);
    made.poll_well_s = made.poll_slow_s * 2 / 5;
    made.cpu_high = settings.self_worker_cpu;
    made.cpu_well = made.cpu_high * 7 / 9;
    return made;
}

}  // namespace

std::shared_ptr<const NotifyPolicy> Server::notify_policy() const {
    auto policy = std::make_shared<NotifyPolicy>();
    policy->engine = engine_settings(settings_);
    policy->planner = planner_settings(settings_);
    policy->self = self_limits(settings_);
    policy->retention = std::chrono::hours(24) * settings_.alerts_keep_days;
    policy->mail_from = settings_.smtp_from.text;
    policy->sentinel_url = settings_.sentinel_url.text;
    policy->sentinel_watch = settings_.sentinel_watch.text;
    policy->sentinel_interval = settings_.sentinel_interval;
    policy->credentials = image_->credentials;
    const auto fleet = config::from_objects(*objects_);
    if (!fleet) return policy;  // it was good when it was stored: nothing of it is believed now
    policy->receivers = config::receivers_of(*fleet);
    for (model::Receiver& receiver : policy->receivers) {
        for (model::Channel& channel : receiver.channels) {
            add_mail_server(channel, settings_);
            if (channels_) channel.digests = channels_->digests(channel);
        }
    }
    policy->routes = config::routes_of(*fleet);
    config::ByName<std::string> ids;
    for (const model::ConfigObject& object : *objects_) {
        if (object.kind == model::ObjectKind::kSilence) ids.emplace(object.name, object.id);
    }
    policy->silences = config::silences_of(*fleet, ids);
    return policy;
}

void Server::note_sentinel(const model::SentinelStatus& status) {
    const std::lock_guard lock(sentinel_mutex_);
    sentinel_ = status;
}

model::SentinelStatus Server::sentinel() const {
    const std::lock_guard lock(sentinel_mutex_);
    return sentinel_;
}

base::Status Server::load_channels() {
    if (!options_.channels) return {};
    auto rules = options_.channels(settings_);
    if (!rules) return std::unexpected(rules.error());
    channels_ = std::move(*rules);
    return {};
}

void Server::check_channels(const config::ByName<model::Receiver>& receivers,
                            const config::Places& places,
                            document::Diagnostics& diagnostics) const {
    if (channels_) config::check_channels(receivers, places, *channels_, diagnostics);
}

// Those of other settings; what receivers need must be there.
base::Result<std::shared_ptr<const config::ChannelRules>> Server::channels_for(
    const config::Settings& next, const config::Fleet& fleet) const {
    if (!options_.channels || next.channel_folder == settings_.channel_folder) return channels_;
    auto rules = options_.channels(next);
    if (!rules) return std::unexpected(rules.error());
    document::Diagnostics diagnostics;
    config::check_channels(fleet.receivers, {}, **rules, diagnostics);
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("fleet.invalid"));
    return rules;
}

void Server::check_silences(const config::Fleet& fleet, document::Diagnostics& diagnostics) {
    const base::WallTime now = net::wall_now();
    const auto open = std::ranges::count_if(
        fleet.silences, [&](const auto& one) { return end_of(one.second) > now; });
    if (static_cast<std::size_t>(open) <= alert::kMostSilences) return;
    diagnostics.error({}, "silences",
                      fmt::format("there would be {} that are not over, and at most {} are kept: "
                                  "end some, or let one with wider matchers take their place",
                                  open, alert::kMostSilences));
}

// What people silenced is kept for a while after it is over, so that they can look it up.
void Server::forget_silences() {
    if (options_.offline) return;
    std::vector<model::ConfigObject> silences;
    for (const model::ConfigObject& object : *objects_) {
        const bool ours =
            object.kind == model::ObjectKind::kSilence && object.origin == model::Origin::kApi;
        if (ours) silences.push_back(object);
    }
    const auto fleet = config::from_objects(silences);
    if (!fleet) return;
    const base::WallTime now = net::wall_now();
    std::vector<std::pair<base::WallTime, std::string>> over;
    for (const auto& [name, silence] : fleet->silences) {
        if (const base::WallTime end = end_of(silence); end <= now) over.emplace_back(end, name);
    }
    std::ranges::sort(over);
    const std::size_t above = over.size() - std::min(over.size(), kMostOverSilences);
    std::vector<config::WantedObject> gone;
    for (std::size_t i = 0; i < over.size() && gone.size() < kForgottenAtOnce; ++i) {
        if (i >= above && over[i].first + kKeepSilences > now) break;
        config::WantedObject& one = gone.emplace_back();
        one.verb = config::EditVerb::kRemove;
        one.kind = model::ObjectKind::kSilence;
        one.name = over[i].second;
    }
    if (gone.empty()) return;
    model::AuditEntry entry;
    entry.at = now;
    entry.principal = "system";
    entry.action = "silence.forget";
    entry.object = "silences";
    entry.after = fmt::format("{} removed that were over for long", gone.size());
    document::Diagnostics diagnostics;
    const auto done = edit(gone, {"silences that were over for long", {entry}}, diagnostics);
    if (!done) {
        log_.warn("old silences were not removed", {{"error", done.error().message}});
        return;
    }
    log_.info("old silences were removed", {{"count", std::to_string(gone.size())}});
}

void Server::load_alerts(store::LoadVisitor& visitor) {
    AlertLoad& load = alert_load_;
    visitor.alert = [&load](model::Alert&& row) { load.alerts.push_back(std::move(row)); };
    visitor.incident = [&load](model::Incident&& row) { load.incidents.push_back(std::move(row)); };
    visitor.notification = [&load](model::Notification&& row) {
        load.notifications.push_back(std::move(row));
    };
    visitor.alert_memory = [&load](store::MemoryRow&& row) {
        load.memory.push_back(std::move(row));
    };
    visitor.alert_cursor = [&load](std::string_view name, std::uint64_t value) {
        load.cursors.emplace(name, value);
    };
}

base::Status Server::make_alerts() {
    const auto [high, low] = random_bits();
    AlertDeskOptions options;
    options.seed = {high, low};
    options.zones = zone_lookup();
    options.load = std::exchange(alert_load_, {});
    options.image = image_->alerts;
    options.policy = notify_policy();
    auto desk = AlertDesk::make(*store_, log_, *core_, std::move(options));
    if (!desk) return std::unexpected(desk.error());
    alerts_ = std::move(*desk);
    alert_desk_.store(alerts_.get(), std::memory_order_release);
    journal_->set_sink(
        [this](std::vector<SignalNews> news) { alerts_->observed(std::move(news)); });
    return {};
}

base::Status Server::run_alerts() {
    std::vector<SignalNews> present = journal_->present();
    std::promise<std::vector<SignalNews>> asked;
    desk_->present([&asked](std::vector<SignalNews> heard) { asked.set_value(std::move(heard)); });
    for (SignalNews& news : asked.get_future().get()) present.push_back(std::move(news));
    return alerts_->run(present);
}

void Server::follow_alerts() {
    if (!alerts_) return;
    alerts_->set_image(image_->alerts);
    alerts_->set_policy(notify_policy());
    if (policy_changed_) policy_changed_();
}

}  // namespace pollux::runtime
