// Which multi handle a host belongs to. A host stays with its shard, so that its connections are
// found again; a shard has few hosts, because libcurl walks all connections of one at each request.
//
// Owned by the HTTP client. Shards go only in sweep(), never while one of them calls us.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"
#include "net/curl_shard.hpp"
#include "net/dns_cache.hpp"
#include "net/http_types.hpp"

namespace pollux::net {

struct HttpHost {
    std::string origin;
    CurlShard* shard = nullptr;
    SharedAddresses told;  // what libcurl was told that the name means, in this shard
    std::size_t in_flight = 0;
    base::BootTime last_used;
    bool known = true;  // false: dropped from the table, goes with its last request
};

class HttpHosts {
  public:
    HttpHosts(EventLoop& loop, const HttpClientOptions& options, CurlShard::Finished finished);
    ~HttpHosts();
    HttpHosts(const HttpHosts&) = delete;
    HttpHosts& operator=(const HttpHosts&) = delete;

    // Null if there are too many hosts that all have requests under way. Stays valid until the
    // matching release().
    HttpHost* acquire(const std::string& origin, base::BootTime now);
    void release(HttpHost& host, base::BootTime now);

    // Drops hosts that were not asked for long, and shards without hosts.
    void sweep(base::BootTime now);
    // All hosts get new shards, and so new connections.
    void renew();

    SocketTable& sockets() { return sockets_; }
    std::size_t hosts() const { return index_.size(); }
    std::size_t shards() const { return shards_.size(); }

  private:
    using List = std::list<HttpHost>;

    CurlShard& shard_with_room();
    void drop(List::iterator host);
    void forget(List::iterator host);

    EventLoop& loop_;
    const HttpClientOptions& options_;
    CurlShard::Finished finished_;
    SocketTable sockets_;
    std::vector<std::unique_ptr<CurlShard>> shards_;
    List list_;     // least recently used first
    List dropped_;  // not found any more, but with requests under way
    std::unordered_map<std::string_view, List::iterator> index_;  // into the origins
};

}  // namespace pollux::net
