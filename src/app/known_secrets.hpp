// The secrets that an installation can open: for checking whether they are there, and for taking
// them out of what is shown to others. Never makes a key.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/secret.hpp"
#include "config/fleet.hpp"
#include "config/settings_resolve.hpp"
#include "runtime/secret_files.hpp"
#include "store/secret_vault.hpp"

namespace pollux::app {

class KnownSecrets {
  public:
    KnownSecrets(const std::string& data_folder, config::Environment environment);

    // For config::resolve().
    const config::SecretSource& source() const { return source_; }

    // Everything that can be opened: parts of credentials, the vault, the master key, and variables
    // whose name says that they hold a secret.
    std::vector<base::Secret> all(const config::ByName<config::Credential>& credentials) const;

  private:
    config::Environment environment_;
    std::unique_ptr<store::SecretVault> vault_;  // null: no key
    std::unique_ptr<runtime::SecretFiles> files_;
    config::SecretSource source_;
};

}  // namespace pollux::app
