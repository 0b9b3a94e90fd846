// Answers of POST requests by their Idempotency-Key, so that a client that did not get the answer
// may ask again without doing the act twice. In memory: a restart forgets them.
//
// Invariants
// 1. At most kMostEntries entries and kMostBytes of kept bodies; the oldest finished one goes
// first.
//    An entry in work is never dropped.
// 2. An answer of the server's own failure (5xx) is not kept: the client shall try again.
// Used on one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "net/http_message.hpp"

namespace pollux::api {

class IdempotencyTable {
  public:
    static constexpr std::size_t kMostEntries = 10'000;
    static constexpr std::size_t kMostBytes = 64 * 1024 * 1024;
    static constexpr base::Duration kKept = std::chrono::hours(24);

    enum class Verdict : std::uint8_t {
        kFresh,     // go on, then finish() or abandon()
        kReplay,    // `answer` is what was said
        kInWork,    // the first request is not answered yet
        kMismatch,  // the key was used for another request
        kFull,      // too many are in work
    };
    struct Found {
        Verdict verdict = Verdict::kFresh;
        const net::Response* answer = nullptr;
    };

    explicit IdempotencyTable(base::SipKey key, std::size_t most_entries = kMostEntries,
                              std::size_t most_bytes = kMostBytes)
        : key_(key), most_entries_(most_entries), most_bytes_(most_bytes) {}

    // The name of the entry of a principal's key.
    static std::string name(std::string_view principal, std::string_view key);

    Found begin(const std::string& name, std::string_view method, std::string_view target,
                std::string_view body, base::BootTime now);
    void finish(const std::string& name, const net::Response& answer);
    void abandon(const std::string& name);

    std::size_t size() const { return entries_.size(); }
    std::size_t bytes() const { return bytes_; }

  private:
    using Print = std::pair<std::uint64_t, std::uint64_t>;
    struct Entry {
        Print print;
        base::BootTime since;
        bool done = false;
        net::Response answer = {};
        std::list<std::string>::iterator age;
    };
    using Entries = std::map<std::string, Entry, std::less<>>;

    void erase(Entries::iterator entry);
    void forget_old(base::BootTime now);
    bool make_room();

    base::SipKey key_;
    std::size_t most_entries_;
    std::size_t most_bytes_;
    Entries entries_;
    std::list<std::string> ages_;  // names, oldest first
    std::size_t bytes_ = 0;
};

}  // namespace pollux::api
