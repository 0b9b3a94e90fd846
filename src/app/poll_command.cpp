// `pollux poll`: polls one target once and shows what came of it; with --trace every step and every
// rule. Needs no server: the target comes from fleet files, from a data folder, or from options.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/api_command.hpp"
#include "app/commands.hpp"
#include "app/fleet_files.hpp"
#include "app/fleet_ports.hpp"
#include "app/serving.hpp"
#include "config/check_fleet.hpp"
#include "config/objects.hpp"
#include "net/event_loop.hpp"
#include "protocol/ssh/host_keys.hpp"
#include "runtime/fleet_image.hpp"
#include "runtime/poll_reading.hpp"
#include "runtime/secret_files.hpp"
#include "runtime/shard_drivers.hpp"

namespace pollux::app {
namespace {

struct PollArguments {
    std::string target;  // addon::device, or addon with --host
    std::vector<std::string> fleet;
    std::string data;
    std::string addons;
    std::string host;
    std::uint16_t port = 0;
    std::vector<std::string> params;  // name=value
    std::string community;            // reference: ${VARIABLE}, file:/path
    std::string username;
    std::string password;  // reference
    std::string ssh_key;   // path
    bool ssh_agent = false;
    bool no_verify = false;
    bool trace = false;
    double again = 0;  // seconds until a second poll, so that rates show
    bool now = false;  // the server polls it, not we
    ApiOptions connection;
    std::string reason;
    std::string output = "table";
};

base::Result<config::Fleet> ad_hoc_fleet(const PollArguments& arguments) {
    config::Fleet fleet;
    config::Device device;
    device.addresses = {arguments.host};
    config::PollSettings poll;
    if (arguments.port != 0) poll.port = arguments.port;
    if (arguments.no_verify) poll.tls.verify = false;
    for (const std::string& text : arguments.params) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos) {
            return base::config_error("poll.param",
                                      fmt::format("--param {}: write it as name=value", text));
        }
        poll.params[text.substr(0, equals)] = text.substr(equals + 1);
    }
    config::Credential credential;
    credential.username = arguments.username;
    credential.ssh_key = arguments.ssh_key;
    credential.ssh_agent = arguments.ssh_agent;
    const auto refer = [](const std::string& text,
                          std::optional<config::SecretReference>& into) -> base::Status {
        if (text.empty()) return {};
        auto reference = config::parse_secret_reference(text);
        if (!reference) return std::unexpected(reference.error());
        into = std::move(*reference);
        return {};
    };
    if (auto status = refer(arguments.password, credential.password); !status) {
        return std::unexpected(status.error());
    }
    if (auto status = refer(arguments.community, credential.community); !status) {
        return std::unexpected(status.error());
    }
    fleet.credentials["given"] = std::move(credential);
    poll.credentials = "given";
    device.addons[arguments.target] = std::move(poll);
    fleet.devices[arguments.host] = std::move(device);
    return fleet;
}

base::Result<config::LoadedFleet> find_fleet(const PollArguments& arguments,
                                             const FleetPorts& ports) {
    if (!arguments.host.empty()) {
        auto fleet = ad_hoc_fleet(arguments);
        if (!fleet) return std::unexpected(fleet.error());
        return config::LoadedFleet{std::move(*fleet), {}};
    }
    if (!arguments.fleet.empty()) {
        const auto files = read_fleet_files(arguments.fleet);
        if (!files) return std::unexpected(files.error());
        document::Diagnostics diagnostics;
        config::LoadedFleet loaded = config::read_fleet(*files, diagnostics);
        if (diagnostics.ok()) config::check_fleet(loaded.fleet, loaded.places, diagnostics);
        if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("fleet.invalid"));
        return loaded;
    }
    if (arguments.data.empty()) {
        return base::config_error("poll.target",
                                  "say where the target is described: --fleet FILE, --data FOLDER, "
                                  "or an addon with --host ADDRESS");
    }
    const auto objects = ports.objects(arguments.data);
    if (!objects) return std::unexpected(objects.error());
    auto fleet = config::from_objects(*objects);
    if (!fleet) return std::unexpected(fleet.error());
    return config::LoadedFleet{std::move(*fleet), {}};
}

