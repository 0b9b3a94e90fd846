// Informs that came lately: a sender that missed our answer repeats its inform, which is then
// answered again and stored once. Bounded. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "base/time.hpp"
#include "protocol/snmp/endpoint.hpp"

namespace pollux::runtime {

class InformMemory {
  public:
    static constexpr std::size_t kMost = 8192;
    // Repetitions come within seconds; later the same number is another inform.
    static constexpr base::Duration kAge = std::chrono::minutes(2);

    enum class Known : std::uint8_t { kNew, kPending, kStored };

    // Whether it came before; a new one counts as pending from now on.
    Known meet(const protocol::snmp::Endpoint& sender, std::int32_t request, base::BootTime now) {
        forget_old(now);
        const Key key{text(sender), request};
        const auto [place, fresh] = known_.try_emplace(key, Entry{now, false});
        if (!fresh) return place->second.stored ? Known::kStored : Known::kPending;
        order_.emplace_back(now, key);
        return Known::kNew;
    }
    void stored(const protocol::snmp::Endpoint& sender, std::int32_t request) {
        const auto found = known_.find({text(sender), request});
        if (found != known_.end()) found->second.stored = true;
    }
    // It was not stored: its repetition is welcome.
    void lost(const protocol::snmp::Endpoint& sender, std::int32_t request) {
        known_.erase({text(sender), request});
    }

    std::size_t size() const { return known_.size(); }

  private:
    using Key = std::pair<std::string, std::int32_t>;
    struct Entry {
        base::BootTime at;
        bool stored = false;
    };

    // Address and port: another program of the machine is another sender.
    static std::string text(const protocol::snmp::Endpoint& sender) {
        return protocol::snmp::to_string(sender);
    }
    void forget_old(base::BootTime now) {
        while (!order_.empty() && (order_.size() > kMost || now - order_.front().first > kAge)) {
            const auto found = known_.find(order_.front().second);
            // It may have been lost and met again since.
            if (found != known_.end() && found->second.at == order_.front().first) {
                known_.erase(found);
            }
            order_.pop_front();
        }
    }

    std::map<Key, Entry> known_;
    std::deque<std::pair<base::BootTime, Key>> order_;
};

}  // namespace pollux::runtime
