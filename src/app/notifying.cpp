#include "app/notifying.hpp"

#include <pthread.h>

#include <future>
#include <utility>

#include "app/channel_files.hpp"
#include "runtime/shard_drivers.hpp"
#include "runtime/zone_files.hpp"

namespace pollux::app {
namespace {

constexpr base::Duration kAgainAfter = std::chrono::seconds(1);
constexpr base::Duration kStopWait = std::chrono::seconds(5);

feed::Endpoints endpoints_of(const runtime::NotifyPolicy& policy,
                             const feed::ChannelLibrary& library) {
    feed::Endpoints endpoints;
    for (const model::Receiver& receiver : policy.receivers) {
        for (const model::Channel& channel : receiver.channels) {
            const auto credentials = policy.credentials.find(channel.credentials);
            endpoints[{receiver.name, channel.name}] = feed::make_endpoint(
                channel, credentials == policy.credentials.end() ? nullptr : credentials->second,
                library);
        }
    }
    return endpoints;
}

// Only what is new: it beats all the time.
void log_heartbeat(observe::Log& log, const model::SentinelStatus& before,
                   const model::SentinelStatus& now) {
    enum class State : std::uint8_t { kUnknown, kHeld, kFails, kArrives };
    const auto state_of = [](const model::SentinelStatus& status) {
        return status.last_skipped               ? State::kHeld
               : !status.last_send_error.empty() ? State::kFails
               : status.sent > 0                 ? State::kArrives
                                                 : State::kUnknown;
    };
    const State state = state_of(now);
    if (state == state_of(before)) return;
    if (state == State::kHeld) log.warn("heartbeat to outside held back: we are not well");
    if (state == State::kArrives) log.info("heartbeat to outside arrives");
    if (state == State::kFails) {
        log.warn("heartbeat to outside does not arrive", {{"error", now.last_send_error}});
    }
}

bool same(const feed::SentinelTarget& a, const feed::SentinelTarget& b) {
    return a.url == b.url && a.interval == b.interval && a.credentials == b.credentials;
}

}  // namespace

base::Result<std::unique_ptr<Notifying>> Notifying::start(runtime::Server& server,
                                                          observe::Log& log) {
    std::unique_ptr<Notifying> notifying(new Notifying(server, log));
    auto setup = notifying->setup();
    if (!setup) return std::unexpected(setup.error());
    if (auto status = notifying->open(std::move(*setup)); !status) {
        return std::unexpected(status.error());
    }
    notifying->thread_ = std::thread([loop = notifying->loop_] {
        pthread_setname_np(pthread_self(), "pollux-notify");
        loop->run();
    });
    server.alerts()->set_delivery([self = notifying.get()](std::vector<model::Notification> rows) {
        self->loop_->post(
            [self, rows = std::move(rows)]() mutable { self->offer(std::move(rows)); });
    });
    return notifying;
}

Notifying::~Notifying() { stop(); }

base::Result<Notifying::Setup> Notifying::setup() const {
    const config::Settings& settings = server_.settings();
    const auto policy = server_.notify_policy();
    Setup setup;
    auto egress = runtime::make_egress(settings);
    if (!egress) return std::unexpected(egress.error());
    setup.egress = std::move(*egress);
    setup.exec = runtime::make_command_rules(settings, nullptr).exec;
    setup.endpoints = endpoints_of(*policy, library_of(server_.channels().get()));
    setup.email.from = policy->mail_from;
    const auto target = [&](const std::string& url) {
        feed::SentinelTarget made;
        made.url = url;
        made.interval = policy->sentinel_interval;
        made.timeout = std::min<base::Duration>(made.timeout, made.interval);
        return made;
    };
    setup.sentinel.heartbeat = target(policy->sentinel_url);
    setup.sentinel.peer = target(policy->sentinel_watch);
    const auto login = policy->credentials.find(settings.alertmanager_credentials.text);
    for (std::string url : settings.alertmanager_urls) {
        while (url.ends_with('/')) url.pop_back();
        setup.alertmanagers.push_back(
            {std::move(url), login == policy->credentials.end() ? nullptr : login->second});
    }
    setup.review = policy->planner.review;
    setup.external_url = policy->planner.external_url;
    return setup;
}

base::Status Notifying::open(Setup setup) {
    auto loop = net::EventLoop::create();
    if (!loop) return std::unexpected(loop.error());
    loop_ = std::move(*loop);
    auto resolver = net::Resolver::create(*loop_, {});
    if (!resolver) return std::unexpected(resolver.error());
    resolver_ = std::move(*resolver);
    again_ = std::make_unique<net::Timer>(*loop_, [this] { offer_waiting(); });
    feed::DelivererOptions options;
    options.email = setup.email;
    options.exec = setup.exec;
    deliverer_ = std::make_unique<feed::Deliverer>(
        *loop_, *resolver_, setup.egress, std::move(options),
        [this](const std::shared_ptr<const feed::DeliveryReport>& done) { report(*done); });
    client_ = std::make_unique<net::HttpClient>(*loop_, *resolver_, setup.egress);
    make_forwarder();
    take(std::move(setup));
    return {};
}

void Notifying::follow() {
    auto next = setup();
    if (!next) {
        log_.error("channels of notifications stay as they were",
                   {{"error", next.error().message}});
        return;
    }
    loop_->post([this, next = std::move(*next)]() mutable { take(std::move(next)); });
}

void Notifying::stop() {
    if (!thread_.joinable()) return;
    server_.alerts()->set_delivery({});
    auto stopped = std::make_shared<std::promise<void>>();
    auto future = stopped->get_future();
    loop_->post([this, stopped] {
        again_->cancel();
        sentinel_.reset();
        forwarder_.reset();
        deliverer_->stop(kStopWait, [stopped] { stopped->set_value(); });
    });
    future.wait_for(2 * kStopWait);
    loop_->stop();
    thread_.join();
    // Everything that lives on the loop goes before it, and not by the thread that ended.
    sentinel_.reset();
    forwarder_.reset();
    deliverer_.reset();
    client_.reset();
    again_.reset();
    resolver_.reset();
}

// --- on the thread ------------------------------------------------------------------------------

void Notifying::take(Setup setup) {
    deliverer_->set_endpoints(std::move(setup.endpoints));
    deliverer_->set_egress(setup.egress);
    deliverer_->set_email(std::move(setup.email));
    deliverer_->set_exec(std::move(setup.exec));
    review_ = setup.review;
    external_url_ = std::move(setup.external_url);
    client_->set_egress(setup.egress);
    forwarder_->set_targets(setup.alertmanagers);
    const bool other = !same(setup.sentinel.heartbeat, sentinel_options_.heartbeat) ||
                       !same(setup.sentinel.peer, sentinel_options_.peer);
    if (sentinel_ && !other) return;
    // Nobody looks any more, also since a restart with other settings: nobody would take it back.
    if (setup.sentinel.peer.url.empty()) tell_of_peer(false, {}, net::wall_now());
    sentinel_options_ = setup.sentinel;
    sentinel_ = std::make_unique<feed::Sentinel>(
        *loop_, *client_, std::move(setup.sentinel), [this] { return server_.well(); },
        [this](const feed::PeerReport& one) {
            tell_of_peer(one.change == feed::PeerChange::kLost, one.message, one.at);
        },
        [this, before = model::SentinelStatus{}](const model::SentinelStatus& status) mutable {
            server_.note_sentinel(status);
            log_heartbeat(log_, before, status);
            before = status;
        });
}

void Notifying::make_forwarder() {
    forwarder_ = std::make_unique<feed::AlertmanagerForwarder>(
        *loop_, *client_, log_,
        feed::ForwarderPorts{[this](auto done) { snapshot(std::move(done)); },
                             [this] { return external_url_; }});
}

// What people may be told of: neither pending nor suppressed nor silent.
void Notifying::snapshot(std::move_only_function<void(std::vector<model::Alert>)> done) {
    runtime::AlertDesk* desk = server_.alerts();
    if (review_ || desk == nullptr) return done({});
    desk->audible_alerts(std::move(done));
}

void Notifying::offer(std::vector<model::Notification> rows) {
    for (model::Notification& row : rows) no_room_.push_back(std::move(row));
    offer_waiting();
}

void Notifying::offer_waiting() {
    while (!no_room_.empty()) {
        if (!deliverer_->offer(no_room_.front())) {
            again_->arm_in(kAgainAfter);
            return;
        }
        no_room_.pop_front();
    }
}

void Notifying::report(const feed::DeliveryReport& report) {
    const model::Notification& row = *report.notification;
    const bool good = report.outcome.result == feed::AttemptResult::kDelivered;
    log_.write(good ? observe::LogLevel::kInfo : observe::LogLevel::kWarn,
               good ? "notification delivered" : "notification not delivered",
               {{"key", row.receiver + "/" + row.channel},
                {"kind", std::string(to_string(row.kind))},
                {"incident", row.incident},
                {"state", std::string(to_string(row.state))},
                {"attempts", std::to_string(row.attempts)},
                {"error", report.outcome.message}});
    if (runtime::AlertDesk* desk = server_.alerts()) desk->delivered({row});
}

// The other Pollux is dead, or lives: an alert of our own. To clear what is not there does nothing.
void Notifying::tell_of_peer(bool lost, std::string message, base::WallTime at) {
    runtime::AlertDesk* desk = server_.alerts();
    if (desk == nullptr) return;
    model::Signal signal;
    signal.type = "peer_lost";
    signal.severity = "critical";
    signal.category = "monitoring";
    signal.title = "The other Pollux does not answer";
    signal.message = std::move(message);
    signal.rule = "sentinel_watch";
    signal.clear = !lost;
    desk->observed_ourselves(std::move(signal), at);
}

}  // namespace pollux::app
