// `pollux top`: the live scheduler in the terminal, from the control socket of a running server.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "app/commands.hpp"
#include "app/control_client.hpp"
#include "app/stop_signals.hpp"
#include "app/top_screen.hpp"

namespace pollux::app {
namespace {

struct TopArguments {
    std::string data = "data";
    double every = 1;
    bool once = false;
};

int top(const TopArguments& arguments) {
    const ControlClient client(arguments.data);
    const bool terminal = isatty(STDOUT_FILENO) != 0 && !arguments.once;
    const StopSignals signals;
    TopScreen screen;
    if (terminal) std::fputs("\x1b[?25l\x1b[2J", stdout);
    int status = 0;
    while (!StopSignals::stopped()) {
        const auto page = client.ask("GET", "/status?limit=15", "");
        if (!page) {
            if (terminal) std::fputs("\x1b[?25h\n", stdout);
            fmt::print(stderr, "pollux: {}\n", page.error().message);
            return 1;
        }
        const std::string text = screen.page(*page, terminal ? terminal_width() : 120);
        std::fputs(terminal ? "\x1b[H" : "", stdout);
        std::fputs(terminal ? with_cleared_lines(text).c_str() : text.c_str(), stdout);
        std::fputs(terminal ? "\x1b[J" : "", stdout);
        std::fflush(stdout);
        if (arguments.once) break;
        for (double waited = 0; waited < arguments.every && !StopSignals::stopped();
             waited += 0.1) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }
    if (terminal) std::fputs("\x1b[?25h\n", stdout);
    return status;
}

}  // namespace

void add_top(CLI::App& app, int& status) {
    auto arguments = std::make_shared<TopArguments>();
    auto* command = app.add_subcommand("top", "Watch the scheduler of a running server.");
    command->add_option("--data", arguments->data, "Data folder of the server")
        ->envname("POLLUX_DATA")
        ->capture_default_str();
    command->add_option("--every", arguments->every, "Seconds between two looks")
        ->check(CLI::Range(0.2, 3600.0))
        ->capture_default_str();
    command->add_flag("--once", arguments->once, "Print one page and end");
    command->callback([arguments, &status] { status = top(*arguments); });
}

}  // namespace pollux::app
