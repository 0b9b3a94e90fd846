// `pollux incidents`: what hangs together, through the API.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/alert_words.hpp"
#include "app/api_command.hpp"
#include "app/commands.hpp"
#include "document/write.hpp"

namespace pollux::app {
namespace {

using document::Node;

struct IncidentArguments : ApiArguments {
    std::string id;
    bool all = false;
    std::string severity;
    std::string device;
    std::string text;
    std::string note;
    bool shown = false;
    std::string length;
    std::size_t limit = 0;
};

constexpr const char* kIncidents = "/api/incidents";

int list(const IncidentArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto all = get_all(client,
                                 with_query(kIncidents, {{"status", arguments.all ? "" : "open"},
                                                         {"severity", arguments.severity},
                                                         {"device_name", arguments.device},
                                                         {"q", arguments.text}}),
                                 arguments.limit);
        if (!all) return std::unexpected(all.error());
        print_answer(arguments.output, *all, [&] {
            Table table({"ID", "SEVERITY", "STATUS", "OPENED (UTC)", "CAUSE", "AFFECTED", "TITLE"});
            for (const Node& one : list_of(*all, "items")) {
                table.add({field(one, "id"), field(one, "severity"), field(one, "status"),
                           short_time(field(one, "opened_at")), field(one, "cause"),
                           field(one, "affected"), field(one, "title")});
            }
            return table.empty() ? "no incidents\n" : table.text(wants_colour());
        });
        return 0;
    });
}

int show(const IncidentArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto incident =
            client.get(fmt::format("{}/{}", kIncidents, url_escaped(arguments.id)));
        if (!incident) return std::unexpected(incident.error());
        print_answer(arguments.output, *incident, [&] { return incident_text(*incident); });
        return 0;
    });
}

int act(const IncidentArguments& arguments, std::string_view verb, std::string_view done) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        Node body = Node::map();
        if (!arguments.note.empty()) body.set("note", Node::text(arguments.note));
        if (arguments.shown) body.set("public", Node::boolean(true));
        if (!arguments.length.empty()) body.set("for", Node::text(arguments.length));
        if (!arguments.reason.empty()) body.set("reason", Node::text(arguments.reason));
        return app::act(
            client, arguments.output,
            {.method = "POST",
             .path = fmt::format("{}/{}/{}", kIncidents, url_escaped(arguments.id), verb),
             .body = document::to_json(body)},
            [&](const Node& answer) {
                return fmt::format("{}: {}", field(answer, "title"), done);
            });
    });
}

}  // namespace

void add_incidents(CLI::App& app, int& status) {
    auto* incidents =
        app.add_subcommand("incidents", "Alerts that have one cause: see, acknowledge, note.");
    incidents->require_subcommand(1);
    auto arguments = std::make_shared<IncidentArguments>();
    auto* command = incidents->add_subcommand("ls", "Open incidents, the newest first.");
    add_api_options(*command, *arguments, false);
    command->add_flag("--all", arguments->all, "Also those that are over");
    command->add_option("--severity", arguments->severity, "Only of this severity")
        ->check(CLI::IsMember({"info", "warning", "minor", "major", "critical"}));
    command->add_option("--device", arguments->device, "Only with this device as root");
    command->add_option("-q,--match", arguments->text, "In title or device");
    command->add_option("--limit", arguments->limit, "At most so many; all unless given");
    command->callback([arguments, &status] { status = list(*arguments); });

    arguments = std::make_shared<IncidentArguments>();
    command = incidents->add_subcommand("show", "One incident as a tree, with its timeline.");
    add_api_options(*command, *arguments, false);
    command->add_option("id", arguments->id, "Its id")->required();
    command->callback([arguments, &status] { status = show(*arguments); });

    struct Verb {
        const char* name;
        const char* summary;
        std::string_view verb;
        std::string_view done;
    };
    for (const Verb& verb :
         {Verb{"ack", "Acknowledge all its open alerts.", "acknowledge", "acknowledged"},
          Verb{"resolve", "Resolve all its open alerts.", "resolve", "resolved"},
          Verb{"note", "Write into its timeline.", "notes", "noted"}}) {
        arguments = std::make_shared<IncidentArguments>();
        command = incidents->add_subcommand(verb.name, verb.summary);
        add_api_options(*command, *arguments, true);
        command->add_option("id", arguments->id, "Its id")->required();
        if (verb.verb == "notes") {
            command->add_option("note", arguments->note, "What to write")->required();
            command->add_flag("--public", arguments->shown,
                              "Show it to everybody, on the status page");
        } else {
            command->add_option("--note", arguments->note, "For everybody who sees it");
        }
        if (verb.verb == "acknowledge") {
            command->add_option("--for", arguments->length, "Ends after this time, such as 2h");
        }
        command->callback([arguments, &status, word = verb.verb, done = verb.done] {
            status = act(*arguments, word, done);
        });
    }
}

}  // namespace pollux::app
