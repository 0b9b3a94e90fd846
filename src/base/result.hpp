// Errors are values: a function that can fail returns Result<T> or Status.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace pollux::base {

// What the caller may do about an error.
enum class ErrorClass : std::uint8_t {
    kTransient,  // the same call may succeed later: retry with backoff
    kPermanent,  // retrying the same call is pointless
    kAuth,       // the peer refused who we are: credentials need a person
    kConfig,     // what a person wrote is wrong: show it to them
    kInternal,   // our own fault: report it
};

// Stable lower-case name, as it is logged, stored and sent.
std::string_view to_string(ErrorClass error_class);

struct Error {
    std::string code;  // stable and dotted: "snmp.timeout"
    ErrorClass error_class = ErrorClass::kInternal;
    std::string message;  // what failed, where, what was seen, what to do

    bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

using Status = Result<void>;

inline std::unexpected<Error> make_error(ErrorClass error_class, std::string code,
                                         std::string message) {
    return std::unexpected<Error>(Error{std::move(code), error_class, std::move(message)});
}

inline std::unexpected<Error> config_error(std::string code, std::string message) {
    return make_error(ErrorClass::kConfig, std::move(code), std::move(message));
}

inline std::unexpected<Error> internal_error(std::string code, std::string message) {
    return make_error(ErrorClass::kInternal, std::move(code), std::move(message));
}

}  // namespace pollux::base
