#include "net/http_hosts.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace pollux::net {
namespace {

// libcurl remembers addresses per shard for as long as the shard lives, so a shard that has seen
// many hosts come and go takes no new ones and ends with its last host.
constexpr std::size_t kHostsEverFactor = 4;

}  // namespace

HttpHosts::HttpHosts(EventLoop& loop, const HttpClientOptions& options,
                     CurlShard::Finished finished)
    : loop_(loop), options_(options), finished_(std::move(finished)), sockets_(loop) {}

HttpHosts::~HttpHosts() = default;

HttpHost* HttpHosts::acquire(const std::string& origin, base::BootTime now) {
    if (const auto found = index_.find(origin); found != index_.end()) {
        list_.splice(list_.end(), list_, found->second);
        found->second->last_used = now;
        ++found->second->in_flight;
        return &*found->second;
    }
    if (index_.size() >= options_.max_hosts) {
        const auto idle = std::ranges::find(list_, 0U, &HttpHost::in_flight);
        if (idle == list_.end()) return nullptr;
        drop(idle);
    }
    CurlShard& shard = shard_with_room();
    ++shard.hosts;
    ++shard.hosts_ever;
    list_.push_back(
        {.origin = origin, .shard = &shard, .told = nullptr, .in_flight = 1, .last_used = now});
    index_.emplace(list_.back().origin, std::prev(list_.end()));
    return &list_.back();
}

void HttpHosts::release(HttpHost& host, base::BootTime now) {
    POLLUX_CHECK(host.in_flight > 0);
    --host.in_flight;
    host.last_used = now;
    if (host.known || host.in_flight > 0) return;
    --host.shard->hosts;
    dropped_.remove_if([&](const HttpHost& other) { return &other == &host; });
}

CurlShard& HttpHosts::shard_with_room() {
    for (const auto& shard : shards_) {
        if (!shard->retired && shard->hosts < options_.hosts_per_shard &&
            shard->hosts_ever < kHostsEverFactor * options_.hosts_per_shard) {
            return *shard;
        }
    }
    shards_.push_back(
        std::make_unique<CurlShard>(loop_, sockets_, options_.connections_per_shard, finished_));
    return *shards_.back();
}

void HttpHosts::drop(List::iterator host) {
    index_.erase(host->origin);
    forget(host);
}

void HttpHosts::forget(List::iterator host) {
    if (host->in_flight == 0) {
        --host->shard->hosts;
        list_.erase(host);
        return;
    }
    host->known = false;
    dropped_.splice(dropped_.end(), list_, host);
}

void HttpHosts::sweep(base::BootTime now) {
    // The list is in order of use; who is asked right now is not idle, however old that is.
    for (auto host = list_.begin(); host != list_.end();) {
        const auto next = std::next(host);
        if (host->last_used + options_.host_age > now) break;
        if (host->in_flight == 0) drop(host);
        host = next;
    }
    std::erase_if(shards_, [](const auto& shard) { return shard->hosts == 0; });
}

void HttpHosts::renew() {
    index_.clear();
    while (!list_.empty()) forget(list_.begin());
    for (const auto& shard : shards_) shard->retired = true;
}

}  // namespace pollux::net
