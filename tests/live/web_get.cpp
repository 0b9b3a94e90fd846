#include "tests/live/web_get.hpp"

#include <curl/curl.h>

namespace pollux::live {
namespace {

constexpr long kPatienceSeconds = 60;

std::size_t keep(char* bytes, std::size_t size, std::size_t count, void* into) {
    static_cast<std::string*>(into)->append(bytes, size * count);
    return size * count;
}

}  // namespace

WebAnswer web_get(const std::string& url, const std::string& login) {
    WebAnswer answer;
    CURL* curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, kPatienceSeconds);
    // Certificates of simulated devices are their own.
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer.body);
    if (!login.empty()) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        curl_easy_setopt(curl, CURLOPT_USERPWD, login.c_str());
    }
    const CURLcode code = curl_easy_perform(curl);
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK) {
        answer.status = static_cast<int>(status);
    } else {
        answer.problem = curl_easy_strerror(code);
    }
    curl_easy_cleanup(curl);
    return answer;
}

}  // namespace pollux::live
