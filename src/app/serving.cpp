#include "app/serving.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "app/addon_files.hpp"
#include "app/channel_files.hpp"
#include "app/fleet_files.hpp"
#include "lab/fleet_server.hpp"

namespace pollux::app {

base::Result<runtime::AddonSet> load_addon_set(const std::string& folder) {
    auto loaded = load_addons(folder);
    if (!loaded) return std::unexpected(loaded.error());
    runtime::AddonSet set;
    for (const LoadedAddon& one : *loaded) {
        if (!one.addon) return std::unexpected(one.diagnostics.as_error("addon.invalid"));
        set[one.addon->addon().name] = one.addon;
    }
    return set;
}

base::Status Serving::open_log(const ServeArguments& arguments) {
    log_fd_ = STDERR_FILENO;
    if (!arguments.log_file.empty()) {
        log_fd_ = open(arguments.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (log_fd_ < 0) {
            return base::config_error(
                "log.file",
                fmt::format("cannot write {}: {}", arguments.log_file, std::strerror(errno)));
        }
    }
    observe::LogOptions options;
    options.format =
        arguments.log_format == "json" ? observe::LogFormat::kJson : observe::LogFormat::kLogfmt;
    log_ = std::make_unique<observe::Log>(options, &net::wall_now,
                                          log_tail_.before(observe::descriptor_sink(log_fd_)));
    return {};
}

base::Status Serving::watch_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    signal(SIGPIPE, SIG_IGN);
    signal_fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd_ < 0) {
        return base::internal_error("serve.signals", std::strerror(errno));
    }
    return loop_->watch(signal_fd_, EPOLLIN, *this);
}

base::Result<std::unique_ptr<Serving>> Serving::start(const ServeArguments& arguments,
                                                      const config::Environment& environment) {
    std::unique_ptr<Serving> serving(new Serving());
    auto loop = net::EventLoop::create();
    if (!loop) return std::unexpected(loop.error());
    serving->loop_ = std::move(*loop);
    if (auto status = serving->open_log(arguments); !status) {
        return std::unexpected(status.error());
    }
    if (auto status = serving->watch_signals(); !status) return std::unexpected(status.error());
    lab::raise_descriptor_limit();
    auto addons = load_addon_set(arguments.addons);
    if (!addons) return std::unexpected(addons.error());
    runtime::ServerOptions options;
    options.data = arguments.memory ? "" : arguments.data;
    options.environment = environment;
    options.addons = std::move(*addons);
    options.channels = load_channels;
    options.manager = serving->manager_ = runtime::ServiceManager::from_environment();
    options.version = POLLUX_VERSION;
    if (!arguments.fleet.empty()) {
        options.fleet_files = [paths = arguments.fleet] { return read_fleet_files(paths); };
    }
    auto server = runtime::Server::start(*serving->loop_, *serving->log_, std::move(options));
    if (!server) return std::unexpected(server.error());
    serving->server_ = std::move(*server);
    auto notifying = Notifying::start(*serving->server_, *serving->log_);
    if (!notifying) return std::unexpected(notifying.error());
    serving->notifying_ = std::move(*notifying);
    serving->server_->on_notify_policy(
        [notifying = serving->notifying_.get()] { notifying->follow(); });
    auto metrics = MetricsServer::start(*serving->loop_, *serving->server_);
    if (!metrics) return std::unexpected(metrics.error());
    serving->metrics_ = std::move(*metrics);
    if (!arguments.memory) {
        auto control = ControlServer::start(*serving->loop_, *serving->server_, arguments.data,
                                            &serving->log_tail_);
        if (!control) return std::unexpected(control.error());
        serving->control_ = std::move(*control);
    }
    if (auto status = serving->start_api(); !status) return std::unexpected(status.error());
    const auto tasks = serving->server_->image().expansion.tasks.size();
    serving->log_->info("serving", {{"version", POLLUX_VERSION},
                                    {"tasks", std::to_string(tasks)},
                                    {"data", arguments.memory ? "(memory)" : arguments.data},
                                    {"api", serving->api_address()},
                                    {"metrics", serving->metrics_->address().to_string()}});
    serving->manager_.ready(fmt::format("{} tasks", tasks));
    return serving;
}

base::Status Serving::start_api() {
    if (server_->settings().api_listen.items.empty()) return {};
    api::ApiServiceOptions options;
    options.version = POLLUX_VERSION;
    auto api = api::ApiService::start(*loop_, *server_, *log_, std::move(options));
    if (!api) return std::unexpected(api.error());
    api_ = std::move(*api);
    metrics_->set_more([api = api_.get()](std::string& out) { api->write_metrics(out); });
    server_->on_settings(
        [api = api_.get()](const config::Settings& settings) { api->take_settings(settings); });
    return {};
}

std::string Serving::api_address() const {
    return api_ && !api_->addresses().empty() ? api_->addresses().front().to_string() : "";
}

std::string Serving::api_url() const {
    const std::string address = api_address();
    if (address.empty()) return {};
    const bool tls = !server_->settings().api_tls_certificate.text.empty();
    return (tls ? "https://" : "http://") + address;
}

std::string Serving::bootstrap_token() const {
    return api_ && api_->bootstrap_token() ? api_->bootstrap_token()->reveal() : "";
}

std::string first_steps(const Serving& serving) {
    const std::string token = serving.bootstrap_token();
    if (token.empty()) return {};
    return fmt::format(
        "There is no admin yet. Make one within 24 hours, with this one-time token:\n\n"
        "  {}\n\n"
        "  pollux user bootstrap --url {} --name admin\n\n",
        token, serving.api_url());
}

Serving::~Serving() {
    api_.reset();
    control_.reset();
    metrics_.reset();
    notifying_.reset();
    server_.reset();
    if (signal_fd_ >= 0) {
        loop_->unwatch(signal_fd_);
        close(signal_fd_);
    }
    if (log_fd_ > STDERR_FILENO) close(log_fd_);
}

void Serving::run() {
    loop_->run();
    log_->info("stopping");
    server_->on_settings({});
    server_->on_notify_policy({});
    metrics_->set_more({});
    api_.reset();
    control_.reset();
    metrics_.reset();
    notifying_.reset();  // what is under way may still be stored
    server_->stop();
    log_->info("stopped");
}

void Serving::on_ready(int fd, std::uint32_t /*events*/) {
    signalfd_siginfo info{};
    while (read(fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGHUP) {
            [[maybe_unused]] const auto status = server_->reload();  // logged there
        } else {
            loop_->stop();
        }
    }
}

}  // namespace pollux::app
