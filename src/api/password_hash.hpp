// Passwords of people: argon2id. Both calls take tens of milliseconds and 64 MiB on purpose: they
// belong on a work pool, never on a loop.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/secret.hpp"

namespace pollux::api {

struct PasswordCost {
    unsigned long long operations = 2;
    std::size_t memory = 64U << 20U;
};

// The text that is stored: algorithm, cost, salt and hash.
base::Result<std::string> hash_password(const base::Secret& password, const PasswordCost& cost);
bool verify_password(const std::string& stored, const base::Secret& password);

}  // namespace pollux::api
