// `pollux silence`, `route`, `receiver`, `notifications`: who is told, through the API.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "app/api_command.hpp"
#include "app/commands.hpp"
#include "document/scalar.hpp"
#include "document/write.hpp"
#include "net/event_loop.hpp"

namespace pollux::app {
namespace {

using document::Node;

struct NotifyArguments : ApiArguments {
    std::string name;
    std::vector<std::string> ids;
    std::vector<std::string> matchers;
    std::string length = "1h";
    std::string from;
    std::string until;
    std::string owner;
    std::string state;
    std::string receiver;
    std::string incident;
    bool all = false;
    std::size_t limit = 0;
};

// How long a test waits for what the channels say.
constexpr int kLooks = 120;
constexpr auto kBetweenLooks = std::chrono::milliseconds(250);

std::string name_of_login(const ApiClient& client) {
    const auto me = client.get("/api/me");
    return me ? field(*me, "name") : std::string();
}

base::Result<Node> new_silence(const ApiClient& client, const NotifyArguments& arguments) {
    const base::WallTime now = net::wall_now();
    Node body = Node::map();
    Node match = Node::sequence();
    for (const std::string& one : arguments.matchers) match.push(Node::text(one));
    std::string until = arguments.until;
    if (until.empty()) {
        const auto length = document::parse_duration(arguments.length);
        if (!length || *length <= base::Duration::zero()) {
            return std::unexpected(usage_error("--for is a duration such as 2h"));
        }
        const auto begin = base::parse_utc(arguments.from).value_or(now);
        until = base::format_utc(begin + *length);
    }
    const std::string owner = arguments.owner.empty() ? name_of_login(client) : arguments.owner;
    body.set("name", Node::text(arguments.name.empty() ? fmt::format("silence-{}", now.us / 1000)
                                                       : arguments.name));
    body.set("match", std::move(match));
    body.set("from", Node::text(arguments.from.empty() ? base::format_utc(now) : arguments.from));
    body.set("until", Node::text(until)).set("owner", Node::text(owner));
    body.set("reason", Node::text(arguments.reason));
    return body;
}

int add_silence(const NotifyArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto body = new_silence(client, arguments);
        if (!body) return std::unexpected(body.error());
        return app::act(
            client, arguments.output,
            {.method = "POST", .path = "/api/silences", .body = document::to_json(*body)},
            [&](const Node& answer) {
                return fmt::format("{}: silent until {} UTC", field(answer, "name"),
                                   short_time(field(*body, "until")));
            });
    });
}

int list_silences(const NotifyArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto all = client.get("/api/v2/silences");
        if (!all) return std::unexpected(all.error());
        print_answer(arguments.output, *all, [&] {
            Table table({"ID", "STATE", "ENDS (UTC)", "OWNER", "MATCHERS", "REASON"});
            for (const Node& one : all->items()) {
                const std::string state = field(*one.find("status"), "state");
                if (state == "expired" && !arguments.all) continue;
                std::string words;
                for (const Node& matcher : list_of(one, "matchers")) {
                    const bool regex = field(matcher, "isRegex") == "true";
                    const bool equal = field(matcher, "isEqual") != "false";
                    words += fmt::format("{}{}{}\"{}\"", words.empty() ? "" : " ",
                                         field(matcher, "name"),
                                         regex ? (equal ? "=~" : "!~") : (equal ? "=" : "!="),
                                         field(matcher, "value"));
                }
                table.add({field(one, "id"), state, short_time(field(one, "endsAt")),
                           field(one, "createdBy"), words, field(one, "comment")});
            }
            return table.empty() ? "no silences\n" : table.text(wants_colour());
        });
        return 0;
    });
}

// By its id, as lists show it, or by its name.
int expire_silence(const NotifyArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const std::string which = url_escaped(arguments.name);
        auto done = client.ask({.method = "DELETE", .path = "/api/v2/silence/" + which});
        if (!done && done.error().code != "client.unreachable") {
            done = client.ask(
                {.method = "POST", .path = fmt::format("/api/silences/{}/expire", which)});
        }
        if (!done) return std::unexpected(done.error());
        print_done(arguments.output, arguments.name + ": over");
        return 0;
    });
}

int test_route(const NotifyArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        Node labels = Node::map();
        for (const std::string& one : arguments.matchers) {
            const std::size_t equals = one.find('=');
            if (equals == std::string::npos || equals == 0) {
                return std::unexpected(usage_error("labels are written as name=value"));
            }
            labels.set(one.substr(0, equals), Node::text(one.substr(equals + 1)));
        }
        Node body = Node::map();
        body.set("labels", std::move(labels));
        const auto reply = client.ask(
            {.method = "POST", .path = "/api/route-test", .body = document::to_json(body)});
        if (!reply) return std::unexpected(reply.error());
        const auto answer = parse_answer(reply->body);
        if (!answer) return std::unexpected(answer.error());
        print_answer(arguments.output, *answer,
                     [&] { return printable_lines(field(*answer, "explanation")) + "\n"; });
        return 0;
    });
}

