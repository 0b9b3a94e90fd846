// `pollux get|add|set|rm` with targets, devices, groups and so on, `enable`, `disable`: what is
// configured, through the API.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "app/api_command.hpp"
#include "app/commands.hpp"
#include "app/object_body.hpp"
#include "document/write.hpp"

namespace pollux::app {
namespace {

using document::Node;

struct Kind {
    std::string_view one;
    std::string_view many;
    std::string_view path;
};

constexpr std::array<Kind, 8> kKinds = {{{"target", "targets", "/api/targets"},
                                         {"device", "devices", "/api/devices"},
                                         {"group", "groups", "/api/groups"},
                                         {"credential", "credentials", "/api/credentials"},
                                         {"source", "sources", "/api/sources"},
                                         {"receiver", "receivers", "/api/receivers"},
                                         {"route", "routes", "/api/routes"},
                                         {"silence", "silences", "/api/silences"}}};

struct ObjectArguments : ApiArguments {
    std::string name;
    std::string text;  // filter
    std::string origin;
    std::string label;   // filter
    std::string addon;   // filter
    std::string device;  // filter
    std::size_t limit = 0;
    BodyEdits edits;
};

std::string path_of(const Kind& kind, const std::string& name) {
    return fmt::format("{}/{}", kind.path, url_escaped(name));
}

// One word for what matters most about the tasks of a target.
std::string state_of(const Node& target) {
    std::string state;
    for (const Node& task : list_of(target, "tasks")) {
        if (field(task, "enabled") == "false") {
            state = "disabled";
        } else if (const auto dead = field(task, "dead_letter"); !dead.empty() && dead != "none") {
            return "dead letter";
        } else if (field(task, "breaker") != "closed") {
            state = field(task, "breaker");
        } else if (field(task, "failures") != "0") {
            state = "failing";
        } else if (state.empty()) {
            state = field(task, "last_success").empty() ? "not polled yet" : "ok";
        }
    }
    return state.empty() ? "heard, not polled" : state;
}

std::string table_of(const Kind& kind, const Node& answer) {
    if (kind.one == "target") {
        Table table(
            {"KEY", "STATE", "INTERVAL", "LAST SUCCESS (UTC)", "ADDRESS", "ORIGIN", "VERSION"});
        for (const Node& one : list_of(answer, "items")) {
            const auto& tasks = list_of(one, "tasks");
            const std::string interval = tasks.empty() ? "" : field(tasks.front(), "interval");
            table.add({field(one, "key"), state_of(one), interval.empty() ? "" : interval + " s",
                       tasks.empty() ? "" : short_time(field(tasks.front(), "last_success")),
                       field(one, "connection"), field(one, "origin"), field(one, "version")});
        }
        return table.text(wants_colour());
    }
    Table table({"NAME", "ORIGIN", "VERSION", "CHANGED (UTC)", "SPEC"});
    for (const Node& one : list_of(answer, "items")) {
        const Node* spec = one.find("spec");
        table.add({field(one, "name"), field(one, "origin"), field(one, "version"),
                   short_time(field(one, "changed_at")),
                   spec == nullptr ? "" : document::to_json(*spec).substr(0, 100)});
    }
    return table.text(wants_colour());
}

int get(const Kind& kind, const ObjectArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        if (!arguments.name.empty()) {
            const auto one = client.get(path_of(kind, arguments.name));
            if (!one) return std::unexpected(one.error());
            print_answer(arguments.output, *one, [&] { return document::to_yaml(*one); });
            return 0;
        }
        const std::string path = with_query(std::string(kind.path), {{"q", arguments.text},
                                                                     {"origin", arguments.origin},
                                                                     {"addon", arguments.addon},
                                                                     {"device", arguments.device},
                                                                     {"label", arguments.label}});
        const auto all = get_all(client, path, arguments.limit);
        if (!all) return std::unexpected(all.error());
        print_answer(arguments.output, *all, [&] { return table_of(kind, *all); });
        if (arguments.output == "table" && !field(*all, "next").empty()) {
            fmt::print(stderr, "there are more: raise --limit\n");
        }
        return 0;
    });
}

