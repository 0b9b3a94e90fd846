// `pollux poll`: polls one target once and shows what came of it; with --trace every step and every
// rule. Needs no server: the target comes from fleet files, from a data folder, or from options.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/api_command.hpp"
#include "app/commands.hpp"
#include "app/poll_target.hpp"
#include "config/snmp_names.hpp"
#include "net/event_loop.hpp"
#include "protocol/ssh/host_keys.hpp"
#include "runtime/poll_reading.hpp"
#include "runtime/shard_drivers.hpp"

namespace pollux::app {
namespace {

struct PollArguments {
    PollTarget target;
    bool trace = false;
    double again = 0;  // seconds until a second poll, so that rates show
    bool now = false;  // the server polls it, not we
    ApiOptions connection;
    std::string reason;
    std::string output = "table";
};

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

// What the settings allow, and what is known already.
struct Surroundings {
    std::shared_ptr<const net::EgressPolicy> egress;
    runtime::CommandRules rules;
    const FoundTarget& target;
};

// Asks one after the other on a loop of its own.
std::vector<std::optional<model::Reply>> ask_all(const runtime::PollPlan& plan,
                                                 const Surroundings& around, bool trace) {
    auto loop = net::EventLoop::create().value();
    const auto drivers = runtime::real_drivers(around.egress, around.rules)(*loop);
    for (const std::string& bytes : around.target.learned) drivers->recall(bytes);
    const auto is_snmp = [](const auto& ask) {
        return std::holds_alternative<model::SnmpAsk>(ask->request);
    };
    if (trace && std::ranges::any_of(plan.asks.front(), is_snmp)) {
        fmt::print("learned of SNMP devices: {}\n", around.target.learned_from);
    }
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
    const auto found = find_target(arguments.target, ports);
    if (!found || !found->plan->problem.empty()) {
        fmt::print(stderr, "pollux: {}\n", found ? found->plan->problem : found.error().message);
        return 1;
    }
    const auto egress = runtime::make_egress(found->settings);
    if (!egress) {
        fmt::print(stderr, "pollux: {}\n", egress.error().message);
        return 1;
    }
    const std::string& data = arguments.target.data;
    const Surroundings around{
        *egress,
        runtime::make_command_rules(found->settings,
                                    std::make_shared<protocol::ssh::HostKeys>(
                                        data.empty() ? "" : data + "/ssh_known_hosts")),
        *found};
    derive::TargetMemory memory;
    int status = poll_once(*found->plan, memory, around, arguments.trace);
    if (arguments.again > 0 && status == 0) {
        std::this_thread::sleep_for(std::chrono::duration<double>(arguments.again));
        fmt::print("\nagain, after {} s\n", arguments.again);
        status = poll_once(*found->plan, memory, around, arguments.trace);
    }
    return status;
}

// Lets the server poll it, inside its budgets; with an open breaker this is its probe.
int poll_on_server(const PollArguments& arguments) {
    const std::string& target = arguments.target.target;
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        return act(client, arguments.output,
                   {.method = "POST",
                    .path = fmt::format("/api/targets/{}/poll", url_escaped(target)),
                    .body = reason_body(arguments.reason)},
                   [&](const document::Node&) {
                       return fmt::format(
                           "{0} is polled now by the server; see `pollux explain {0}`", target);
                   });
    });
}

// How a device that is in no fleet is reached.
void add_host_options(CLI::App& command, PollTarget& target) {
    command.add_option("--host", target.host, "Address of a device that is in no fleet");
    command.add_option("--port", target.port, "Its port, if not the addon's own");
    command.add_option("--param", target.params, "Parameter of the addon: name=value");
    command.add_option("--community", target.community,
                       "Where the SNMP community is: '${VARIABLE}' or file:/path");
    command.add_option("--username", target.username, "User name; of SNMPv3 the security name");
    command.add_option("--password", target.password,
                       "Where the password is: '${VARIABLE}' or file:/path");
    command.add_option("--ssh-key", target.ssh_key, "Private key for SSH: /path");
    command.add_flag("--ssh-agent", target.ssh_agent, "Log in to SSH by the agent");
    const auto names = [](const auto& list) {
        return CLI::IsMember(std::vector<std::string>(list.begin(), list.end()));
    };
    command.add_option("--snmp-version", target.snmp_version, "1, 2c or 3; 3 with --snmp-auth")
        ->check(CLI::IsMember({"1", "2c", "3"}));
    auto* auth = command.add_option("--snmp-auth", target.snmp_auth, "How an SNMPv3 user signs")
                     ->check(names(config::kSnmpAuthNames));
    command
        .add_option("--snmp-auth-password", target.snmp_auth_password,
                    "Where its password is: '${VARIABLE}' or file:/path")
        ->needs(auth);
    auto* privacy =
        command.add_option("--snmp-privacy", target.snmp_privacy, "How an SNMPv3 user encrypts")
            ->check(names(config::kSnmpPrivacyNames))
            ->needs(auth);
    command
        .add_option("--snmp-privacy-password", target.snmp_privacy_password,
                    "Where its password is: '${VARIABLE}' or file:/path")
        ->needs(privacy);
    command.add_option("--snmp-context", target.snmp_context,
                       "Context of SNMPv3, where a device has several");
    command.add_flag("--no-verify", target.no_verify, "Do not check the certificate");
}

}  // namespace

void add_poll(CLI::App& app, int& status, const FleetPorts& ports) {
    auto arguments = std::make_shared<PollArguments>();
    PollTarget& target = arguments->target;
    auto* command = app.add_subcommand(
        "poll",
        "Poll one target once and show what came of it, without a server; or let it poll: --now.");
    command
        ->add_option("target", target.target,
                     "addon::device of a fleet, or the name of an addon with --host")
        ->required();
    command->add_option("--fleet", target.fleet, "Fleet files or folders");
    command
        ->add_option("--data", target.data,
                     "Data folder of a server: its targets, secrets, settings, addons, host keys, "
                     "and what it learned about SNMP devices")
        ->envname("POLLUX_DATA");
    command->add_option("--addons", target.addons, "Folder with addons of your own");
    add_host_options(*command, target);
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
