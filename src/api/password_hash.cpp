#include "api/password_hash.hpp"

#include <sodium.h>

#include <array>

namespace pollux::api {

base::Result<std::string> hash_password(const base::Secret& password, const PasswordCost& cost) {
    std::array<char, crypto_pwhash_STRBYTES> out{};
    const std::string& text = password.reveal();
    if (sodium_init() < 0 ||
        crypto_pwhash_str_alg(out.data(), text.data(), text.size(), cost.operations, cost.memory,
                              crypto_pwhash_ALG_ARGON2ID13) != 0) {
        return base::make_error(base::ErrorClass::kTransient, "access.busy",
                                "there is not enough memory to hash a password now: try again");
    }
    return std::string(out.data());
}

bool verify_password(const std::string& stored, const base::Secret& password) {
    const std::string& text = password.reveal();
    return sodium_init() >= 0 && !stored.empty() &&
           crypto_pwhash_str_verify(stored.c_str(), text.data(), text.size()) == 0;
}

}  // namespace pollux::api
