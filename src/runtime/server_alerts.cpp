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
        for (model::Channel& channel : receiver.channels) add_mail_server(channel, settings_);
    }
    policy->routes = config::routes_of(*fleet);
    config::ByName<std::string> ids;
    for (const model::ConfigObject& object : *objects_) {
        if (object.kind == model::ObjectKind::kSilence) ids.emplace(object.name, object.id);
    }
    policy->silences = config::silences_of(*fleet, ids);
    return policy;
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
