// The c-ares side of the resolver: sends the questions, watches the sockets, keeps c-ares' timer.
//
// Owned by the resolver, which is told of every answer; c-ares answers some questions from inside
// ask(), so the listener only takes notes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "net/dns_cache.hpp"
#include "net/event_loop.hpp"

struct ares_channeldata;

namespace pollux::net {

struct DnsAnswer {
    std::uint64_t question = 0;
    std::string name;
    base::Result<Addresses> addresses;
    base::Duration ttl{};  // the shortest of its records
};

struct DnsChannelOptions {
    base::Duration attempt_timeout{};
    std::vector<std::string> servers;
};

class DnsChannel final : private FdHandler {
  public:
    using Listener = std::function<void(DnsAnswer)>;

    static base::Result<std::unique_ptr<DnsChannel>> create(EventLoop& loop,
                                                            const DnsChannelOptions& options,
                                                            Listener listener);
    ~DnsChannel();
    DnsChannel(const DnsChannel&) = delete;
    DnsChannel& operator=(const DnsChannel&) = delete;

    void ask(std::uint64_t question, std::string name);
    std::size_t under_way() const { return under_way_; }

  private:
    friend struct DnsCallbacks;  // what c-ares calls, in the source file

    DnsChannel(EventLoop& loop, Listener listener);
    void on_ready(int fd, std::uint32_t events) override;
    void on_timer();
    void arm_timer();

    EventLoop& loop_;
    Listener listener_;
    ares_channeldata* channel_ = nullptr;
    std::vector<int> watched_;  // few: one UDP and sometimes a TCP socket per server
    std::size_t under_way_ = 0;
    bool closing_ = false;
    Timer timer_;
};

}  // namespace pollux::net
