#include "app/api_client.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "app/control_client.hpp"
#include "app/token_file.hpp"
#include "base/text.hpp"
#include "document/parse.hpp"

namespace pollux::app {
namespace {

constexpr std::size_t kMostBytes = 256U << 20U;
constexpr std::size_t kMostNodes = 50'000'000;
constexpr std::size_t kMostFieldErrors = 20;
constexpr long kConnectSeconds = 10;
constexpr long kSilentSeconds = 60;

struct Handles {
    CURL* easy = curl_easy_init();
    curl_slist* headers = nullptr;
    Handles() = default;
    Handles(const Handles&) = delete;
    Handles& operator=(const Handles&) = delete;
    ~Handles() {
        curl_slist_free_all(headers);
        curl_easy_cleanup(easy);
    }
};

// What comes back while it comes.
struct Transfer {
    CURL* easy = nullptr;
    const ApiRequest* request = nullptr;
    ApiReply reply;
    std::string request_id;
    bool too_long = false;
    bool stopped = false;
};

std::size_t take_body(const char* bytes, std::size_t, std::size_t count, void* context) {
    auto& transfer = *static_cast<Transfer*>(context);
    long status = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    if (transfer.request->sink && status < 300) {
        transfer.stopped = !transfer.request->sink({bytes, count});
        return transfer.stopped ? 0 : count;
    }
    transfer.too_long = transfer.reply.body.size() + count > kMostBytes;
    if (transfer.too_long) return 0;
    transfer.reply.body.append(bytes, count);
    return count;
}

std::size_t take_header(const char* bytes, std::size_t, std::size_t count, void* context) {
    auto& transfer = *static_cast<Transfer*>(context);
    std::string_view line(bytes, count);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return count;
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    while (!value.empty() && (value.back() == '\r' || value.back() == '\n')) value.remove_suffix(1);
    if (name == "etag") transfer.reply.etag = value;
    if (name == "x-request-id") transfer.request_id = value;
    if (name == "set-cookie") transfer.reply.cookie = value.substr(0, value.find(';'));
    return count;
}

bool is_this_machine(std::string_view url) {
    const std::size_t at = url.find("://");
    const std::string_view rest = at == std::string_view::npos ? url : url.substr(at + 3);
    return rest.starts_with("127.") || rest.starts_with("localhost") || rest.starts_with("[::1]");
}

std::string text_of(const document::Node* node) {
    return node == nullptr || !node->is_scalar() ? std::string() : node->scalar();
}

void set_up(Handles& handles, const ApiOptions& options, Transfer& transfer) {
    CURL* easy = handles.easy;
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    if (transfer.request->sink) {
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
    } else {
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                         static_cast<long>(options.timeout_seconds * 1000));
    }
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, handles.headers);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, transfer.request->method.c_str());
    if (!transfer.request->body.empty()) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer.request->body.data());
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                         static_cast<curl_off_t>(transfer.request->body.size()));
    }
}

base::Error unreachable(const std::string& url, CURLcode code, const std::string& refused) {
    std::string what =
        fmt::format("cannot ask {}: {}", url, refused.empty() ? curl_easy_strerror(code) : refused);
    if (!refused.empty()) {
        what +=
            "\n  name the certificate of its authority with --ca-file, or, if who runs the server "
            "tells you this SHA-256, give it with --pin";
    } else if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST) {
        what += "; is the server running there? Name it with --url or POLLUX_URL";
    } else if (code == CURLE_OPERATION_TIMEDOUT) {
        what += "; give it longer with --timeout";
    }
    return {"client.unreachable", base::ErrorClass::kTransient, std::move(what)};
}

}  // namespace

std::string chosen_url(const ApiOptions& options) {
    std::string url = options.url;
    if (url.empty()) {
        const char* given = std::getenv("POLLUX_URL");
        url = given == nullptr ? "" : given;
    }
    while (url.ends_with('/')) url.pop_back();
    return url.empty() ? kDefaultUrl : url;
}

bool url_was_chosen(const ApiOptions& options) {
    const char* given = std::getenv("POLLUX_URL");
    return !options.url.empty() || (given != nullptr && *given != '\0');
}

std::string url_escaped(std::string_view text) { return ControlClient::escaped(text); }

base::Result<document::Node> parse_answer(const std::string& body) {
    document::Diagnostics diagnostics;
    document::ParseLimits limits;
    limits.max_bytes = kMostBytes;
    limits.max_nodes = kMostNodes;
    document::Parsed parsed = document::parse_json(body, "answer", diagnostics, limits);
    if (!parsed.ok) {
        return base::config_error("client.answer",
                                  "the server answered with something that is no JSON: does the "
                                  "URL lead to Pollux?");
    }
    return std::move(parsed.root);
}

base::Result<ApiClient> ApiClient::without_token(const ApiOptions& options) {
    ApiClient client(options);
    client.url_ = chosen_url(options);
    if (!client.url_.starts_with("http://") && !client.url_.starts_with("https://")) {
        return base::config_error(
            "client.usage",
            fmt::format("{} is no URL: write it like {}", base::quoted(client.url_), kDefaultUrl));
    }
    return client;
}

