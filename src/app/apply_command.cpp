// `pollux apply`: takes fleet files in, all or nothing; through the running server if there is one,
// else straight into the store. Also `reload` and `explain`: one question to the server.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "app/api_command.hpp"
#include "app/channel_files.hpp"
#include "app/commands.hpp"
#include "app/control_client.hpp"
#include "app/control_server.hpp"
#include "app/fleet_files.hpp"
#include "app/fleet_ports.hpp"
#include "app/serving.hpp"
#include "document/write.hpp"

namespace pollux::app {
namespace {

struct ApplyArguments {
    std::vector<std::string> paths;
    std::string data = "data";
    std::string addons;
    bool adopt = false;
};

int complain(const base::Error& error) {
    fmt::print(stderr, "pollux: {}\n", error.message);
    return 1;
}

int report(std::size_t added, std::size_t changed, std::size_t removed,
           const std::string& difference, const std::string& warnings) {
    fmt::print("{}", difference);
    fmt::print(stderr, "{}", warnings);
    fmt::print("{} added, {} changed, {} removed\n", added, changed, removed);
    return 0;
}

int apply_offline(const ApplyArguments& arguments, const std::vector<config::FileText>& files,
                  const config::Environment& environment) {
    auto loop = net::EventLoop::create();
    if (!loop) return complain(loop.error());
    observe::Log log({.level = observe::LogLevel::kError}, &net::wall_now,
                     observe::descriptor_sink(STDERR_FILENO));
    auto addons = load_addon_set(arguments.addons);
    if (!addons) return complain(addons.error());
    runtime::ServerOptions options;
    options.data = arguments.data;
    options.environment = environment;
    options.addons = std::move(*addons);
    options.channels = load_channels;
    options.offline = true;
    auto server = runtime::Server::start(**loop, log, std::move(options));
    if (!server) return complain(server.error());
    const auto done = (*server)->apply(files, arguments.adopt ? runtime::OwnedElsewhere::kAdopt
                                                              : runtime::OwnedElsewhere::kRefuse);
    if (!done) return complain(done.error());
    std::string warnings;
    for (const auto& item : done->warnings) warnings += document::to_string(item) + "\n";
    return report(done->added, done->changed, done->removed, done->difference, warnings);
}

int apply_files(const ApplyArguments& arguments, const config::Environment& environment) {
    const auto files = read_fleet_files(arguments.paths);
    if (!files) return complain(files.error());
    const ControlClient client(arguments.data);
    if (!client.server_runs()) return apply_offline(arguments, *files, environment);
    const auto answer =
        client.ask("POST", arguments.adopt ? "/apply?adopt=true" : "/apply", encode_files(*files));
    if (!answer) return complain(answer.error());
    const auto number = [&](std::string_view field) {
        const document::Node* node = answer->find(field);
        return node == nullptr ? std::size_t{0} : std::stoul(node->scalar());
    };
    const auto text = [&](std::string_view field) {
        const document::Node* node = answer->find(field);
        return node == nullptr ? std::string() : node->scalar();
    };
    return report(number("added"), number("changed"), number("removed"), text("difference"),
                  text("warnings"));
}

int print_explanation(const document::Node* answer, const std::string& output) {
    if (output != "table") {
        print_answer(output, *answer, [] { return std::string(); });
        return answer->find("error") == nullptr ? 0 : 1;
    }
    const auto text = [](const document::Node& node, std::string_view field) {
        const document::Node* found = node.find(field);
        return found == nullptr || found->is_null() ? std::string("-") : found->scalar();
    };
    if (const auto* error = answer->find("error")) {
        fmt::print(stderr, "pollux: {}\n", error->scalar());
        return 1;
    }
    fmt::print("{}\n{}\n", text(*answer, "key"), text(*answer, "verdict"));
    if (answer->find("inbound") != nullptr) {
        for (const document::Node& signal : answer->find("raised")->items()) {
            fmt::print("  raised     {} {} {} since {}\n", text(signal, "type"),
                       text(signal, "subject"), text(signal, "severity"), text(signal, "since"));
        }
        return 0;
    }
    fmt::print("\n");
    for (const document::Node& gate : answer->find("gates")->items()) {
        const bool open = text(gate, "open") == "true";
        fmt::print("  {:<10} {:<7} {}\n", text(gate, "gate"), open ? "ok" : "waits",
                   open ? "" : text(gate, "reason"));
    }
    const document::Node& interval = *answer->find("interval");
    fmt::print("\n  next due   {}\n  interval   {} s in force ({} s chosen by {}, limited by {})\n",
               text(*answer, "next_due"), text(interval, "in_force"), text(interval, "chosen"),
               text(interval, "policy"), text(interval, "limited_by"));
    const document::Node& task = *answer->find("task");
    fmt::print(
        "  data       {}, may be {} s old\n  failures   {} in a row, breaker {}, dead letter {}\n",
        text(task, "age") == "-" ? "none yet" : text(task, "age") + " s old", text(task, "bound"),
        text(task, "failures"), text(task, "breaker"), text(task, "dead_letter"));
    if (task.find("error") != nullptr) fmt::print("  last error {}\n", text(task, "error"));
    return 0;
}

int explain(const std::string& data, const std::string& key, const std::string& output) {
    const ControlClient client(data);
    const auto answer = client.ask("GET", "/explain?key=" + ControlClient::escaped(key), "");
    return answer ? print_explanation(&*answer, output) : complain(answer.error());
}

int explain_online(const ApiOptions& connection, const std::string& key,
                   const std::string& output) {
    return with_api(connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto answer = client.get(fmt::format("/api/tasks/{}/explain", url_escaped(key)));
        if (!answer) return std::unexpected(answer.error());
        return print_explanation(&*answer, output);
    });
}

}  // namespace

