// `pollux simulate`: runs the production engine against a simulated fleet and prints how well it
// watched.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "app/commands.hpp"
#include "sim/fault_presets.hpp"
#include "sim/recording.hpp"
#include "sim/world.hpp"

namespace pollux::app {
namespace {

struct SimulateArguments {
    std::string scenario = "b";
    std::string policy = "optimal";
    std::string preset = "balanced";
    std::string degraded = "mean";
    std::string faults = "none";
    std::string record;
    std::string replay;
    sim::WorldOptions world;
    bool json = false;
    bool quiet = false;
};

template <class Enum, class Names>
Enum index_in(const Names& names, const std::string& text) {
    std::size_t i = 0;
    while (i + 1 < names.size() && names[i] != text) ++i;
    return static_cast<Enum>(i);
}

void print_json(const SimulateArguments& args, const sim::WorldReport& report, double wall_s) {
    const sim::SimMetrics& m = report.metrics;
    std::string text = fmt::format(
        "{{\"scenario\":\"{}\",\"policy\":\"{}\",\"preset\":\"{}\",\"targets\":{},\"budget\":{},"
        "\"seed\":{},\"hours\":{},\"warmup\":{},",
        args.scenario, args.policy, args.preset, args.world.targets, args.world.budget,
        args.world.seed, args.world.hours, args.world.warmup_hours);
    text += fmt::format(
        "\"mean_delay_s\":{:.4f},\"p95_delay_s\":{:.3f},\"p99_delay_s\":{:.3f},"
        "\"quiet_down_mean_s\":{:.3f},\"quiet_down_p99_s\":{:.3f},\"freshness\":{:.6f},"
        "\"over_bound_share\":{:.9f},\"max_gap_s\":{:.3f},\"polls_per_s\":{:.4f},"
        "\"violations\":{},\"log_hash\":\"{:016x}\",",
        m.mean_delay_s, m.p95_delay_s, m.p99_delay_s, m.quiet_down_mean_s, m.quiet_down_p99_s,
        m.freshness, m.over_bound_share, m.max_gap_s, m.polls_per_s, report.violations,
        report.log_hash);
    text += fmt::format(
        "\"flapper_polls_per_s\":{:.6f},\"quiet_polls_per_s\":{:.6f},\"bound_s\":{:.3f},"
        "\"budget_infeasible\":{},\"restarts\":{},\"restart_burst\":{:.3f},\"events\":{},"
        "\"polls\":{},\"wall_s\":{:.2f}}}",
        report.flapper_polls_per_s, report.quiet_polls_per_s, report.bound_s,
        report.budget_infeasible, report.restarts, report.largest_10s_ratio, m.events, m.polls,
        wall_s);
    std::puts(text.c_str());
}

void print_table(const SimulateArguments& args, const sim::WorldReport& report, double wall_s) {
    const sim::SimMetrics& m = report.metrics;
    fmt::print("scenario {} ({}), policy {}, preset {}, {} targets, seed {}\n", args.scenario,
               sim::describe(*sim::parse_scenario(args.scenario)), args.policy, args.preset,
               args.world.targets, args.world.seed);
    fmt::print("  event delay        mean {:.2f} s   p95 {:.1f} s   p99 {:.1f} s\n", m.mean_delay_s,
               m.p95_delay_s, m.p99_delay_s);
    if (m.quiet_down_mean_s > 0) {
        fmt::print("  quiet device dies  mean {:.2f} s   p99 {:.1f} s until noticed\n",
                   m.quiet_down_mean_s, m.quiet_down_p99_s);
    }
    fmt::print(
        "  freshness          {:.4f}   over the bound of {:.0f} s: {:.4f} %   largest gap "
        "{:.1f} s\n",
        m.freshness, report.bound_s, m.over_bound_share * 100, m.max_gap_s);
    fmt::print("  polls              {:.2f} per second (budget {:.2f}){}\n", m.polls_per_s,
               args.world.budget,
               report.budget_infeasible ? "   the bounds need more than the cap allows" : "");
    if (report.restarts > 0) {
        fmt::print("  restarts           {}   most starts in 10 s: {:.2f} x steady\n",
                   report.restarts, report.largest_10s_ratio);
    }
    fmt::print("  violations         {}\n", report.violations);
    for (const auto& text : report.violation_texts) fmt::print("    {}\n", text);
    fmt::print("  log hash           {:016x}   ({:.1f} s)\n", report.log_hash, wall_s);
}

class ProgressLine {
  public:
    explicit ProgressLine(bool enabled)
        : enabled_(enabled && isatty(STDERR_FILENO) != 0),
          start_(std::chrono::steady_clock::now()) {}
    ~ProgressLine() {
        if (enabled_) std::fputs("\r\x1b[K", stderr);
    }
    bool show(const sim::Progress& p) {
        if (!enabled_) return true;
        const auto now = std::chrono::steady_clock::now();
        if (now - shown_ < std::chrono::milliseconds(200)) return true;
        shown_ = now;
        const double spent = std::chrono::duration<double>(now - start_).count();
        const double share = p.simulated_s / p.total_s;
        const int filled = static_cast<int>(share * 30);
        fmt::print(stderr,
                   "\r\x1b[K[{:-<30}] {:3.0f} %  {:.1f} of {:.1f} h  {:.2f} M polls  {:.0f} s left",
                   std::string(static_cast<std::size_t>(filled), '#'), share * 100,
                   p.simulated_s / 3600, p.total_s / 3600, static_cast<double>(p.polls) * 1e-6,
                   share > 0 ? spent / share - spent : 0);
        std::fflush(stderr);
        return true;
    }

