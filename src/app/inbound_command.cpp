// `pollux messages`, `pollux inbound [forget]`, `pollux push url`, `pollux hook url`: what devices
// sent by themselves, and where they may send it. Asks the running server.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/commands.hpp"
#include "app/control_client.hpp"
#include "app/events_page.hpp"
#include "app/stop_signals.hpp"
#include "document/write.hpp"

namespace pollux::app {
namespace {

struct MessagesArguments {
    std::string data = "data";
    std::string target;
    std::string output = "text";
    std::size_t limit = 50;
    bool follow = false;
};

int complain(const base::Error& error) {
    fmt::print(stderr, "pollux: {}\n", error.message);
    return 1;
}

void add_data(CLI::App& command, std::string& data) {
    command.add_option("--data", data, "Data folder of the server")
        ->envname("POLLUX_DATA")
        ->capture_default_str();
}

void print(const document::Node& event, bool json) {
    fmt::print("{}\n", json ? document::to_json(event) : event_line(event));
}

int messages(const MessagesArguments& arguments) {
    const ControlClient client(arguments.data);
    const bool json = arguments.output == "json";
    std::string choice = fmt::format("limit={}", arguments.limit);
    if (!arguments.target.empty()) {
        choice += "&target=" + ControlClient::escaped(arguments.target);
    }
    const auto newest = client.ask("GET", "/events?" + choice, "");
    if (!newest) return complain(newest.error());
    // They come newest first; people read them oldest first.
    const std::vector<document::Node>& found = newest->find("events")->items();
    for (std::size_t i = found.size(); i > 0; --i) print(found[i - 1], json);
    if (!arguments.follow) {
        // Not among the events: somebody may count those.
        if (found.empty() && !json) {
            fmt::print(stderr, "pollux: nothing came{} yet; `pollux inbound` shows who is heard\n",
                       arguments.target.empty() ? "" : " for " + arguments.target);
        }
        return 0;
    }
    std::string after = found.empty() ? "0" : found.front().find("id")->scalar();
    const StopSignals signals;
    while (!StopSignals::stopped()) {
        std::fflush(stdout);
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        const auto next =
            client.ask("GET", fmt::format("/events?{}&order=oldest&after={}", choice, after), "");
        if (!next) return complain(next.error());
        const std::vector<document::Node>& fresh = next->find("events")->items();
        for (const document::Node& event : fresh) {
            print(event, json);
            after = event.find("id")->scalar();
        }
    }
    return 0;
}

int show_inbound(const std::string& data, const std::string& output) {
    const auto page = ControlClient(data).ask("GET", "/inbound", "");
    if (!page) return complain(page.error());
    fmt::print("{}", output == "json" ? document::to_json(*page) + "\n" : inbound_text(*page));
    return 0;
}

int forget_sender(const std::string& data, const std::string& engine) {
    const auto done = ControlClient(data).ask(
        "POST", "/inbound/forget?engine=" + ControlClient::escaped(engine), "");
    if (!done) return complain(done.error());
    fmt::print("the clock that {} says next is believed\n", engine);
    return 0;
}

// `kind` is that of the addon's protocol.
void add_url(CLI::App& app, int& status, const char* name, const char* kind, const char* what) {
    struct UrlArguments {
        std::string data = "data";
        std::string key;
    };
    auto arguments = std::make_shared<UrlArguments>();
    auto* group = app.add_subcommand(name, fmt::format("Targets of {} addons.", kind));
    group->require_subcommand(1);
    auto* command = group->add_subcommand("url", what);
    command->add_option("target", arguments->key, "addon::device")->required();
    add_data(*command, arguments->data);
    command->callback([arguments, kind, &status] {
        const auto url = ControlClient(arguments->data)
                             .ask_text("GET",
                                       fmt::format("/inbound/url?kind={}&key={}", kind,
                                                   ControlClient::escaped(arguments->key)),
                                       "");
        if (!url) {
            status = complain(url.error());
            return;
        }
        fmt::print("{}\n", *url);
    });
}

}  // namespace

void add_inbound(CLI::App& app, int& status) {
    auto arguments = std::make_shared<MessagesArguments>();
    auto* command =
        app.add_subcommand("messages", "What devices sent by themselves, as it is stored.");
    add_data(*command, arguments->data);
    command->add_option("--target", arguments->target, "Of one target only: addon::device");
    command->add_option("--limit", arguments->limit, "How many of the newest")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command->add_flag("--follow", arguments->follow, "Go on with what comes");
    command->add_option("-o,--output", arguments->output, "text, or json: one object per line")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command->callback([arguments, &status] { status = messages(*arguments); });

    struct PageArguments {
        std::string data = "data";
        std::string output = "text";
        std::string engine;
    };
    auto page = std::make_shared<PageArguments>();
    auto* inbound = app.add_subcommand(
        "inbound", "What is listened to, what came, and from whom nobody expected it.");
    add_data(*inbound, page->data);
    inbound->add_option("-o,--output", page->output, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    auto* forget = inbound->add_subcommand(
        "forget",
        "Believe the clock of a sender of SNMPv3 traps anew: it lost its memory, and is refused.");
    forget->add_option("engine", page->engine, "Its engine id, as `pollux inbound` shows it")
        ->required();
    forget->add_option("--data", page->data, "Data folder of the server")
        ->envname("POLLUX_DATA")
        ->capture_default_str();
    forget->callback([page, &status] { status = forget_sender(page->data, page->engine); });
    inbound->callback([page, inbound, &status] {
        // With a subcommand both are called.
        if (inbound->get_subcommands().empty()) status = show_inbound(page->data, page->output);
    });

    add_url(app, status, "push", "push",
            "Print the address to call for a heartbeat. It holds the token.");
    add_url(app, status, "hook", "webhook",
            "Print the address that a webhook is sent to. It holds the token.");
}

}  // namespace pollux::app