void add_apply(CLI::App& app, int& status, const FleetPorts& ports) {
    auto arguments = std::make_shared<ApplyArguments>();
    auto* command = app.add_subcommand("apply", "Take in fleet files: all of it, or nothing.");
    command->add_option("paths", arguments->paths, "Files or folders")->required();
    command->add_option("--data", arguments->data, "Data folder of the server")
        ->envname("POLLUX_DATA")
        ->capture_default_str();
    command->add_option("--addons", arguments->addons, "Folder with addons of your own");
    command->add_flag("--adopt", arguments->adopt,
                      "Take over objects that the API or discovery owns");
    command->callback(
        [arguments, &status, &ports] { status = apply_files(*arguments, ports.environment); });
}

void add_reload(CLI::App& app, int& status) {
    auto data = std::make_shared<std::string>("data");
    auto* command = app.add_subcommand(
        "reload", "Let the server read its fleet files, secrets and system.json again.");
    command->add_option("--data", *data, "Data folder of the server")
        ->envname("POLLUX_DATA")
        ->capture_default_str();
    command->callback([data, &status] {
        const auto answer = ControlClient(*data).ask("POST", "/reload", "");
        status = answer ? 0 : complain(answer.error());
    });
}

void add_explain(CLI::App& app, int& status) {
    struct ExplainArguments {
        std::string data = "data";
        std::string key;
        std::string output = "table";
        ApiOptions connection;
    };
    auto arguments = std::make_shared<ExplainArguments>();
    auto* command =
        app.add_subcommand("explain", "Why is this target (not) being polled? Gate by gate.");
    command->add_option("key", arguments->key, "addon::device, as in `pollux top`")->required();
    auto* data = command->add_option("--data", arguments->data, "Data folder of the server")
                     ->envname("POLLUX_DATA")
                     ->capture_default_str();
    add_connection_options(*command, arguments->connection);
    add_output_option(*command, arguments->output);
    command->add_flag_callback(
        "--json", [arguments] { arguments->output = "json"; }, "The same as -o json");
    command->callback([arguments, data, &status] {
        // Its socket needs no token; a server that is named is asked through the API.
        const bool online = !arguments->connection.url.empty() ||
                            (url_was_chosen(arguments->connection) && data->count() == 0);
        status = online ? explain_online(arguments->connection, arguments->key, arguments->output)
                        : explain(arguments->data, arguments->key, arguments->output);
    });
}

}  // namespace pollux::app
