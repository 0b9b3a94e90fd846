#include "runtime/uptime/uptime_book.hpp"

#include <algorithm>
#include <utility>

#include "runtime/alerts/health_book.hpp"
#include "runtime/uptime/uptime_keeper.hpp"

namespace pollux::runtime {
namespace {

constexpr base::Duration kDay = std::chrono::hours(24);

struct Standing {
    bool known = false;
    bool down = false;
};

// Of the tasks that are not switched off: what they say together.
Standing standing_of(const UptimeRow& row) {
    Standing standing;
    for (const UptimeTask& task : row.tasks) {
        if (task.off || !task.known) continue;
        standing.known = true;
        standing.down = standing.down || !task.up;
    }
    return standing;
}

}  // namespace

// --- what was ------------------------------------------------------------------------------------

void UptimeBook::recall_target(const std::string& key, std::string_view bytes) {
    if (auto row = decode_uptime(bytes)) targets_[key].row = std::move(*row);
}

void UptimeBook::recall_head(std::string_view bytes) {
    const auto head = decode_uptime_head(bytes);
    if (!head) return;
    cursor_ = head->cursor;
    lives_.recall(head->lives);
}

void UptimeBook::begin(base::WallTime started) {
    // When servers ran before this was counted is not known: transitions of then are believed.
    begin_life(cursor_ == 0 && lives_.lives().empty() ? base::WallTime{} : started);
    lives_.touch(started);
}

void UptimeBook::begin_life(base::WallTime at) {
    if (!lives_.begin(at)) return;
    for (auto& [key, target] : targets_) {
        target.changed = target.row.forget_after(at) || target.changed;
    }
}

void UptimeBook::look(base::Instant now) {
    if (looked_) {
        const base::Duration passed = now.boot - looked_->boot;
        const base::WallTime expected = looked_->wall + passed;
        // It may have been set right after the last look: all that passed since belongs to the new
        // life, with the transitions of that time.
        const bool same = expected - kClockStep <= now.wall && now.wall <= expected + kClockStep;
        if (!same) begin_life(now.wall - passed);
    }
    looked_ = now;
    lives_.touch(now.wall);
}

// Of a transition that was committed while the clock was ahead, and is read later.
base::WallTime UptimeBook::believed(base::WallTime at) const {
    if (!looked_ || lives_.lives().empty()) return at;
    const base::WallTime newest = std::max(looked_->wall, lives_.lives().back().until);
    return at > newest + kClockStep ? newest : at;
}

// What is old can be forgotten, by a clock that showed for a day where it goes.
bool UptimeBook::clock_is_proven(base::WallTime now) const {
    return !lives_.lives().empty() && now - lives_.lives().back().from >= kDay;
}

// --- the fleet -----------------------------------------------------------------------------------

UptimeBook::Target& UptimeBook::entry(std::string_view key) {
    const auto found = targets_.find(key);
    if (found != targets_.end()) return found->second;
    return targets_.emplace(std::string(key), Target{}).first->second;
}

void UptimeBook::set_fleet(const AlertImage& image) {
    devices_.clear();
    for (auto& [key, target] : targets_) {
        target.device = nullptr;
        target.groups.clear();
    }
    for (const alert::TargetFacts& facts : image.fleet->targets) {
        // What is only heard has no tasks, and nobody asks it.
        const auto tasks = image.tasks->find(facts.device);
        const auto is_own = [&](const std::string& task) { return target_of(task) == facts.key; };
        if (tasks == image.tasks->end() || std::ranges::none_of(tasks->second, is_own)) continue;
        Target& target = entry(facts.key);
        target.device = &devices_[facts.device];
        target.device->targets.push_back(&target);
        target.groups = facts.groups;
        target.enabled = facts.enabled;
        std::erase_if(target.row.tasks, [&](const UptimeTask& task) {
            return std::ranges::find(tasks->second, facts.key + task.suffix) == tasks->second.end();
        });
    }
    std::vector<Device*> all;
    for (const alert::DeviceFacts& facts : image.fleet->devices) {
        Device& device = devices_[facts.name];
        for (const auto& group : facts.parents) {
            std::vector<Device*>& ways = device.parents.emplace_back();
            for (const std::string& parent : group) {
                ways.push_back(&devices_[parent]);
                ways.back()->children.push_back(&device);
            }
        }
    }
    for (auto& [name, device] : devices_) {
        device.down = is_down(device);
        all.push_back(&device);
    }
    find_ways(all);
    // At the start of a life nobody was held yet; what comes first would count for who is.
    for (const Device* device : all) {
        for (Target* target : device->targets) target->held = target->held || !device->open;
    }
}

void UptimeBook::settle(base::WallTime now) {
    lives_.touch(now);
    for (auto& [name, device] : devices_) settle_device(device, now);
    for (auto& [key, target] : targets_) {
        if (target.device == nullptr) move(target, UptimeState::kUnknown, false, now);
    }
}

void UptimeBook::take(const store::StoredChange& change) {
    cursor_ = std::max(cursor_, change.number);
    const bool health = change.kind == schedule::ChangeKind::kHealth;
    if (change.key.empty() || (!health && change.kind != schedule::ChangeKind::kEnabled)) return;
    const std::string_view key = target_of(change.key);
    Target& target = entry(key);
    UptimeTask& task = target.row.task(std::string_view(change.key).substr(key.size()));
    if (health) {
        task.known = true;
        task.up = change.to == 1;
    } else {
        task.off = change.to == 0;
    }
    target.changed = true;
    const base::WallTime at = believed(change.at);
    // Of a target that the fleet does not show yet: not one that is gone for long.
    if (target.row.since == base::WallTime{}) target.row.since = at;
    lives_.witness(at);
    if (target.device == nullptr) return;  // of a target that is gone, or not known yet
    const Standing standing = standing_of(target.row);
    if (!target.held) {
        const UptimeState state = !standing.known || !target.enabled ? UptimeState::kUnknown
                                  : standing.down                    ? UptimeState::kDown
                                                                     : UptimeState::kUp;
        move(target, state, false, at);
    }
    judge_device(*target.device, at);
}

void UptimeBook::seed(std::string_view task_key, bool up, bool enabled, base::WallTime now) {
    const std::string_view key = target_of(task_key);
    const auto found = targets_.find(key);
    if (found == targets_.end() || found->second.device == nullptr) return;
    UptimeTask& task = found->second.row.task(task_key.substr(key.size()));
    if (task.known && task.off == !enabled) return;
    // An edit while no server ran may have switched it, and no transition tells of that.
    task = {.suffix = task.suffix, .known = true, .up = task.known ? task.up : up, .off = !enabled};
    found->second.changed = true;
    judge_device(*found->second.device, believed(now));
}

// --- states --------------------------------------------------------------------------------------

// One answer proves that a device lives; of one that nobody asks nothing is known.
bool UptimeBook::is_down(const Device& device) {
    bool known = false;
    for (const Target* target : device.targets) {
        for (const UptimeTask& task : target->row.tasks) {
            if (task.off || !task.known || !target->enabled) continue;
            if (task.up) return false;
            known = true;
        }
    }
    return known;
}

// Only who stands behind a device learns of it: a log holds many flips, and a fleet many devices.
void UptimeBook::judge_device(Device& device, base::WallTime at) {
    const bool down = is_down(device);
    if (std::exchange(device.down, down) == down || device.children.empty()) return;
    const std::vector<Device*> behind = all_behind(device);
    find_ways(behind);
    for (Device* one : behind) settle_device(*one, at);
}

std::vector<UptimeBook::Device*> UptimeBook::all_behind(const Device& device) {
    ++walk_;
    std::vector<Device*> found;
    const auto add_children = [&](const Device& parent) {
        for (Device* child : parent.children) {
            if (std::exchange(child->walk, walk_) != walk_) found.push_back(child);
        }
    };
    add_children(device);
    for (std::size_t i = 0; i < found.size(); ++i) add_children(*found[i]);
    return found;
}

// Each of them counts as reachable until a group without an open way proves the contrary, so a loop
// alone closes nothing. The list holds all devices behind each of its own.
void UptimeBook::find_ways(const std::vector<Device*>& devices) {
    const auto opens = [](const Device* parent) { return !parent->down && parent->open; };
    const auto is_closed = [&](const std::vector<Device*>& group) {
        return !group.empty() && std::ranges::none_of(group, opens);
    };
    for (Device* device : devices) device->open = true;
    std::vector<Device*> left = devices;
    while (!left.empty()) {
        Device* device = left.back();
        left.pop_back();
        ++looked_at_;
        if (!device->open || std::ranges::none_of(device->parents, is_closed)) continue;
        device->open = false;
        left.insert(left.end(), device->children.begin(), device->children.end());
    }
}

void UptimeBook::settle_device(Device& device, base::WallTime at) {
    const bool held = !device.open;
    for (Target* target : device.targets) {
        const bool was_held = std::exchange(target->held, held);
        const Standing standing = standing_of(target->row);
        const UptimeState state = held || !standing.known || !target->enabled
                                      ? UptimeState::kUnknown
                                  : standing.down ? UptimeState::kDown
                                                  : UptimeState::kUp;
        move(*target, state, held || was_held, at);
    }
}

void UptimeBook::move(Target& target, UptimeState next, bool by_parent, base::WallTime at) {
    UptimeRow& row = target.row;
    if (row.state == next) return;
    UptimeState counted = row.state;
    if (counted != UptimeState::kUnknown) at = std::max(at, row.since);
    const bool consequence = by_parent || row.doubtful;
    if (counted == UptimeState::kDown && consequence && at - row.since <= kSettle) {
        counted = UptimeState::kUnknown;
    }
    add_span(row, counted, at);
    row.state = next;
    row.since = at;
    row.doubtful = next == UptimeState::kDown && by_parent;
    target.changed = true;
}

void UptimeBook::add_span(UptimeRow& row, UptimeState state, base::WallTime until) {
    if (state == UptimeState::kUnknown || row.since >= until) return;
    lives_.seen(row.since, until,
                [&](base::WallTime from, base::WallTime to) { row.days.add(state, from, to); });
    if (clock_is_proven(until)) {
        std::erase_if(row.recent,
                      [&](const UptimeSpan& span) { return span.until < until - kDay; });
    }
    row.add_recent({state, row.since, until});
}

// --- questions -----------------------------------------------------------------------------------

// Ended spans of the last day and the one under way, as far as somebody looked.
template <class Add>
void UptimeBook::each_span(const Target& target, base::WallTime from, base::WallTime now,
                           Add add) const {
    const auto one = [&](const UptimeSpan& span) {
        lives_.seen(
            std::max(span.from, from), std::min(span.until, now),
            [&](base::WallTime begin, base::WallTime end) { add(span.state, end.us - begin.us); });
    };
    for (const UptimeSpan& span : target.row.recent) one(span);
    one({target.row.state, target.row.since, now});
}

UptimeDays UptimeBook::days_of(const Target& target, base::WallTime now) const {
    UptimeDays days = target.row.days;
    const base::WallTime oldest = now - kDay * UptimeDays::kKept;
    lives_.seen(std::max(target.row.since, oldest), now,
                [&](base::WallTime from, base::WallTime until) {
                    days.add(target.row.state, from, until);
                });
    return days;
}

namespace {

std::vector<UptimeDay> empty_days(base::WallTime now) {
    std::vector<UptimeDay> days;
    for (std::int64_t day = day_of(now) - UptimeDays::kKept + 1; day <= day_of(now); ++day) {
        days.push_back({.day = day, .sum = {}});
    }
    return days;
}

void add_days(std::vector<UptimeDay>& to, UptimeSum& all, const UptimeDays& days) {
    for (const auto& [day, sum] : days.days()) {
        const std::int64_t place = day - to.front().day;
        if (place < 0 || std::cmp_greater_equal(place, to.size())) continue;
        UptimeDay& one = to[static_cast<std::size_t>(place)];
        one.sum.up_us += sum.up_us;
        one.sum.down_us += sum.down_us;
        all.up_us += sum.up_us;
        all.down_us += sum.down_us;
        if (sum.up_us + sum.down_us > 0) ++one.members;
    }
}

}  // namespace

std::optional<TargetUptime> UptimeBook::target(std::string_view key, base::WallTime now) const {
    const auto found = targets_.find(key);
    if (found == targets_.end() || found->second.device == nullptr) return std::nullopt;
    const Target& target = found->second;
    TargetUptime answer;
    answer.state = target.row.state;
    answer.since = target.row.since;
    answer.days = empty_days(now);
    add_days(answer.days, answer.last_90d, days_of(target, now));
    for (std::size_t i = answer.days.size() - 30; i < answer.days.size(); ++i) {
        answer.last_30d.up_us += answer.days[i].sum.up_us;
        answer.last_30d.down_us += answer.days[i].sum.down_us;
    }
    each_span(target, now - kDay, now,
              [&](UptimeState state, std::int64_t us) { answer.last_24h.add(state, us); });
    return answer;
}

std::vector<GroupUptime> UptimeBook::groups(base::WallTime now) const {
    std::map<std::string, GroupUptime, std::less<>> made;
    const auto add = [&](const std::string& name, const Target& target, const UptimeDays& days) {
        GroupUptime& group = made[name];
        if (group.days.empty()) {
            group.name = name;
            group.days = empty_days(now);
        }
        ++group.members;
        if (target.row.state == UptimeState::kUp) ++group.up;
        if (target.row.state == UptimeState::kDown) ++group.down;
        add_days(group.days, group.last_90d, days);
    };
    for (const auto& [key, target] : targets_) {
        if (target.device == nullptr || !target.enabled) continue;
        const UptimeDays days = days_of(target, now);
        add("", target, days);
        for (const std::string& name : target.groups) add(name, target, days);
    }
    std::vector<GroupUptime> all;
    for (auto& [name, group] : made) all.push_back(std::move(group));
    return all;
}

// --- saving --------------------------------------------------------------------------------------

void UptimeBook::forget_gone(base::WallTime now, store::MemoryBatch& batch) {
    std::vector<std::pair<base::WallTime, std::string>> gone;
    for (const auto& [key, target] : targets_) {
        if (target.device == nullptr) gone.emplace_back(target.row.since, key);
    }
    std::ranges::sort(gone);
    const std::size_t too_many = gone.size() > kMostGone ? gone.size() - kMostGone : 0;
    for (std::size_t i = 0; i < gone.size(); ++i) {
        const bool old = gone[i].first < now - kDay * UptimeDays::kKept;
        if (i >= too_many && !old) break;
        targets_.erase(gone[i].second);
        batch.removed.push_back(std::string(UptimeKeeper::kPrefix) + gone[i].second);
    }
}

store::MemoryBatch UptimeBook::save(base::WallTime now) {
    store::MemoryBatch batch;
    lives_.touch(now);
    if (clock_is_proven(now)) {
        lives_.forget_before(now - kDay * (UptimeDays::kKept + 1));
        if (!devices_.empty()) forget_gone(now, batch);
    }
    for (auto& [key, target] : targets_) {
        if (!std::exchange(target.changed, false)) continue;
        batch.rows.push_back({std::string(UptimeKeeper::kPrefix) + key, encode_uptime(target.row)});
    }
    batch.rows.push_back(
        {std::string(UptimeKeeper::kHeadKey), encode_uptime_head(cursor_, lives_)});
    return batch;
}

void UptimeBook::save_failed(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
        if (!key.starts_with(UptimeKeeper::kPrefix)) continue;
        const auto found = targets_.find(key.substr(UptimeKeeper::kPrefix.size()));
        if (found != targets_.end()) found->second.changed = true;
    }
}

}  // namespace pollux::runtime