int list_receivers(const NotifyArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto all = get_all(client, "/api/receivers");
        if (!all) return std::unexpected(all.error());
        const auto health = client.get("/api/channels");
        if (!health) return std::unexpected(health.error());
        print_answer(arguments.output, *all, [&] {
            Table table({"RECEIVER", "CHANNEL", "KIND", "LAST WORKED (UTC)", "LAST ERROR"});
            for (const Node& one : list_of(*all, "items")) {
                const Node* spec = one.find("spec");
                for (const Node& channel : list_of(spec == nullptr ? Node() : *spec, "channels")) {
                    std::string worked;
                    std::string error;
                    for (const Node& known : list_of(*health, "items")) {
                        if (field(known, "receiver") != field(one, "name") ||
                            field(known, "channel") != field(channel, "name")) {
                            continue;
                        }
                        worked = short_time(field(known, "worked_at"));
                        if (field(known, "works") != "true") error = field(known, "last_error");
                    }
                    table.add({field(one, "name"), field(channel, "name"), field(channel, "kind"),
                               worked, error});
                }
            }
            return table.empty() ? "no receivers\n" : table.text(wants_colour());
        });
        return 0;
    });
}

// Waits until the channel said something, or has been asked in vain.
base::Result<Node> what_came(const ApiClient& client, const std::string& id) {
    for (int i = 0;; ++i) {
        auto told = client.get("/api/notifications/" + url_escaped(id));
        if (!told) return std::unexpected(told.error());
        const bool waits = field(*told, "state") == "waiting" && field(*told, "attempts") == "0";
        if (!waits || i == kLooks) return told;
        std::this_thread::sleep_for(kBetweenLooks);
    }
}

int test_receiver(const NotifyArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto reply =
            client.ask({.method = "POST",
                        .path = fmt::format("/api/receivers/{}/test", url_escaped(arguments.name)),
                        .body = reason_body(arguments.reason)});
        if (!reply) return std::unexpected(reply.error());
        const auto answer = parse_answer(reply->body);
        if (!answer) return std::unexpected(answer.error());
        Node all = Node::sequence();
        bool good = true;
        for (const Node& id : list_of(*answer, "notifications")) {
            auto told = what_came(client, id.scalar());
            if (!told) return std::unexpected(told.error());
            good = good && field(*told, "state") == "delivered";
            all.push(std::move(*told));
        }
        print_answer(arguments.output, all, [&] {
            Table table({"CHANNEL", "STATE", "LAST ERROR"});
            for (const Node& one : all.items()) {
                table.add({field(one, "channel"), field(one, "state"), field(one, "last_error")});
            }
            return table.text(wants_colour());
        });
        return good ? 0 : kRefused;
    });
}

int list_notifications(const NotifyArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto all =
            get_all(client,
                    with_query("/api/notifications", {{"state", arguments.state},
                                                      {"receiver", arguments.receiver},
                                                      {"incident", arguments.incident}}),
                    arguments.limit == 0 ? 200 : arguments.limit);
        if (!all) return std::unexpected(all.error());
        print_answer(arguments.output, *all, [&] {
            Table table({"ID", "MADE (UTC)", "KIND", "RECEIVER", "CHANNEL", "STATE", "TRIES",
                         "LAST ERROR"});
            for (const Node& one : list_of(*all, "items")) {
                table.add({field(one, "id"), short_time(field(one, "made")), field(one, "kind"),
                           field(one, "receiver"), field(one, "channel"), field(one, "state"),
                           field(one, "attempts"), field(one, "last_error")});
            }
            return table.empty() ? "nobody was told anything\n" : table.text(wants_colour());
        });
        return 0;
    });
}

// What becomes of one that was given up.
base::Result<int> settle(const ApiClient& client, const NotifyArguments& arguments,
                         const std::string& id, std::string_view verb, std::string_view done) {
    return app::act(client, arguments.output,
                    {.method = "POST",
                     .path = fmt::format("/api/notifications/{}/{}", url_escaped(id), verb),
                     .body = reason_body(arguments.reason)},
                    [done](const Node& answer) {
                        return fmt::format("{}/{}: {}", field(answer, "receiver"),
                                           field(answer, "channel"), done);
                    });
}

int retry(const NotifyArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) {
        return settle(client, arguments, arguments.name, "retry", "tried again");
    });
}

