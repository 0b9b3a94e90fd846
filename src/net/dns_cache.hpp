// What names were found to mean, for a while. Bounded: the least recently used goes first.
//
// Owned by the resolver; not thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "net/ip_address.hpp"

namespace pollux::net {

// In the order in which they are best tried; never empty.
using Addresses = std::vector<IpAddress>;
using SharedAddresses = std::shared_ptr<const Addresses>;

class DnsCache {
  public:
    explicit DnsCache(std::size_t max_entries) : max_entries_(max_entries) {}

    // Null if the name is not there or its time is over. The pointer holds until the next call.
    const base::Result<SharedAddresses>* find(std::string_view name, base::BootTime now) {
        const auto found = index_.find(name);
        if (found == index_.end()) return nullptr;
        if (found->second->until <= now) {
            entries_.erase(found->second);
            index_.erase(found);
            return nullptr;
        }
        entries_.splice(entries_.begin(), entries_, found->second);
        return &found->second->result;
    }

    void put(std::string_view name, base::Result<SharedAddresses> result, base::BootTime until) {
        if (max_entries_ == 0) return;
        if (const auto found = index_.find(name); found != index_.end()) {
            found->second->result = std::move(result);
            found->second->until = until;
            entries_.splice(entries_.begin(), entries_, found->second);
            return;
        }
        if (entries_.size() >= max_entries_) {
            index_.erase(entries_.back().name);
            entries_.pop_back();
        }
        entries_.push_front({std::string(name), std::move(result), until});
        index_.emplace(entries_.front().name, entries_.begin());
    }

    void clear() {
        index_.clear();
        entries_.clear();
    }
    std::size_t size() const { return entries_.size(); }

  private:
    struct Entry {
        std::string name;
        base::Result<SharedAddresses> result;
        base::BootTime until;
    };

    std::size_t max_entries_;
    std::list<Entry> entries_;  // most recently used first
    std::unordered_map<std::string_view, std::list<Entry>::iterator> index_;  // into the names
};

}  // namespace pollux::net
