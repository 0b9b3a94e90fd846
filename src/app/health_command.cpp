// `pollux health`: the scheduler's health, through the API.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "app/api_command.hpp"
#include "app/commands.hpp"

namespace pollux::app {
namespace {

using document::Node;

constexpr const char* kClearScreen = "\x1b[H\x1b[2J";

struct HealthArguments : ApiArguments {
    bool watch = false;
    bool all = false;
    double every = 2;
    std::size_t times = 0;  // 0: until it is stopped
};

std::string text_at(const Node& node, std::string_view part, std::string_view name) {
    const Node* inner = node.find(part);
    return inner == nullptr ? std::string() : field(*inner, name);
}

std::string state_of(const Node& instance) {
    if (field(instance, "enabled") == "false") return "disabled";
    if (text_at(instance, "deadLetter", "present") == "true") return "dead letter";
    if (const std::string breaker = text_at(instance, "breaker", "state"); breaker != "closed") {
        return breaker;
    }
    if (text_at(instance, "pollStatus", "consecutiveFailures") != "0") return "failing";
    return text_at(instance, "pollStatus", "lastSuccess").empty() ? "not polled yet" : "ok";
}

std::string page(const Node& health, bool all) {
    const Node* queue = health.find("queue");
    std::string types;
    if (const Node* per_type = queue == nullptr ? nullptr : queue->find("perType")) {
        for (const auto& entry : per_type->entries()) {
            types +=
                fmt::format("{}{} {}", types.empty() ? "" : ", ", entry.key, entry.value.scalar());
        }
    }
    std::size_t open = 0;
    std::size_t fine = 0;
    std::size_t instances = 0;
    Table table({"KEY", "STATE", "FAILURES", "LAST SUCCESS (UTC)", "NEXT TRY (UTC)", "LAST ERROR"});
    for (const Node& one : list_of(health, "instances")) {
        ++instances;
        const std::string state = state_of(one);
        if (state == "ok") ++fine;
        if (text_at(one, "breaker", "state") == "open") ++open;
        if (!all && (state == "ok" || state == "not polled yet")) continue;
        std::string next = text_at(one, "deadLetter", "nextRetry");
        if (next.empty()) next = text_at(one, "breaker", "retryAt");
        const Node* status = one.find("pollStatus");
        table.add({field(one, "key"), state, text_at(one, "pollStatus", "consecutiveFailures"),
                   short_time(text_at(one, "pollStatus", "lastSuccess")), short_time(next),
                   status == nullptr ? "" : text_at(*status, "lastError", "message")});
    }
    std::string out = fmt::format(
        "at {} UTC, adaptive polling is {}\n{} tasks: {} ok, {} open breakers, {} dead letters\n"
        "queue: {} waiting, {} due soon ({})\n",
        short_time(field(health, "updatedAt")), field(health, "enabled") == "true" ? "on" : "off",
        instances, fine, open, text_at(health, "deadLetter", "count"),
        text_at(health, "queue", "depth"), text_at(health, "queue", "dueWithinSeconds"),
        printable(types));
    if (!table.empty()) out += "\n" + table.text(wants_colour());
    return out;
}

int health(const HealthArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const std::size_t rounds = arguments.watch ? arguments.times : 1;
        for (std::size_t round = 1; rounds == 0 || round <= rounds; ++round) {
            const auto answer = client.get("/api/monitoring/scheduler/health");
            if (!answer) return std::unexpected(answer.error());
            if (arguments.watch && wants_colour()) fmt::print("{}", kClearScreen);
            print_answer(arguments.output, *answer, [&] { return page(*answer, arguments.all); });
            std::fflush(stdout);
            if (std::ferror(stdout) != 0) return 0;  // nobody reads any more
            if (round == rounds) break;
            std::this_thread::sleep_for(std::chrono::duration<double>(arguments.every));
        }
        return 0;
    });
}

}  // namespace

void add_health(CLI::App& app, int& status) {
    auto arguments = std::make_shared<HealthArguments>();
    auto* command = app.add_subcommand("health", "Queue, breakers, dead letters and what fails.");
    add_connection_options(*command, arguments->connection);
    add_output_option(*command, arguments->output);
    command->add_flag("--all", arguments->all, "Every task, not only those in trouble");
    command->add_flag("-w,--watch", arguments->watch, "Again and again, until Ctrl-C");
    command->add_option("--every", arguments->every, "With --watch: seconds between two looks")
        ->check(CLI::Range(0.1, 3600.0))
        ->capture_default_str();
    command->add_option("--times", arguments->times, "With --watch: stop after so many looks");
    command->callback([arguments, &status] { status = health(*arguments); });
}

}  // namespace pollux::app
