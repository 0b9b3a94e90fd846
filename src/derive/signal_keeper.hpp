// Which signals of a target are raised: takes what each poll or message says and yields what
// changed by it. Pure and bounded; owned by one thread.
//
// Invariants
// 1. One entry per type and subject; at most `max_raised` of them. A signal past the bound is
//    dropped and counted, and what is kept stays.
// 2. A clear of what is not raised changes nothing.
// 3. After a poll, what a settled rule had raised and did not raise again is over, unless it is
//    among the open ones: no data never means OK.
// 4. encode() and decode() keep everything; equal keepers give equal bytes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "model/signal.hpp"

namespace pollux::derive {

enum class SignalStep : std::uint8_t { kRaised, kUpdated, kCleared };

struct SignalChange {
    SignalStep step = SignalStep::kRaised;
    model::Signal signal;  // as it came; a clear without a message of its own: as it was raised
    std::uint64_t occurrences = 1;  // how often it was said since it was raised
    bool operator==(const SignalChange&) const = default;
};

class SignalKeeper {
  public:
    static constexpr std::size_t kDefaultRaised = 1000;

    explicit SignalKeeper(std::size_t max_raised = kDefaultRaised) : max_raised_(max_raised) {}

    // One poll. An update is told when severity, title or message differ from before.
    std::vector<SignalChange> apply(const model::PollSignals& poll, base::WallTime now);

    // One message: each signal of it happened, so each repetition is an update.
    std::vector<SignalChange> apply(std::span<const model::Signal> message, base::WallTime now);

    // The addon was edited: what rules that are gone had raised is over.
    std::vector<SignalChange> keep_rules(std::span<const std::string> rules);

    // The target is gone.
    std::vector<SignalChange> clear_all();

    struct Raised {
        model::Signal signal;
        base::WallTime since;
        base::WallTime last;
        std::uint64_t occurrences = 1;
        bool operator==(const Raised&) const = default;
    };
    using Key = std::pair<std::string, std::string>;  // type, subject
    const std::map<Key, Raised>& raised() const { return raised_; }
    std::uint64_t dropped() const { return dropped_; }

    void encode(base::ByteWriter& out) const;
    // Error derive.signals: damaged, of an unknown version, or too large; start with an empty one.
    static base::Result<SignalKeeper> decode(std::string_view bytes,
                                             std::size_t max_raised = kDefaultRaised);

  private:
    void take(const model::Signal& signal, base::WallTime now, bool each,
              std::vector<SignalChange>& out);
    template <class Over>
    void clear_where(const Over& over, std::vector<SignalChange>& out);

    std::map<Key, Raised> raised_;
    std::size_t max_raised_;
    std::uint64_t dropped_ = 0;
};

}  // namespace pollux::derive
