#include "app/addon_online.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/addon_files.hpp"
#include "document/write.hpp"
#include "extract/compiled_addon.hpp"

namespace pollux::app {
namespace {

using document::Node;

constexpr const char* kAddons = "/api/addons";

struct OnlineArguments : ApiArguments {
    std::string file;
    std::string name;
    bool replace = false;
    bool dry_run = false;
};

std::string path_of(const std::string& name, std::string_view more = {}) {
    return fmt::format("{}/{}{}", kAddons, url_escaped(name), more);
}

struct Manifest {
    std::string name;
    std::string text;
};

// What is wrong with it is told here, with file and line, before anybody is asked.
base::Result<Manifest> read_manifest(const std::string& file) {
    auto text = read_text_file(file, kMaxManifestBytes);
    if (!text) return std::unexpected(usage_error(text.error().message));
    const extract::CompileResult compiled = extract::compile(*text, file);
    if (compiled.addon == nullptr) {
        return base::config_error("addon.invalid", compiled.diagnostics.text());
    }
    return Manifest{compiled.addon->addon().name, std::move(*text)};
}

int install(const OnlineArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        auto manifest = read_manifest(arguments.file);
        if (!manifest) return std::unexpected(manifest.error());
        Node body = Node::map();
        body.set("manifest", Node::text(std::move(manifest->text)));
        if (!arguments.reason.empty()) body.set("reason", Node::text(arguments.reason));
        ApiRequest request{.method = "POST", .path = kAddons, .body = document::to_json(body)};
        if (arguments.replace) {
            // Somebody who was faster is not overwritten.
            const auto before = client.ask({.path = path_of(manifest->name)});
            if (!before) return std::unexpected(before.error());
            request.method = "PUT";
            request.path = path_of(manifest->name);
            request.headers = {{"If-Match", before->etag}};
        }
        if (arguments.dry_run) request.path += "?dry_run=true";
        return act(client, arguments.output, request, [&](const Node& answer) {
            return arguments.dry_run
                       ? fmt::format("{} is good; nothing was stored", manifest->name)
                       : fmt::format("{} {} is in force for {} targets", field(answer, "name"),
                                     field(answer, "version"), field(answer, "targets"));
        });
    });
}

int remove(const OnlineArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto reply = client.ask({.method = "DELETE",
                                       .path = path_of(arguments.name),
                                       .body = reason_body(arguments.reason)});
        if (!reply) return std::unexpected(reply.error());
        print_done(arguments.output, fmt::format("addon {} removed", arguments.name));
        return 0;
    });
}

int turn(const OnlineArguments& arguments, std::string_view verb, std::string_view done) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        return act(client, arguments.output,
                   {.method = "POST",
                    .path = path_of(arguments.name, fmt::format("/{}", verb)),
                    .body = reason_body(arguments.reason)},
                   [&](const Node& answer) {
                       return fmt::format("the {} targets of {} are {}", field(answer, "targets"),
                                          field(answer, "name"), done);
                   });
    });
}

}  // namespace

int list_server_addons(const ApiArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto all = get_all(client, kAddons);
        if (!all) return std::unexpected(all.error());
        print_answer(arguments.output, *all, [&] {
            Table table({"NAME", "VERSION", "PROTOCOL", "TARGETS", "STATE", "ORIGIN", "REVISION"});
            for (const Node& one : list_of(*all, "items")) {
                table.add({field(one, "name"), field(one, "version"), field(one, "protocol"),
                           field(one, "targets"),
                           field(one, "enabled") == "false" ? "disabled" : "enabled",
                           field(one, "origin"), field(one, "revision")});
            }
            return table.text(wants_colour());
        });
        return 0;
    });
}

void add_online_addons(CLI::App& addon, int& status) {
    auto arguments = std::make_shared<OnlineArguments>();
    auto* command = addon.add_subcommand("install", "Give a manifest to a running server.");
    add_api_options(*command, *arguments, true);
    command->add_option("FILE", arguments->file, "The manifest")->required();
    command->add_flag("--replace", arguments->replace, "Change the one that the server has");
    command->add_flag("--dry-run", arguments->dry_run, "Check with all its targets, store nothing");
    command->callback([arguments, &status] { status = install(*arguments); });

    arguments = std::make_shared<OnlineArguments>();
    command =
        addon.add_subcommand("rm", "Take a stored manifest away; a shipped one is in force again.");
    add_api_options(*command, *arguments, true);
    command->add_option("NAME", arguments->name, "Name of the addon")->required();
    command->callback([arguments, &status] { status = remove(*arguments); });

    struct Row {
        const char* verb;
        const char* summary;
        const char* done;
    };
    for (const Row& row : {Row{"enable", "Poll the targets of an addon again.", "polled again"},
                           Row{"disable", "Stop polling all targets of an addon; nothing is lost.",
                               "not polled any more"}}) {
        arguments = std::make_shared<OnlineArguments>();
        command = addon.add_subcommand(row.verb, row.summary);
        add_api_options(*command, *arguments, true);
        command->add_option("NAME", arguments->name, "Name of the addon")->required();
        command->callback(
            [arguments, &status, row] { status = turn(*arguments, row.verb, row.done); });
    }
}

}  // namespace pollux::app
