#include "lab/http_auth.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <charconv>
#include <map>
#include <vector>

#include "base/siphash.hpp"
#include "lab/device.hpp"

namespace pollux::lab {
namespace {

constexpr std::string_view kRealm = "lab";
constexpr std::int64_t kNonceSeconds = 300;

std::string hex_digest(DigestAlgorithm algorithm, std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned length = 0;
    EVP_Digest(text.data(), text.size(), bytes.data(), &length,
               algorithm == DigestAlgorithm::kMd5 ? EVP_md5() : EVP_sha256(), nullptr);
    std::string hex;
    for (unsigned i = 0; i < length; ++i) hex += fmt::format("{:02x}", bytes[i]);
    return hex;
}

std::string_view name_of(DigestAlgorithm algorithm) {
    return algorithm == DigestAlgorithm::kMd5 ? "MD5" : "SHA-256";
}

std::string base64(std::string_view text) {
    std::string out((text.size() + 2) / 3 * 4 + 1, '\0');
    const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                       reinterpret_cast<const unsigned char*>(text.data()),
                                       static_cast<int>(text.size()));
    out.resize(static_cast<std::size_t>(length));
    return out;
}

// What follows "Scheme " in the Authorization field; empty if the scheme is another.
std::string_view authorization(const net::Request& request, std::string_view scheme) {
    const std::string_view field = request.header("Authorization").value_or("");
    if (field.size() <= scheme.size() || field[scheme.size()] != ' ' ||
        !net::equal_ignoring_case(field.substr(0, scheme.size()), scheme)) {
        return {};
    }
    return field.substr(scheme.size() + 1);
}

// name=value, name="value", separated by commas.
std::map<std::string, std::string, std::less<>> parameters(std::string_view text) {
    std::map<std::string, std::string, std::less<>> result;
    std::size_t at = 0;
    while (at < text.size()) {
        at = text.find_first_not_of(" ,\t", at);
        if (at == std::string_view::npos) break;
        const std::size_t equals = text.find('=', at);
        if (equals == std::string_view::npos) break;
        const std::string name(text.substr(at, equals - at));
        std::string value;
        at = equals + 1;
        if (at < text.size() && text[at] == '"') {
            for (++at; at < text.size() && text[at] != '"'; ++at) {
                if (text[at] == '\\' && at + 1 < text.size()) ++at;
                value += text[at];
            }
            ++at;
        } else {
            const std::size_t end = std::min(text.find_first_of(", ", at), text.size());
            value = text.substr(at, end - at);
            at = end;
        }
        result[name] = value;
    }
    return result;
}

}  // namespace

bool basic_is_right(const net::Request& request) {
    return authorization(request, "Basic") == base64(fmt::format("{}:{}", kUser, kPassword));
}

bool bearer_is_right(const net::Request& request) {
    return authorization(request, "Bearer") == kToken;
}

bool api_key_is_right(const net::Request& request) { return request.header("X-API-Key") == kToken; }

std::string DigestGuard::nonce(std::int64_t second) const {
    const std::uint64_t proof =
        base::siphash24({seed_, 0x6E6F6E6365ULL}, static_cast<std::uint64_t>(second));
    return fmt::format("{}-{:016x}", second, proof);
}

std::string DigestGuard::challenge(DigestAlgorithm algorithm, bool stale, FleetTime now) const {
    const std::int64_t second = base::detail::floor_div(now.count(), 1'000'000'000);
    return fmt::format(
        "Digest realm=\"{}\", qop=\"auth\", algorithm={}, nonce=\"{}\", opaque=\"lab\"{}", kRealm,
        name_of(algorithm), nonce(second), stale ? ", stale=true" : "");
}

DigestGuard::Verdict DigestGuard::check(const net::Request& request, DigestAlgorithm algorithm,
                                        FleetTime now) const {
    auto given = parameters(authorization(request, "Digest"));
    if (given["username"] != kUser || given["realm"] != kRealm || given["qop"] != "auth" ||
        given["uri"] != request.target || given["nc"].size() != 8 || given["cnonce"].empty() ||
        (given.contains("algorithm") && given["algorithm"] != name_of(algorithm))) {
        return Verdict::kWrong;
    }
    const std::string& used = given["nonce"];
    std::int64_t second = 0;
    std::from_chars(used.data(), used.data() + used.size(), second);
    if (used != nonce(second)) return Verdict::kWrong;
    const std::string who =
        hex_digest(algorithm, fmt::format("{}:{}:{}", kUser, kRealm, kPassword));
    const std::string what =
        hex_digest(algorithm, fmt::format("{}:{}", request.method, given["uri"]));
    const std::string expected = hex_digest(
        algorithm,
        fmt::format("{}:{}:{}:{}:auth:{}", who, used, given["nc"], given["cnonce"], what));
    if (given["response"] != expected) return Verdict::kWrong;
    const std::int64_t age = now.count() / 1'000'000'000 - second;
    return age > kNonceSeconds ? Verdict::kStale : Verdict::kRight;
}

}  // namespace pollux::lab
