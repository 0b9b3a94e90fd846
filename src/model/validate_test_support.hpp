// For the tests of validate.hpp: many small edits of something valid, each refused or taken.
// The checks return what is wrong, or nothing.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/validate.hpp"

namespace pollux::model {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr base::Duration kMonth = std::chrono::hours(24 * 31);
inline const std::string kComposed = "caf\xc3\xa9";     // the NFC form
inline const std::string kDecomposed = "cafe\xcc\x81";  // of this

template <class T>
struct Case {
    std::function<void(T&)> edit;
    std::string code;
    std::vector<std::string> words;
};

// It is refused with this code and all of these words.
template <class T>
[[nodiscard]] std::string refused(T value, const std::string& code,
                                  const std::vector<std::string>& words) {
    const base::Status status = validate(value);
    if (status) return "taken, but expected: " + code + " " + (words.empty() ? "" : words[0]);
    const base::Error& seen = status.error();
    if (seen.code != code) return seen.code + " instead of " + code + ": " + seen.message;
    if (seen.error_class != base::ErrorClass::kConfig) return "not a config error: " + code;
    for (const auto& word : words) {
        if (seen.message.find(word) == std::string::npos) {
            return "'" + word + "' is missing in: " + seen.message;
        }
    }
    return {};
}

template <class T>
[[nodiscard]] std::string all_refused(const T& usual, const std::vector<Case<T>>& cases) {
    std::string wrong;
    for (const Case<T>& one : cases) {
        T value = usual;
        one.edit(value);
        const std::string problem = refused(std::move(value), one.code, one.words);
        if (!problem.empty()) wrong += problem + "\n";
    }
    return wrong;
}

template <class T>
[[nodiscard]] std::string all_taken(const T& usual,
                                    const std::vector<std::function<void(T&)>>& edits) {
    std::string wrong;
    for (std::size_t i = 0; i < edits.size(); ++i) {
        T value = usual;
        edits[i](value);
        const base::Status status = validate(value);
        if (!status) wrong += "edit " + std::to_string(i) + ": " + status.error().message + "\n";
    }
    return wrong;
}

}  // namespace pollux::model
