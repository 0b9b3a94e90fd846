// Who sent traps that belong to nobody, and why: for people, bounded. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "net/ip_address.hpp"

namespace pollux::runtime {

struct UnknownSender {
    net::IpAddress source;
    std::uint64_t messages = 0;
    base::WallTime first;
    base::WallTime last;
    std::string reason;  // of the last one
    std::string trap;    // of the last one: its object identifier; may be empty
};

class UnknownSenders {
  public:
    static constexpr std::size_t kMost = 200;  // who was silent longest goes

    void add(const net::IpAddress& source, base::WallTime now, std::string reason,
             std::string trap) {
        if (!senders_.contains(source) && senders_.size() >= kMost) {
            const auto oldest = std::ranges::min_element(
                senders_, {}, [](const auto& entry) { return entry.second.last; });
            senders_.erase(oldest);
        }
        UnknownSender& sender = senders_[source];
        if (sender.messages++ == 0) sender.first = now;
        sender.source = source;
        sender.last = now;
        sender.reason = std::move(reason);
        sender.trap = std::move(trap);
    }
    // It is known now.
    void forget(const net::IpAddress& source) { senders_.erase(source); }

    std::size_t size() const { return senders_.size(); }
    std::vector<UnknownSender> latest_first() const {
        std::vector<UnknownSender> all;
        for (const auto& [source, sender] : senders_) all.push_back(sender);
        std::ranges::sort(all, std::greater<>(), &UnknownSender::last);
        return all;
    }

  private:
    std::map<net::IpAddress, UnknownSender> senders_;
};

}  // namespace pollux::runtime