int dismiss(const NotifyArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        std::vector<std::string> ids = arguments.ids;
        if (arguments.all != ids.empty()) {
            return std::unexpected(usage_error("give the ids of deliveries, or --all"));
        }
        if (arguments.all) {
            const auto failed =
                get_all(client, with_query("/api/notifications", {{"state", "failed"}}));
            if (!failed) return std::unexpected(failed.error());
            for (const Node& one : list_of(*failed, "items")) ids.push_back(field(one, "id"));
        }
        for (const std::string& id : ids) {
            const auto done = settle(client, arguments, id, "dismiss", "dismissed");
            if (!done || *done != 0) return done;
        }
        if (ids.empty()) fmt::print("no delivery was given up\n");
        return 0;
    });
}

using Act = int (*)(const NotifyArguments& arguments);

CLI::App* add_act(CLI::App& parent, const char* name, const char* summary, int& status,
                  const std::shared_ptr<NotifyArguments>& arguments, bool acts, Act function) {
    auto* command = parent.add_subcommand(name, summary);
    add_api_options(*command, *arguments, acts);
    command->callback([arguments, &status, function] { status = function(*arguments); });
    return command;
}

void add_silences(CLI::App& app, int& status) {
    auto* silence = app.add_subcommand("silence", "Hold messages back while work is done.");
    silence->require_subcommand(1);
    auto arguments = std::make_shared<NotifyArguments>();
    auto* command = add_act(*silence, "add", "Silence alerts that all matchers hold for.", status,
                            arguments, true, &add_silence);
    command
        ->add_option("matcher", arguments->matchers, "Such as device=\"core-1\" or site=~\"b.*\"")
        ->required();
    command->get_option("--reason")->required();
    command->add_option("--for", arguments->length, "How long")->capture_default_str();
    command->add_option("--from", arguments->from, "Begins then (RFC 3339); now unless given");
    command->add_option("--until", arguments->until, "Ends then (RFC 3339)")->excludes("--for");
    command->add_option("--owner", arguments->owner, "Who is asked about it; you unless given");
    command->add_option("--name", arguments->name, "Its name; made up unless given");
    arguments = std::make_shared<NotifyArguments>();
    command = add_act(*silence, "ls", "Silences that hold, or will.", status, arguments, false,
                      &list_silences);
    command->add_flag("--all", arguments->all, "Also those that are over");
    arguments = std::make_shared<NotifyArguments>();
    command = add_act(*silence, "expire", "End a silence now.", status, arguments, false,
                      &expire_silence);
    command->add_option("silence", arguments->name, "Its id or name")->required();
}

}  // namespace

void add_notify(CLI::App& app, int& status) {
    add_silences(app, status);
    auto* route = app.add_subcommand("route", "Who is told of which alerts.");
    route->require_subcommand(1);
    auto arguments = std::make_shared<NotifyArguments>();
    auto* command = add_act(*route, "test", "Who would be told of an alert with these labels.",
                            status, arguments, false, &test_route);
    command->add_option("label", arguments->matchers, "name=value, such as severity=critical")
        ->required();

    auto* receiver = app.add_subcommand("receiver", "Receivers of messages and their channels.");
    receiver->require_subcommand(1);
    arguments = std::make_shared<NotifyArguments>();
    add_act(*receiver, "ls", "Receivers with their channels.", status, arguments, false,
            &list_receivers);
    arguments = std::make_shared<NotifyArguments>();
    command = add_act(*receiver, "test", "Send a test message to every channel.", status, arguments,
                      true, &test_receiver);
    command->add_option("receiver", arguments->name, "Its name")->required();

    auto* notifications = app.add_subcommand("notifications", "What people were told.");
    notifications->require_subcommand(1);
    arguments = std::make_shared<NotifyArguments>();
    command = add_act(*notifications, "ls", "The log of deliveries, the newest first.", status,
                      arguments, false, &list_notifications);
    command->add_option("--state", arguments->state, "Only in this state")
        ->check(CLI::IsMember({"waiting", "delivered", "failed", "cancelled", "held"}));
    command->add_option("--receiver", arguments->receiver, "Only to this receiver");
    command->add_option("--incident", arguments->incident, "Only about this incident");
    command->add_option("--limit", arguments->limit, "At most so many; 200 unless given");
    arguments = std::make_shared<NotifyArguments>();
    command = add_act(*notifications, "retry", "Try a delivery that was given up once more.",
                      status, arguments, true, &retry);
    command->add_option("id", arguments->name, "Its id")->required();
    arguments = std::make_shared<NotifyArguments>();
    command = add_act(*notifications, "dismiss",
                      "Nobody cares any more about deliveries that were given up.", status,
                      arguments, true, &dismiss);
    command->add_option("id", arguments->ids, "Their ids");
    command->add_flag("--all", arguments->all, "All that were given up");
}

}  // namespace pollux::app
