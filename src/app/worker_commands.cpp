// `pollux workers`, `pollux queues` and `pollux regions`: who works in a running server, and how
// polling goes by class and by region.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "app/api_command.hpp"
#include "app/commands.hpp"

namespace pollux::app {
namespace {

using document::Node;

double number(const Node& node, std::string_view name) {
    return std::strtod(field(node, name).c_str(), nullptr);
}

std::string percent(const Node& node, std::string_view name) {
    return field(node, name).empty() ? "-" : fmt::format("{:.1f} %", number(node, name) * 100);
}

std::string seconds(const Node& node, std::string_view name) {
    return field(node, name).empty() ? "-" : fmt::format("{:.3f} s", number(node, name));
}

std::string megabytes(const Node& node, std::string_view name) {
    return field(node, name).empty() ? "-" : fmt::format("{:.1f} MB", number(node, name) / 1e6);
}

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

std::string workers_page(const Node& answer) {
    Table table({"WORKER", "KIND", "STATUS", "LAST SEEN (UTC)", "CPU", "MEMORY", "ACTIVE", "DONE",
                 "FAILED"});
    for (const Node& one : list_of(answer, "items")) {
        table.add({field(one, "name"), field(one, "kind"), field(one, "status"),
                   or_dash(short_time(field(one, "last_seen"))), percent(one, "cpu_share"),
                   megabytes(one, "memory_bytes"), or_dash(field(one, "active")),
                   or_dash(field(one, "completed")), or_dash(field(one, "failed"))});
    }
    const Node* process = answer.find("process");
    if (process == nullptr) return table.text(wants_colour());
    return table.text(wants_colour()) +
           fmt::format(
               "memory of the process, which all of them share: {}, at most {} so far; "
               "allocated: {}\n",
               megabytes(*process, "resident_bytes"), megabytes(*process, "peak_resident_bytes"),
               megabytes(*process, "heap_bytes"));
}

// The columns that queues and regions have in common, behind those of their own.
std::vector<std::string> with_day(std::vector<std::string> own, const Node& one) {
    const Node none;
    const Node* found = one.find("day");
    const Node& day = found == nullptr ? none : *found;
    own.push_back(fmt::format("{:.2f}", number(one, "start_rate")));
    own.push_back(fmt::format("{:.2f}", number(one, "finish_rate")));
    own.push_back(percent(day, "success_ratio"));
    own.push_back(seconds(day, "mean"));
    own.push_back(seconds(day, "p95"));
    return own;
}

std::string queues_page(const Node& answer) {
    Table table({"CLASS", "TASKS", "WAITING", "UNDER WAY", "STARTS/S", "ENDS/S", "SUCCESS 24 H",
                 "MEAN", "P95"});
    for (const Node& one : list_of(answer, "items")) {
        table.add(with_day({field(one, "class"), field(one, "tasks"), field(one, "length"),
                            field(one, "in_flight")},
                           one));
    }
    return table.text(wants_colour());
}

std::string regions_page(const Node& answer) {
    Table table(
        {"REGION", "SLOTS", "UNDER WAY", "STARTS/S", "ENDS/S", "SUCCESS 24 H", "MEAN", "P95"});
    for (const Node& one : list_of(answer, "items")) {
        const std::string name = field(one, "region");
        table.add(with_day({name.empty() ? "(local)" : name, or_dash(field(one, "slots")),
                            field(one, "in_flight")},
                           one));
    }
    return table.text(wants_colour());
}

int show(const ApiArguments& arguments, const char* path, std::string (*page)(const Node&)) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto answer = client.get(path);
        if (!answer) return std::unexpected(answer.error());
        print_answer(arguments.output, *answer, [&] { return page(*answer); });
        return 0;
    });
}

}  // namespace

void add_workers(CLI::App& app, int& status) {
    auto arguments = std::make_shared<ApiArguments>();
    auto* workers = app.add_subcommand("workers", "Who works in a running server, and how much.");
    add_api_options(*workers, *arguments, false);
    workers->callback(
        [arguments, &status] { status = show(*arguments, "/api/workers", workers_page); });

    arguments = std::make_shared<ApiArguments>();
    auto* queues = app.add_subcommand(
        "queues", "Polling by class: what waits, rates, success and durations of 24 hours.");
    add_api_options(*queues, *arguments, false);
    queues->callback(
        [arguments, &status] { status = show(*arguments, "/api/queues", queues_page); });

    arguments = std::make_shared<ApiArguments>();
    auto* regions = app.add_subcommand(
        "regions", "Polling by region: who serves it, rates, success and durations of 24 hours.");
    add_api_options(*regions, *arguments, false);
    regions->callback(
        [arguments, &status] { status = show(*arguments, "/api/regions", regions_page); });
}

}  // namespace pollux::app
