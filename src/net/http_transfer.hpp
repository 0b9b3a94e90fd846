// One order under way: what is asked next, and what came back so far. Reused for order after order
// together with its libcurl handle, whose settings mostly stay the same.
//
// Owned by the HTTP client. libcurl calls the receive functions with a pointer to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/egress_policy.hpp"
#include "net/event_loop.hpp"
#include "net/http_client.hpp"
#include "net/http_hosts.hpp"
#include "net/http_types.hpp"
#include "net/http_url.hpp"
#include "net/resolver.hpp"
#include "net/tls_check.hpp"

struct curl_slist;

namespace pollux::net {

// A list of libcurl, wiped when it goes: headers may hold secrets.
class CurlList {
  public:
    CurlList() = default;
    ~CurlList() { clear(); }
    CurlList(const CurlList&) = delete;
    CurlList& operator=(const CurlList&) = delete;

    bool add(const char* text);
    void clear();
    curl_slist* get() const { return list_; }

  private:
    curl_slist* list_ = nullptr;
};

// What the libcurl handle is set to now; compared before each request, so that only differences
// are told to it.
struct CurlState {
    model::HttpMethod method = model::HttpMethod::kGet;
    bool has_body = false;
    bool has_headers = false;
    bool has_login = false;
    bool http2 = false;
    bool fresh = false;
    bool has_resolve = false;
    bool has_connect_timeout = false;
    std::string tls;       // the demands on the peer, as one text
    bool one_use = false;  // holds what should not stay in memory or meet another server
};

class HttpTransfer {
  public:
    // What is shared by all transfers of a client.
    struct Surroundings {
        EventLoop& loop;
        Resolver& resolver;
        const HttpClientOptions& options;
        std::shared_ptr<const EgressPolicy> egress;
        TrustStores trust;
        SocketTable* sockets = nullptr;
    };

    HttpTransfer(Surroundings& surroundings, std::move_only_function<void(HttpTransfer&)> late);
    ~HttpTransfer();
    HttpTransfer(const HttpTransfer&) = delete;
    HttpTransfer& operator=(const HttpTransfer&) = delete;

    void begin(HttpOrder the_order, HttpClient::Done the_done);
    void end();  // lets go of everything that belongs to the order

    const model::HttpAsk& ask() const { return *order.ask; }
    const HttpUrl& url() const { return *next_url; }
    base::Duration elapsed() const { return boot_now() - started; }
    void note(std::string line) {
        if (order.trace) trace.push_back(std::move(line));
    }
    void fail(HttpProblem problem, std::string detail);  // the first one counts

    // Before each request: forgets the answer of the one before.
    void expect_answer();

    // Called by libcurl.
    std::size_t take_header(std::string_view line);
    std::size_t take_body(const char* bytes, std::size_t count);
    int open_socket(const sockaddr* address, socklen_t length, int type, int protocol);
    bool check_tls(ssl_ctx_st* context);

    Surroundings& surroundings;
    void* easy = nullptr;
    CurlState state;
    Timer deadline_timer;

    HttpOrder order;
    HttpClient::Done done;
    base::BootTime started;
    HttpProblem problem = HttpProblem::kNone;
    std::string detail;
    std::vector<std::string> trace;

    // The request that is next or under way.
    std::shared_ptr<const HttpUrl> next_url;
    std::shared_ptr<const HttpUrl> first_url;  // known before a redirect
    model::HttpMethod method = model::HttpMethod::kGet;
    bool with_body = false;
    bool with_credentials = true;
    bool elsewhere = false;  // a redirect led away from the origin of the ask
    std::uint32_t redirects = 0;
    std::optional<HostClass> first_class;  // of the first address; known before a redirect
    SharedAddresses addresses;             // null for a literal
    Resolver::Ticket ticket = 0;
    HttpHost* host = nullptr;
    bool running = false;  // the handle is in its shard
    CurlList headers_out;
    CurlList resolve;
    base::Duration dns_time{};
    base::Duration request_start{};
    std::string contacted;  // the last address a socket was opened for
    std::string denied;     // why an address may not be contacted
    int socket_error = 0;

    // The answer.
    model::HttpReply reply;
    std::size_t header_count = 0;
    std::size_t header_bytes = 0;
    std::uint64_t bytes_in = 0;  // of the requests before the one under way
    std::uint64_t bytes_out = 0;
    std::shared_ptr<const TlsPeer> peer;
};

}  // namespace pollux::net
