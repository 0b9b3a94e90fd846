#include "runtime/signal_journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "document/write.hpp"
#include "extract/compiled_addon.hpp"
#include "runtime/inbound/message_text.hpp"
#include "runtime/signal_log.hpp"

namespace pollux::runtime {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr base::Duration kRetryAfter = std::chrono::seconds(1);
constexpr std::string_view kSource = "poll";

// Whether polls of this task decide the type by a condition.
bool is_condition(const PollPlan& plan, std::string_view type) {
    const model::Addon& addon = plan.addon->addon();
    const auto found = std::ranges::find(addon.conditions, type, &model::ConditionDef::name);
    return found != addon.conditions.end() && addon.metrics[found->metric].group == plan.group;
}

// One line per change, for people.
std::string text_of(const std::vector<derive::SignalChange>& changes) {
    std::string text;
    for (const derive::SignalChange& change : changes) {
        text += fmt::format("{} {}{}{}\n", step_words(change.step), change.signal.type,
                            change.signal.subject.empty() ? "" : " " + change.signal.subject,
                            change.signal.message.empty() ? "" : ": " + change.signal.message);
    }
    return shortened(std::move(text), kMostTextBytes);
}

std::vector<model::Signal> signals_of(const std::vector<derive::SignalChange>& changes) {
    std::vector<model::Signal> signals;
    for (const derive::SignalChange& change : changes) {
        signals.push_back(change.signal);
        signals.back().clear = change.step == derive::SignalStep::kCleared;
    }
    return signals;
}

}  // namespace

struct SignalJournal::Life {
    SignalJournal* journal = nullptr;
};

SignalJournal::SignalJournal(net::EventLoop& loop, store::Store& store, observe::Log& log)
    : loop_(loop),
      store_(store),
      log_(log),
      life_(std::make_shared<Life>(this)),
      retry_(loop_, [this] { commit(); }) {}

SignalJournal::~SignalJournal() { life_->journal = nullptr; }

std::string SignalJournal::encode(const Entry& entry) {
    base::ByteWriter out;
    out.u8(kVersion);
    out.string(entry.target_id);
    out.u64(entry.addon);
    base::ByteWriter keeper;
    entry.keeper.encode(keeper);
    out.string(keeper.view());
    return out.take();
}

void SignalJournal::recall(std::string_view key, std::string_view bytes) {
    if (!key.starts_with(kMemoryPrefix)) return;
    base::ByteReader in(bytes);
    Entry entry;
    if (in.u8() != kVersion) return;
    entry.target_id = in.string(bytes.size());
    entry.addon = in.u64();
    const std::string_view bytes_of_keeper = in.string(bytes.size());
    if (!in.ok() || !in.at_end()) return;
    auto keeper = derive::SignalKeeper::decode(bytes_of_keeper);
    if (!keeper) return;
    entry.keeper = std::move(*keeper);
    entries_[std::string(key.substr(kMemoryPrefix.size()))] = std::move(entry);
}

void SignalJournal::set_limits(store::ObservationLimits limits, base::Duration age) {
    limits_ = limits;
    age_ = age;
}

void SignalJournal::take(std::vector<PolledSignals> polls) {
    std::ranges::move(polls, std::back_inserter(queue_));
    while (queue_.size() > kMostWaiting) {
        queue_.pop_front();
        ++counts_.dropped;
    }
    if (!busy_ && !retry_.armed()) commit();
}

void SignalJournal::commit() {
    while (!busy_ && !queue_.empty()) {
        draft_ = {};
        while (!queue_.empty() && under_way_.size() < kMostInBatch) {
            under_way_.push_back(std::move(queue_.front()));
            queue_.pop_front();
            under_way_.back().news = add(under_way_.back(), draft_);
        }
        if (draft_.batch.rows.empty()) {  // nothing that people would see
            committed(0);
            continue;
        }
        // Most polls in a batch repeat what is known.
        std::set<std::string_view> changed;
        for (const SignalNews& told : draft_.told) changed.insert(told.key);
        for (const std::string_view key : changed) {
            draft_.batch.memory.push_back({std::string(kMemoryPrefix) + std::string(key),
                                           encode(draft_.entries.find(key)->second)});
        }
        draft_.batch.keep = limits_;
        draft_.batch.keep.not_before = net::wall_now() - age_;
        busy_ = true;
        const auto accepted = store_.submit(
            std::exchange(draft_.batch, {}), [loop = &loop_, life = life_](auto result) {
                loop->post([life, result = std::move(result)]() mutable {
                    if (life->journal == nullptr) return;
                    const bool good = result.has_value();
                    life->journal->committed(std::move(result));
                    if (good) life->journal->commit();
                });
            });
        if (!accepted) {
            committed(std::unexpected(accepted.error()));
            return;  // tried again in a while
        }
    }
}

