#include "access/token.hpp"

#include <sodium.h>

#include <span>

namespace pollux::access {
namespace {

constexpr std::size_t kBodyLength = 43;
constexpr std::size_t kCheckLength = 6;
constexpr int kForm = sodium_base64_VARIANT_URLSAFE_NO_PADDING;

std::string base64url(std::span<const unsigned char> bytes) {
    std::string text(sodium_base64_encoded_len(bytes.size(), kForm), '\0');
    sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), kForm);
    text.pop_back();  // the NUL
    return text;
}

std::array<unsigned char, 32> digest(std::string_view domain, std::string_view text) {
    crypto_generichash_state state;
    std::array<unsigned char, 32> out{};
    const auto add = [&](std::string_view part) {
        crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(part.data()),
                                  part.size());
    };
    crypto_generichash_init(&state, nullptr, 0, out.size());
    add(domain);
    add(std::string_view("\0", 1));
    add(text);
    crypto_generichash_final(&state, out.data(), out.size());
    return out;
}

std::string checksum(std::string_view text) {
    const auto bytes = digest("pollux token checksum", text);
    return base64url(bytes).substr(0, kCheckLength);
}

}  // namespace

base::Secret make_token(std::string_view prefix, const RandomBytes& bytes) {
    std::string text(prefix);
    text += base64url(bytes);
    text += checksum(text);
    return base::Secret(std::move(text));
}

bool is_token(std::string_view prefix, std::string_view text) {
    if (!text.starts_with(prefix)) return false;
    if (text.size() != prefix.size() + kBodyLength + kCheckLength) return false;
    const std::string_view body = text.substr(0, text.size() - kCheckLength);
    return same_secret(checksum(body), text.substr(body.size()));
}

base::Secret make_session_secret(const RandomBytes& bytes) {
    return base::Secret(base64url(bytes));
}

std::string hash_secret(std::string_view secret) {
    const auto bytes = digest("pollux secret", secret);
    std::string text(bytes.size() * 2 + 1, '\0');
    sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
    text.pop_back();
    return text;
}

std::string csrf_token(std::string_view session_secret) {
    return base64url(digest("pollux csrf", session_secret));
}

bool same_secret(std::string_view a, std::string_view b) {
    return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace pollux::access
