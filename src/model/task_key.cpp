#include "model/task_key.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/text.hpp"

namespace pollux::model {
namespace {

constexpr std::string_view kSeparator = "::";

bool is_class_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::size_t character_count(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

std::string to_nfc(std::string_view text) {
    utf8proc_uint8_t* raw = nullptr;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    const auto length =
        utf8proc_map(bytes, static_cast<utf8proc_ssize_t>(text.size()), &raw, options);
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(raw, &std::free);
    if (length < 0) return std::string(text);
    return {reinterpret_cast<const char*>(raw), static_cast<std::size_t>(length)};
}

}  // namespace

base::Status check_class_name(std::string_view text) {
    const bool ok = !text.empty() && text.size() <= kMaxClassLength &&
                    std::all_of(text.begin(), text.end(), is_class_character);
    if (ok) return {};
    return base::config_error("key.class",
                              fmt::format("class {} is not allowed: use 1 to {} characters out of "
                                          "a-z, 0-9, _ and -",
                                          base::quoted(text), kMaxClassLength));
}

base::Result<std::string> normalise_name(std::string_view field, std::string_view text) {
    const auto refuse = [&](std::string_view rule) {
        return base::config_error(
            "key.name", fmt::format("{} {} is not allowed: {}", field, base::quoted(text), rule));
    };
    if (text.empty()) return refuse("it must have at least one character");
    if (!base::is_valid_utf8(text)) return refuse("it must be valid UTF-8");
    if (base::has_control(text)) return refuse("it must not contain control characters");
    std::string normal = to_nfc(text);
    if (character_count(normal) > kMaxNameCharacters) {
        return refuse(fmt::format("it has {} characters, at most {} are allowed",
                                  character_count(normal), kMaxNameCharacters));
    }
    return normal;
}

base::Result<TaskKey> parse_task_key(std::string_view text) {
    const auto at = text.find(kSeparator);
    const std::string_view class_part =
        at == std::string_view::npos ? std::string_view("unknown") : text.substr(0, at);
    const std::string_view name_part =
        at == std::string_view::npos ? text : text.substr(at + kSeparator.size());
    if (auto status = check_class_name(class_part); !status) {
        return std::unexpected(std::move(status.error()));
    }
    auto name = normalise_name("name", name_part);
    if (!name) return std::unexpected(std::move(name.error()));
    return TaskKey{std::string(class_part), std::move(*name)};
}

std::string make_task_key(std::string_view class_name, std::string_view name) {
    return fmt::format("{}{}{}", class_name, kSeparator, name);
}

}  // namespace pollux::model
