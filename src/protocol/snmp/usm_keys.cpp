#include "protocol/snmp/usm_keys.hpp"

#include <algorithm>

namespace pollux::protocol::snmp {
namespace {

using model::SnmpAuth;
using model::SnmpPrivacy;

std::string_view text_of(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

UsmKeys::UsmKeys(UsmCrypto& crypto, base::SipKey key, std::size_t capacity,
                 std::size_t password_capacity)
    : crypto_(crypto),
      key_(key),
      capacity_(std::max<std::size_t>(capacity, 1)),
      password_capacity_(std::max<std::size_t>(password_capacity, 1)) {}

std::uint64_t UsmKeys::hash_of(const model::Credentials* identity, Bytes engine_id) const {
    return base::siphash24(key_, reinterpret_cast<std::uintptr_t>(identity),
                           base::siphash24(key_, text_of(engine_id)));
}

// The entry of these credentials and this engine, made if there is none.
std::uint32_t UsmKeys::place_for(const std::shared_ptr<const model::Credentials>& credentials,
                                 Bytes engine_id) {
    const std::uint64_t hash = hash_of(credentials.get(), engine_id);
    std::uint32_t place = base::FlatIndex::kNone;
    if (!index_.empty()) {
        place = index_.find(hash, [&](std::uint32_t at) {
            return entries_[at].identity == credentials.get() &&
                   entries_[at].engine_id == text_of(engine_id);
        });
    }
    // Other credentials may live at the address of ones that are gone.
    if (place != base::FlatIndex::kNone && !entries_[place].credentials.expired()) return place;
    Entry entry{.credentials = credentials,
                .identity = credentials.get(),
                .engine_id = std::string(text_of(engine_id)),
                .keys = {}};
    entry.keys.auth = auth_key(*credentials, engine_id);
    if (place != base::FlatIndex::kNone) {
        entries_[place] = std::move(entry);
        return place;
    }
    if (entries_.size() < capacity_) {
        place = static_cast<std::uint32_t>(entries_.size());
        entries_.push_back(std::move(entry));
    } else {
        place = static_cast<std::uint32_t>(oldest_);
        oldest_ = (oldest_ + 1) % capacity_;
        const Entry& old = entries_[place];
        const auto* engine = reinterpret_cast<const std::uint8_t*>(old.engine_id.data());
        index_.erase(hash_of(old.identity, {engine, old.engine_id.size()}),
                     [&](std::uint32_t at) { return at == place; });
        entries_[place] = std::move(entry);
    }
    index_.insert(hash, place);
    return place;
}

const LocalKeys& UsmKeys::find(const std::shared_ptr<const model::Credentials>& credentials,
                               Bytes engine_id, bool with_privacy) {
    LocalKeys& keys = entries_[place_for(credentials, engine_id)].keys;
    if (with_privacy && keys.privacy.size == 0 && credentials->snmp_privacy != SnmpPrivacy::kNone) {
        keys.privacy = privacy_key(*credentials, engine_id);
    }
    return keys;
}

Key UsmKeys::auth_key(const model::Credentials& credentials, Bytes engine_id) {
    const SnmpAuth auth = credentials.snmp_auth;
    if (auth == SnmpAuth::kNone) return {};
    return crypto_.localise(auth, key_of_password(auth, credentials.snmp_auth_password), engine_id);
}

Key UsmKeys::privacy_key(const model::Credentials& credentials, Bytes engine_id) {
    const SnmpAuth auth = credentials.snmp_auth;
    if (auth == SnmpAuth::kNone) return {};
    const Key localised =
        crypto_.localise(auth, key_of_password(auth, credentials.snmp_privacy_password), engine_id);
    return crypto_.cipher_key(auth, credentials.snmp_privacy, localised, engine_id);
}

Key UsmKeys::key_of_password(SnmpAuth auth, const base::Secret& password) {
    const std::string& text = password.reveal();
    // Two hashes with unlike keys: nobody finds two passwords with the same ones.
    const std::uint64_t first = base::siphash24(key_, text);
    const std::uint64_t second = base::siphash24({.k0 = ~key_.k1, .k1 = key_.k0}, text);
    for (const PasswordKey& known : passwords_) {
        if (known.auth == auth && known.fingerprint[0] == first && known.fingerprint[1] == second) {
            return known.key;
        }
    }
    ++derivations_;
    PasswordKey made{
        .auth = auth, .fingerprint = {first, second}, .key = crypto_.key_of_password(auth, text)};
    if (passwords_.size() < password_capacity_) {
        passwords_.push_back(made);
    } else {
        passwords_[oldest_password_] = made;
        oldest_password_ = (oldest_password_ + 1) % password_capacity_;
    }
    return made.key;
}

}  // namespace pollux::protocol::snmp
