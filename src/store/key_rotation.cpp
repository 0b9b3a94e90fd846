// Sealing everything under another key; see secret_vault.hpp.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>

#include "store/key_file.hpp"
#include "store/secret_vault.hpp"
#include "store/store.hpp"

namespace pollux::store {

base::Result<std::size_t> reseal_all(Store& store, const SecretVault& from,
                                     const SecretVault& next) {
    const SecretVault both = from.followed_by(next);
    ObjectBatch batch;
    base::Status status;
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    LoadVisitor visitor;
    visitor.object = [&](model::ConfigObject&& object) {
        if (object.kind != model::ObjectKind::kCredential || !status) return;
        if (SecretVault::key_id_of(object.body) == next.key_id()) return;
        auto secret = both.unseal(object.name, object.body);
        if (!secret) {
            status = std::unexpected(std::move(secret.error()));
            return;
        }
        auto sealed = next.seal(object.name, *secret);
        if (!sealed) {
            status = std::unexpected(std::move(sealed.error()));
            return;
        }
        object.body = std::move(*sealed);
        object.changed_at = base::WallTime{now.count()};
        const std::uint64_t expected = object.version;
        batch.writes.push_back({std::move(object), expected});
    };
    if (auto loaded = store.load(visitor); !loaded) {
        return std::unexpected(std::move(loaded.error()));
    }
    if (!status) return std::unexpected(std::move(status.error()));
    const std::size_t count = batch.writes.size();
    auto answer = std::make_shared<std::optional<base::Error>>();
    auto accepted = store.submit(std::move(batch), [answer](base::Result<ObjectCommit> result) {
        if (!result) *answer = std::move(result.error());
    });
    if (!accepted) return std::unexpected(std::move(accepted.error()));
    store.flush();
    if (*answer) return std::unexpected(std::move(**answer));
    return count;
}

base::Result<SecretVault> rotate_key_file(Store& store, const std::string& key_file,
                                          const ResealOthers& others) {
    const std::string pending = key_file + ".new";
    KeySources sources;
    sources.key_file = key_file;
    auto from = SecretVault::open(sources);
    if (!from) return from;
    auto key = key_file_exists(pending) ? read_key_file(pending, FileRights::kOwnerOnly)
                                        : make_key_file(pending);
    if (!key) return std::unexpected(std::move(key.error()));
    auto next = SecretVault::with_key(std::move(*key));
    if (!next) return next;
    auto count = reseal_all(store, *from, *next);
    if (!count) return std::unexpected(std::move(count.error()));
    if (others) {
        if (auto status = others(from->followed_by(*next)); !status) {
            return std::unexpected(std::move(status.error()));
        }
    }
    // From here on nothing needs the old key.
    if (auto status = replace_key_file(pending, key_file); !status) {
        return std::unexpected(std::move(status.error()));
    }
    return SecretVault::open(sources);
}

}  // namespace pollux::store
