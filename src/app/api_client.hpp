// Asks the API of a server, over HTTP or HTTPS. For commands; blocks. Problems of the server come
// back as errors in words for people.
//
// Where: --url, POLLUX_URL, or this machine. Who: the token in the file of --token-file, in
// POLLUX_TOKEN, or in the file that `pollux login` wrote. A token is never an argument.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/secret.hpp"
#include "document/node.hpp"
#include "net/server_trust.hpp"

namespace pollux::app {

inline constexpr const char* kDefaultUrl = "http://127.0.0.1:7655";

// Exit codes of all commands that ask the API.
inline constexpr int kRefused = 1;
inline constexpr int kUsageError = 2;
inline constexpr int kNotReached = 3;

// As typed; an empty text was not.
struct ApiOptions {
    std::string url;
    std::string token_file;
    net::ServerTrust trust;
    bool verbose = false;
    double timeout_seconds = 60;
};

struct ApiRequest {
    std::string method = "GET";
    std::string path = {};  // with its query
    std::string body = {};  // JSON; empty: none
    std::vector<std::pair<std::string, std::string>> headers = {};
    // Takes the body of a success piece by piece; false ends it. Empty: it comes with the reply.
    std::function<bool(std::string_view piece)> sink = {};
};

struct ApiReply {
    int status = 0;
    std::string body;
    std::string etag;
    std::string cookie;  // "name=value" of Set-Cookie
};

class ApiClient {
  public:
    // Finds out where to and who. Fails with client.* when a file cannot be used.
    static base::Result<ApiClient> open(const ApiOptions& options);

    // The same, but nobody in particular: for logging in.
    static base::Result<ApiClient> without_token(const ApiOptions& options);

    // A success, 2xx. Errors: client.unreachable and class auth mean exit code 3.
    base::Result<ApiReply> ask(const ApiRequest& request) const;
    // The body as a tree.
    base::Result<document::Node> get(const std::string& path) const;

    const std::string& url() const { return url_; }
    const ApiOptions& options() const { return options_; }
    base::Secret token() const { return token_.value_or(base::Secret()); }  // may be empty

  private:
    explicit ApiClient(ApiOptions options) : options_(std::move(options)) {}
    base::Error error_of(const ApiReply& reply, const std::string& request_id) const;

    ApiOptions options_;
    std::string url_;  // without a slash at its end
    std::optional<base::Secret> token_;
    std::string no_token_because_;  // of a file that is for another server
};

// By the class and code of an error of the client.
int exit_code_of(const base::Error& error);

// Where the options and the environment point to. Whether somebody chose it: nobody means the
// server of this machine.
std::string chosen_url(const ApiOptions& options);
bool url_was_chosen(const ApiOptions& options);

// Of a JSON answer.
base::Result<document::Node> parse_answer(const std::string& body);

// For a path or a query.
std::string url_escaped(std::string_view text);

}  // namespace pollux::app
