#include "schedule/ready_queue.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace pollux::schedule {

using model::Tier;

void ReadyQueue::set_class_weight(std::uint16_t class_index, std::uint32_t weight) {
    if (classes_.size() <= class_index) classes_.resize(class_index + 1U);
    classes_[class_index].weight = std::max(weight, 1U);
}

void ReadyQueue::push(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    slot.wheel_tick = ++last_ticket_;
    Lane& lane = classes_[slot.class_index].tiers[static_cast<std::size_t>(slot.run_tier)];
    const Entry entry{slot.ready_since, task, slot.wheel_tick};
    if (lane.fresh.empty() || lane.fresh.back().ready_since <= entry.ready_since) {
        lane.fresh.push_back(entry);
    } else {
        lane.returned.push_back(entry);
        std::push_heap(lane.returned.begin(), lane.returned.end(), std::greater<>{});
    }
    ++lane.live;
    ++size_;
    if (in_turn_) join_turn(slot.class_index, entry, slot.run_tier);
}

void ReadyQueue::enter_ring(std::size_t ring, std::uint16_t class_index) {
    rings_[ring].push_back(class_index);
    classes_[class_index].ring = static_cast<std::uint8_t>(ring);
}

void ReadyQueue::leave_ring(std::uint16_t class_index) {
    std::uint8_t& ring = classes_[class_index].ring;
    std::erase(rings_[ring], class_index);
    ring = kNoRing;
}

// Somebody became ready while the turn goes on: its class takes part, in the ring of its best.
void ReadyQueue::join_turn(std::uint16_t class_index, const Entry& entry, Tier tier) {
    const std::uint8_t ring = classes_[class_index].ring;
    if (ring == kBlockedRing) return;
    const auto wanted = static_cast<std::uint8_t>(effective_tier(tier, entry.ready_since, now_));
    if (ring != kNoRing && ring >= wanted) return;
    if (ring != kNoRing) leave_ring(class_index);
    enter_ring(wanted, class_index);
}

void ReadyQueue::note_left(std::uint32_t task) {
    const TaskSlot& slot = tasks_[task];
    Lane& lane = classes_[slot.class_index].tiers[static_cast<std::size_t>(slot.run_tier)];
    POLLUX_CHECK(lane.live > 0 && size_ > 0);
    --lane.live;
    --size_;
}

bool ReadyQueue::is_live(const Entry& entry) const {
    const TaskSlot& slot = tasks_[entry.task];
    return slot.place == Place::kReady && slot.wheel_tick == entry.ticket;
}

const ReadyQueue::Entry* ReadyQueue::head(Lane& lane) {
    while (!lane.fresh.empty() && !is_live(lane.fresh.front())) lane.fresh.pop_front();
    while (!lane.returned.empty() && !is_live(lane.returned.front())) {
        std::pop_heap(lane.returned.begin(), lane.returned.end(), std::greater<>{});
        lane.returned.pop_back();
    }
    if (lane.returned.empty()) return lane.fresh.empty() ? nullptr : &lane.fresh.front();
    if (lane.fresh.empty() || lane.fresh.front() > lane.returned.front()) {
        return &lane.returned.front();
    }
    return &lane.fresh.front();
}

void ReadyQueue::drop_head(Lane& lane) {
    const bool from_returned = !lane.returned.empty() &&
                               (lane.fresh.empty() || lane.fresh.front() > lane.returned.front());
    if (!from_returned) {
        lane.fresh.pop_front();
        return;
    }
    std::pop_heap(lane.returned.begin(), lane.returned.end(), std::greater<>{});
    lane.returned.pop_back();
}

Tier ReadyQueue::effective_tier(Tier tier, base::BootTime ready_since, base::BootTime now) const {
    const std::int64_t steps =
        (now - ready_since).count() / std::max<std::int64_t>(1, aging_step_.count());
    const auto top = static_cast<std::int64_t>(Tier::kCritical);
    const auto raised = static_cast<std::int64_t>(tier) + std::clamp<std::int64_t>(steps, 0, top);
    return static_cast<Tier>(std::min(raised, top));
}