base::Result<std::shared_ptr<const runtime::PollPlan>> find_plan(const PollArguments& arguments,
                                                                 const FleetPorts& ports) {
    auto loaded = find_fleet(arguments, ports);
    if (!loaded) return std::unexpected(loaded.error());
    auto addons = load_addon_set(arguments.addons);
    if (!addons) return std::unexpected(addons.error());
    // Secrets of the vault are there if the data folder is.
    std::unique_ptr<store::SecretVault> master;
    std::unique_ptr<runtime::SecretFiles> vault;
    if (!arguments.data.empty()) {
        auto opened =
            store::SecretVault::open(store::KeySources::of_process(arguments.data + "/pollux.key"));
        if (!opened) return std::unexpected(opened.error());
        master = std::make_unique<store::SecretVault>(std::move(*opened));
        vault = std::make_unique<runtime::SecretFiles>(arguments.data + "/secrets", *master);
    }
    document::Diagnostics diagnostics;
    const config::Settings settings = config::resolve_settings(ports.environment, {}, diagnostics);
    const runtime::FleetImage image =
        runtime::make_image({.fleet = loaded->fleet,
                             .places = loaded->places,
                             .addons = *addons,
                             .settings = settings,
                             .ids = {},
                             .secrets = runtime::secret_source(ports.environment, vault.get()),
                             .shards = 1},
                            diagnostics);
    const std::string key = arguments.host.empty()
                                ? arguments.target
                                : fmt::format("{}::{}", arguments.target, arguments.host);
    const auto found = image.plans.find(key);
    if (found != image.plans.end()) return found->second;
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("fleet.invalid"));
    if (image.inbound->find(key)) {
        return base::config_error(
            "poll.inbound",
            fmt::format("{0} is heard, not polled: `pollux explain {0}` says how it "
                        "is, `pollux messages --target {0}` what came",
                        key));
    }
    std::string known;
    for (const auto& [name, plan] : image.plans) {
        if (known.size() > 300) break;
        known += "\n  " + name;
    }
    return base::config_error("poll.target", fmt::format("no target {}; there are:{}", key, known));
}

void print_phases(const model::Phases& phases) {
    const auto show = [](const char* name, base::Duration at) {
        if (at > base::Duration::zero()) fmt::print("  {} {}", name, base::format_duration(at));
    };
    show("dns", phases.dns);
    show("connect", phases.connect);
    show("tls", phases.tls);
    show("first byte", phases.first_byte);
    show("total", phases.total);
    fmt::print("\n");
}

void print_values(const runtime::PollPlan& plan, const derive::TargetMemory& memory) {
    const auto& metrics = plan.addon->addon().metrics;
    for (std::uint32_t slot = 0; slot < memory.size(); ++slot) {
        if (!memory.alive(slot)) continue;
        const derive::SeriesName series = memory.series(slot);
        const model::MetricDef& metric = metrics[series.metric];
        const std::string name =
            series.row.empty() ? metric.name : fmt::format("{} [{}]", metric.name, series.row);
        const std::string& text = memory.latest_text(slot);
        const auto value = memory.latest(slot);
        std::string shown = value ? fmt::format("{:.10g}", *value) : "";
        if (!text.empty()) shown = value ? fmt::format("{} ({})", text, shown) : text;
        const bool counter = metric.type == model::MetricType::kCounter;
        if (shown.empty()) shown = counter ? "(needs a second poll for a rate)" : "-";
        const bool rate = metric.type == model::MetricType::kCounter && value.has_value();
        fmt::print("  {:<40} {} {}{}\n", name, shown, metric.unit, rate ? "/s" : "");
    }
}

