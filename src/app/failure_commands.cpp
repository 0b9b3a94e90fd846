// `pollux breaker`, `pollux dlq`, `pollux failures`: what fails, and what people do about it,
// through the API.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/api_command.hpp"
#include "app/commands.hpp"
#include "document/write.hpp"

namespace pollux::app {
namespace {

using document::Node;

struct FailureArguments : ApiArguments {
    std::string key;
    bool all = false;
    std::string type;
    std::string text;
    std::string state;
    std::string cause;
    std::string target = "disable";
    std::size_t limit = 0;
};

constexpr const char* kBreakers = "/api/monitoring/breakers";
constexpr const char* kLetters = "/api/monitoring/dlq";

int list_breakers(const FailureArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto all = get_all(client,
                                 with_query(kBreakers, {{"type", arguments.type},
                                                        {"q", arguments.text},
                                                        {"state", arguments.state}}),
                                 arguments.limit);
        if (!all) return std::unexpected(all.error());
        print_answer(arguments.output, *all, [&] {
            Table table({"KEY", "STATE", "FAILURES", "SINCE (UTC)", "RETRY (UTC)", "LAST ERROR"});
            for (const Node& one : list_of(*all, "items")) {
                table.add({field(one, "key"), field(one, "state"), field(one, "failures"),
                           short_time(field(one, "since")), short_time(field(one, "retryAt")),
                           field(one, "lastError")});
            }
            return table.empty() ? "every breaker is closed\n" : table.text(wants_colour());
        });
        return 0;
    });
}

int list_letters(const FailureArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto all = get_all(client,
                                 with_query(kLetters, {{"type", arguments.type},
                                                       {"q", arguments.text},
                                                       {"reason", arguments.cause}}),
                                 arguments.limit);
        if (!all) return std::unexpected(all.error());
        print_answer(arguments.output, *all, [&] {
            Table table({"KEY", "REASON", "RETRIES", "LAST ATTEMPT (UTC)", "NEXT RETRY (UTC)",
                         "LAST ERROR"});
            for (const Node& one : list_of(*all, "items")) {
                table.add({field(one, "key"), field(one, "reason"), field(one, "retryCount"),
                           short_time(field(one, "lastAttempt")),
                           short_time(field(one, "nextRetry")), field(one, "lastError")});
            }
            return table.empty() ? "no dead letters\n" : table.text(wants_colour());
        });
        return 0;
    });
}

std::string bulk_body(const FailureArguments& arguments) {
    Node body = Node::map();
    if (!arguments.reason.empty()) body.set("reason", Node::text(arguments.reason));
    if (!arguments.type.empty()) body.set("type", Node::text(arguments.type));
    return document::to_json(body);
}

base::Status one_or_all(const FailureArguments& arguments) {
    if (arguments.key.empty() == arguments.all) return {};
    return std::unexpected(usage_error("name one key, or say --all"));
}

int reset(const FailureArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        if (auto status = one_or_all(arguments); !status) return std::unexpected(status.error());
        if (arguments.all) {
            return act(client, arguments.output,
                       {.method = "POST",
                        .path = fmt::format("{}/reset", kBreakers),
                        .body = bulk_body(arguments)},
                       [](const Node& answer) {
                           return fmt::format("{} breakers reset: they probe now, spread over time",
                                              field(answer, "breakersReset"));
                       });
        }
        return act(client, arguments.output,
                   {.method = "POST",
                    .path = fmt::format("{}/{}/reset", kBreakers, url_escaped(arguments.key)),
                    .body = reason_body(arguments.reason)},
                   [](const Node& answer) {
                       return fmt::format("{}: {} -> {}, probes now", field(answer, "key"),
                                          field(answer, "previousState"),
                                          field(answer, "newState"));
                   });
    });
}

int retry(const FailureArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        if (auto status = one_or_all(arguments); !status) return std::unexpected(status.error());
        if (arguments.all) {
            return act(client, arguments.output,
                       {.method = "POST",
                        .path = fmt::format("{}/retry", kLetters),
                        .body = bulk_body(arguments)},
                       [](const Node& answer) {
                           return fmt::format("{} dead letters retried, spread over time",
                                              field(answer, "tasksRetried"));
                       });
        }
        return act(client, arguments.output,
                   {.method = "POST",
                    .path = fmt::format("{}/{}/retry", kLetters, url_escaped(arguments.key)),
                    .body = reason_body(arguments.reason)},
                   [](const Node& answer) {
                       return fmt::format("{}: retried after {} failures, due {}",
                                          field(answer, "key"), field(answer, "previousRetryCount"),
                                          short_time(field(answer, "scheduledFor")));
                   });
    });
}

