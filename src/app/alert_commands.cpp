// `pollux alerts`: what is wrong, and what people do about it, through the API.
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

struct AlertArguments : ApiArguments {
    std::vector<std::string> ids;
    bool all = false;
    std::string status;
    std::string severity;
    std::string addon;
    std::string type;
    std::string device;
    std::string target;
    std::string group;
    std::string label;
    std::string text;
    std::string from;
    std::string until;
    std::string note;
    std::string length;
    bool until_worse = false;
    std::size_t limit = 0;
};

constexpr const char* kAlerts = "/api/alerts";

int list(const AlertArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const bool open = arguments.status.empty() && !arguments.all;
        const auto all = get_all(client,
                                 with_query(kAlerts, {{"status", open ? "open" : arguments.status},
                                                      {"severity", arguments.severity},
                                                      {"addon", arguments.addon},
                                                      {"alert_type", arguments.type},
                                                      {"device_name", arguments.device},
                                                      {"target", arguments.target},
                                                      {"group", arguments.group},
                                                      {"label", arguments.label},
                                                      {"q", arguments.text},
                                                      {"from", arguments.from},
                                                      {"until", arguments.until}}),
                                 arguments.limit);
        if (!all) return std::unexpected(all.error());
        const auto stats = client.get("/api/alerts/stats");
        if (!stats) return std::unexpected(stats.error());
        print_answer(arguments.output, *all, [&] {
            Table table({"ID", "SEVERITY", "STATUS", "SINCE (UTC)", "COUNT", "DEVICE", "TITLE"});
            for (const Node& one : list_of(*all, "items")) {
                table.add({field(one, "id"), field(one, "severity"), field(one, "status"),
                           short_time(field(one, "first_seen")), field(one, "occurrence_count"),
                           field(one, "device_name"), field(one, "title")});
            }
            std::string text = table.empty() ? "no alerts\n" : table.text(wants_colour());
            if (field(*stats, "review") == "true") {
                text +=
                    "alerts are under review, nobody is told: when they are right, say "
                    "`pollux settings set alerts_review false`\n";
            }
            return text;
        });
        return 0;
    });
}

int show(const AlertArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto alert =
            client.get(fmt::format("{}/{}", kAlerts, url_escaped(arguments.ids.front())));
        if (!alert) return std::unexpected(alert.error());
        print_answer(arguments.output, *alert, [&] { return alert_text(*alert); });
        return 0;
    });
}

std::string bulk_body(const AlertArguments& arguments, std::string_view verb) {
    Node body = Node::map();
    Node ids = Node::sequence();
    for (const std::string& id : arguments.ids) ids.push(Node::text(id));
    body.set("verb", Node::text(std::string(verb))).set("ids", std::move(ids));
    if (!arguments.note.empty()) body.set("note", Node::text(arguments.note));
    if (!arguments.length.empty()) body.set("for", Node::text(arguments.length));
    if (arguments.until_worse) body.set("sticky", Node::boolean(false));
    if (!arguments.reason.empty()) body.set("reason", Node::text(arguments.reason));
    return document::to_json(body);
}

// One line each; 1 if something was not done.
int act(const AlertArguments& arguments, std::string_view verb, std::string_view done) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto reply = client.ask({.method = "POST",
                                       .path = fmt::format("{}/bulk", kAlerts),
                                       .body = bulk_body(arguments, verb)});
        if (!reply) return std::unexpected(reply.error());
        const auto answer = parse_answer(reply->body);
        if (!answer) return std::unexpected(answer.error());
        bool all = true;
        std::string words;
        for (const Node& one : list_of(*answer, "results")) {
            const std::string result = field(one, "result");
            all = all && result == "done";
            const std::string why = field(one, "message");
            words += fmt::format("{}: {}{}{}\n", printable(field(one, "id")),
                                 result == "done" ? done : printable(result),
                                 why.empty() ? "" : ": ", printable(why));
        }
        print_answer(arguments.output, *answer, [&] { return words; });
        return all ? 0 : kRefused;
    });
}

void add_filters(CLI::App& command, AlertArguments& arguments) {
    command.add_flag("--all", arguments.all, "Also those that are over");
    command.add_option("--status", arguments.status, "Only in this state; open unless given")
        ->check(
            CLI::IsMember({"open", "pending", "active", "acknowledged", "suppressed", "resolved"}));
    command.add_option("--severity", arguments.severity, "Only of this severity")
        ->check(CLI::IsMember({"info", "warning", "minor", "major", "critical"}));
    command.add_option("--addon", arguments.addon, "Only of this addon");
    command.add_option("--type", arguments.type, "Only of this type");
    command.add_option("--device", arguments.device, "Only of this device");
    command.add_option("--target", arguments.target, "Only of this target, addon::device");
    command.add_option("--group", arguments.group, "Only of devices in this group");
    command.add_option("-l,--label", arguments.label, "Selector such as site=berlin,role!=lab");
    command.add_option("-q,--match", arguments.text, "Somewhere in title, message, names, labels");
    command.add_option("--from", arguments.from, "Was open at or after this time (RFC 3339)");
    command.add_option("--until", arguments.until, "Was open before this time (RFC 3339)");
    command.add_option("--limit", arguments.limit, "At most so many; all unless given");
}

}  // namespace

void add_alerts(CLI::App& app, int& status) {
    auto* alerts = app.add_subcommand("alerts", "What is wrong: see, acknowledge, resolve.");
    alerts->require_subcommand(1);
    auto arguments = std::make_shared<AlertArguments>();
    auto* command = alerts->add_subcommand("ls", "Open alerts, the newest first.");
    add_api_options(*command, *arguments, false);
    add_filters(*command, *arguments);
    command->callback([arguments, &status] { status = list(*arguments); });

    arguments = std::make_shared<AlertArguments>();
    command = alerts->add_subcommand("show", "One alert: evidence, timeline, who was told.");
    add_api_options(*command, *arguments, false);
    command->add_option("id", arguments->ids, "Its id")->required()->expected(1);
    command->callback([arguments, &status] { status = show(*arguments); });

    struct Verb {
        const char* name;
        const char* summary;
        std::string_view verb;
        std::string_view done;
    };
    for (const Verb& verb :
         {Verb{"ack", "Say that somebody has it.", "acknowledge", "acknowledged"},
          Verb{"unack", "Say that nobody has it any more.", "unacknowledge", "not acknowledged"},
          Verb{"resolve", "Say that it is over.", "resolve", "resolved"},
          Verb{"rm", "Forget alerts with their timeline.", "remove", "removed"}}) {
        arguments = std::make_shared<AlertArguments>();
        command = alerts->add_subcommand(verb.name, verb.summary);
        add_api_options(*command, *arguments, true);
        command->add_option("id", arguments->ids, "Ids of alerts")->required();
        command->add_option("--note", arguments->note, "For everybody who sees the alert");
        if (verb.verb == "acknowledge") {
            command->add_option("--for", arguments->length, "Ends after this time, such as 2h");
            command->add_flag("--until-worse", arguments->until_worse,
                              "Ends when the severity rises");
        }
        command->callback([arguments, &status, word = verb.verb, done = verb.done] {
            status = act(*arguments, word, done);
        });
    }
}

}  // namespace pollux::app