std::vector<const model::Reply*> pointers_to(
    const std::vector<std::optional<model::Reply>>& replies) {
    std::vector<const model::Reply*> out;
    for (const auto& reply : replies) out.push_back(reply ? &*reply : nullptr);
    return out;
}

void print_signals(const runtime::PollPlan& plan,
                   const std::vector<std::optional<model::Reply>>& replies) {
    const std::string address = plan.asks.front().empty() ? "" : plan.asks.front().front()->host;
    const model::PollSignals made = plan.addon->signals(
        plan.group, pointers_to(replies), net::instant_now().wall, {plan.device, address});
    for (const model::Signal& signal : made.signals) {
        fmt::print("  signal {}{} ({}): {}{}\n", signal.clear ? "clears " : "", signal.type,
                   signal.severity, signal.title,
                   signal.message.empty() ? "" : "\n    " + signal.message);
    }
}

// What the settings allow.
struct Surroundings {
    std::shared_ptr<const net::EgressPolicy> egress;
    runtime::CommandRules rules;
};

// Asks one after the other on a loop of its own.
std::vector<std::optional<model::Reply>> ask_all(const runtime::PollPlan& plan,
                                                 const Surroundings& around, bool trace) {
    auto loop = net::EventLoop::create().value();
    const auto drivers = runtime::real_drivers(around.egress, around.rules)(*loop);
    std::vector<std::optional<model::Reply>> replies;
    std::optional<std::size_t> next = 0;
    while (next && *next < plan.asks.front().size()) {
        const std::size_t i = *next;
        replies.resize(i);  // those between are not asked
        const auto& ask = plan.asks.front()[i];
        bool done = false;
        drivers->of(*ask).start({.id = i + 1,
                                 .ask = ask,
                                 .deadline = net::boot_now() + ask->timeout,
                                 .fresh_login = i == 0,
                                 .trace = trace},
                                [&](model::Reply&& reply) {
                                    replies.emplace_back(std::move(reply));
                                    done = true;
                                });
        while (!done) loop->run_once(std::chrono::milliseconds(100));
        if (trace) {
            fmt::print("request {} of {} ({})\n", i + 1, plan.asks.front().size(),
                       model::protocol_name(*ask));
            for (const std::string& line : replies.back()->trace) fmt::print("  {}\n", line);
            print_phases(replies.back()->phases);
        }
        next = plan.addon->next_ask(plan.group, pointers_to(replies));
    }
    return replies;
}

int poll_once(const runtime::PollPlan& plan, derive::TargetMemory& memory,
              const Surroundings& around, bool trace) {
    const auto replies = ask_all(plan, around, trace);
    extract::Trace rules;
    const runtime::PollReading reading = runtime::read_poll(
        plan, pointers_to(replies), memory, net::instant_now(), trace ? &rules : nullptr);
    print_signals(plan, replies);
    if (trace && !rules.empty()) {
        fmt::print("rules\n");
        for (const std::string& line : rules) fmt::print("  {}\n", line);
    }
    if (!model::is_success(reading.outcome)) {
        fmt::print("{}: {} ({})\n  {}\n", plan.key, model::to_string(reading.outcome),
                   reading.failure.code, reading.failure.message);
        return 2;
    }
    fmt::print("{}: {}\n", plan.key, model::to_string(reading.outcome));
    print_values(plan, memory);
    for (const std::string& problem : reading.readings.problems) fmt::print("  ! {}\n", problem);
    for (const model::ConditionLevel& level : reading.observation.conditions) {
        if (level.level != model::Level::kTriggered) continue;
        const auto& condition = plan.addon->addon().conditions[level.condition];
        fmt::print("  condition {} holds: {}\n", condition.name, condition.summary);
    }
    if (trace) fmt::print("digest of meaning {:016x}\n", reading.observation.digest);
    return 0;
}