std::optional<ReadyQueue::Best> ReadyQueue::best_of(ClassQueue& queue) {
    std::optional<Best> best;
    base::BootTime since;
    for (std::size_t i = model::kTierCount; i-- > 0;) {
        if (queue.tiers[i].live == 0) {
            queue.tiers[i].fresh.clear();  // whatever is left there is dead
            queue.tiers[i].returned.clear();
            continue;
        }
        const Entry* first = head(queue.tiers[i]);
        if (first == nullptr) continue;
        const Tier effective = effective_tier(static_cast<Tier>(i), first->ready_since, now_);
        const bool better = !best || effective > best->effective ||
                            (effective == best->effective && first->ready_since < since);
        if (!better) continue;
        best = Best{effective, i};
        since = first->ready_since;
    }
    return best;
}

void ReadyQueue::begin_turn(base::BootTime now) {
    now_ = now;
    in_turn_ = true;
    for (auto& ring : rings_) ring.clear();
    for (std::size_t c = 0; c < classes_.size(); ++c) {
        classes_[c].ring = kNoRing;
        const auto best = best_of(classes_[c]);
        if (!best) continue;
        enter_ring(static_cast<std::size_t>(best->effective), static_cast<std::uint16_t>(c));
    }
    // Go on where the last turn ended: with the class itself while it has deficit left.
    for (std::size_t e = 0; e < rings_.size(); ++e) {
        auto& ring = rings_[e];
        const std::uint16_t last = last_served_[e];
        const bool unfinished = last < classes_.size() && classes_[last].deficit > 0;
        const auto from = std::ranges::find_if(
            ring, [&](std::uint16_t c) { return unfinished ? c >= last : c > last; });
        std::ranges::rotate(ring, from);
    }
}

void ReadyQueue::end_turn() { in_turn_ = false; }

std::optional<std::uint32_t> ReadyQueue::next() {
    for (std::size_t e = rings_.size(); e-- > 0;) {
        auto& ring = rings_[e];
        if (ring.empty()) continue;
        current_class_ = ring.front();
        ClassQueue& queue = classes_[current_class_];
        const auto best = best_of(queue);
        POLLUX_CHECK(best.has_value());
        current_lane_ = best->lane;
        return head(queue.tiers[current_lane_])->task;
    }
    return std::nullopt;
}

void ReadyQueue::started() {
    ClassQueue& queue = classes_[current_class_];
    drop_head(queue.tiers[current_lane_]);
    last_served_[queue.ring] = current_class_;
    if (queue.deficit == 0) queue.deficit = queue.weight;
    --queue.deficit;
    settle(queue.deficit == 0);
}

void ReadyQueue::parked() {
    drop_head(classes_[current_class_].tiers[current_lane_]);
    settle(false);
}

void ReadyQueue::class_blocked() {
    leave_ring(current_class_);
    classes_[current_class_].deficit = 0;
    classes_[current_class_].ring = kBlockedRing;
}

// Puts the class where its next task belongs: the same ring, at its end when its share is used up,
// or the ring of a lower tier.
void ReadyQueue::settle(bool requeue) {
    ClassQueue& queue = classes_[current_class_];
    const auto best = best_of(queue);
    const bool stays = best && static_cast<std::uint8_t>(best->effective) == queue.ring;
    if (stays && !requeue) return;
    leave_ring(current_class_);
    if (best) {
        enter_ring(static_cast<std::size_t>(best->effective), current_class_);
    } else {
        queue.deficit = 0;
    }
}

std::size_t ReadyQueue::place_in_line(std::uint32_t task, base::BootTime now) const {
    const TaskSlot& own = tasks_[task];
    const Tier tier = effective_tier(own.run_tier, own.ready_since, now);
    std::size_t ahead = 0;
    for (const ClassQueue& queue : classes_) {
        for (std::size_t i = 0; i < model::kTierCount; ++i) {
            const auto count = [&](const Entry& entry) {
                if (!is_live(entry) || entry.task == task) return;
                const Tier other = effective_tier(static_cast<Tier>(i), entry.ready_since, now);
                const bool first =
                    other > tier || (other == tier && entry.ready_since < own.ready_since);
                if (first) ++ahead;
            };
            std::ranges::for_each(queue.tiers[i].fresh, count);
            std::ranges::for_each(queue.tiers[i].returned, count);
        }
    }
    return ahead;
}

std::size_t ReadyQueue::memory_bytes() const {
    std::size_t bytes = classes_.capacity() * sizeof(ClassQueue);
    for (const ClassQueue& queue : classes_) {
        for (const Lane& lane : queue.tiers) {
            bytes += (lane.fresh.size() + lane.returned.capacity()) * sizeof(Entry);
        }
    }
    return bytes;
}

}  // namespace pollux::schedule