// Of a new target: its addon, its device, and what the device is if it is new.
base::Result<Node> new_target(const ObjectArguments& arguments) {
    const std::size_t colons = arguments.name.find("::");
    if (colons == std::string::npos || colons == 0 || colons + 2 == arguments.name.size()) {
        return std::unexpected(
            usage_error("a target is named by addon and device: snmp-system::switch-1"));
    }
    BodyEdits of_device;
    of_device.address = arguments.edits.address;
    of_device.labels = arguments.edits.labels;
    BodyEdits of_target = arguments.edits;
    of_target.address.clear();
    of_target.labels.clear();
    auto device = edited_body({}, of_device, false);
    if (!device) return device;
    auto spec = edited_body({}, of_target, false);
    if (!spec) return spec;
    Node body = Node::map();
    body.set("addon", Node::text(arguments.name.substr(0, colons)));
    body.set("device", Node::text(arguments.name.substr(colons + 2)));
    if (!device->entries().empty()) body.set("device_spec", std::move(*device));
    if (!spec->entries().empty()) body.set("spec", std::move(*spec));
    return body;
}

base::Result<int> print_changed(const ObjectArguments& arguments, const ApiReply& reply,
                                std::string_view done) {
    if (arguments.output == "table") {
        fmt::print("{}\n", printable(done, 400));
        return 0;
    }
    const auto answer = parse_answer(reply.body);
    if (!answer) return std::unexpected(answer.error());
    print_answer(arguments.output, *answer, [] { return std::string(); });
    return 0;
}

int add(const Kind& kind, const ObjectArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        auto body = kind.one == "target"
                        ? new_target(arguments)
                        : edited_body({}, arguments.edits, kind.one == "credential");
        if (!body) return std::unexpected(body.error());
        if (kind.one != "target") body->set("name", Node::text(arguments.name));
        if (!arguments.reason.empty()) body->set("reason", Node::text(arguments.reason));
        const auto reply = client.ask(
            {.method = "POST", .path = std::string(kind.path), .body = document::to_json(*body)});
        if (!reply) return std::unexpected(reply.error());
        return print_changed(arguments, *reply,
                             fmt::format("{} {} added", kind.one, arguments.name));
    });
}

// Reads, changes and writes; somebody who was faster is not overwritten.
int set(const Kind& kind, const ObjectArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        if (arguments.edits.empty()) {
            return std::unexpected(
                usage_error("nothing to change: use --set name=value, --unset name, or "
                            "--from-file FILE for the whole body"));
        }
        const std::string path = path_of(kind, arguments.name);
        const auto before = client.ask({.path = path});
        if (!before) return std::unexpected(before.error());
        const auto object = parse_answer(before->body);
        if (!object) return std::unexpected(object.error());
        const Node* spec = object->find("spec");
        auto body = edited_body(spec == nullptr ? Node() : *spec, arguments.edits,
                                kind.one == "credential");
        if (!body) return std::unexpected(body.error());
        if (!arguments.reason.empty()) body->set("reason", Node::text(arguments.reason));
        const auto reply = client.ask({.method = "PUT",
                                       .path = path,
                                       .body = document::to_json(*body),
                                       .headers = {{"If-Match", before->etag}}});
        if (!reply) return std::unexpected(reply.error());
        return print_changed(arguments, *reply,
                             fmt::format("{} {} changed", kind.one, arguments.name));
    });
}

int remove(const Kind& kind, const ObjectArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto reply = client.ask({.method = "DELETE",
                                       .path = path_of(kind, arguments.name),
                                       .body = reason_body(arguments.reason)});
        if (!reply) return std::unexpected(reply.error());
        print_done(arguments.output, fmt::format("{} {} removed", kind.one, arguments.name));
        return 0;
    });
}

int switch_target(const ObjectArguments& arguments, std::string_view verb, std::string_view done) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto reply = client.ask(
            {.method = "POST",
             .path = fmt::format("/api/targets/{}/{}", url_escaped(arguments.name), verb),
             .body = reason_body(arguments.reason)});
        if (!reply) return std::unexpected(reply.error());
        return print_changed(arguments, *reply, fmt::format("{} {}", arguments.name, done));
    });
}

