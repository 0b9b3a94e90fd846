// All inbound targets with what their messages taught. What a message would change is worked out in
// a draft and taken over when the draft was committed; so what is known here was never lost by a
// crash, and a message that was not stored leaves no trace. Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "derive/signal_keeper.hpp"
#include "model/inbound.hpp"
#include "model/signal.hpp"
#include "runtime/inbound/inbound_memory.hpp"
#include "runtime/inbound/inbound_target.hpp"
#include "runtime/inbound/push_watch.hpp"
#include "runtime/signal_news.hpp"
#include "store/observation.hpp"

namespace pollux::runtime {

// One message that belongs to a target.
struct HeardMessage {
    InboundTargetPtr target;
    model::InboundMessage message;
    std::vector<model::Signal> signals;
    bool silence = false;  // no message at all: a heartbeat did not come
};

struct PushChange {
    PushState from = PushState::kUnknown;
    PushState to = PushState::kUnknown;
    PushRecord record;
};

// What one message changed, to be told after its commit.
struct HeardChange {
    InboundTargetPtr target;
    std::string source;
    std::vector<derive::SignalChange> signals;
    std::optional<PushChange> push;
    base::WallTime at;
    std::size_t message = 0;  // which one of the draft, counted from 0
};

class TargetBook {
  public:
    class Draft {
      public:
        // The row to store; nothing for a heartbeat that says what was known.
        std::optional<store::Observation> add(const HeardMessage& heard);
        std::vector<store::MemoryRow> memory() const;
        const std::vector<HeardChange>& changes() const { return changes_; }

      private:
        friend class TargetBook;
        explicit Draft(const TargetBook& book) : book_(book) {}
        std::optional<PushChange> apply_push(const HeardMessage& heard, PushRecord& record);

        const TargetBook& book_;
        std::map<std::string, std::pair<InboundTargetPtr, InboundMemory>, std::less<>> changed_;
        std::vector<HeardChange> changes_;
        std::size_t messages_ = 0;
    };

    // Stored memory of targets by key; taken up as its target comes.
    void recall(std::vector<std::pair<std::string, std::string>> memories);
    // Returns the keys of targets that went.
    std::vector<std::string> set_image(std::shared_ptr<const InboundImage> image,
                                       base::Instant now);
    const InboundImage& image() const { return *image_; }

    Draft draft() const { return Draft(*this); }
    void take(Draft draft);

    // A heartbeat came: silence is counted from now on, whatever becomes of its commit.
    void heard(const InboundTarget& target, base::BootTime now);
    base::BootTime next_deadline() const { return watch_.next(); }
    // Targets whose heartbeat did not come in time; each is told once.
    std::vector<InboundTargetPtr> take_late(base::BootTime now);

    const InboundMemory* find(std::string_view key) const;
    // Of all targets, what is raised.
    std::vector<SignalNews> present() const;
    base::BootTime deadline(const std::string& key) const { return watch_.deadline(key); }
    std::uint64_t push_targets(PushState state) const;

  private:
    void begin_push(const InboundTarget& target, InboundMemory& memory, base::Instant now);

    std::shared_ptr<const InboundImage> image_ = std::make_shared<const InboundImage>();
    std::map<std::string, std::string, std::less<>> stored_;  // not taken up yet
    std::map<std::string, InboundMemory, std::less<>> memory_;
    PushWatch watch_;
};

}  // namespace pollux::runtime
