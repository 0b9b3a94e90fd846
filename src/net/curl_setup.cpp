#include "net/curl_setup.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace pollux::net {
namespace {

using model::HttpAuth;
using model::HttpMethod;

constexpr std::size_t kMaxOwnHeaders = 64;
constexpr std::size_t kLongestOwnHeader = 16U << 10U;

// What may follow a redirect to another host: nothing that could be a secret.
constexpr std::array<std::string_view, 4> kHarmlessHeaders = {"accept", "accept-language",
                                                              "user-agent", "content-type"};

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* data) {
    return static_cast<HttpTransfer*>(data)->take_header({bytes, size * count});
}

std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* data) {
    return static_cast<HttpTransfer*>(data)->take_body(bytes, size * count);
}

curl_socket_t on_open(void* data, curlsocktype, curl_sockaddr* address) {
    const int fd = static_cast<HttpTransfer*>(data)->open_socket(
        &address->addr, address->addrlen, address->socktype, address->protocol);
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

int on_close(void* data, curl_socket_t fd) {
    static_cast<SocketTable*>(data)->close(fd);
    return 0;
}

CURLcode on_tls(CURL*, void* context, void* data) {
    return static_cast<HttpTransfer*>(data)->check_tls(static_cast<ssl_ctx_st*>(context))
               ? CURLE_OK
               : CURLE_ABORTED_BY_CALLBACK;
}

// libcurl is about to resolve a host that we did not tell it. Literals need nothing; a name would
// block a thread and lead around our resolver.
int on_resolve(void*, void*, void* data) {
    return static_cast<HttpTransfer*>(data)->url().literal ? 0 : 1;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) {
        const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c + 0; };
        return lower(x) == lower(y);
    });
}

bool is_token(std::string_view text) {
    constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::ranges::all_of(text, [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               kOthers.find(c) != std::string_view::npos;
    });
}

bool is_field_value(std::string_view text) {
    return std::ranges::none_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20U && c != '\t') || byte == 0x7FU;
    });
}

std::unexpected<base::Error> bad_ask(std::string message) {
    return base::config_error("http.bad_request", std::move(message));
}

base::Status check_headers(const model::HttpAsk& ask) {
    if (ask.headers.size() > kMaxOwnHeaders) {
        return bad_ask(fmt::format("the request has more than {} headers", kMaxOwnHeaders));
    }
    for (const auto& [name, value] : ask.headers) {
        if (!is_token(name)) {
            return bad_ask(fmt::format("{} is no name of a header", base::quoted(name)));
        }
        if (!is_field_value(value) || value.size() > kLongestOwnHeader) {
            return bad_ask(
                fmt::format("the value of the header {} is too long or contains a "
                            "control character",
                            name));
        }
    }
    return {};
}

base::Status check_login(const model::HttpAsk& ask, const model::Credentials* credentials) {
    if (ask.auth == HttpAuth::kNone) return {};
    const bool by_token = ask.auth == HttpAuth::kBearer || ask.auth == HttpAuth::kApiKey;
    if (credentials == nullptr || (by_token && credentials->token.empty()) ||
        (!by_token && credentials->username.empty())) {
        return bad_ask(by_token ? "the request needs a token, and the credentials have none"
                                : "the request needs a user name, and the credentials have none");
    }
    if (!is_field_value(credentials->username) || !is_field_value(credentials->password.reveal()) ||
        !is_field_value(credentials->token.reveal())) {
        return bad_ask("the credentials contain a control character");
    }
    if (ask.auth == HttpAuth::kApiKey && !is_token(ask.api_key_header)) {
        return bad_ask(fmt::format("{} is no name of a header", base::quoted(ask.api_key_header)));
    }
    return {};
}

void set_method(HttpTransfer& transfer) {
    CURL* easy = transfer.easy;
    CurlState& state = transfer.state;
    if (transfer.method == HttpMethod::kGet && !transfer.with_body &&
        state.method == HttpMethod::kGet && !state.has_body) {
        return;
    }
    const model::HttpAsk& ask = transfer.ask();
    const bool sends = transfer.with_body || transfer.method == HttpMethod::kPost ||
                       transfer.method == HttpMethod::kPut;
    if (sends) {
        static constexpr const char* kNothing = "";
        const std::string& body = ask.body;
        curl_easy_setopt(easy, CURLOPT_NOBODY, 0L);
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer.with_body ? body.data() : kNothing);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                         static_cast<curl_off_t>(transfer.with_body ? body.size() : 0));
    } else {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, nullptr);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(-1));
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        if (transfer.method == HttpMethod::kHead) curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    }
    const char* name = nullptr;
    if (transfer.method == HttpMethod::kPut) name = "PUT";
    if (sends && transfer.method == HttpMethod::kGet) name = "GET";
    if (sends && transfer.method == HttpMethod::kHead) name = "HEAD";
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, name);
    state.method = transfer.method;
    state.has_body = sends;
}