base::Result<ApiClient> ApiClient::open(const ApiOptions& options) {
    auto opened = without_token(options);
    if (!opened) return opened;
    ApiClient& client = *opened;
    if (options.token_file.empty()) {
        const char* given = std::getenv("POLLUX_TOKEN");
        if (given != nullptr && *given != '\0') {
            client.token_ = base::Secret(given);
            return opened;
        }
    }
    const std::string path = options.token_file.empty() ? default_token_file() : options.token_file;
    if (path.empty()) return opened;
    auto stored = read_token_file(path);
    if (!stored) return std::unexpected(stored.error());
    if (!*stored && !options.token_file.empty()) {
        return base::config_error("client.token_file", fmt::format("{} is not there", path));
    }
    if (!*stored) return opened;
    if (!(*stored)->url.empty() && (*stored)->url != client.url_) {
        client.no_token_because_ = fmt::format("the token in {} is for {}", path, (*stored)->url);
        return opened;
    }
    client.token_ = std::move((*stored)->token);
    return opened;
}

base::Result<ApiReply> ApiClient::ask(const ApiRequest& request) const {
    net::ServerTrustCheck check;  // the handle uses it
    Handles handles;
    const auto header = [&](const std::string& line) {
        handles.headers = curl_slist_append(handles.headers, line.c_str());
    };
    if (token_) header("X-API-Token: " + token_->reveal());
    for (const auto& [name, value] : request.headers) header(fmt::format("{}: {}", name, value));
    header("Expect:");
    if (!request.body.empty()) header("Content-Type: application/json");
    if (auto status = check.apply(handles.easy, url_, options_.trust); !status) {
        base::Error error = status.error();
        error.code = "client.usage";
        return std::unexpected(std::move(error));
    }
    Transfer transfer;
    transfer.easy = handles.easy;
    transfer.request = &request;
    const std::string where = url_ + request.path;
    curl_easy_setopt(handles.easy, CURLOPT_URL, where.c_str());
    if (is_this_machine(url_)) curl_easy_setopt(handles.easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(handles.easy, CURLOPT_USERAGENT, "pollux/" POLLUX_VERSION);
    set_up(handles, options_, transfer);
    const CURLcode code = curl_easy_perform(handles.easy);
    if (transfer.too_long) {
        return base::config_error("client.answer", "the answer is longer than 256 MiB");
    }
    if (transfer.stopped) {
        return base::config_error("client.output", "the output could not be written");
    }
    if (code != CURLE_OK) return std::unexpected(unreachable(url_, code, check.complaint()));
    long status = 0;
    curl_easy_getinfo(handles.easy, CURLINFO_RESPONSE_CODE, &status);
    transfer.reply.status = static_cast<int>(status);
    if (options_.verbose) {
        fmt::print(stderr, "{} {} -> {} (request {})\n", request.method, request.path, status,
                   transfer.request_id);
    }
    if (status >= 200 && status < 300) return std::move(transfer.reply);
    return std::unexpected(error_of(transfer.reply, transfer.request_id));
}

base::Result<document::Node> ApiClient::get(const std::string& path) const {
    const auto reply = ask({.path = path});
    if (!reply) return std::unexpected(reply.error());
    return parse_answer(reply->body);
}

base::Error ApiClient::error_of(const ApiReply& reply, const std::string& request_id) const {
    const auto problem = parse_answer(reply.body);
    base::Error error{"client.refused", base::ErrorClass::kPermanent,
                      fmt::format("{} answered with status {}", url_, reply.status)};
    if (problem) {
        if (const auto code = text_of(problem->find("code")); !code.empty()) error.code = code;
        if (const auto detail = text_of(problem->find("detail")); !detail.empty()) {
            error.message = error.code == "api.not-found" && !detail.contains("no ")
                                ? "there is no " + detail
                                : detail;
        }
        if (const document::Node* errors = problem->find("errors")) {
            std::size_t shown = 0;
            for (const document::Node& one : errors->items()) {
                if (++shown > kMostFieldErrors) break;
                std::string where = text_of(one.find("pointer"));
                if (where.empty()) where = text_of(one.find("parameter"));
                const std::string detail = text_of(one.find("detail"));
                // One mistake stands in the detail of the whole already; where it is does not.
                if (error.message.contains(detail)) {
                    if (!where.empty()) error.message += "\n  at " + where;
                } else {
                    error.message +=
                        fmt::format("\n  {}{}{}", where, where.empty() ? "" : ": ", detail);
                }
            }
        }
    }
    if (reply.status == 401 || reply.status == 403) error.error_class = base::ErrorClass::kAuth;
    if (reply.status == 401 && !token_) {
        error.message +=
            no_token_because_.empty()
                ? "\n  no token: `pollux login` makes one, or set POLLUX_TOKEN or --token-file"
                : fmt::format("\n  no token: {}; `pollux login --url {}`", no_token_because_, url_);
    }
    if (options_.verbose && !request_id.empty()) {
        error.message +=
            fmt::format("\n  {}, status {}, request {}", error.code, reply.status, request_id);
    }
    return error;
}

int exit_code_of(const base::Error& error) {
    if (error.code == "client.usage") return kUsageError;
    if (error.code == "client.unreachable" || error.code == "websocket.unreachable" ||
        error.error_class == base::ErrorClass::kAuth) {
        return kNotReached;
    }
    return kRefused;
}

}  // namespace pollux::app
