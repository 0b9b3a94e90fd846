// `pollux device profile`: what was learned about SNMP devices. Asks the running server.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "app/commands.hpp"
#include "app/control_client.hpp"
#include "document/write.hpp"

namespace pollux::app {
namespace {

using document::Node;

struct DeviceArguments {
    std::string data = "data";
    std::string device;
    std::string output = "table";
};

std::string text_of(const Node& row, std::string_view key) {
    const Node* node = row.find(key);
    return node == nullptr ? "" : node->scalar();
}

// "24", "12 <24" below a ceiling, "10 fixed", "-" as the addon says.
std::string size_of(const Node& row, std::string_view key) {
    const Node* size = row.find(key);
    if (size == nullptr || size->find("now") == nullptr) return "-";
    std::string text = text_of(*size, "now");
    if (size->find("fixed") != nullptr) text += " fixed";
    if (size->find("ceiling") != nullptr) text += " <" + text_of(*size, "ceiling");
    return text;
}

std::string bulk_of(const Node& row) {
    if (row.find("bulk_fixed") == nullptr) return text_of(row, "bulk");
    return text_of(row, "bulk_fixed") == "true" ? "on fixed" : "off fixed";
}

void print_table(const Node& rows) {
    fmt::print("{:<24} {:<22} {:>12} {:>12} {:>14} {:>9} {:>9} {:>6} {}\n", "DEVICE", "ADDRESS",
               "VARIABLES", "ROWS", "BYTES", "AT ONCE", "BULK", "BACK", "CHECKED");
    for (const Node& row : rows.items()) {
        fmt::print("{:<24} {:<22} {:>12} {:>12} {:>14} {:>9} {:>9} {:>6} {}\n",
                   text_of(row, "device"), text_of(row, "address"), size_of(row, "varbinds"),
                   size_of(row, "repetitions"), size_of(row, "answer_bytes"),
                   size_of(row, "parallel"), bulk_of(row), text_of(row, "steps_back"),
                   text_of(row, "checked_at"));
    }
}

int show_profiles(const DeviceArguments& arguments) {
    const ControlClient client(arguments.data);
    const auto page =
        client.ask("GET", "/profiles?device=" + ControlClient::escaped(arguments.device), "");
    if (!page) {
        fmt::print(stderr, "pollux: {}\n", page.error().message);
        return 1;
    }
    const Node* rows = page->find("profiles");
    if (rows == nullptr) {
        fmt::print(stderr, "pollux: the server gave an answer without profiles\n");
        return 1;
    }
    if (arguments.output == "json") {
        fmt::print("{}\n", document::to_json(*page));
        return 0;
    }
    if (rows->items().empty()) {
        fmt::print(stderr,
                   "pollux: no profile{}: it begins with the first SNMP poll that is answered; "
                   "`pollux export` lists the devices\n",
                   arguments.device.empty() ? " yet" : " of " + arguments.device);
        return 1;
    }
    print_table(*rows);
    return 0;
}

}  // namespace

void add_device(CLI::App& app, int& status) {
    auto* command = app.add_subcommand("device", "What is known about devices.");
    command->require_subcommand(1);
    auto arguments = std::make_shared<DeviceArguments>();
    auto* profile = command->add_subcommand(
        "profile", "What SNMP devices take, as it was learned, and which of them lie.");
    profile->add_option("device", arguments->device, "Name or address; all without it");
    profile->add_option("--data", arguments->data, "Data folder of the server")
        ->envname("POLLUX_DATA");
    profile->add_option("-o,--output", arguments->output, "table or json")
        ->check(CLI::IsMember({"table", "json"}));
    profile->callback([arguments, &status] { status = show_profiles(*arguments); });
}

}  // namespace pollux::app
