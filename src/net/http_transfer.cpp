#include "net/http_transfer.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"

namespace pollux::net {
namespace {

// More is not set aside for a body before it comes, whatever its length is said to be.
constexpr std::uint64_t kLargestReserve = 1U << 20U;

constexpr char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view trimmed(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

}  // namespace

bool CurlList::add(const char* text) {
    curl_slist* longer = curl_slist_append(list_, text);
    if (longer == nullptr) return false;
    list_ = longer;
    return true;
}

void CurlList::clear() {
    for (curl_slist* item = list_; item != nullptr; item = item->next) {
        volatile char* bytes = item->data;
        for (std::size_t left = std::strlen(item->data); left > 0; --left) bytes[left - 1] = 0;
    }
    curl_slist_free_all(list_);
    list_ = nullptr;
}

HttpTransfer::HttpTransfer(Surroundings& the_surroundings,
                           std::move_only_function<void(HttpTransfer&)> late)
    : surroundings(the_surroundings),
      easy(curl_easy_init()),
      deadline_timer(the_surroundings.loop,
                     [this, call = std::move(late)]() mutable { call(*this); }) {
    POLLUX_CHECK_MSG(easy != nullptr, "out of memory");
}

HttpTransfer::~HttpTransfer() { curl_easy_cleanup(easy); }

void HttpTransfer::begin(HttpOrder the_order, HttpClient::Done the_done) {
    order = std::move(the_order);
    done = std::move(the_done);
    started = boot_now();
    method = ask().method;
    with_body = !ask().body.empty();
}

void HttpTransfer::end() {
    deadline_timer.cancel();
    order = {};
    done = nullptr;
    problem = HttpProblem::kNone;
    detail.clear();
    trace.clear();
    with_credentials = true;
    elsewhere = false;
    redirects = 0;
    next_url.reset();
    first_url.reset();
    first_class.reset();
    addresses.reset();
    headers_out.clear();
    resolve.clear();
    dns_time = {};
    request_start = {};
    bytes_in = 0;
    bytes_out = 0;
    expect_answer();
}

void HttpTransfer::fail(HttpProblem what, std::string why) {
    if (problem != HttpProblem::kNone) return;
    problem = what;
    detail = std::move(why);
}

void HttpTransfer::expect_answer() {
    reply = {};
    header_count = 0;
    header_bytes = 0;
    contacted.clear();
    denied.clear();
    socket_error = 0;
    peer.reset();
}

// Counts over all answers to one request, so that endless interim answers end as well.
std::size_t HttpTransfer::take_header(std::string_view line) {
    const HttpClientOptions& limits = surroundings.options;
    header_bytes += line.size();
    ++header_count;
    if (header_count > limits.max_headers || header_bytes > limits.max_header_bytes) {
        fail(HttpProblem::kHeadersTooLarge,
             fmt::format("the headers of the answer are longer than {} lines or {} bytes; check "
                         "that the URL is that of the device",
                         limits.max_headers, limits.max_header_bytes));
        return 0;
    }
    if (line.starts_with("HTTP/")) {
        reply.headers.clear();
        if (url().tls && peer == nullptr) {
            curl_tlssessioninfo* session = nullptr;
            curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session);
            if (session != nullptr && session->internals != nullptr) {
                peer = tls_peer_of(static_cast<const ssl_st*>(session->internals));
            }
        }
        return line.size();
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) return line.size();
    std::string name(trimmed(line.substr(0, colon)));
    std::ranges::transform(name, name.begin(), to_lower);
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (name == "content-length" && method != model::HttpMethod::kHead) {
        std::uint64_t length = 0;
        std::from_chars(value.data(), value.data() + value.size(), length);
        reply.body.reserve(std::min({length, ask().max_body_bytes, kLargestReserve}));
    }
    reply.headers.emplace_back(std::move(name), value);
    return line.size();
}

std::size_t HttpTransfer::take_body(const char* bytes, std::size_t count) {
    if (reply.body.size() + count > ask().max_body_bytes) {
        fail(HttpProblem::kBodyTooLarge,
             fmt::format("the answer is larger than {} bytes after decompression; ask for less, or "
                         "raise the size allowed for this endpoint (max_body_bytes)",
                         ask().max_body_bytes));
        return 0;
    }
    reply.body.append(bytes, count);
    return count;
}

int HttpTransfer::open_socket(const sockaddr* address, socklen_t length, int type, int protocol) {
    const auto target = IpAddress::from_sockaddr(address, length);
    if (!target) return -1;
    const EgressPolicy& policy = *surroundings.egress;
    const auto allowed = redirects > 0 ? policy.check_redirect(*target, first_class.value())
                                       : policy.check_target(*target);
    if (!allowed) {
        denied = allowed.error().message;  // not the last word if the name has other addresses
        return -1;
    }
    if (!first_class) first_class = policy.class_of(*target);
    contacted = target->to_string(url().port);
    const int fd = socket(address->sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    if (fd < 0) socket_error = errno;
    return fd;
}

bool HttpTransfer::check_tls(ssl_ctx_st* context) {
    const model::TlsOptions& demands = ask().tls;
    auto expected = std::make_shared<TlsPeer>();
    expected->verify = demands.verify;
    expected->host = url().literal ? url().address.to_string() : url().host;
    if (!demands.pin_sha256.empty()) {
        expected->pin = parse_sha256(demands.pin_sha256);
        if (!expected->pin) return false;  // checked before; never connect unpinned by mistake
    }
    x509_store_st* trust = nullptr;
    if (demands.verify) {
        const auto store = surroundings.trust.get(demands.ca_file);
        if (!store) {
            fail(HttpProblem::kBadRequest, store.error().message);
            return false;
        }
        trust = *store;
    }
    peer = expected;
    return install_tls_check(context, std::move(expected), trust);
}

}  // namespace pollux::net
