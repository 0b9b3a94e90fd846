#include "api/api_service.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <future>

#include "api/access_rules.hpp"
#include "api/openapi.hpp"
#include "api/proposal_routes.hpp"
#include "api/routes.hpp"
#include "api/static_files.hpp"
#include "config/network_text.hpp"
#include "runtime/random_bits.hpp"
#include "runtime/tls_files.hpp"

namespace pollux::api {
namespace {

constexpr base::Duration kHouseEvery = std::chrono::minutes(1);
constexpr std::size_t kHashThreads = 2;
constexpr std::size_t kHashQueue = 32;
constexpr std::size_t kReadThreads = 2;
constexpr std::size_t kReadQueue = 256;

base::SipKey random_key() {
    const auto [high, low] = runtime::random_bits();
    return {high, low};
}

access::RandomBytes random_bytes() {
    access::RandomBytes bytes{};
    randombytes_buf(bytes.data(), bytes.size());
    return bytes;
}

}  // namespace

ApiService::ApiService(net::EventLoop& main, runtime::Server& server, observe::Log& log,
                       ApiServiceOptions options)
    : main_(main),
      server_(server),
      log_(log),
      options_(std::move(options)),
      hashes_(kHashThreads, kHashQueue),
      reads_(kReadThreads, kReadQueue) {}

ApiService::~ApiService() { stop(); }

base::Result<std::unique_ptr<ApiService>> ApiService::start(net::EventLoop& main,
                                                            runtime::Server& server,
                                                            observe::Log& log,
                                                            ApiServiceOptions options) {
    std::unique_ptr<ApiService> service(new ApiService(main, server, log, std::move(options)));
    if (auto status = service->open(); !status) return std::unexpected(status.error());
    return service;
}

base::Result<ApiServerOptions> ApiService::server_options() const {
    const config::Settings& settings = server_.settings();
    ApiServerOptions options;
    options.random = random_key();
    // Somebody wrote another address into the settings: that is the decision.
    options.allow_non_loopback = true;
    for (const std::string& item : settings.api_listen.items) {
        const auto split = config::split_listen_address(item);
        if (!split) {
            return base::config_error(
                "api.address",
                fmt::format("cannot serve the API on {}: write an address with a port", item));
        }
        auto at = net::SocketAddress::parse(split->host, split->port);
        if (!at) return std::unexpected(at.error());
        options.listen.push_back(*at);
    }
    auto tls = runtime::read_tls_identity(runtime::api_tls_files(settings));
    if (!tls) return std::unexpected(tls.error());
    options.tls = std::move(*tls);
    return options;
}

base::Status ApiService::open() {
    auto options = server_options();
    if (!options) return std::unexpected(options.error());
    auto http = ApiServer::create(std::move(*options), log_);
    if (!http) return std::unexpected(http.error());
    http_ = std::move(*http);
    door_ = std::make_shared<LoopDoor>(http_->loop());
    if (auto status = load_accounts(); !status) return status;
    make_hub();
    auto router = Router::create(routes());
    if (!router) return std::unexpected(router.error());
    if (auto status = http_->start(std::move(*router), *authenticator_); !status) return status;
    for (const net::SocketAddress& address : http_->addresses()) {
        log_.info("listening", {{"key", address.to_string()}, {"for", "api"}});
    }
    http_->loop().post([this] {
        house_ = std::make_unique<net::Timer>(http_->loop(), [this] { keep_house(); });
        house_->arm_in(kHouseEvery);
    });
    return {};
}

base::Status ApiService::load_accounts() {
    AccountPorts ports;
    ports.submit = [this](store::ObjectBatch batch, store::ObjectDone done) {
        return server_.store().submit(std::move(batch), std::move(done));
    };
    ports.post = [door = door_](std::move_only_function<void()> work) {
        door->post(std::move(work));
    };
    ports.work = [this](std::move_only_function<void()> work) {
        return hashes_.submit(std::move(work));
    };
    ports.refused = [this](model::AuditEntry entry) {
        record_refusal(std::move(entry), refused_logins_);
    };
    ports.wall = &net::wall_now;
    ports.boot = &net::boot_now;
    ports.random = &random_bytes;
    AccountOptions options;
    options.cost = options_.password_cost;
    accounts_ = std::make_unique<Accounts>(std::move(ports), options);
    for (const std::string& text : accounts_->load(server_.take_account_objects())) {
        log_.error("an account cannot be read and was left out", {{"error", text}});
    }
    authenticator_ = std::make_unique<AccountAuthenticator>(
        *accounts_,
        AccountAuthenticator::Ports{&net::wall_now, &net::boot_now,
                                    [this](model::AuditEntry entry) {
                                        record_refusal(std::move(entry), refused_requests_);
                                    }},
        random_key());
    auto rules = make_access_rules(server_.settings());
    if (!rules) return std::unexpected(rules.error());
    authenticator_->set_rules(std::move(*rules));
    account_handlers_ = std::make_unique<AccountHandlers>(*accounts_, *authenticator_);
    bootstrap_ = accounts_->start_bootstrap();
    return {};
}

ServerLink ApiService::link() { return {server_, main_, door_, reads_, log_, options_.version}; }

void ApiService::make_hub() {
    EventHubPorts ports;
    ports.view = [this] { return server_.view(); };
    ports.wall = &net::wall_now;
    ports.login = [this](const access::Principal& one) { return accounts_->login_of(one); };
    ports.renew = [this](const access::Principal& one, const std::string& login) {
        return accounts_->renewed(one, login);
    };
    ports.interest_changed = [this] { collector_->interest_changed(); };
    EventHubOptions options;
    options.epoch = server_.event_epoch();
    options.clients = static_cast<std::size_t>(server_.settings().api_ws_clients);
    options.clients_of_one = static_cast<std::size_t>(server_.settings().api_ws_clients_per_user);
    hub_ = std::make_unique<EventHub>(http_->loop(), std::move(ports), options);
    collector_ = std::make_unique<EventCollector>(link(), http_->loop(), *hub_);
    collector_->start();
}

void ApiService::publish(EventType type, std::string key, std::string data) {
    http_->loop().post([this, type, key = std::move(key), data = std::move(data)]() mutable {
        hub_->publish(type, std::move(key), data);
    });
}

std::vector<Route> ApiService::routes() {
    std::vector<Route> all = account_handlers_->routes();
    const ServerLink link = this->link();
    add_event_routes(all, *hub_, *collector_);
    add_monitoring_routes(all, link);
    add_failure_routes(all, link);
    add_scheduler_routes(all, link);
    add_settings_routes(all, link);
    add_fleet_routes(all, link);
    add_fleet_snapshot_routes(all, link, *hub_);
    add_insight_routes(all, link);
    add_outlook_routes(all, link);
    add_target_routes(all, link);
    add_target_bulk_routes(all, link);
    add_proposal_routes(all, link);
    add_addon_routes(all, link);
    add_history_routes(all, link);
    add_job_routes(all, link);
    add_alert_routes(all, link);
    add_notification_routes(all, link);
    add_alertmanager_routes(all, link);
    add_audit_routes(all, link);
    add_worker_routes(all, link);
    add_system_routes(all, link);
    add_status_routes(all, link, *accounts_);
    all = with_documentation(std::move(all), {.title = "Pollux", .version = options_.version});
    add_static_routes(all,
                      std::make_shared<const StaticFiles>(packed_web_files(), web_files_blob()));
    return all;
}

// On the API's thread.
void ApiService::keep_house() {
    accounts_->flush_uses({});
    write_refusals(false);
    house_->arm_in(kHouseEvery);
}

// Of people with a login each is recorded; of others they are counted, so that nobody can fill the
// disk.
void ApiService::record_refusal(model::AuditEntry entry, store::RefusalCounter& unknown) {
    entry.result = model::AuditResult::kRefused;
    if (entry.principal == "anonymous") {
        unknown.count(entry.at, entry.action, entry.address,
                      entry.reason.empty() ? entry.after : entry.reason);
        return;
    }
    submit_refusals({std::move(entry)});
}

void ApiService::write_refusals(bool all) {
    for (store::RefusalCounter* counter : {&refused_logins_, &refused_requests_}) {
        auto entries = counter->drain(net::wall_now(), all);
        if (!entries.empty()) submit_refusals(std::move(entries));
    }
}

void ApiService::submit_refusals(std::vector<model::AuditEntry> entries) {
    store::AuditBatch batch;
    batch.entries = std::move(entries);
    if (auto status = server_.store().submit(std::move(batch), {}); !status) {
        log_.error("a refusal could not be recorded", {{"error", status.error().message}});
    }
}

void ApiService::take_settings(const config::Settings& settings) {
    auto rules = make_access_rules(settings);
    if (!rules) return;  // the settings were checked before
    const auto clients = static_cast<std::size_t>(settings.api_ws_clients);
    const auto of_one = static_cast<std::size_t>(settings.api_ws_clients_per_user);
    http_->loop().post([this, clients, of_one, rules = std::move(*rules)]() mutable {
        authenticator_->set_rules(std::move(rules));
        hub_->set_client_limits(clients, of_one);
    });
}

void ApiService::write_metrics(std::string& out) const {
    observe::MetricWriter writer(out);
    http_->metrics().write(writer);
    const EventHubCounts events = collector_->counts();
    const auto plain = [&](observe::MetricId id, auto value) {
        writer.family(id);
        writer.sample({}, static_cast<double>(value));
    };
    plain(observe::MetricId::kEventClients, events.clients);
    plain(observe::MetricId::kEventClientsRefused, events.refused);
    plain(observe::MetricId::kEvents, events.published);
    plain(observe::MetricId::kEventsSent, events.sent);
    plain(observe::MetricId::kEventResyncs, events.resyncs);
    plain(observe::MetricId::kEventWaitingBytes, events.waiting);
}

void ApiService::stop() {
    if (std::exchange(stopped_, true) || !http_) return;
    // Uses since the last turn of the house are written before the store goes.
    const auto flushed = std::make_shared<std::promise<void>>();
    auto done = flushed->get_future();
    http_->loop().post([this, flushed] {
        house_.reset();
        collector_->stop();
        hub_->close_all(net::kCloseGoingAway, "the server ends");
        write_refusals(true);
        accounts_->flush_uses([flushed](base::Result<void>) { flushed->set_value(); });
    });
    if (!http_->addresses().empty()) done.wait_for(std::chrono::seconds(2));
    http_->stop();
    door_->close();
}

}  // namespace pollux::api