bool add_login_header(HttpTransfer& transfer) {
    const model::HttpAsk& ask = transfer.ask();
    if (!transfer.with_credentials || transfer.order.credentials == nullptr) return true;
    const std::string& token = transfer.order.credentials->token.reveal();
    std::string line;
    line.reserve(ask.api_key_header.size() + token.size() + 32);  // one block, wiped below
    if (ask.auth == HttpAuth::kBearer) {
        line.append("Authorization: Bearer ").append(token);
    } else if (ask.auth == HttpAuth::kApiKey) {
        line.append(ask.api_key_header).append(": ").append(token);
    } else {
        return true;
    }
    const bool added = transfer.headers_out.add(line.c_str());
    const base::Secret wiped(std::move(line));
    return added;
}

bool set_headers(HttpTransfer& transfer) {
    transfer.headers_out.clear();
    bool complete = true;
    bool has_type = false;
    for (const auto& [name, value] : transfer.ask().headers) {
        const bool harmless = std::ranges::any_of(kHarmlessHeaders, [&](std::string_view one) {
            return equals_ignoring_case(one, name);
        });
        if (transfer.elsewhere && !harmless) continue;
        has_type = has_type || equals_ignoring_case(name, "content-type");
        // libcurl sends a header without value only when it ends with a semicolon.
        complete =
            complete && transfer.headers_out.add(value.empty() ? (name + ";").c_str()
                                                               : (name + ": " + value).c_str());
    }
    complete = complete && add_login_header(transfer);
    if (transfer.state.has_body) {
        // We neither wait for "100 Continue" nor invent a type for the body.
        complete = complete && transfer.headers_out.add("Expect:");
        if (!has_type) complete = complete && transfer.headers_out.add("Content-Type:");
    }
    const bool has = transfer.headers_out.get() != nullptr;
    if (has || transfer.state.has_headers) {
        curl_easy_setopt(transfer.easy, CURLOPT_HTTPHEADER, transfer.headers_out.get());
    }
    transfer.state.has_headers = has;
    return complete;
}

void set_login(HttpTransfer& transfer) {
    const HttpAuth auth = transfer.with_credentials ? transfer.ask().auth : HttpAuth::kNone;
    const bool wanted = auth == HttpAuth::kBasic || auth == HttpAuth::kDigest;
    if (!wanted && !transfer.state.has_login) return;
    CURL* easy = transfer.easy;
    if (!wanted) {
        curl_easy_setopt(easy, CURLOPT_USERNAME, nullptr);
        curl_easy_setopt(easy, CURLOPT_PASSWORD, nullptr);
        transfer.state.has_login = false;
        return;
    }
    const model::Credentials& credentials = *transfer.order.credentials;
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH,
                     auth == HttpAuth::kBasic ? CURLAUTH_BASIC : CURLAUTH_DIGEST);
    curl_easy_setopt(easy, CURLOPT_USERNAME, credentials.username.c_str());
    curl_easy_setopt(easy, CURLOPT_PASSWORD, credentials.password.reveal().c_str());
    transfer.state.has_login = true;
    // A handle remembers the challenge of a server; it must not meet another one with it.
    transfer.state.one_use = transfer.state.one_use || auth == HttpAuth::kDigest;
}

// libcurl uses a connection again only for the same CApath. It reads nothing from there, because
// the verification is ours, so this is where it learns what the connection was made for.
std::string tls_demands(const HttpTransfer& transfer) {
    if (!transfer.url().tls) return {};
    const model::TlsOptions& tls = transfer.ask().tls;
    const model::Credentials* credentials =
        transfer.with_credentials ? transfer.order.credentials.get() : nullptr;
    return fmt::format("verify={};ca={};pin={};certificate={};key={}", tls.verify, tls.ca_file,
                       tls.pin_sha256,
                       credentials != nullptr ? credentials->client_certificate : "",
                       credentials != nullptr ? credentials->client_key : "");
}

void set_tls(HttpTransfer& transfer) {
    if (!transfer.url().tls) return;
    std::string demands = tls_demands(transfer);
    if (demands == transfer.state.tls) return;
    CURL* easy = transfer.easy;
    const model::Credentials* credentials =
        transfer.with_credentials ? transfer.order.credentials.get() : nullptr;
    const bool shows = credentials != nullptr && !credentials->client_certificate.empty();
    curl_easy_setopt(easy, CURLOPT_CAPATH, demands.c_str());
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, transfer.ask().tls.verify ? 2L : 0L);
    curl_easy_setopt(easy, CURLOPT_SSLCERT,
                     shows ? credentials->client_certificate.c_str() : nullptr);
    curl_easy_setopt(
        easy, CURLOPT_SSLKEY,
        shows && !credentials->client_key.empty() ? credentials->client_key.c_str() : nullptr);
    curl_easy_setopt(easy, CURLOPT_KEYPASSWD,
                     shows && !credentials->client_key_password.empty()
                         ? credentials->client_key_password.reveal().c_str()
                         : nullptr);
    transfer.state.one_use = transfer.state.one_use || shows;
    transfer.state.tls = std::move(demands);
}