int remove(const FailureArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const std::string_view what = arguments.target == "keep"     ? "polled again"
                                      : arguments.target == "remove" ? "removed from the fleet"
                                                                     : "disabled";
        return act(client, arguments.output,
                   {.method = "DELETE",
                    .path = fmt::format("{}/{}?target={}", kLetters, url_escaped(arguments.key),
                                        arguments.target),
                    .body = reason_body(arguments.reason)},
                   [what](const Node& answer) {
                       return fmt::format("{}: no dead letter any more, the target is {}",
                                          field(answer, "key"), what);
                   });
    });
}

// A fresh start, as people used to get it by restarting.
int clear(const FailureArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        if (!arguments.all) {
            return std::unexpected(
                usage_error("this is for everything: say --all, or use `pollux "
                            "breaker reset` and `pollux dlq retry`"));
        }
        const std::string body = bulk_body(arguments);
        const auto letters =
            client.ask({.method = "POST", .path = fmt::format("{}/retry", kLetters), .body = body});
        if (!letters) return std::unexpected(letters.error());
        const auto breakers = client.ask(
            {.method = "POST", .path = fmt::format("{}/reset", kBreakers), .body = body});
        if (!breakers) {
            base::Error half = breakers.error();
            half.message +=
                "\n  the dead letters were retried, the breakers were not reset: run "
                "`pollux breaker reset --all`";
            return std::unexpected(std::move(half));
        }
        const auto retried = parse_answer(letters->body);
        const auto opened = parse_answer(breakers->body);
        if (!retried || !opened) {
            return std::unexpected(!retried ? retried.error() : opened.error());
        }
        Node answer = Node::map();
        answer.set("dead_letters", *retried).set("breakers", *opened);
        print_answer(arguments.output, answer, [&] {
            return fmt::format("{} dead letters retried, {} breakers reset\n",
                               field(*retried, "tasksRetried"), field(*opened, "breakersReset"));
        });
        return 0;
    });
}

using Act = int (*)(const FailureArguments& arguments);

CLI::App* add_act(CLI::App& parent, std::string name, std::string summary, int& status,
                  const std::shared_ptr<FailureArguments>& arguments, Act function) {
    auto* command = parent.add_subcommand(std::move(name), std::move(summary));
    add_api_options(*command, *arguments, command->get_name() != "ls");
    command->callback([arguments, &status, function] { status = function(*arguments); });
    return command;
}

void add_filters(CLI::App& command, FailureArguments& arguments) {
    command.add_option("--type", arguments.type, "Only of this class");
    command.add_option("-q,--match", arguments.text, "Part of the key; * is anything");
    command.add_option("--limit", arguments.limit, "At most so many; all unless given");
}

void add_choice(CLI::App& command, FailureArguments& arguments) {
    command.add_option("key", arguments.key, "addon::device");
    command.add_flag("--all", arguments.all, "All of them");
    command.add_option("--type", arguments.type, "With --all: only of this class");
}

}  // namespace

void add_failures(CLI::App& app, int& status) {
    auto* breaker = app.add_subcommand("breaker", "Breakers that are not closed.");
    breaker->require_subcommand(1);
    auto arguments = std::make_shared<FailureArguments>();
    auto* command =
        add_act(*breaker, "ls", "Breakers that are not closed.", status, arguments, &list_breakers);
    add_filters(*command, *arguments);
    command->add_option("--state", arguments->state, "open or half_open")
        ->check(CLI::IsMember({"open", "half_open"}));
    arguments = std::make_shared<FailureArguments>();
    add_choice(*add_act(*breaker, "reset", "Let tasks with open breakers probe now.", status,
                        arguments, &reset),
               *arguments);

    auto* letter = app.add_subcommand("dlq", "Dead letters: what was given up for a long time.");
    letter->require_subcommand(1);
    arguments = std::make_shared<FailureArguments>();
    command = add_act(*letter, "ls", "All dead letters.", status, arguments, &list_letters);
    add_filters(*command, *arguments);
    command->add_option("--cause", arguments->cause, "Only with this reason")
        ->check(
            CLI::IsMember({"max_retry_attempts", "permanent_failure", "repeated_interruption"}));
    arguments = std::make_shared<FailureArguments>();
    add_choice(*add_act(*letter, "retry", "Retry dead letters now.", status, arguments, &retry),
               *arguments);
    arguments = std::make_shared<FailureArguments>();
    command =
        add_act(*letter, "rm", "Take a task off the dead letters.", status, arguments, &remove);
    command->add_option("key", arguments->key, "addon::device")->required();
    command->add_option("--target", arguments->target, "What becomes of the target")
        ->check(CLI::IsMember({"disable", "keep", "remove"}))
        ->capture_default_str();

    auto* failures = app.add_subcommand("failures", "Everything that fails, at once.");
    failures->require_subcommand(1);
    arguments = std::make_shared<FailureArguments>();
    command =
        add_act(*failures, "clear", "A fresh start: retry all dead letters and reset all breakers.",
                status, arguments, &clear);
    command->add_flag("--all", arguments->all, "Yes, all of them");
    command->get_option("--reason")->required();
}

}  // namespace pollux::app
