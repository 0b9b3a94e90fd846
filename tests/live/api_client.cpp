#include "tests/live/api_client.hpp"

#include <curl/curl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>

#include "document/diagnostic.hpp"
#include "document/parse.hpp"

namespace pollux::live {
namespace {

constexpr long kPatienceSeconds = 60;

std::size_t keep_body(char* bytes, std::size_t size, std::size_t count, void* into) {
    static_cast<std::string*>(into)->append(bytes, size * count);
    return size * count;
}

std::size_t keep_field(char* bytes, std::size_t size, std::size_t count, void* into) {
    const std::string_view line(bytes, size * count);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return size * count;
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    while (!value.empty() && (value.back() == '\r' || value.back() == '\n')) {
        value.remove_suffix(1);
    }
    (*static_cast<std::map<std::string, std::string>*>(into))[name] = std::string(value);
    return size * count;
}

}  // namespace

void ApiClient::Close::operator()(void* curl) const { curl_easy_cleanup(curl); }

ApiClient::ApiClient(std::string address, std::vector<std::string> fields)
    : address_(std::move(address)), fields_(std::move(fields)), curl_(curl_easy_init()) {}

ApiAnswer ApiClient::ask(const std::string& method, const std::string& target,
                         const std::string& body, std::vector<std::string> more) {
    ApiAnswer answer;
    CURL* curl = curl_.get();
    curl_easy_reset(curl);
    const std::string url = "http://" + address_ + target;
    curl_slist* list = nullptr;
    const auto is_type = [](const std::string& field) {
        return field.starts_with("Content-Type:");
    };
    if (std::ranges::none_of(more, is_type)) {
        more.emplace_back(body.empty() ? "Content-Type:" : "Content-Type: application/json");
    }
    more.emplace_back("Expect:");
    for (const std::string& field : fields_) list = curl_slist_append(list, field.c_str());
    for (const std::string& field : more) list = curl_slist_append(list, field.c_str());
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, kPatienceSeconds);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &keep_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer.body);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &keep_field);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &answer.headers);
    if (method == "HEAD") {
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    } else {
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method.c_str());
    }
    if (!body.empty() || method == "POST" || method == "PUT") {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
        curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, body.c_str());
    }
    const CURLcode code = curl_easy_perform(curl);
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK) {
        answer.status = static_cast<int>(status);
    } else {
        answer.problem = curl_easy_strerror(code);
    }
    curl_slist_free_all(list);
    return answer;
}

std::string ApiAnswer::header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
}

document::Node ApiAnswer::json() const {
    document::Diagnostics diagnostics;
    document::Parsed parsed = document::parse_json(
        body, "answer", diagnostics, {.max_bytes = 64U << 20U, .max_nodes = 5'000'000});
    EXPECT_TRUE(parsed.ok) << status << " " << problem << "\n"
                           << diagnostics.text() << "\n"
                           << body;
    return std::move(parsed.root);
}

std::string ApiAnswer::at(const std::string& path) const {
    const document::Node root = json();
    return text_at(root, path);
}

const document::Node* node_at(const document::Node& root, const std::string& path) {
    const document::Node* at = &root;
    std::string rest = path;
    while (at != nullptr && !rest.empty()) {
        const std::string step = rest.substr(0, rest.find('.'));
        rest.erase(0, std::min(rest.size(), step.size() + 1));
        if (!at->is_sequence()) {
            at = at->find(step);
            continue;
        }
        std::size_t index = at->items().size();
        std::from_chars(step.data(), step.data() + step.size(), index);
        at = index < at->items().size() ? &at->items()[index] : nullptr;
    }
    return at;
}

std::string text_at(const document::Node& root, const std::string& path) {
    const document::Node* found = node_at(root, path);
    return found == nullptr ? "" : found->scalar();
}

const document::Node* entry_with(const document::Node& list, const std::string& field,
                                 const std::string& value) {
    for (const document::Node& one : list.items()) {
        if (text_at(one, field) == value) return &one;
    }
    return nullptr;
}

}  // namespace pollux::live
