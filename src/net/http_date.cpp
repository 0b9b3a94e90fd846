#include "net/http_date.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace pollux::net {
namespace {

constexpr base::Duration kLongestWait = std::chrono::hours(24);
constexpr std::size_t kLongestDate = 64;

}  // namespace

std::optional<base::WallTime> parse_http_date(std::string_view text) {
    // libcurl's parser would also take a bare number or "1994"; a date has a clock time.
    if (text.size() > kLongestDate || text.find(':') == std::string_view::npos) return std::nullopt;
    const time_t seconds = curl_getdate(std::string(text).c_str(), nullptr);
    if (seconds < 0) return std::nullopt;
    return base::WallTime{static_cast<std::int64_t>(seconds) * 1'000'000};
}

std::optional<base::Duration> parse_retry_after(std::string_view text, base::WallTime now) {
    std::uint64_t seconds = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, seconds);
    if (stop == end && !text.empty()) {
        if (error == std::errc::result_out_of_range) return kLongestWait;
        if (error != std::errc()) return std::nullopt;
        constexpr std::uint64_t kMost = std::chrono::seconds(std::chrono::hours(24)).count();
        return std::chrono::seconds(std::min(seconds, kMost));
    }
    const auto date = parse_http_date(text);
    if (!date) return std::nullopt;
    return std::clamp<base::Duration>(*date - now, base::Duration::zero(), kLongestWait);
}

}  // namespace pollux::net
