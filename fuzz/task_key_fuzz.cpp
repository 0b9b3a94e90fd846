// Task keys from arbitrary text: no crash, what is accepted obeys the rules, and normalising it
// again changes nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "base/text.hpp"
#include "model/task_key.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pollux;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto key = model::parse_task_key(text);
    if (!key) {
        POLLUX_CHECK(!key.error().message.empty());
        return 0;
    }
    POLLUX_CHECK(model::check_class_name(key->class_name).has_value());
    POLLUX_CHECK(base::is_valid_utf8(key->name) && !base::has_control(key->name));
    const auto characters = std::ranges::count_if(
        key->name, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    POLLUX_CHECK(characters >= 1);
    POLLUX_CHECK(static_cast<std::size_t>(characters) <= model::kMaxNameCharacters);

    const std::string normal = model::make_task_key(key->class_name, key->name);
    const auto again = model::parse_task_key(normal);
    POLLUX_CHECK_MSG(again.has_value(), "a normalised key is a key");
    POLLUX_CHECK_MSG(*again == *key, "normalising twice changes nothing");
    return 0;
}
