// Turns names into addresses without blocking: c-ares on the event loop, with a cache.
//
// One per loop; everything is called from the loop's thread. Names of /etc/hosts and `localhost`
// come first, then the name servers of the system. Lookups of one name under way are one lookup.
//
// Invariants
// 1. Every lookup() leads to exactly one call, never from inside lookup() or cancel(), not later
//    than the timeout (plus one turn of the loop); after cancel(), and after the resolver is gone,
//    to none.
// 2. The cache, the lookups under way and those that wait are bounded; what is too much fails with
//    "dns.overloaded".
// 3. All failures are transient: "dns.not_found", "dns.timeout", "dns.server_failure",
//    "dns.overloaded"; only what can be no name is a fault of the configuration, "dns.bad_name".
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "net/dns_cache.hpp"
#include "net/event_loop.hpp"
#include "net/ip_address.hpp"

namespace pollux::net {

class DnsChannel;
struct DnsAnswer;

struct ResolverOptions {
    base::Duration timeout = std::chrono::seconds(5);  // of a lookup, all attempts together
    base::Duration attempt_timeout = std::chrono::milliseconds(1500);  // of the first question
    base::Duration shortest_ttl = std::chrono::seconds(5);
    base::Duration longest_ttl = std::chrono::minutes(10);
    base::Duration negative_ttl = std::chrono::seconds(10);  // how long "not found" is believed
    std::size_t max_entries = 50'000;
    std::size_t max_under_way = 512;        // lookups asked of the servers at once
    std::size_t max_waiting = 100'000;      // callers, of all lookups together
    std::vector<std::string> servers = {};  // "127.0.0.1:5353", "[::1]:53"; empty: the system's
};

struct ResolverCounts {
    std::uint64_t cache_hits = 0;
    std::uint64_t lookups = 0;  // asked of hosts file or servers
    std::uint64_t failures = 0;
};

class Resolver {
  public:
    using Done = std::move_only_function<void(const base::Result<SharedAddresses>&)>;
    using Ticket = std::uint64_t;  // never 0

    // Fails if c-ares cannot be set up or a server of the options is no address.
    static base::Result<std::unique_ptr<Resolver>> create(EventLoop& loop, ResolverOptions options);
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    // The answer if it needs no lookup: a literal, or a name in the cache. Null otherwise, also
    // when the cache knows that there is none.
    SharedAddresses find_now(std::string_view name);

    Ticket lookup(std::string_view name, Done done);
    void cancel(Ticket ticket);

    // Forgets all names and reads the system's configuration again, as after a change of network.
    // Happens by itself when /etc/resolv.conf changes.
    void reload();

    std::size_t cached() const { return cache_.size(); }
    std::size_t waiting() const { return waiters_.size(); }
    ResolverCounts counts() const { return counts_; }

  private:
    struct Lookup {
        std::string name;
        std::vector<Ticket> tickets;
    };
    struct Deadline {
        base::BootTime at;
        std::uint64_t lookup;
    };
    struct Ready {
        Ticket ticket;
        base::Result<SharedAddresses> result;
    };

    Resolver(EventLoop& loop, ResolverOptions options);
    base::Status open_channel();
    void reload_if_changed();
    void answer_later(Ticket ticket, base::Result<SharedAddresses> result);
    void begin(std::string name, Ticket ticket);
    void ask_more();
    void take_answer(DnsAnswer answer);
    void keep(const DnsAnswer& answer, const base::Result<SharedAddresses>& result);
    void finish(std::uint64_t lookup, const base::Result<SharedAddresses>& result);
    void expire();
    void deliver();

    EventLoop& loop_;
    ResolverOptions options_;
    DnsCache cache_;
    std::unique_ptr<DnsChannel> channel_;
    std::vector<std::unique_ptr<DnsChannel>> retired_;  // replaced by reload(), still answering
    std::unordered_map<Ticket, Done> waiters_;
    std::unordered_map<std::uint64_t, Lookup> lookups_;
    std::unordered_map<std::string, std::uint64_t> by_name_;
    std::deque<std::uint64_t> unasked_;  // lookups that wait for their turn
    std::deque<Deadline> deadlines_;     // in order: all lookups have the same time
    std::vector<Ready> ready_;
    Ticket next_ticket_ = 1;
    std::uint64_t next_lookup_ = 1;
    ResolverCounts counts_;
    base::BootTime next_check_;
    std::int64_t configuration_stamp_ = 0;
    Timer deadline_timer_;
    Timer deliver_timer_;
};

}  // namespace pollux::net
