#include "config/channel_url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "config/network_text.hpp"
#include "document/map_reader.hpp"

namespace pollux::config {
namespace {

constexpr std::size_t kLongestUrl = 2'048;

// How much of a URL is secret.
enum class Holds : std::uint8_t {
    kNothing,  // but a password before the host, or a key in the query
    kToken,    // a user name alone is a token too
    kAll,      // there is no use without a secret
};
struct Scheme {
    std::string_view name;
    Holds holds;
    std::string_view form;
};

constexpr std::array<Scheme, 23> kSchemes = {{
    {"http", Holds::kNothing, "http://host/path"},
    {"https", Holds::kNothing, "https://host/path"},
    {"smtp", Holds::kNothing, "smtp://host:587"},
    {"smtps", Holds::kNothing, "smtps://host:465"},
    {"mailto", Holds::kNothing, "mailto://user:{secret}@host?to=address"},
    {"mailtos", Holds::kNothing, "mailtos://user:{secret}@host?to=address"},
    {"ntfy", Holds::kToken, "ntfy://{secret}@host/topic"},
    {"ntfys", Holds::kToken, "ntfys://{secret}@host/topic"},
    {"json", Holds::kToken, "json://{secret}@host/path"},
    {"jsons", Holds::kToken, "jsons://{secret}@host/path"},
    {"slack", Holds::kAll, "slack://{secret}"},
    {"discord", Holds::kAll, "discord://{secret}"},
    {"msteams", Holds::kAll, "msteams://host/workflow/{secret}"},
    {"tgram", Holds::kAll, "tgram://{secret}/chat"},
    {"gotify", Holds::kAll, "gotify://host/{secret}"},
    {"gotifys", Holds::kAll, "gotifys://host/{secret}"},
    {"pover", Holds::kAll, "pover://user@{secret}"},
    {"pagerduty", Holds::kAll, "pagerduty://{secret}"},
    {"opsgenie", Holds::kAll, "opsgenie://{secret}"},
    {"matrix", Holds::kAll, "matrix://{secret}@host/!room:server"},
    {"matrixs", Holds::kAll, "matrixs://{secret}@host/!room:server"},
    {"mmost", Holds::kAll, "mmost://host/{secret}"},
    {"mmosts", Holds::kAll, "mmosts://host/{secret}"},
}};

const Scheme* find_scheme(std::string_view name) {
    const auto found =
        std::ranges::find_if(kSchemes, [&](const Scheme& one) { return one.name == name; });
    return found == kSchemes.end() ? nullptr : &*found;
}

bool is_secret_key(std::string_view key) {
    constexpr std::array<std::string_view, 10> kKeys = {
        "token",    "key",  "apikey", "api_key",      "secret",
        "password", "pass", "auth",   "access_token", "sig"};
    return std::ranges::find(kKeys, key) != kKeys.end();
}

std::string refused(std::string_view what, const Scheme& scheme) {
    return fmt::format(
        "holds a secret {}; keep it in a credential, name that with `credentials:`, "
        "and write {{secret}} in its place, such as {}",
        what, scheme.form);
}

std::string query_fault(std::string_view query, const Scheme& scheme) {
    while (!query.empty()) {
        const std::size_t end = query.find('&');
        const std::string_view part = query.substr(0, end);
        const std::size_t equals = part.find('=');
        const std::string_view value =
            equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
        if (is_secret_key(part.substr(0, equals)) && !value.empty() && value != kSecretPlace) {
            return refused("in its query", scheme);
        }
        query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    }
    return {};
}

}  // namespace

std::string_view url_scheme(std::string_view url) {
    const std::size_t end = url.find("://");
    return end == std::string_view::npos ? std::string_view() : url.substr(0, end);
}

std::string channel_url_fault(std::string_view url) {
    const Scheme* scheme = find_scheme(url_scheme(url));
    if (scheme == nullptr) {
        std::vector<std::string_view> names;
        for (const Scheme& one : kSchemes) names.push_back(one.name);
        return fmt::format("is no URL of a known kind; it begins with one of {}, then ://",
                           document::word_list(names));
    }
    const bool plain = std::ranges::all_of(url, [](char c) { return c > ' ' && c < 127; });
    if (!plain || url.size() > kLongestUrl) {
        return fmt::format(
            "has blanks, control or other characters that no URL has, or more than "
            "{} of them",
            kLongestUrl);
    }
    std::string_view rest = url.substr(scheme->name.size() + 3);
    const std::size_t question = rest.find('?');
    if (question != std::string_view::npos) {
        std::string fault = query_fault(rest.substr(question + 1), *scheme);
        if (!fault.empty()) return fault;
        rest = rest.substr(0, question);
    }
    const std::string_view authority = rest.substr(0, rest.find('/'));
    if (authority.empty()) return fmt::format("has no host; write {}", scheme->form);
    const std::size_t at = authority.rfind('@');
    if (at != std::string_view::npos) {
        const std::string_view login = authority.substr(0, at);
        const std::size_t colon = login.find(':');
        const bool password =
            colon != std::string_view::npos && login.substr(colon + 1) != kSecretPlace;
        const bool token = scheme->holds == Holds::kToken && colon == std::string_view::npos &&
                           login != kSecretPlace;
        if (password || token) return refused("before its host", *scheme);
    }
    if (scheme->holds == Holds::kAll && url.find(kSecretPlace) == std::string_view::npos) {
        return refused("somewhere", *scheme);
    }
    return {};
}

bool is_mail_address(std::string_view text) {
    const std::size_t at = text.rfind('@');
    if (at == std::string_view::npos || at == 0 || text.size() > 254) return false;
    const std::string_view local = text.substr(0, at);
    const std::string_view host = text.substr(at + 1);
    const auto good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("!#$%&'*+-/=?^_`{|}~.").find(c) != std::string_view::npos;
    };
    return local.size() <= 64 && std::ranges::all_of(local, good) && is_host_name(host);
}

}  // namespace pollux::config
