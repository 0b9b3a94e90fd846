#include "app/usage_message.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace pollux::app {
namespace {

std::string commands_of(const CLI::App& app) {
    std::string names;
    for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) {
        names += (names.empty() ? "" : ", ") + one->get_name();
    }
    return names;
}

}  // namespace

std::string usage_message(const CLI::App* app, const CLI::Error& error) {
    // The command that was typed, as far as it is known.
    const CLI::App* at = app;
    std::string typed = app->get_name();
    while (!at->get_subcommands().empty()) {
        at = at->get_subcommands().front();
        typed += " " + at->get_name();
    }
    std::string what = error.what();
    const bool lacks_command =
        at->get_require_subcommand_min() > 0 && error.get_name() == "RequiredError";
    if (lacks_command) {
        const std::vector<std::string> rest = at->remaining();
        what = rest.empty() ? fmt::format("`{}` wants a command behind it", typed)
                            : fmt::format("there is no command `{} {}`", typed, rest.front());
        what += "; there are " + commands_of(*at);
    }
    return fmt::format("pollux: {}\nSee `{} --help`.\n", what, typed);
}

}  // namespace pollux::app