bool SignalJournal::add(const PolledSignals& poll, Draft& draft) {
    const PollPlan& plan = *poll.plan;
    auto place = draft.entries.find(plan.key);
    if (place == draft.entries.end()) {
        const auto known = entries_.find(plan.key);
        place = draft.entries.emplace(plan.key, known == entries_.end() ? Entry() : known->second)
                    .first;
    }
    Entry& entry = place->second;
    if (entry.target_id != plan.target_id) entry = Entry();  // another target had this name
    entry.target_id = plan.target_id;
    std::vector<derive::SignalChange> changes;
    if (entry.addon != plan.addon->fingerprint()) {
        // Rules were edited: what the old ones raised is over, unless the new ones raise it now.
        model::PollSignals now = poll.signals;
        // What conditions of that name raised is decided by the poll that reads them.
        for (const auto& [key, raised] : entry.keeper.raised()) {
            if (!is_condition(plan, key.first)) now.settled.push_back(raised.signal.rule);
        }
        changes = entry.keeper.apply(now, poll.at);
        entry.addon = plan.addon->fingerprint();
    } else {
        changes = entry.keeper.apply(poll.signals, poll.at);
    }
    if (changes.empty()) return false;
    store::Observation row;
    row.target_id = plan.target_id;
    row.key = plan.key;
    row.received = poll.at;
    row.source = kSource;
    row.kind = plan.addon->addon().protocol;
    row.signals = document::to_json(signals_node(signals_of(changes)));
    row.text = text_of(changes);
    draft.batch.rows.push_back(std::move(row));
    SignalNews news;
    news.told = poll.told;
    news.key = plan.key;
    news.target_id = plan.target_id;
    news.source = kSource;
    news.at = poll.at;
    news.changes = std::move(changes);
    draft.told.push_back(std::move(news));
    return true;
}

void SignalJournal::committed(base::Result<std::uint64_t> first) {
    busy_ = false;
    if (first.has_value() == failing_since_.has_value()) {
        if (first) {
            failing_since_.reset();
            log_.info("signals of polls are stored again");
        } else {
            failing_since_ = loop_.now();
            log_.error("signals of polls cannot be stored: they are tried again",
                       {{"error", first.error().message}});
        }
    }
    std::vector<PolledSignals> polls = std::exchange(under_way_, {});
    Draft draft = std::exchange(draft_, {});
    if (!first) {
        give_back(std::move(polls), std::move(draft));
        return;
    }
    for (auto& [key, entry] : draft.entries) {
        if (entry.keeper.raised().empty()) {
            entries_.erase(key);  // of a fleet most tasks have nothing raised
        } else {
            entries_[key] = std::move(entry);
        }
    }
    for (SignalNews& news : draft.told) news.row = (*first)++;
    tell(std::move(draft.told));
}

// Kept in their order for the next attempt, but for those that say nothing new. What has waited for
// too long is told now.
void SignalJournal::give_back(std::vector<PolledSignals> polls, Draft draft) {
    std::erase_if(polls, [](const PolledSignals& poll) { return !poll.news; });
    if (loop_.now() - *failing_since_ >= kProvisionalAfter) {
        for (PolledSignals& poll : polls) poll.told = true;
        std::erase_if(draft.told, [](const SignalNews& news) { return news.told; });
        tell(std::move(draft.told));
    }
    queue_.insert(queue_.begin(), std::make_move_iterator(polls.begin()),
                  std::make_move_iterator(polls.end()));
    retry_.arm_in(kRetryAfter);
}

void SignalJournal::tell(std::vector<SignalNews> news) {
    for (const SignalNews& one : news) {
        if (one.told) continue;
        for (const derive::SignalChange& change : one.changes) {
            ++counts_.steps[static_cast<std::size_t>(change.step)];
            log_signal(log_, one.key, change, kSource);
        }
    }
    if (sink_ && !news.empty()) sink_(std::move(news));
}

std::vector<SignalNews> SignalJournal::present() const {
    std::vector<SignalNews> all;
    for (const auto& [key, entry] : entries_) {
        SignalNews news = present_of(entry.keeper);
        if (news.changes.empty()) continue;
        news.key = key;
        news.target_id = entry.target_id;
        news.source = kSource;
        all.push_back(std::move(news));
    }
    return all;
}

void SignalJournal::forget(const std::vector<std::string>& keys) {
    if (keys.empty()) return;
    store::MemoryBatch batch;
    for (const std::string& key : keys) {
        entries_.erase(key);
        batch.removed.push_back(std::string(kMemoryPrefix) + key);
    }
    // If it fails, a target of another id will not take it for its own.
    [[maybe_unused]] const auto accepted = store_.submit(std::move(batch), nullptr);
}

SignalCounts SignalJournal::counts() const {
    SignalCounts counts = counts_;
    counts.waiting = queue_.size() + under_way_.size();
    for (const auto& [key, entry] : entries_) counts.raised += entry.keeper.raised().size();
    return counts;
}

}  // namespace pollux::runtime
