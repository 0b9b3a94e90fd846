// `pollux secret`: secrets in the vault of a data folder, for references `vault:NAME` in fleet
// files. A secret comes from standard input, never from the command line, which others can see.
#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "app/commands.hpp"
#include "app/prompt.hpp"
#include "runtime/secret_files.hpp"
#include "store/audit/audit_key.hpp"
#include "store/data_directory.hpp"
#include "store/secret_vault.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace pollux::app {
namespace {

struct SecretArguments {
    std::string data = "data";
    std::string name;
    std::string new_key;  // a file; empty: the key file of the data folder is replaced
};

int complain(const base::Error& error) {
    fmt::print(stderr, "pollux: {}\n", error.message);
    return 1;
}

// Calls `work` with the secrets of the data folder.
template <class Work>
int with_secrets(const SecretArguments& arguments, Work&& work) {
    mkdir(arguments.data.c_str(), 0700);  // a server may come later; what is wrong is told below
    const auto vault =
        store::SecretVault::open(store::KeySources::of_process(arguments.data + "/pollux.key"));
    if (!vault) return complain(vault.error());
    return work(runtime::SecretFiles(arguments.data + "/secrets", *vault));
}

int set_secret(const SecretArguments& arguments) {
    return with_secrets(arguments, [&](const runtime::SecretFiles& secrets) {
        const base::Secret secret = ask_secret("secret");
        if (secret.empty()) {
            return complain({"secret.empty", base::ErrorClass::kConfig,
                             "no secret on standard input: type it, or pipe one line"});
        }
        const auto status = secrets.set(arguments.name, secret);
        if (!status) return complain(status.error());
        fmt::print("stored; use it as vault:{} and reload the server\n", arguments.name);
        return 0;
    });
}

int list_secrets(const SecretArguments& arguments) {
    return with_secrets(arguments, [](const runtime::SecretFiles& secrets) {
        const auto names = secrets.names();
        if (!names) return complain(names.error());
        for (const std::string& name : *names) fmt::print("{}\n", name);
        return 0;
    });
}

int remove_secret(const SecretArguments& arguments) {
    return with_secrets(arguments, [&](const runtime::SecretFiles& secrets) {
        const auto status = secrets.remove(arguments.name);
        return status ? 0 : complain(status.error());
    });
}

// Everything that is sealed gets the new key; the server must not run meanwhile.
int rotate_key(const SecretArguments& arguments) {
    auto directory = store::DataDirectory::open(arguments.data);
    if (!directory) return complain(directory.error());
    const std::string key_file = (*directory)->file("pollux.key");
    const auto old = store::SecretVault::open(store::KeySources::of_process(key_file));
    if (!old) return complain(old.error());
    if (arguments.new_key.empty() && !old->from_key_file()) {
        return complain({"secret.rotate", base::ErrorClass::kConfig,
                         fmt::format("the key comes from {}, which pollux cannot change: put a new "
                                     "key into a file, run 'pollux secret rotate-key --to FILE', "
                                     "then give the server the new key in the same way",
                                     old->origin())});
    }
    auto store =
        store::open_sqlite_store(*directory, [](engine::StoreAnswer, const base::Error*) {});
    if (!store) return complain(store.error());
    if (auto loaded = (*store)->load({}); !loaded) return complain(loaded.error());
    const auto reseal_files = [&](const store::SecretVault& both) -> base::Status {
        auto sealed = store::AuditKey::reseal((*directory)->file(store::kAuditKeyFile), both);
        if (!sealed) return sealed;
        return runtime::SecretFiles((*directory)->file("secrets"), both).reseal();
    };
    if (arguments.new_key.empty()) {
        const auto fresh = store::rotate_key_file(**store, key_file, reseal_files);
        if (!fresh) return complain(fresh.error());
        fmt::print("everything is sealed under the new key {}\n", fresh->key_id());
        return 0;
    }
    store::KeySources given;
    given.key_file = arguments.new_key;
    const auto next = store::SecretVault::open(given);
    if (!next) return complain(next.error());
    if (auto count = store::reseal_all(**store, *old, *next); !count) {
        return complain(count.error());
    }
    if (auto status = reseal_files(old->followed_by(*next)); !status) {
        return complain(status.error());
    }
    fmt::print(
        "everything is sealed under the key {} of {}; the server still reads {}: put the new "
        "key there before it starts\n",
        next->key_id(), arguments.new_key, old->origin());
    return 0;
}

}  // namespace

void add_secret(CLI::App& app, int& status) {
    auto arguments = std::make_shared<SecretArguments>();
    auto* command = app.add_subcommand("secret", "Secrets in the vault of a data folder.");
    command->require_subcommand(1);
    command->fallthrough();  // --data may stand behind the subcommand
    command->add_option("--data", arguments->data, "Data folder of the server")
        ->envname("POLLUX_DATA")
        ->capture_default_str();
    auto* set = command->add_subcommand("set", "Store a secret, read from standard input.");
    set->add_option("name", arguments->name, "Its name: vault:NAME in fleet files")->required();
    set->callback([arguments, &status] { status = set_secret(*arguments); });
    command->add_subcommand("ls", "List the names of secrets.")->callback([arguments, &status] {
        status = list_secrets(*arguments);
    });
    auto* remove = command->add_subcommand("rm", "Remove a secret.");
    remove->add_option("name", arguments->name, "Its name")->required();
    remove->callback([arguments, &status] { status = remove_secret(*arguments); });
    auto* rotate = command->add_subcommand(
        "rotate-key", "Seal everything under a new key. Stop the server first.");
    rotate
        ->add_option("--to", arguments->new_key,
                     "File with the new key, when the server reads its key from elsewhere than "
                     "the data folder")
        ->check(CLI::ExistingFile);
    rotate->callback([arguments, &status] { status = rotate_key(*arguments); });
}

}  // namespace pollux::app
