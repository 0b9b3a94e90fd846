// What may be a name of a user or token, and what may be a password.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/secret.hpp"

namespace pollux::access {

inline constexpr std::size_t kLeastPassword = 10;
inline constexpr std::size_t kMostPassword = 1024;  // bytes

// 1 to 64 of [a-z0-9._@-], in lower case whatever was written, so that Alice and alice are one.
base::Result<std::string> normal_user_name(std::string_view text);
// 1 to 64 of [a-z0-9._-], lower case as well.
base::Result<std::string> normal_token_name(std::string_view text);

// Long enough, not the user's name, not one of the passwords that are tried first. No rules about
// kinds of characters: they make passwords worse. The error never holds the password.
base::Status check_password(std::string_view user, const base::Secret& password);

}  // namespace pollux::access
