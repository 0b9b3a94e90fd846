#include "runtime/uptime/uptime_row.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"

namespace pollux::runtime {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kLongestSuffix = 512;
constexpr std::int64_t kMostDays = 1'000'000;
constexpr std::uint8_t kKnown = 1;
constexpr std::uint8_t kUp = 2;
constexpr std::uint8_t kOff = 4;

UptimeState read_state(base::ByteReader& in) {
    const std::uint8_t code = in.u8();
    if (code > std::to_underlying(UptimeState::kDown)) in.fail();
    return in.ok() ? static_cast<UptimeState>(code) : UptimeState::kUnknown;
}

// A count that cannot be is a failure, before anything is made of it.
std::size_t read_count(base::ByteReader& in, std::size_t most) {
    const std::uint64_t count = in.varint();
    if (count > most) in.fail();
    return in.ok() ? static_cast<std::size_t>(count) : 0;
}

std::int64_t read_length(base::ByteReader& in) {
    const std::uint64_t length = in.varint();
    if (std::cmp_greater(length, INT64_MAX / 4)) in.fail();
    return in.ok() ? static_cast<std::int64_t>(length) : 0;
}

// A time or a distance that sums cannot overflow with.
std::int64_t read_signed(base::ByteReader& in) {
    const std::int64_t value = in.zigzag();
    if (value > INT64_MAX / 4 || value < INT64_MIN / 4) in.fail();
    return in.ok() ? value : 0;
}

void read_tasks(base::ByteReader& in, UptimeRow& row) {
    for (std::size_t left = read_count(in, UptimeRow::kMostTasks); left > 0 && in.ok(); --left) {
        UptimeTask& task = row.tasks.emplace_back();
        task.suffix = in.string(kLongestSuffix);
        const std::uint8_t flags = in.u8();
        task.known = (flags & kKnown) != 0;
        task.up = (flags & kUp) != 0;
        task.off = (flags & kOff) != 0;
    }
}

void read_spans(base::ByteReader& in, UptimeRow& row) {
    for (std::size_t left = read_count(in, UptimeRow::kMostRecent); left > 0 && in.ok(); --left) {
        UptimeSpan& span = row.recent.emplace_back();
        span.state = read_state(in);
        span.from.us = read_signed(in);
        span.until = span.from;
        span.until.us += read_length(in);
    }
}

base::Duration length_of(const UptimeSpan& span) { return span.until - span.from; }

// One span less, without a change of the sums. Two of one state move together, over what lies
// between them; of three in turn the two of one state do, and the third comes behind them. Of any
// three neighbours there is one or the other; the one that moves the least is taken.
void pack_shortest(std::vector<UptimeSpan>& spans) {
    base::Duration least = base::Duration::max();
    std::size_t place = 0;
    std::size_t count = 0;
    const auto consider = [&](std::size_t first, std::size_t many, base::Duration moved) {
        if (moved >= least) return;
        least = moved;
        place = first;
        count = many;
    };
    for (std::size_t i = 1; i < spans.size(); ++i) {
        if (spans[i - 1].state == spans[i].state) {
            consider(i - 1, 2, spans[i].from - spans[i - 1].until);
        } else if (i >= 2 && spans[i - 2].state == spans[i].state) {
            consider(i - 2, 3, spans[i].until - spans[i - 2].from);
        }
    }
    if (count == 0) return;
    UptimeSpan* const first = &spans[place];
    const base::WallTime until = first[count - 1].until;
    const base::Duration other = count == 3 ? length_of(first[1]) : base::Duration{};
    first[0].from = until - other - length_of(first[0]) - length_of(first[count - 1]);
    first[0].until = until - other;
    if (count == 3) {
        first[1].from = until - other;
        first[1].until = until;
    }
    spans.erase(spans.begin() + static_cast<std::ptrdiff_t>(place + count - 1));
}

}  // namespace

