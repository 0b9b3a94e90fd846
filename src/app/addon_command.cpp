// `pollux addon`: checks manifests, runs their cases, lists what there is.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/addon_case.hpp"
#include "app/addon_catalogue.hpp"
#include "app/addon_files.hpp"
#include "app/addon_import.hpp"
#include "app/addon_new.hpp"
#include "app/addon_online.hpp"
#include "app/api_command.hpp"
#include "app/commands.hpp"
#include "document/scalar.hpp"

namespace pollux::app {
namespace {

struct AddonArguments {
    std::vector<std::string> files;
    std::vector<std::string> folders;
    std::string folder;
    std::string file;
    bool replace = false;
    bool server = false;  // of a running one
    NewAddon fresh;
};

int check(const std::vector<std::string>& paths) {
    std::size_t errors = 0;
    std::size_t warnings = 0;
    std::size_t count = 0;
    for (const std::string& path : paths) {
        const auto manifests = find_manifests(path);
        if (!manifests) {
            fmt::print("{}\n", manifests.error().message);
            ++errors;
            continue;
        }
        for (const std::string& file : *manifests) {
            ++count;
            const auto text = read_text_file(file, kMaxManifestBytes);
            if (!text) {
                fmt::print("{}\n", text.error().message);
                ++errors;
                continue;
            }
            const extract::CompileResult compiled = extract::compile(*text, file);
            fmt::print("{}", compiled.diagnostics.text());
            errors += compiled.diagnostics.errors();
            warnings += compiled.diagnostics.warnings();
            if (compiled.addon == nullptr) continue;
            const model::Addon& addon = compiled.addon->addon();
            // What is heard is no task.
            const std::string how = model::is_inbound(addon.protocol)
                                        ? fmt::format("hears by {}", to_string(addon.protocol))
                                        : fmt::format("{} tasks", addon.groups.size());
            fmt::print("{}: {} {} is good: {} metrics, {} conditions, {}\n", file, addon.name,
                       addon.version, addon.metrics.size(), addon.conditions.size(), how);
        }
    }
    fmt::print("{} checked, {} errors, {} warnings\n", count, errors, warnings);
    return errors == 0 && count > 0 ? 0 : 1;
}

int test(std::vector<std::string> folders) {
    if (folders.empty()) folders.emplace_back("addons");
    CaseTotals totals;
    for (const std::string& folder : folders) {
        const CaseTotals one = run_addon_cases(folder);
        totals.passed += one.passed;
        totals.failed += one.failed;
    }
    fmt::print("{} passed, {} failed\n", totals.passed, totals.failed);
    return totals.failed == 0 && totals.passed > 0 ? 0 : 1;
}

int list(const std::string& folder, const std::string& output) {
    const auto addons = load_addons(folder);
    if (!addons) {
        fmt::print(stderr, "pollux addon ls: {}\n", addons.error().message);
        return 1;
    }
    using document::Node;
    Table table({"NAME", "VERSION", "PROTOCOL", "INTERVAL", "METRICS", "ORIGIN"});
    Node items = Node::sequence();
    int status = 0;
    std::string problems;
    for (const LoadedAddon& loaded : *addons) {
        if (loaded.addon == nullptr) {
            problems += loaded.diagnostics.text();
            status = 1;
            continue;
        }
        const model::Addon& addon = loaded.addon->addon();
        const std::string protocol(model::to_string(addon.protocol));
        table.add({addon.name, addon.version, protocol,
                   addon.interval ? document::duration_text(*addon.interval) : "-",
                   fmt::format("{}", addon.metrics.size()), loaded.origin});
        Node one = Node::map();
        one.set("name", Node::text(addon.name)).set("version", Node::text(addon.version));
        one.set("title", Node::text(addon.title)).set("protocol", Node::text(protocol));
        if (addon.interval) one.set("interval", Node::number(base::to_seconds(*addon.interval)));
        one.set("metrics", Node::unsigned_integer(addon.metrics.size()));
        one.set("origin", Node::text(loaded.origin));
        items.push(std::move(one));
    }
    Node answer = Node::map();
    answer.set("items", std::move(items));
    print_answer(output, answer, [&] { return table.text(wants_colour()); });
    fmt::print(stderr, "{}", problems);
    return status;
}

}  // namespace

void add_addon(CLI::App& app, int& status) {
    auto args = std::make_shared<AddonArguments>();
    auto* addon = app.add_subcommand("addon", "Check, test, list and begin addons.");
    addon->require_subcommand(1);

    auto* check_command = addon->add_subcommand(
        "check", "Compile manifests and say what is wrong with them, with file and line.");
    check_command->add_option("FILE", args->files, "Manifests, or folders with manifests")
        ->required();
    check_command->callback([args, &status] { status = check(args->files); });

    auto* test_command = addon->add_subcommand(
        "test", "Run the cases of addons: captured replies against expected values.");
    test_command->add_option("DIR", args->folders,
                             "Folders of addons, or one addon's own (default: ./addons)");
    test_command->callback([args, &status] { status = test(args->folders); });

    auto* import_command = addon->add_subcommand(
        "import",
        "Take over a manifest of OpsConductor: says what changes in meaning, writes the addon.");
    import_command->add_option("FILE", args->file, "The manifest (JSON), or a ZIP file with it")
        ->required();
    import_command->add_option("--out", args->folder, "Your folder of addons")->type_name("DIR");
    import_command->add_flag("--replace", args->replace, "Replace an addon that is there already");
    import_command->callback(
        [args, &status] { status = run_import(args->file, args->folder, args->replace); });

    auto* new_command = addon->add_subcommand(
        "new", "Begin an addon from a captured reply: a walk, JSON, or lines of key=value.");
    new_command->add_option("NAME", args->fresh.name, "Name of the addon, like acme-switch")
        ->required();
    new_command
        ->add_option("--from", args->fresh.from,
                     "What was captured (snmpwalk -On, curl); - for standard input")
        ->required();
    new_command->add_option("--dir", args->fresh.folder, "Folder of your addons")
        ->capture_default_str();
    new_command->callback([args, &status] { status = make_new_addon(args->fresh); });

    auto* catalogue_command =
        addon->add_subcommand("catalogue", "The page docs/addons.md, from the shipped addons.");
    catalogue_command->callback([&status] {
        fmt::print("{}", addon_catalogue());
        status = 0;
    });

    auto* list_command = addon->add_subcommand("ls", "List the shipped addons and your own.");
    list_command->add_option("--dir", args->folder, "Folder with your addons")->type_name("DIR");
    auto online = std::make_shared<ApiArguments>();
    list_command->add_flag("--server", args->server, "Those of a running server instead");
    add_api_options(*list_command, *online, false);
    list_command->callback([args, online, &status] {
        status = args->server ? list_server_addons(*online) : list(args->folder, online->output);
    });
    add_online_addons(*addon, status);
}

}  // namespace pollux::app