void add_edits(CLI::App& command, BodyEdits& edits, const Kind& kind) {
    const bool makes_target = kind.one == "target" && command.get_parent()->get_name() == "add";
    command.add_option("--set", edits.set, "Field of the body: name=value, params.port=8443");
    command.add_option("--from-file", edits.from_file,
                       "The whole body, YAML or JSON; - is standard input");
    if (kind.one == "device" || makes_target) {
        command.add_option("--address", edits.address, "Address of the device");
        command.add_option("--label", edits.labels, "Label of the device: name=value");
    }
    if (kind.one == "device") {
        command.add_option("--addon", edits.addons, "Addon that polls it; may be repeated");
    }
    if (kind.one == "credential") {
        command.add_option("--secret", edits.secrets,
                           "Field to be asked for, such as password; from standard input");
    }
}

using Act = int (*)(const Kind& kind, const ObjectArguments& arguments);

CLI::App* add_kind(CLI::App& verb, const Kind& kind, std::string_view summary,
                   const std::shared_ptr<ObjectArguments>& arguments, int& status, Act act) {
    const bool plural = verb.get_name() == "get";
    auto* command =
        verb.add_subcommand(std::string(plural ? kind.many : kind.one),
                            fmt::format(fmt::runtime(summary), plural ? kind.many : kind.one));
    command->alias(std::string(plural ? kind.one : kind.many));
    add_api_options(*command, *arguments, !plural);
    auto* name = command->add_option("name", arguments->name,
                                     kind.one == "target" ? "addon::device" : "Its name");
    if (!plural) name->required();
    command->callback([arguments, kind, &status, act] { status = act(kind, *arguments); });
    return command;
}

}  // namespace

void add_objects(CLI::App& app, int& status) {
    auto* all = app.add_subcommand("get", "Show what is configured, through the API.");
    auto* make = app.add_subcommand("add", "Add to what is configured, through the API.");
    auto* change = app.add_subcommand("set", "Change what is configured, through the API.");
    auto* gone = app.add_subcommand("rm", "Remove from what is configured, through the API.");
    for (CLI::App* verb : {all, make, change, gone}) verb->require_subcommand(1);
    for (const Kind& kind : kKinds) {
        auto arguments = std::make_shared<ObjectArguments>();
        auto* show = add_kind(*all, kind, "All {}, or one.", arguments, status, &get);
        show->add_option("-q,--match", arguments->text, "Part of the name; for targets * works");
        show->add_option("--limit", arguments->limit, "At most so many; all unless given");
        if (kind.one == "target") {
            show->add_option("--addon", arguments->addon, "Only of this addon");
            show->add_option("--device", arguments->device, "Only of this device");
            show->add_option("--label", arguments->label,
                             "Only with this label of the device: name=value");
        }
        show->add_option("--origin", arguments->origin, "file, api or discovery")
            ->check(CLI::IsMember({"file", "api", "discovery"}));
        arguments = std::make_shared<ObjectArguments>();
        add_edits(*add_kind(*make, kind, "Add a {}.", arguments, status, &add), arguments->edits,
                  kind);
        arguments = std::make_shared<ObjectArguments>();
        auto* edit = add_kind(*change, kind, "Change a {}.", arguments, status, &set);
        add_edits(*edit, arguments->edits, kind);
        edit->add_option("--unset", arguments->edits.unset, "Take a field out of the body");
        add_kind(*gone, kind, "Remove a {}.", std::make_shared<ObjectArguments>(), status, &remove);
    }
    const std::array<std::array<std::string_view, 3>, 2> switches = {
        {{"enable", "Poll a target again.", "is polled again"},
         {"disable", "Stop polling a target; nothing is lost.", "is not polled any more"}}};
    for (const auto& [verb, summary, done] : switches) {
        auto arguments = std::make_shared<ObjectArguments>();
        auto* command = app.add_subcommand(std::string(verb), std::string(summary));
        add_api_options(*command, *arguments, true);
        command->add_option("key", arguments->name, "addon::device")->required();
        command->callback([arguments, &status, word = verb, words = done] {
            status = switch_target(*arguments, word, words);
        });
    }
}

}  // namespace pollux::app
