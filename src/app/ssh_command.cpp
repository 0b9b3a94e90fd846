// `pollux ssh host-keys`: the keys of SSH hosts that a data folder has recorded. A running server
// sees the change at its next login to the host.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "app/commands.hpp"
#include "protocol/ssh/host_keys.hpp"

namespace pollux::app {
namespace {

struct SshArguments {
    std::string data = "data";
    std::string host;
};

protocol::ssh::HostKeys keys_of(const SshArguments& arguments) {
    return protocol::ssh::HostKeys(arguments.data + "/ssh_known_hosts");
}

int list_keys(const SshArguments& arguments) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(arguments.data, ignored)) {
        fmt::print(stderr,
                   "pollux: there is no data folder {}: name the one of your server with "
                   "--data\n",
                   arguments.data);
        return 1;
    }
    auto keys = keys_of(arguments);
    const auto all = keys.list();
    if (!all) {
        fmt::print(stderr, "pollux: {}\n", all.error().message);
        return 1;
    }
    for (const protocol::ssh::HostKey& key : *all) {
        fmt::print("{:<40} {:<20} {}\n", key.host, key.type,
                   protocol::ssh::fingerprint_of(key.key));
    }
    if (all->empty()) {
        fmt::print("no keys in {}: the first login to a host records its key there\n", keys.path());
        return 0;
    }
    fmt::print("{} keys in {}\n", all->size(), keys.path());
    return 0;
}

int forget_keys(const SshArguments& arguments) {
    auto keys = keys_of(arguments);
    const auto count = keys.forget(arguments.host);
    if (!count) {
        fmt::print(stderr, "pollux: {}\n", count.error().message);
        return 1;
    }
    if (*count == 0) {
        fmt::print(stderr,
                   "pollux: no key of {} is recorded in {}; `pollux ssh host-keys ls` "
                   "lists them. A hashed name at another port than 22 is given as [name]:port; "
                   "lines with patterns or @marks are for an editor\n",
                   arguments.host, keys.path());
        return 1;
    }
    fmt::print("{} keys of {} forgotten; the next login records the key that the host shows\n",
               *count, arguments.host);
    return 0;
}

}  // namespace

void add_ssh(CLI::App& app, int& status) {
    auto arguments = std::make_shared<SshArguments>();
    auto* command = app.add_subcommand("ssh", "What the server knows about SSH hosts.");
    command->require_subcommand(1);
    command->fallthrough();
    auto* keys = command->add_subcommand("host-keys", "Keys of hosts that are believed.");
    keys->require_subcommand(1);
    keys->fallthrough();
    command->add_option("--data", arguments->data, "Data folder of the server")
        ->envname("POLLUX_DATA")
        ->capture_default_str();
    keys->add_subcommand("ls", "List them with their fingerprints.")
        ->callback([arguments, &status] { status = list_keys(*arguments); });
    auto* forget =
        keys->add_subcommand("forget", "Forget the keys of a host, after it was installed anew.");
    forget->add_option("host", arguments->host, "Its name or address, as the fleet has it")
        ->required();
    forget->callback([arguments, &status] { status = forget_keys(*arguments); });
}

}  // namespace pollux::app
