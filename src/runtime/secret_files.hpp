// Where secrets come from at run time: the environment, files, and secrets put into the data folder
// by hand (`pollux secret set`), sealed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/secret.hpp"
#include "config/secret_reference.hpp"
#include "config/settings_resolve.hpp"
#include "store/secret_vault.hpp"

namespace pollux::runtime {

inline constexpr std::size_t kMaxSecretBytes = 64U << 10U;

// Sealed secrets, one file each, below `folder`. Blocks for files; no secret in any message.
class SecretFiles {
  public:
    SecretFiles(std::string folder, const store::SecretVault& vault)
        : folder_(std::move(folder)), vault_(vault) {}

    base::Status set(std::string_view name, const base::Secret& secret) const;
    base::Result<base::Secret> get(std::string_view name) const;
    base::Status remove(std::string_view name) const;
    base::Result<std::vector<std::string>> names() const;
    // Seals each of them anew, under the key that the vault seals with now.
    base::Status reseal() const;

  private:
    base::Result<std::string> path_of(std::string_view name) const;

    std::string folder_;
    const store::SecretVault& vault_;
};

// The first line of a file.
base::Result<base::Secret> read_secret_file(const std::string& path);

// For config::resolve(). `vault` may be null: then references into it fail.
config::SecretSource secret_source(config::Environment environment, const SecretFiles* vault,
                                   std::string_view whose = "the server");

}  // namespace pollux::runtime