// Tells the shard what the name means if that is news. It stays known there, for all handles.
bool set_addresses(HttpTransfer& transfer) {
    const HttpHost& host = *transfer.host;
    CurlState& state = transfer.state;
    const bool several = transfer.addresses != nullptr && transfer.addresses->size() > 1;
    if (several || state.has_connect_timeout) {
        // libcurl gives each address a share of this time before it tries the next one.
        const base::Duration left = transfer.order.deadline - boot_now();
        const auto limit = std::clamp<std::int64_t>(base::ceil_ms(left), 1, 300'000);
        curl_easy_setopt(transfer.easy, CURLOPT_CONNECTTIMEOUT_MS, several ? limit : 0L);
        state.has_connect_timeout = several;
    }
    const bool told = host.told != nullptr && transfer.addresses != nullptr &&
                      (host.told == transfer.addresses || *host.told == *transfer.addresses);
    if (transfer.addresses == nullptr || told) return true;
    std::string line = fmt::format("{}:{}", transfer.url().host, transfer.url().port);
    char separator = ':';
    for (const IpAddress& address : *transfer.addresses) {
        line += separator;
        line += address.is_v6() ? fmt::format("[{}]", address.to_string()) : address.to_string();
        separator = ',';
    }
    transfer.resolve.clear();
    if (!transfer.resolve.add(line.c_str())) return false;
    curl_easy_setopt(transfer.easy, CURLOPT_RESOLVE, transfer.resolve.get());
    state.has_resolve = true;
    return true;
}

}  // namespace

void set_up_handle(HttpTransfer& transfer) {
    CURL* easy = transfer.easy;
    const HttpClientOptions& options = transfer.surroundings.options;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");  // also not the one of the environment
    curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");  // all that libcurl can undo
    curl_easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN,
                     static_cast<long>(base::ceil_ms(options.connection_age) / 1000));
    // What it was told of a name it believes until it is told something else; with a time it would
    // also walk all names at every request.
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, -1L);
    curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, &on_resolve);
    curl_easy_setopt(easy, CURLOPT_RESOLVER_START_DATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &on_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &on_close);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, transfer.surroundings.sockets);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
    // The peer is checked by tls_check alone, at each connection.
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_CAINFO, nullptr);
    curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, &on_tls);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, &transfer);
}

base::Status check_ask(const model::HttpAsk& ask, const model::Credentials* credentials) {
    if (!ask.headers.empty()) {
        if (auto status = check_headers(ask); !status) return status;
    }
    if (!ask.tls.pin_sha256.empty() && !parse_sha256(ask.tls.pin_sha256)) {
        return bad_ask(
            fmt::format("{} is no SHA-256 of a certificate: write its 64 hexadecimal "
                        "digits",
                        base::quoted(ask.tls.pin_sha256)));
    }
    return check_login(ask, credentials);
}

base::Status set_up_request(HttpTransfer& transfer) {
    CURL* easy = transfer.easy;
    CurlState& state = transfer.state;
    bool complete = curl_easy_setopt(easy, CURLOPT_URL, transfer.url().text.c_str()) == CURLE_OK;
    set_method(transfer);
    complete = complete && set_headers(transfer);
    set_login(transfer);
    set_tls(transfer);
    complete = complete && set_addresses(transfer);
    const bool http2 = transfer.url().tls && transfer.ask().http2;
    if (http2 != state.http2) {
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                         static_cast<long>(http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
        state.http2 = http2;
    }
    // A connection made for somebody else was not checked as a redirect, so none is used there.
    const bool fresh = transfer.order.fresh || !transfer.ask().keep_alive || transfer.elsewhere;
    if (fresh != state.fresh) {
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L);
        curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, fresh ? 1L : 0L);
        state.fresh = fresh;
    }
    if (!complete) return base::internal_error("http.memory", "out of memory");
    return {};
}

bool clean_up_handle(HttpTransfer& transfer) {
    if (transfer.state.one_use) return false;
    CURL* easy = transfer.easy;
    CurlState& state = transfer.state;
    if (state.has_resolve) curl_easy_setopt(easy, CURLOPT_RESOLVE, nullptr);
    if (state.has_login) {
        curl_easy_setopt(easy, CURLOPT_USERNAME, nullptr);
        curl_easy_setopt(easy, CURLOPT_PASSWORD, nullptr);
    }
    if (state.has_headers) curl_easy_setopt(easy, CURLOPT_HTTPHEADER, nullptr);
    if (state.has_body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, nullptr);
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, nullptr);
        state.method = HttpMethod::kGet;
    }
    state.has_resolve = false;
    state.has_login = false;
    state.has_headers = false;
    state.has_body = false;
    return true;
}

}  // namespace pollux::net
