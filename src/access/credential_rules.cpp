#include "access/credential_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace pollux::access {
namespace {

constexpr std::size_t kMostName = 64;

// Those of ten and more characters that lists of leaked passwords begin with, and our own words.
constexpr std::array<std::string_view, 40> kWorst = {
    "1234567890", "12345678910", "0123456789",   "0987654321",  "1234512345",    "1234554321",
    "1111111111", "0000000000",  "9999999999",   "1q2w3e4r5t",  "1q2w3e4r5t6y",  "1qaz2wsx3edc",
    "qwertyuiop", "qwerty12345", "qwerty123456", "qwertz12345", "qwertzuiop",    "asdfghjkl1",
    "asdfghjkl;", "zxcvbnm123",  "abcdefghij",   "abcd123456",  "abc1234567",    "a123456789",
    "password12", "password123", "password1234", "passw0rd123", "p@ssw0rd123",   "iloveyou123",
    "letmein123", "welcome123",  "admin12345",   "admin123456", "administrator", "changeme123",
    "monitoring", "monitoring1", "polluxpollux", "pollux12345"};

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

base::Result<std::string> normal_name(std::string_view text, std::string_view what,
                                      std::string_view code, std::string_view marks) {
    std::string name = lower(text);
    const bool good =
        !name.empty() && name.size() <= kMostName && std::ranges::all_of(name, [&](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                   marks.find(c) != std::string_view::npos;
        });
    // A name becomes a part of a path: these two would leave it.
    if (good && name != "." && name != "..") return name;
    return base::config_error(
        std::string(code),
        fmt::format("{} is no name of a {}: it must be 1 to {} letters, digits or {}",
                    base::quoted(text), what, kMostName, marks));
}

std::unexpected<base::Error> bad_password(std::string message) {
    return base::config_error("access.password", std::move(message));
}

}  // namespace

base::Result<std::string> normal_user_name(std::string_view text) {
    return normal_name(text, "user", "access.user_name", "._@-");
}

base::Result<std::string> normal_token_name(std::string_view text) {
    return normal_name(text, "token", "access.token_name", "._-");
}

base::Status check_password(std::string_view user, const base::Secret& password) {
    const std::string& text = password.reveal();
    // Counted in characters: continuation bytes of UTF-8 are parts of one.
    const auto characters = static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
    if (characters < kLeastPassword) {
        return bad_password(
            fmt::format("the password is too short: at least {} characters", kLeastPassword));
    }
    if (text.size() > kMostPassword) {
        return bad_password(
            fmt::format("the password is too long: at most {} bytes", kMostPassword));
    }
    if (!base::is_valid_utf8(text) || text.find('\0') != std::string::npos) {
        return bad_password("the password must be UTF-8 without a zero byte");
    }
    base::Secret folded(lower(text));
    if (folded.reveal() == lower(user))
        return bad_password("the password must not be the user's name");
    const bool one_character = std::ranges::all_of(text, [&](char c) { return c == text.front(); });
    if (one_character || std::ranges::find(kWorst, folded.reveal()) != kWorst.end()) {
        return bad_password("the password is one of those that are tried first: choose another");
    }
    return {};
}

}  // namespace pollux::access
