#include "alert/silence_book.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pollux::alert {

using base::WallTime;
using model::Silence;
using model::SilenceKind;

namespace {

std::unexpected<base::Error> invalid(std::string message) {
    return base::config_error("silence.invalid", std::move(message));
}

base::Status check_times(const Silence& silence) {
    const bool endless = silence.until == WallTime{};
    if (silence.kind != SilenceKind::kRecurring && endless) {
        return invalid("a silence needs an end: `until`");
    }
    if (!endless && silence.until <= silence.from) {
        return invalid(fmt::format("it ends ({}) before it begins ({})",
                                   base::format_utc(silence.until),
                                   base::format_utc(silence.from)));
    }
    if (silence.kind == SilenceKind::kFlexible &&
        (silence.duration < kShortestWindow || silence.duration > kLongestWindow)) {
        return invalid(fmt::format("a flexible silence needs a duration from {} to {}",
                                   base::format_duration(kShortestWindow),
                                   base::format_duration(kLongestWindow)));
    }
    return {};
}

}  // namespace

std::string_view to_string(SilenceState state) {
    switch (state) {
        case SilenceState::kPending: return "pending";
        case SilenceState::kActive: return "active";
        case SilenceState::kExpired: return "expired";
    }
    return "unknown";
}

base::Status SilenceBook::put(Silence silence) {
    if (auto status = check_times(silence); !status) return status;
    auto matchers = Matchers::compile(silence.matchers);
    if (!matchers) return std::unexpected(matchers.error());
    const MatchLabels nothing;
    if (matchers->hold(nothing)) {
        return invalid(
            "its matchers hold for everything, even without labels; name what is to be "
            "silent, such as device=\"core-1\"");
    }
    Entry entry;
    if (silence.kind == SilenceKind::kRecurring) {
        auto window = Window::compile(silence.window, zones_);
        if (!window) return std::unexpected(window.error());
        entry.window = std::move(*window);
    }
    if (entries_.size() >= kMostSilences && !entries_.contains(silence.id)) {
        return invalid(fmt::format("there are {} silences already, which is the most that are kept",
                                   kMostSilences));
    }
    entry.matchers = std::move(*matchers);
    entry.silence = std::move(silence);
    const std::string id = entry.silence.id;
    entries_.insert_or_assign(id, std::move(entry));
    return {};
}

bool SilenceBook::end(std::string_view id, WallTime now) {
    const auto found = entries_.find(id);
    if (found == entries_.end() || over(found->second.silence, now)) return false;
    Silence& silence = found->second.silence;
    silence.until = now;
    // One that has not begun yet ends as it begins; one that began with an alert, as if none came.
    silence.from = std::min(silence.from, now - std::chrono::microseconds(1));
    silence.started = WallTime{};
    return true;
}

std::vector<std::string> SilenceBook::forget(WallTime now, base::Duration keep) {
    std::vector<std::string> ids;
    for (const auto& [id, entry] : entries_) {
        if (over(entry.silence, now - keep)) ids.push_back(id);
    }
    for (const std::string& id : ids) entries_.erase(id);
    return ids;
}

const Silence* SilenceBook::find(std::string_view id) const {
    const auto found = entries_.find(id);
    return found == entries_.end() ? nullptr : &found->second.silence;
}

std::vector<Silence> SilenceBook::all() const {
    std::vector<Silence> result;
    for (const auto& [id, entry] : entries_) result.push_back(entry.silence);
    return result;
}

bool SilenceBook::over(const Silence& silence, WallTime now) {
    const bool ended = silence.until != WallTime{} && silence.until <= now;
    if (silence.kind != SilenceKind::kFlexible || silence.started == WallTime{}) return ended;
    // Its time runs from its first alert, past `until` if that came late.
    return silence.started + silence.duration <= now;
}

std::optional<WallTime> SilenceBook::active_until(const Entry& entry, WallTime now) {
    const Silence& silence = entry.silence;
    if (now < silence.from || over(silence, now)) return std::nullopt;
    switch (silence.kind) {
        case SilenceKind::kOnce: return silence.until;
        case SilenceKind::kRecurring: {
            const auto range = entry.window->covering(now);
            if (!range) return std::nullopt;
            return silence.until == WallTime{} ? range->until
                                               : std::min(range->until, silence.until);
        }
        case SilenceKind::kFlexible:
            if (silence.started == WallTime{} || now < silence.started) return std::nullopt;
            return silence.started + silence.duration;
    }
    return std::nullopt;
}

SilenceState SilenceBook::state(const Silence& silence, WallTime now) const {
    if (over(silence, now)) return SilenceState::kExpired;
    const auto found = entries_.find(silence.id);
    const bool active = found != entries_.end() && active_until(found->second, now).has_value();
    return active ? SilenceState::kActive : SilenceState::kPending;
}

std::optional<SilenceBook::Hold> SilenceBook::holding(const MatchLabels& labels,
                                                      WallTime now) const {
    std::optional<Hold> hold;
    for (const auto& [id, entry] : entries_) {
        const auto until = active_until(entry, now);
        if (!until || !entry.matchers.hold(labels)) continue;
        if (!hold) hold.emplace();
        hold->until = std::max(hold->until, *until);
        hold->ids.push_back(id);
    }
    return hold;
}

bool SilenceBook::InForce::hold(const MatchLabels& labels) const {
    return std::ranges::any_of(matchers_,
                               [&](const Matchers* matchers) { return matchers->hold(labels); });
}

SilenceBook::InForce SilenceBook::in_force(WallTime now) const {
    InForce result;
    for (const auto& [id, entry] : entries_) {
        if (active_until(entry, now)) result.matchers_.push_back(&entry.matchers);
    }
    return result;
}

std::vector<Silence> SilenceBook::begin(const MatchLabels& labels, WallTime now) {
    std::vector<Silence> begun;
    for (auto& [id, entry] : entries_) {
        Silence& silence = entry.silence;
        const bool waits = silence.kind == SilenceKind::kFlexible &&
                           silence.started == WallTime{} && now >= silence.from &&
                           !over(silence, now);
        if (!waits || !entry.matchers.hold(labels)) continue;
        silence.started = now;
        begun.push_back(silence);
    }
    return begun;
}

}  // namespace pollux::alert
