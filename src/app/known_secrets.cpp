#include "app/known_secrets.hpp"

#include <algorithm>
#include <array>

#include "store/key_file.hpp"

namespace pollux::app {
namespace {

bool sounds_secret(std::string_view variable) {
    constexpr std::array<std::string_view, 6> kWords = {"PASS", "SECRET",    "TOKEN",
                                                        "_KEY", "COMMUNITY", "CREDENTIAL"};
    return std::ranges::any_of(kWords, [&](std::string_view word) {
        return variable.find(word) != std::string_view::npos;
    });
}

void add_parts(const model::Credentials& credentials, std::vector<base::Secret>& into) {
    for (const base::Secret* part :
         {&credentials.password, &credentials.token, &credentials.community,
          &credentials.client_key_password, &credentials.snmp_auth_password,
          &credentials.snmp_privacy_password, &credentials.ssh_key_password}) {
        if (!part->empty()) into.push_back(*part);
    }
    if (!credentials.username.empty() && !credentials.password.empty()) {
        // As basic authentication joins them before it encodes them.
        into.emplace_back(credentials.username + ":" + credentials.password.reveal());
    }
}

}  // namespace

KnownSecrets::KnownSecrets(const std::string& data_folder, config::Environment environment,
                           std::string_view whose)
    : environment_(std::move(environment)) {
    const auto sources = store::KeySources::of_process(data_folder + "/pollux.key");
    const bool elsewhere = !sources.environment.empty() || !sources.credentials_directory.empty();
    if (elsewhere || store::key_file_exists(sources.key_file)) {
        auto vault = store::SecretVault::open(sources);
        if (vault) vault_ = std::make_unique<store::SecretVault>(std::move(*vault));
    }
    if (vault_) files_ = std::make_unique<runtime::SecretFiles>(data_folder + "/secrets", *vault_);
    source_ = runtime::secret_source(environment_, files_.get(), whose);
}

std::vector<std::pair<std::string, config::SecretReference>> communities(
    const config::Fleet& fleet) {
    std::vector<std::pair<std::string, config::SecretReference>> found;
    const auto add = [&](const std::string& where, const config::PollSettings& settings) {
        if (settings.snmp.community) found.emplace_back(where, *settings.snmp.community);
    };
    const auto add_all = [&](const std::string& of,
                             const config::ByName<config::PollSettings>& settings) {
        for (const auto& [name, one] : settings) add(of + " " + name, one);
    };
    add("the defaults", fleet.defaults.poll);
    for (const auto& [name, group] : fleet.groups) {
        add("group " + name, group.poll);
        add_all("group " + name + ", addon", group.addons);
    }
    for (const auto& [name, device] : fleet.devices) {
        add("device " + name, device.poll);
        add_all("device " + name + ", addon", device.addons);
    }
    add_all("target", fleet.targets);
    add_all("addon", fleet.addons);
    return found;
}

std::vector<base::Secret> KnownSecrets::all(const config::Fleet& fleet) const {
    std::vector<base::Secret> found;
    // One part that is missing must not leave the others of its credential in the clear.
    const config::SecretSource what_is_there = [this](const config::SecretReference& reference) {
        auto secret = source_(reference);
        return secret ? std::move(secret) : base::Result<base::Secret>(base::Secret());
    };
    for (const auto& [name, credential] : fleet.credentials) {
        if (const auto resolved = config::resolve(name, credential, what_is_there)) {
            add_parts(*resolved, found);
        }
    }
    for (const auto& [where, reference] : communities(fleet)) {
        // A literal is "public", which is no secret.
        if (reference.kind == config::SecretKind::kLiteral) continue;
        found.push_back(*what_is_there(reference));
    }
    if (files_) {
        const auto names = files_->names();
        for (const std::string& name : names ? *names : std::vector<std::string>()) {
            auto secret = files_->get(name);
            if (secret) found.push_back(std::move(*secret));
        }
    }
    for (const auto& [name, value] : environment_) {
        if (sounds_secret(name)) found.emplace_back(value);
    }
    return found;
}

}  // namespace pollux::app
