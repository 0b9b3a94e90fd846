// Task keys: `class::name`, optionally `class::name#group`. Unique, shown everywhere, renameable
// (history and alerts refer to ids, never to keys). Text is normalised to Unicode NFC on the way
// in, so that a name typed on one system and pasted from another is the same key.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace pollux::model {

inline constexpr std::size_t kMaxClassLength = 64;
inline constexpr std::size_t kMaxNameCharacters = 200;

struct TaskKey {
    std::string class_name;  // [a-z0-9_-]{1,64}
    std::string name;        // 1-200 characters, NFC UTF-8, no control characters
    bool operator==(const TaskKey&) const = default;
};

// Splits at the first `::`. Without one, the class is `unknown` and the name the whole text.
base::Result<TaskKey> parse_task_key(std::string_view text);

// The class name rule on its own: settings use it too.
base::Status check_class_name(std::string_view text);

// The name rule on its own (devices, regions, resources); returns the NFC form.
base::Result<std::string> normalise_name(std::string_view field, std::string_view text);

std::string make_task_key(std::string_view class_name, std::string_view name);

}  // namespace pollux::model
