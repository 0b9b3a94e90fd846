// `pollux settings get|set` and `pollux config history|diff|rollback`: settings of a running
// server, through the API.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/api_command.hpp"
#include "app/commands.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::app {
namespace {

using document::Node;

struct ConfigArguments : ApiArguments {
    std::vector<std::string> words;  // names, or name=value
    std::vector<std::string> unset;
    bool changed_only = false;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::size_t limit = 20;
};

std::string value_text(const Node* value) {
    if (value == nullptr || value->is_null()) return {};
    return value->is_scalar() ? value->scalar() : document::to_json(*value);
}

base::Result<int> get(const ApiClient& client, const ConfigArguments& arguments) {
    const auto answer = client.get("/api/settings");
    if (!answer) return std::unexpected(answer.error());
    const Node none = Node::map();
    const Node* found = answer->find("settings");
    const Node& all = found == nullptr ? none : *found;
    Node chosen = Node::map();
    for (const auto& entry : all.entries()) {
        const bool named = arguments.words.empty() ||
                           std::ranges::find(arguments.words, entry.key) != arguments.words.end();
        const bool changed = !arguments.changed_only || field(entry.value, "origin") != "default";
        if (named && changed) chosen.set(entry.key, entry.value);
    }
    for (const std::string& name : arguments.words) {
        if (all.find(name) == nullptr) {
            return std::unexpected(usage_error(
                fmt::format("no setting {}; `pollux settings get` lists all", printable(name))));
        }
    }
    Node shown = Node::map();
    if (const Node* version = answer->find("version")) shown.set("version", *version);
    shown.set("settings", chosen);
    print_answer(arguments.output, shown, [&] {
        Table table({"SETTING", "VALUE", "ORIGIN", "APPLIES"});
        for (const auto& entry : chosen.entries()) {
            table.add({entry.key, value_text(entry.value.find("value")),
                       field(entry.value, "origin") +
                           (field(entry.value, "locked") == "true" ? " (locked)" : ""),
                       field(entry.value, "applies")});
        }
        return table.text(wants_colour());
    });
    return 0;
}

base::Result<Node> wanted(const ConfigArguments& arguments) {
    Node body = Node::map();
    for (const std::string& word : arguments.words) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0) {
            return std::unexpected(
                usage_error(fmt::format("{}: write it as name=value", printable(word))));
        }
        const std::string text = word.substr(equals + 1);
        Node value = Node::plain(text);
        if (text.starts_with('[')) {
            document::Diagnostics diagnostics;
            document::Parsed parsed = document::parse(text, word, diagnostics);
            if (!parsed.ok) return std::unexpected(usage_error(diagnostics.as_error("").message));
            value = std::move(parsed.root);
        }
        body.set(word.substr(0, equals), std::move(value));
    }
    for (const std::string& name : arguments.unset) body.set(name, Node());
    if (body.entries().empty()) {
        return std::unexpected(usage_error("nothing to change: name=value, or --unset name"));
    }
    return body;
}

base::Result<int> set(const ApiClient& client, const ConfigArguments& arguments) {
    auto body = wanted(arguments);
    if (!body) return std::unexpected(body.error());
    if (!arguments.reason.empty()) body->set("reason", Node::text(arguments.reason));
    const auto reply =
        client.ask({.method = "PUT", .path = "/api/settings", .body = document::to_json(*body)});
    if (!reply) return std::unexpected(reply.error());
    const auto answer = parse_answer(reply->body);
    if (!answer) return std::unexpected(answer.error());
    print_answer(arguments.output, *answer, [&] {
        return fmt::format("the settings are at version {} now\n", field(*answer, "version"));
    });
    return 0;
}

std::string words_of_changes(const Node& node) {
    std::string words;
    for (const Node& change : list_of(node, "changes")) {
        const std::string before = value_text(change.find("before"));
        const std::string after = value_text(change.find("after"));
        words +=
            fmt::format("{}{}: {} -> {}", words.empty() ? "" : ", ", field(change, "key"),
                        before.empty() ? "(default)" : before, after.empty() ? "(default)" : after);
    }
    return words;
}