int poll(const PollArguments& arguments, const FleetPorts& ports) {
    const auto plan = find_plan(arguments, ports);
    if (!plan || !(*plan)->problem.empty()) {
        fmt::print(stderr, "pollux: {}\n", plan ? (*plan)->problem : plan.error().message);
        return 1;
    }
    document::Diagnostics diagnostics;
    const config::Settings settings = config::resolve_settings(ports.environment, {}, diagnostics);
    const auto egress = runtime::make_egress(settings);
    if (!egress) {
        fmt::print(stderr, "pollux: {}\n", egress.error().message);
        return 1;
    }
    const Surroundings around{
        *egress,
        runtime::make_command_rules(
            settings, std::make_shared<protocol::ssh::HostKeys>(
                          arguments.data.empty() ? "" : arguments.data + "/ssh_known_hosts"))};
    derive::TargetMemory memory;
    int status = poll_once(**plan, memory, around, arguments.trace);
    if (arguments.again > 0 && status == 0) {
        std::this_thread::sleep_for(std::chrono::duration<double>(arguments.again));
        fmt::print("\nagain, after {} s\n", arguments.again);
        status = poll_once(**plan, memory, around, arguments.trace);
    }
    return status;
}

// Lets the server poll it, inside its budgets; with an open breaker this is its probe.
int poll_on_server(const PollArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        return act(client, arguments.output,
                   {.method = "POST",
                    .path = fmt::format("/api/targets/{}/poll", url_escaped(arguments.target)),
                    .body = reason_body(arguments.reason)},
                   [&](const document::Node&) {
                       return fmt::format(
                           "{0} is polled now by the server; see `pollux explain {0}`",
                           arguments.target);
                   });
    });
}

}  // namespace

void add_poll(CLI::App& app, int& status, const FleetPorts& ports) {
    auto arguments = std::make_shared<PollArguments>();
    auto* command = app.add_subcommand(
        "poll",
        "Poll one target once and show what came of it, without a server; or let it poll: --now.");
    command
        ->add_option("target", arguments->target,
                     "addon::device of a fleet, or the name of an addon with --host")
        ->required();
    command->add_option("--fleet", arguments->fleet, "Fleet files or folders");
    command->add_option("--data", arguments->data, "Data folder of a server")
        ->envname("POLLUX_DATA");
    command->add_option("--addons", arguments->addons, "Folder with addons of your own");
    command->add_option("--host", arguments->host, "Address of a device that is in no fleet");
    command->add_option("--port", arguments->port, "Its port, if not the addon's own");
    command->add_option("--param", arguments->params, "Parameter of the addon: name=value");
    command->add_option("--community", arguments->community,
                        "Where the SNMP community is: '${VARIABLE}' or file:/path");
    command->add_option("--username", arguments->username, "User name");
    command->add_option("--password", arguments->password,
                        "Where the password is: '${VARIABLE}' or file:/path");
    command->add_option("--ssh-key", arguments->ssh_key, "Private key for SSH: /path");
    command->add_flag("--ssh-agent", arguments->ssh_agent, "Log in to SSH by the agent");
    command->add_flag("--no-verify", arguments->no_verify, "Do not check the certificate");
    command->add_flag("--trace", arguments->trace, "Show every step and every rule");
    command->add_option("--again", arguments->again, "Poll a second time after so many seconds");
    auto* now =
        command->add_flag("--now", arguments->now, "Let the running server poll it, by its API");
    for (const char* local : {"--fleet", "--host", "--trace", "--again"}) {
        now->excludes(command->get_option(local));
    }
    add_connection_options(*command, arguments->connection);
    add_reason_option(*command, arguments->reason);
    add_output_option(*command, arguments->output);
    command->get_option("--output")->description("With --now: table, json or yaml")->needs(now);
    command->callback([arguments, &status, &ports] {
        status = arguments->now ? poll_on_server(*arguments) : poll(*arguments, ports);
    });
}

}  // namespace pollux::app
