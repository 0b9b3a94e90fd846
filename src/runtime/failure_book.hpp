// Why tasks fail: code, message and time of the last failure of each, kept over a restart. The core
// knows that a task fails, not in which words. Owned by the core loop; not thread-safe.
//
// Words are written when a failure begins, when its code changes, and at most every five minutes
// while it lasts: a message with a number in it must not become a write per poll.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "runtime/run_order.hpp"
#include "store/store_types.hpp"

namespace pollux::runtime {

struct LastFailure {
    std::string code;
    std::string message;
    base::WallTime at;
    Heard heard = Heard::kSilence;
    bool operator==(const LastFailure&) const = default;
};

class FailureBook {
  public:
    static constexpr std::string_view kPrefix = "failure/";  // of its rows among the memories
    static constexpr base::Duration kWriteAgain = std::chrono::minutes(5);

    void failed(std::uint32_t task, const std::string& key, LastFailure failure);
    void recovered(std::uint32_t task, const std::string& key);
    void forget(std::uint32_t task, const std::string& key) { recovered(task, key); }
    // A row of an earlier process. False: it is damaged and was left out.
    bool recall(std::uint32_t task, const std::string& key, std::string_view bytes);

    // A row of an earlier process that nobody needs any more.
    void drop(const std::string& key) { changes_[std::string(kPrefix) + key].clear(); }

    const std::map<std::uint32_t, LastFailure>& all() const { return failures_; }

    // What is to be written since the last call; empty: nothing.
    store::MemoryBatch take_changes();
    bool has_changes() const { return !changes_.empty(); }

    static std::string encode(const LastFailure& failure);
    static std::optional<LastFailure> decode(std::string_view bytes);

  private:
    std::map<std::uint32_t, LastFailure> failures_;
    std::map<std::uint32_t, base::WallTime> written_;
    std::map<std::string, std::string, std::less<>> changes_;  // by key; empty: remove it
};

}  // namespace pollux::runtime
