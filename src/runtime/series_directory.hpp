// The numbers of series in history, as an earlier process defined them. Filled once at the start,
// read-only afterwards, so that every shard may ask it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "store/history/history.hpp"

namespace pollux::runtime {

class SeriesDirectory {
  public:
    base::Status load(store::History& history);
    // 0: not known.
    std::int64_t find(std::string_view target_id, std::string_view metric,
                      std::string_view row) const;
    std::size_t size() const { return size_; }

  private:
    struct Entry {
        std::string metric;
        std::string row;
        std::int64_t id = 0;
    };
    std::map<std::string, std::vector<Entry>, std::less<>> by_target_;
    std::size_t size_ = 0;
};

}  // namespace pollux::runtime
