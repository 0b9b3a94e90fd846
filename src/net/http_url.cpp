#include "net/http_url.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/text.hpp"

namespace pollux::net {
namespace {

constexpr std::size_t kLongestUrl = 8192;
constexpr std::size_t kLongestShown = 200;

struct FreeUrl {
    void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using UrlHandle = std::unique_ptr<CURLU, FreeUrl>;

std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
    char* text = nullptr;
    if (curl_url_get(url, part, &text, flags) != CURLUE_OK || text == nullptr) return {};
    std::string result(text);
    curl_free(text);
    return result;
}

// The text is not shown whole: what is no URL may be anything, also a secret.
std::unexpected<base::Error> bad_url(std::string_view shown, std::string_view why) {
    return base::config_error(
        "http.bad_url", fmt::format("{} is no URL to ask: {}; write it like https://host:8006/path",
                                    base::quoted(shown, kLongestShown), why));
}

std::string_view without_query(std::string_view text) {
    text = text.substr(0, text.find_first_of("?#"));
    const auto at = text.find('@');  // what stands before it may be a password
    return at == std::string_view::npos ? text : text.substr(at + 1);
}

base::Result<HttpUrl> taken_from(CURLU* handle, std::string_view given) {
    HttpUrl url;
    const std::string scheme = part_of(handle, CURLUPART_SCHEME);
    if (scheme != "http" && scheme != "https") {
        return bad_url(without_query(given), "it does not start with http:// or https://");
    }
    if (!part_of(handle, CURLUPART_USER).empty() || !part_of(handle, CURLUPART_PASSWORD).empty()) {
        return bad_url(without_query(given),
                       "it carries credentials, which belong in the credentials of the device");
    }
    url.tls = scheme == "https";
    url.host = part_of(handle, CURLUPART_HOST);
    const std::string port = part_of(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (url.host.empty() || url.port == 0) {
        return bad_url(without_query(given), "it has no host or no port");
    }
    if (std::ranges::any_of(url.host,
                            [](char c) { return static_cast<unsigned char>(c) > 0x7E; })) {
        // Translating it would depend on the locale of the process.
        return bad_url(without_query(given),
                       "its host is not ASCII; write the xn-- form of international names");
    }
    for (char& c : url.host) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    std::string zone = part_of(handle, CURLUPART_ZONEID);
    std::string literal = url.host;
    if (!zone.empty() && literal.ends_with(']')) literal.insert(literal.size() - 1, "%25" + zone);
    if (const auto address = IpAddress::parse(literal)) {
        url.literal = true;
        url.address = *address;
    }
    if (url.host.starts_with('[')) url.host = url.host.substr(1, url.host.size() - 2);
    url.origin = fmt::format("{}{}{}:{}", url.host, zone.empty() ? "" : "%", zone, url.port);
    curl_url_set(handle, CURLUPART_FRAGMENT, nullptr, 0);
    url.text = part_of(handle, CURLUPART_URL);
    if (url.text.empty() || url.text.size() > kLongestUrl) {
        return bad_url(without_query(given), "it is too long");
    }
    url.shown = std::string(std::string_view(url.text).substr(0, url.text.find('?')));
    if (url.shown.size() > kLongestShown) url.shown = url.shown.substr(0, kLongestShown) + "…";
    if (url.text.find('?') != std::string::npos) url.shown += "?…";
    return url;
}

}  // namespace

base::Result<HttpUrl> HttpUrl::parse(std::string_view text) {
    if (text.size() > kLongestUrl) return bad_url(without_query(text), "it is too long");
    if (text.find('\0') != std::string_view::npos) {
        return bad_url(without_query(text), "it contains a zero byte");
    }
    const UrlHandle handle(curl_url());
    if (handle == nullptr) return base::internal_error("http.memory", "out of memory");
    // The same leniency as libcurl has for blanks would hide mistakes: no flags.
    const CURLUcode code = curl_url_set(handle.get(), CURLUPART_URL, std::string(text).c_str(), 0);
    if (code != CURLUE_OK) return bad_url(without_query(text), curl_url_strerror(code));
    return taken_from(handle.get(), text);
}

base::Result<HttpUrl> HttpUrl::join(std::string_view location) const {
    if (location.size() > kLongestUrl || location.find('\0') != std::string_view::npos) {
        return bad_url(without_query(location), "it is too long");
    }
    const UrlHandle handle(curl_url());
    if (handle == nullptr) return base::internal_error("http.memory", "out of memory");
    curl_url_set(handle.get(), CURLUPART_URL, text.c_str(), 0);
    const CURLUcode code =
        curl_url_set(handle.get(), CURLUPART_URL, std::string(location).c_str(), CURLU_URLENCODE);
    if (code != CURLUE_OK) return bad_url(without_query(location), curl_url_strerror(code));
    return taken_from(handle.get(), location);
}

}  // namespace pollux::net
