#include "runtime/event_feed.hpp"

#include <algorithm>
#include <utility>

namespace pollux::runtime {

void EventFeed::changed(TaskNews news) {
    const std::lock_guard lock(mutex_);
    if (!wake_) return;
    if (changes_.size() >= limits_.changes) {
        ++dropped_;
    } else {
        changes_.push_back(std::move(news));
    }
    if (!std::exchange(woken_, true)) wake_();
}

void EventFeed::alerted(const std::vector<AlertNews>& news) {
    const std::lock_guard lock(mutex_);
    if (!wake_ || news.empty()) return;
    for (const AlertNews& one : news) {
        if (const auto* lost = std::get_if<NewsLost>(&one.change)) {
            dropped_ += lost->count;
        } else if (alerts_.size() >= limits_.changes) {
            ++dropped_;
        } else {
            alerts_.push_back(one);
        }
    }
    if (!std::exchange(woken_, true)) wake_();
}

void EventFeed::polled(PollNews news) {
    const std::lock_guard lock(mutex_);
    if (!wake_ || !polls_wanted()) return;
    const auto known = polls_.find(news.key);
    if (known != polls_.end()) {
        known->second = std::move(news);
    } else if (polls_.size() >= limits_.polls) {
        ++dropped_;
    } else {
        std::string key = news.key;
        polls_.emplace(std::move(key), std::move(news));
    }
}

void EventFeed::listen(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
    woken_ = false;
    if (wake_) return;
    changes_.clear();
    alerts_.clear();
    polls_.clear();
    dropped_ = 0;
}

void EventFeed::want_polls(bool wanted) {
    const std::lock_guard lock(mutex_);
    polls_wanted_.store(wanted, std::memory_order_relaxed);
    if (!wanted) polls_.clear();
}

EventFeed::Changes EventFeed::take_changes() {
    const std::lock_guard lock(mutex_);
    woken_ = false;
    return {std::exchange(changes_, {}), std::exchange(alerts_, {}), std::exchange(dropped_, 0)};
}

std::vector<PollNews> EventFeed::take_polls() {
    std::map<std::string, PollNews, std::less<>> taken;
    {
        const std::lock_guard lock(mutex_);
        taken.swap(polls_);
    }
    std::vector<PollNews> news;
    news.reserve(taken.size());
    for (auto& [key, one] : taken) news.push_back(std::move(one));
    return news;
}

TaskNews to_news(const engine::TaskChange& change, std::string_view reason, base::Instant now) {
    TaskNews news;
    news.number = change.number;
    news.key = change.key;
    news.kind = change.change.kind;
    news.from = change.change.from;
    news.to = change.change.to;
    news.failures = change.change.failures;
    news.at = change.at;
    const base::BootTime due = change.change.next_due;
    const bool planned = due > base::BootTime{} && due != base::BootTime::max();
    if (planned) news.next_due = now.wall + (due - now.boot);
    news.reason = reason;
    news.provisional = change.provisional;
    return news;
}

}  // namespace pollux::runtime