UptimeTask& UptimeRow::task(std::string_view suffix) {
    for (UptimeTask& one : tasks) {
        if (one.suffix == suffix) return one;
    }
    // An addon has fewer groups; what is gone is forgotten with the next change of the fleet.
    if (tasks.size() >= kMostTasks) tasks.erase(tasks.begin());
    return tasks.emplace_back(UptimeTask{.suffix = std::string(suffix)});
}

void UptimeRow::add_recent(const UptimeSpan& span) {
    recent.push_back(span);
    if (recent.size() > kMostRecent) pack_shortest(recent);
}

bool UptimeRow::forget_after(base::WallTime time) {
    bool found = days.forget_after(day_of(time));
    found = std::erase_if(recent, [&](const UptimeSpan& span) { return span.from >= time; }) > 0 ||
            found;
    for (UptimeSpan& span : recent) {
        found = found || span.until > time;
        span.until = std::min(span.until, time);
    }
    // How it is stays known; since when is not.
    found = found || since > time;
    since = std::min(since, time);
    return found;
}

std::string encode_uptime(const UptimeRow& row) {
    base::ByteWriter out;
    out.u8(kVersion);
    out.u8(std::to_underlying(row.state));
    out.zigzag(row.since.us);
    out.boolean(row.doubtful);
    out.varint(row.tasks.size());
    for (const UptimeTask& task : row.tasks) {
        out.string(task.suffix);
        out.u8(static_cast<std::uint8_t>((task.known ? kKnown : 0) | (task.up ? kUp : 0) |
                                         (task.off ? kOff : 0)));
    }
    out.varint(row.days.days().size());
    std::int64_t before = 0;
    for (const auto& [day, sum] : row.days.days()) {
        out.zigzag(day - std::exchange(before, day));
        out.varint(static_cast<std::uint64_t>(sum.up_us));
        out.varint(static_cast<std::uint64_t>(sum.down_us));
    }
    out.varint(row.recent.size());
    for (const UptimeSpan& span : row.recent) {
        out.u8(std::to_underlying(span.state));
        out.zigzag(span.from.us);
        out.varint(static_cast<std::uint64_t>(span.until.us - span.from.us));
    }
    return out.take();
}

std::optional<UptimeRow> decode_uptime(std::string_view bytes) {
    base::ByteReader in(bytes);
    UptimeRow row;
    if (in.u8() != kVersion) return std::nullopt;
    row.state = read_state(in);
    row.since.us = read_signed(in);
    row.doubtful = in.boolean();
    read_tasks(in, row);
    std::vector<UptimeDays::Day> days;
    std::int64_t day = 0;
    for (std::size_t left = read_count(in, UptimeDays::kKept); left > 0 && in.ok(); --left) {
        const std::int64_t step = in.zigzag();
        if (step < -kMostDays || step > kMostDays) in.fail();
        day += in.ok() ? step : 0;
        UptimeDays::Day& one = days.emplace_back();
        one.day = day;
        one.sum.up_us = read_length(in);
        one.sum.down_us = read_length(in);
    }
    row.days.recall(std::move(days));
    read_spans(in, row);
    if (!in.ok() || !in.at_end()) return std::nullopt;
    return row;
}

std::string encode_uptime_head(std::uint64_t cursor, const LifeList& lives) {
    base::ByteWriter out;
    out.u8(kVersion);
    out.varint(cursor);
    out.varint(lives.lives().size());
    for (const LifeList::Life& life : lives.lives()) {
        out.zigzag(life.from.us);
        out.varint(static_cast<std::uint64_t>(life.until.us - life.from.us));
    }
    return out.take();
}

std::optional<UptimeHead> decode_uptime_head(std::string_view bytes) {
    base::ByteReader in(bytes);
    UptimeHead head;
    if (in.u8() != kVersion) return std::nullopt;
    head.cursor = in.varint();
    for (std::size_t left = read_count(in, LifeList::kMost); left > 0 && in.ok(); --left) {
        LifeList::Life& life = head.lives.emplace_back();
        life.from.us = read_signed(in);
        life.until = life.from;
        life.until.us += read_length(in);
    }
    if (!in.ok() || !in.at_end()) return std::nullopt;
    return head;
}

}  // namespace pollux::runtime
