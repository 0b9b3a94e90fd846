#include "runtime/inbound/target_book.hpp"

#include <algorithm>

#include "document/write.hpp"
#include "runtime/inbound/message_text.hpp"

namespace pollux::runtime {
namespace {

bool is_push(const InboundTarget& target) { return target.kind == model::ProtocolKind::kPush; }

PushTiming timing_of(const InboundTarget& target) { return {target.interval, target.grace}; }

}  // namespace

// --- Draft --------------------------------------------------------------------------------------

std::optional<store::Observation> TargetBook::Draft::add(const HeardMessage& heard) {
    const InboundTarget& target = *heard.target;
    auto place = changed_.find(target.key);
    if (place == changed_.end()) {
        const InboundMemory* known = book_.find(target.key);
        InboundMemory memory = known == nullptr ? InboundMemory() : *known;
        place = changed_.emplace(target.key, std::pair(heard.target, std::move(memory))).first;
    }
    InboundMemory& memory = place->second.second;
    HeardChange change{heard.target, heard.message.source,   {},
                       std::nullopt, heard.message.received, messages_++};
    change.signals = memory.signals.apply(heard.signals, heard.message.received);
    bool worth_a_row = true;
    if (is_push(target)) {
        change.push = apply_push(heard, memory.push);
        // A heartbeat each minute is no news; that it came is in the memory.
        worth_a_row = change.push.has_value() ||
                      std::ranges::any_of(change.signals, [](const derive::SignalChange& one) {
                          return one.step != derive::SignalStep::kUpdated;
                      });
    }
    if (!change.signals.empty() || change.push) changes_.push_back(std::move(change));
    if (!worth_a_row) return std::nullopt;
    store::Observation row;
    row.target_id = target.id;
    row.key = target.key;
    row.received = heard.message.received;
    row.source = heard.message.source;
    row.kind = target.kind;
    row.signals = document::to_json(signals_node(heard.signals));
    row.text = text_of(heard.message);
    return row;
}

std::optional<PushChange> TargetBook::Draft::apply_push(const HeardMessage& heard,
                                                        PushRecord& record) {
    const auto& push = std::get<model::PushMessage>(heard.message.content);
    const PushState before = record.state;
    record.state = push.up ? PushState::kUp : PushState::kDown;
    record.message = push.message;
    record.silent = heard.silence;
    if (!heard.silence) {
        record.last = heard.message.received;
        record.value = push.value;
    }
    if (record.state == before) return std::nullopt;
    record.since = heard.message.received;
    return PushChange{before, record.state, record};
}

std::vector<store::MemoryRow> TargetBook::Draft::memory() const {
    std::vector<store::MemoryRow> rows;
    for (const auto& [key, changed] : changed_) {
        rows.push_back({key, changed.second.encode(changed.first->id)});
    }
    return rows;
}

// --- TargetBook ---------------------------------------------------------------------------------

void TargetBook::recall(std::vector<std::pair<std::string, std::string>> memories) {
    for (auto& [key, bytes] : memories) stored_[std::move(key)] = std::move(bytes);
}

std::vector<std::string> TargetBook::set_image(std::shared_ptr<const InboundImage> image,
                                               base::Instant now) {
    std::vector<std::string> gone;
    for (const InboundTargetPtr& old : image_->targets) {
        const InboundTargetPtr same = image->find(old->key);
        if (same && same->id == old->id) continue;
        memory_.erase(old->key);
        watch_.forget(old->key);
        if (!same) gone.push_back(old->key);
    }
    for (const InboundTargetPtr& target : image->targets) {
        const InboundTargetPtr before = image_->find(target->key);
        const bool fresh = !memory_.contains(target->key);
        InboundMemory& memory = memory_[target->key];
        if (fresh) {
            const auto stored = stored_.find(target->key);
            if (stored != stored_.end()) {
                if (auto known = InboundMemory::decode(stored->second, target->id)) {
                    memory = std::move(*known);
                }
                stored_.erase(stored);
            }
        }
        if (!is_push(*target)) continue;
        if (!target->hears()) {
            watch_.forget(target->key);
            memory.push.state = PushState::kUnknown;
        } else if (fresh || !before || !before->hears() ||
                   timing_of(*before) != timing_of(*target)) {
            begin_push(*target, memory, now);
        }
    }
    image_ = std::move(image);
    return gone;
}

void TargetBook::begin_push(const InboundTarget& target, InboundMemory& memory, base::Instant now) {
    const PushStart start = start_of(memory.push, timing_of(target), now);
    memory.push.state = start.state;
    watch_.expect(target.key, start.deadline);
}

void TargetBook::take(Draft draft) {
    for (auto& [key, changed] : draft.changed_) {
        const InboundTargetPtr now = image_->find(key);
        // It may have gone, or come again as another one, while the commit was under way.
        if (now && now->id == changed.first->id) memory_[key] = std::move(changed.second);
    }
}

void TargetBook::heard(const InboundTarget& target, base::BootTime now) {
    watch_.expect(target.key, now + timing_of(target).patience());
}

std::vector<InboundTargetPtr> TargetBook::take_late(base::BootTime now) {
    std::vector<InboundTargetPtr> late;
    for (const std::string& key : watch_.take_late(now)) {
        if (InboundTargetPtr target = image_->find(key)) late.push_back(std::move(target));
    }
    return late;
}

std::vector<SignalNews> TargetBook::present() const {
    std::vector<SignalNews> all;
    for (const auto& [key, memory] : memory_) {
        SignalNews news = present_of(memory.signals);
        const InboundTargetPtr target = image_->find(key);
        if (news.changes.empty() || !target) continue;
        news.message = true;
        news.key = key;
        news.target_id = target->id;
        all.push_back(std::move(news));
    }
    return all;
}

const InboundMemory* TargetBook::find(std::string_view key) const {
    const auto found = memory_.find(key);
    return found == memory_.end() ? nullptr : &found->second;
}

std::uint64_t TargetBook::push_targets(PushState state) const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(image_->targets, [&](const InboundTargetPtr& target) {
            const InboundMemory* memory = find(target->key);
            return is_push(*target) && target->hears() && memory != nullptr &&
                   memory->push.state == state;
        }));
}

}  // namespace pollux::runtime
