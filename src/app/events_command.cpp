// `pollux events`: follows what happens while it happens, through the API.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "app/api_command.hpp"
#include "app/commands.hpp"
#include "app/events_client.hpp"
#include "app/stop_signals.hpp"

namespace pollux::app {
namespace {

struct EventsArguments {
    ApiOptions connection;
    std::string output = "text";
    std::vector<std::string> types;
    std::vector<std::string> targets;
    std::vector<std::string> groups;
    std::uint64_t since = 0;
    std::size_t count = 0;  // 0: until it is stopped
};

void tell(std::string_view text) { fmt::print(stderr, "pollux: {}\n", printable(text, 1000)); }

// What is wrong with the login or the filters is said better by the list of events.
base::Status try_first(const ApiClient& client, const EventsArguments& arguments) {
    std::vector<std::pair<std::string_view, std::string>> query = {{"limit", "1"}};
    for (const std::string& one : arguments.types) query.emplace_back("type", one);
    for (const std::string& one : arguments.targets) query.emplace_back("target", one);
    for (const std::string& one : arguments.groups) query.emplace_back("group", one);
    const auto answer = client.get(with_query("/api/events", query));
    return answer ? base::Status{} : std::unexpected(answer.error());
}

// Prints what comes, until it was enough or nobody reads any more.
class Printer {
  public:
    explicit Printer(const EventsArguments& arguments) : arguments_(arguments) {}

    bool take(std::string_view message) {
        if (StopSignals::stopped()) return false;
        if (message.empty()) return true;
        // Not an event: it is told, and does not count.
        const bool resync = message.starts_with(R"({"type":"resync")");
        if (resync) tell("events were missed: look at the whole again, then go on from here");
        if (arguments_.output == "json") {
            fmt::print("{}\n", message);
        } else if (!resync) {
            fmt::print("{}\n", printable(live_event_line(message), 1000));
        }
        std::fflush(stdout);
        if (!resync) ++seen_;
        return std::ferror(stdout) == 0 && (arguments_.count == 0 || seen_ < arguments_.count);
    }

  private:
    const EventsArguments& arguments_;
    std::size_t seen_ = 0;
};

int events(const EventsArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        if (auto status = try_first(client, arguments); !status) {
            return std::unexpected(status.error());
        }
        FollowOptions options;
        options.url = client.url();
        options.token = client.token();
        options.trust = client.options().trust;
        options.types = arguments.types;
        options.targets = arguments.targets;
        options.groups = arguments.groups;
        options.since = arguments.since;
        const StopSignals signals;
        Printer printer(arguments);
        const auto status = follow_events(
            options, [&](std::string_view message) { return printer.take(message); }, &tell);
        // Ctrl-C while it connects is no failure.
        if (!status && !StopSignals::stopped()) return std::unexpected(status.error());
        return 0;
    });
}

}  // namespace

void add_events(CLI::App& app, int& status) {
    auto arguments = std::make_shared<EventsArguments>();
    auto* command = app.add_subcommand("events", "Follow what happens, until Ctrl-C.");
    add_connection_options(*command, arguments->connection);
    command->add_option("-o,--output", arguments->output, "text, or json: one event per line")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command->add_option("--type", arguments->types,
                        "Only of this type, such as task_state_changed; may be repeated");
    command->add_option("--target", arguments->targets,
                        "Only about this target; * is anything; may be repeated");
    command->add_option("--group", arguments->groups,
                        "Only about targets of this group; may be repeated");
    command->add_option("--since", arguments->since,
                        "Go on after the event with this number (seq)");
    command->add_option("--count", arguments->count, "End after so many events");
    command->callback([arguments, &status] { status = events(*arguments); });
}

}  // namespace pollux::app
