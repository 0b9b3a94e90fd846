// The last lines of the log, for people who come after something happened.
//
// Thread-safe. Bounded by lines and bytes; the oldest go first.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "observe/log.hpp"

namespace pollux::observe {

class LogTail {
  public:
    explicit LogTail(std::size_t max_lines = 2000, std::size_t max_bytes = 512U << 10U)
        : max_lines_(max_lines), max_bytes_(max_bytes) {}

    void add(std::string_view line);
    // Oldest first.
    std::string text() const;

    // A sink that remembers and hands on. The tail outlives it.
    Log::Sink before(Log::Sink next);

  private:
    std::size_t max_lines_;
    std::size_t max_bytes_;
    mutable std::mutex mutex_;
    std::deque<std::string> lines_;
    std::size_t bytes_ = 0;
};

}  // namespace pollux::observe