  private:
    bool enabled_;
    std::chrono::steady_clock::time_point start_;
    std::chrono::steady_clock::time_point shown_;
};

int replay(const std::string& path) {
    const auto result = sim::replay_recording(path);
    if (!result) {
        fmt::print(stderr, "pollux simulate: {}\n", result.error().message);
        return 1;
    }
    fmt::print("replayed {} steps, {} events of {} process(es): commands {}\n", result->steps,
               result->events, result->processes,
               result->same ? "are the same as recorded" : "DIFFER from the recording");
    if (!result->same) fmt::print("first difference at step {}\n", result->first_difference);
    return result->same ? 0 : 1;
}

int simulate(SimulateArguments& args) {
    if (!args.replay.empty()) return replay(args.replay);
    args.world.scenario = *sim::parse_scenario(args.scenario);
    args.world.policy = index_in<model::PolicyKind>(model::kPolicyNames, args.policy);
    args.world.preset = index_in<model::Preset>(model::kPresetNames, args.preset);
    args.world.degraded = args.degraded == "tail" ? model::DegradedChoice::kTailFirst
                                                  : model::DegradedChoice::kMeanFirst;
    sim::apply_fault_preset(args.faults, args.world);
    const auto start = std::chrono::steady_clock::now();
    sim::World world(args.world);
    std::unique_ptr<sim::RecordingWriter> writer;
    if (!args.record.empty()) {
        auto opened = sim::RecordingWriter::open(args.record);
        if (!opened) {
            fmt::print(stderr, "pollux simulate: {}\n", opened.error().message);
            return 1;
        }
        writer = std::move(*opened);
        world.record_to(writer.get());
    }
    sim::WorldReport report;
    {
        ProgressLine progress(!args.quiet);
        report = world.run([&](const sim::Progress& p) { return progress.show(p); });
    }
    if (writer) {
        if (const auto closed = writer->close(); !closed) {
            fmt::print(stderr, "pollux simulate: {}\n", closed.error().message);
            return 1;
        }
    }
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    (args.json ? print_json : print_table)(args, report, wall);
    return report.violations == 0 ? 0 : 1;
}

}  // namespace

void add_simulate(CLI::App& app, int& status) {
    auto args = std::make_shared<SimulateArguments>();
    auto* command = app.add_subcommand(
        "simulate", "Run the engine against a simulated fleet and report how well it watched.");
    std::vector<std::string> scenarios;
    for (const auto scenario : sim::all_scenarios())
        scenarios.emplace_back(sim::to_string(scenario));
    const std::vector<std::string> policies(model::kPolicyNames.begin(), model::kPolicyNames.end());
    const std::vector<std::string> presets(model::kPresetNames.begin(), model::kPresetNames.end());
    command
        ->add_option("--scenario", args->scenario, "How the devices change (see docs/simulator.md)")
        ->check(CLI::IsMember(scenarios))
        ->capture_default_str();
    command->add_option("--policy", args->policy, "Interval policy")
        ->check(CLI::IsMember(policies))
        ->capture_default_str();
    command->add_option("--preset", args->preset, "Preset of the optimal policy")
        ->check(CLI::IsMember(presets))
        ->capture_default_str();
    command
        ->add_option("--degraded", args->degraded, "When the bounds do not fit: mean or tail first")
        ->check(CLI::IsMember({"mean", "tail"}))
        ->capture_default_str();
    command->add_option("--targets", args->world.targets, "Number of targets")
        ->check(CLI::Range(1UL, 1'000'000UL))
        ->capture_default_str();
    command->add_option("--hours", args->world.hours, "Measured hours, after the warm-up")
        ->check(CLI::Range(0.01, 10'000.0))
        ->capture_default_str();
    command->add_option("--warmup", args->world.warmup_hours, "Hours before measuring starts")
        ->check(CLI::Range(0.0, 10'000.0))
        ->capture_default_str();
    command
        ->add_option("--budget", args->world.budget,
                     "Polls per second aimed at; every target gets base = targets / budget")
        ->check(CLI::Range(0.001, 1e6))
        ->capture_default_str();
    command->add_option("--seed", args->world.seed, "Seed of everything random")
        ->capture_default_str();
    command->add_option("--faults", args->faults, "Faults that happen to the engine")
        ->check(CLI::IsMember(sim::fault_preset_names()))
        ->capture_default_str();
    command->add_option("--record", args->record, "Write the core's inputs to FILE")
        ->type_name("FILE");
    command->add_option("--replay", args->replay, "Replay FILE and compare the commands")
        ->type_name("FILE");
    command->add_flag("--json", args->json, "Print one line of JSON");
    command->add_flag("--quiet", args->quiet, "No progress line");
    command->callback([args, &status] { status = simulate(*args); });
}

}  // namespace pollux::app
