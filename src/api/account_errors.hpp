// The errors of accounts, in one place so that codes and words are the same everywhere.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/text.hpp"

namespace pollux::api {

inline constexpr std::string_view kLastAdmin = "access.last_admin";      // 409
inline constexpr std::string_view kNoUser = "access.no_user";            // 404
inline constexpr std::string_view kNoToken = "access.no_token";          // 404
inline constexpr std::string_view kNoSession = "access.no_session";      // 404
inline constexpr std::string_view kExists = "access.exists";             // 409
inline constexpr std::string_view kChanged = "access.changed";           // 412
inline constexpr std::string_view kForbidden = "access.forbidden";       // 403
inline constexpr std::string_view kLoginFailed = "access.login_failed";  // 401
inline constexpr std::string_view kLocked = "access.locked";             // 429

inline std::unexpected<base::Error> too_busy(std::string_view what) {
    return base::make_error(base::ErrorClass::kTransient, "access.busy",
                            fmt::format("{}: try again in a moment", what));
}

inline std::unexpected<base::Error> no_user(std::string_view name) {
    return base::make_error(base::ErrorClass::kPermanent, std::string(kNoUser),
                            fmt::format("there is no user {}", base::quoted(name)));
}

inline std::unexpected<base::Error> forbidden(std::string why) {
    return base::make_error(base::ErrorClass::kAuth, std::string(kForbidden), std::move(why));
}

inline std::unexpected<base::Error> unauthenticated(std::string code, std::string why) {
    return base::make_error(base::ErrorClass::kAuth, std::move(code), std::move(why));
}

}  // namespace pollux::api
