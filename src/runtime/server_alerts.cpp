// The server's side of alerts: makes the desk, gives it the fleet and the rules, and lets it run.
#include <future>

#include "runtime/random_bits.hpp"
#include "runtime/server.hpp"
#include "runtime/zone_files.hpp"

namespace pollux::runtime {

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
