#include "protocol/ssh/known_hosts.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

namespace pollux::protocol::ssh {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kHashed = "|1|";
constexpr std::size_t kDigest = 20;  // SHA-1

std::string_view take_word(std::string_view& rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
    const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
    rest.remove_prefix(word.size());
    return word;
}

std::optional<std::string> decoded(std::string_view base64) {
    if (base64.empty() || base64.size() % 4 != 0) return std::nullopt;
    std::string bytes(base64.size() / 4 * 3, '\0');
    const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                       reinterpret_cast<const unsigned char*>(base64.data()),
                                       static_cast<int>(base64.size()));
    if (length < 0) return std::nullopt;
    const std::size_t padding = base64.ends_with("==") ? 2 : base64.ends_with('=') ? 1 : 0;
    bytes.resize(static_cast<std::size_t>(length) - padding);
    return bytes;
}

// "|1|salt|hash"
bool match_hash(std::string_view names, std::string_view host) {
    names.remove_prefix(kHashed.size());
    const std::size_t bar = names.find('|');
    if (bar == std::string_view::npos) return false;
    const auto salt = decoded(names.substr(0, bar));
    const auto hash = decoded(names.substr(bar + 1));
    if (!salt || !hash || hash->size() != kDigest) return false;
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int length = 0;
    const bool made = HMAC(EVP_sha1(), salt->data(), static_cast<int>(salt->size()),
                           reinterpret_cast<const unsigned char*>(host.data()), host.size(),
                           digest.data(), &length) != nullptr;
    return made && length == kDigest && CRYPTO_memcmp(digest.data(), hash->data(), kDigest) == 0;
}

// * is any text, ? one character. Goes back to the last * only: linear in time for each of them.
bool match_pattern(std::string_view pattern, std::string_view text) {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t retry = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            retry = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++retry;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<std::string_view> split_names(std::string_view names) {
    std::vector<std::string_view> out;
    while (!names.empty()) {
        const std::string_view name = names.substr(0, names.find(','));
        names.remove_prefix(std::min(name.size() + 1, names.size()));
        if (!name.empty()) out.push_back(name);
    }
    return out;
}

}  // namespace

std::optional<KnownHost> parse_known_host(std::string_view line) {
    KnownHost known;
    std::string_view word = take_word(line);
    if (word.starts_with('#')) return std::nullopt;
    if (word.starts_with('@')) {
        if (word != "@revoked" && word != "@cert-authority") return std::nullopt;
        known.mark = word == "@revoked" ? KnownHost::Mark::kRevoked : KnownHost::Mark::kAuthority;
        word = take_word(line);
    }
    known.names = word;
    known.type = take_word(line);
    known.key = take_word(line);
    if (known.key.empty()) return std::nullopt;
    return known;
}

std::string small_letters(std::string_view text) {
    std::string out(text);
    for (char& letter : out) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return out;
}

std::vector<std::string> plain_names(std::string_view names) {
    if (names.starts_with('|') || names.find_first_of("*?!") != std::string_view::npos) return {};
    std::vector<std::string> out;
    for (const std::string_view name : split_names(names)) out.push_back(small_letters(name));
    return out;
}

bool match(std::string_view names, std::string_view host) {
    if (names.starts_with(kHashed)) return match_hash(names, host);
    bool found = false;
    for (const std::string_view name : split_names(names)) {
        const bool negated = name.starts_with('!');
        if (!match_pattern(small_letters(name.substr(negated ? 1 : 0)), host)) continue;
        if (negated) return false;
        found = true;
    }
    return found;
}

bool is_whole_key(std::string_view base64) {
    const auto bytes = decoded(base64);
    if (!bytes) return false;
    // A list of texts, each after its length in four bytes.
    std::string_view rest = *bytes;
    while (rest.size() >= 4) {
        std::size_t length = 0;
        for (const char byte : rest.substr(0, 4)) {
            length = length << 8U | static_cast<unsigned char>(byte);
        }
        rest.remove_prefix(4);
        if (length > rest.size()) return false;
        rest.remove_prefix(length);
    }
    return rest.empty();
}

}  // namespace pollux::protocol::ssh
