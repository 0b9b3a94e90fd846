// The secrets that an installation can open: for checking whether they are there, and for taking
// them out of what is shown to others. Never makes a key.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/secret.hpp"
#include "config/fleet.hpp"
#include "config/settings_resolve.hpp"
#include "runtime/secret_files.hpp"
#include "store/secret_vault.hpp"

namespace pollux::app {

// Where the fleet names a secret outside of `credentials`: the place in words, and the reference.
std::vector<std::pair<std::string, config::SecretReference>> communities(
    const config::Fleet& fleet);

class KnownSecrets {
  public:
    KnownSecrets(const std::string& data_folder, config::Environment environment,
                 std::string_view whose = "the server");

    // For config::resolve().
    const config::SecretSource& source() const { return source_; }

    // Everything that can be opened: whatever the fleet names, the vault, the master key, and
    // variables whose name says that they hold a secret. What cannot be opened hides nothing else.
    std::vector<base::Secret> all(const config::Fleet& fleet) const;

  private:
    config::Environment environment_;
    std::unique_ptr<store::SecretVault> vault_;  // null: no key
    std::unique_ptr<runtime::SecretFiles> files_;
    config::SecretSource source_;
};

}  // namespace pollux::app