base::Result<int> history(const ApiClient& client, const ConfigArguments& arguments) {
    const auto answer = client.get(fmt::format("/api/settings/versions?limit={}", arguments.limit));
    if (!answer) return std::unexpected(answer.error());
    print_answer(arguments.output, *answer, [&] {
        Table table({"VERSION", "TIME (UTC)", "BY", "CHANGES"});
        for (const Node& one : list_of(*answer, "items")) {
            table.add({field(one, "version"), short_time(field(one, "at")), field(one, "note"),
                       words_of_changes(one)});
        }
        return table.empty() ? "the settings were never changed\n" : table.text(wants_colour());
    });
    return 0;
}

base::Result<int> diff(const ApiClient& client, const ConfigArguments& arguments) {
    const auto answer =
        client.get(fmt::format("/api/settings/diff?from={}&to={}", arguments.from, arguments.to));
    if (!answer) return std::unexpected(answer.error());
    print_answer(arguments.output, *answer, [&] {
        Table table({"SETTING", fmt::format("VERSION {}", arguments.from),
                     fmt::format("VERSION {}", arguments.to)});
        for (const Node& change : list_of(*answer, "changes")) {
            table.add({field(change, "key"), value_text(change.find("before")),
                       value_text(change.find("after"))});
        }
        return table.empty() ? "no difference\n" : table.text(wants_colour());
    });
    return 0;
}

base::Result<int> rollback(const ApiClient& client, const ConfigArguments& arguments) {
    Node body = Node::map();
    body.set("version", Node::unsigned_integer(arguments.to));
    if (!arguments.reason.empty()) body.set("reason", Node::text(arguments.reason));
    const auto reply = client.ask(
        {.method = "POST", .path = "/api/settings/rollback", .body = document::to_json(body)});
    if (!reply) return std::unexpected(reply.error());
    const auto answer = parse_answer(reply->body);
    if (!answer) return std::unexpected(answer.error());
    print_answer(arguments.output, *answer, [&] {
        return fmt::format("the settings are those of version {} again, as version {}\n",
                           arguments.to, field(*answer, "version"));
    });
    return 0;
}

using Act = base::Result<int> (*)(const ApiClient& client, const ConfigArguments& arguments);

CLI::App* add_act(CLI::App& parent, std::string name, std::string summary, int& status,
                  const std::shared_ptr<ConfigArguments>& arguments, Act function) {
    auto* command = parent.add_subcommand(std::move(name), std::move(summary));
    add_api_options(*command, *arguments,
                    command->get_name() == "set" || command->get_name() == "rollback");
    command->callback([arguments, &status, function] {
        status = with_api(arguments->connection,
                          [&](const ApiClient& client) { return function(client, *arguments); });
    });
    return command;
}

}  // namespace

void add_live_settings(CLI::App& settings, int& status) {
    auto arguments = std::make_shared<ConfigArguments>();
    auto* command =
        add_act(settings, "get", "The settings of a running server.", status, arguments, &get);
    command->add_option("names", arguments->words, "Only these");
    command->add_flag("--changed", arguments->changed_only, "Only what is not the default");
    arguments = std::make_shared<ConfigArguments>();
    command =
        add_act(settings, "set", "Change settings while everything runs.", status, arguments, &set);
    command->add_option("settings", arguments->words, "name=value");
    command->add_option("--unset", arguments->unset, "Back to the default");
}

void add_config(CLI::App& app, int& status) {
    auto* config = app.add_subcommand("config", "Versions of the settings, through the API.");
    config->require_subcommand(1);
    auto arguments = std::make_shared<ConfigArguments>();
    auto* command = add_act(*config, "history", "Every version with what it changed, newest first.",
                            status, arguments, &history);
    command->add_option("--limit", arguments->limit, "At most so many")
        ->check(CLI::Range(1, 999))
        ->capture_default_str();
    arguments = std::make_shared<ConfigArguments>();
    command =
        add_act(*config, "diff", "What differs between two versions.", status, arguments, &diff);
    command->add_option("from", arguments->from, "Number of a version")->required();
    command->add_option("to", arguments->to, "Number of another")->required();
    arguments = std::make_shared<ConfigArguments>();
    command = add_act(*config, "rollback", "Make the settings what they were in a version.", status,
                      arguments, &rollback);
    command->add_option("version", arguments->to, "Number of the version")->required();
}

}  // namespace pollux::app
