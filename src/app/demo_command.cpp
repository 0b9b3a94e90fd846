// `pollux demo`: the engine at work on a simulated fleet, shown live in the terminal.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "app/commands.hpp"
#include "app/demo_screen.hpp"
#include "sim/world.hpp"

namespace pollux::app {
namespace {

volatile std::sig_atomic_t g_stop = 0;

void request_stop(int) { g_stop = 1; }

struct DemoArguments {
    sim::WorldOptions world;
    double speed = 60;   // simulated seconds per second
    double seconds = 0;  // 0: until interrupted
};

int terminal_width() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
    return size.ws_col;
}

sim::WorldOptions lively_world(sim::WorldOptions world) {
    world.scenario = sim::Scenario::kD;
    world.warmup_hours = 0;
    world.hours = 24 * 365;
    world.persist = true;
    world.groups = 25;
    world.faults.parent_outage_every_s = 900;
    world.faults.parent_outage_s = 180;
    world.faults.transient_failure = 0.001;
    world.faults.lost_result = 0.0002;
    world.faults.jobs_every_s = 300;
    world.faults.poke_every_s = 15;
    return world;
}

int demo(const DemoArguments& args) {
    const bool terminal = isatty(STDOUT_FILENO) != 0;
    g_stop = 0;
    std::signal(SIGINT, request_stop);
    std::signal(SIGTERM, request_stop);
    sim::World world(lively_world(args.world));
    DemoScreen screen(args.world.budget, args.speed);
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto frame = std::chrono::milliseconds(terminal ? 250 : 1000);
    if (terminal) std::fputs("\x1b[?25l\x1b[2J", stdout);
    for (int i = 1; g_stop == 0; ++i) {
        const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
        if (args.seconds > 0 && elapsed >= args.seconds) break;
        world.advance_to(elapsed * args.speed);
        const std::string text =
            terminal ? "\x1b[H" + screen.page(world, terminal_width()) : screen.line(world);
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
        std::this_thread::sleep_until(start + frame * i);
    }
    if (terminal) std::fputs("\x1b[?25h\n", stdout);
    const auto report = world.report();
    fmt::print("{} polls of {} targets in {:.0f} simulated minutes, {} invariant violations\n",
               world.polls(), args.world.targets, world.now_s() / 60, report.violations);
    for (const auto& violation : report.violation_texts) fmt::print("  {}\n", violation);
    return report.violations == 0 ? 0 : 1;
}

}  // namespace

void add_demo(CLI::App& app, int& status) {
    auto args = std::make_shared<DemoArguments>();
    auto* command = app.add_subcommand(
        "demo",
        "Show the engine at work on a simulated fleet. No network traffic, nothing stored.");
    args->world.targets = 2000;
    args->world.budget = 98;
    command->add_option("--targets", args->world.targets, "Number of simulated targets")
        ->check(CLI::Range(1UL, 200'000UL))
        ->capture_default_str();
    command->add_option("--budget", args->world.budget, "Polls per second aimed at")
        ->check(CLI::Range(0.1, 1e5))
        ->capture_default_str();
    command->add_option("--speed", args->speed, "Simulated seconds per second")
        ->check(CLI::Range(0.1, 3600.0))
        ->capture_default_str();
    command
        ->add_option("--seconds", args->seconds, "Stop after so many seconds; 0: run until Ctrl-C")
        ->check(CLI::Range(0.0, 86'400.0))
        ->capture_default_str();
    command->add_option("--seed", args->world.seed, "Seed of everything random")
        ->capture_default_str();
    command->callback([args, &status] { status = demo(*args); });
}

}  // namespace pollux::app
