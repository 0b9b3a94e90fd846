#include "api/fleet_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "base/siphash.hpp"

namespace pollux::api {
namespace {

// Nobody gains by two rows that look the same.
constexpr base::SipKey kKey{0x706f6c6c75782d66, 0x6c6565742d726f77};

// The parts of a row one after the other, so that no two rows give the same bytes.
class Print {
  public:
    explicit Print(std::string& bytes) : bytes_(bytes) { bytes_.clear(); }
    void add(std::uint64_t number) {
        for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(number >> (8 * i) & 0xFFU);
    }
    void add(std::string_view text) {
        add(text.size());
        bytes_ += text;
    }
    void add(base::Duration duration) { add(static_cast<std::uint64_t>(duration.count())); }
    void add(const std::optional<base::Duration>& duration) {
        add(duration.has_value() ? 1U : 0U);
        if (duration) add(*duration);
    }
    std::uint64_t hash() const { return base::siphash24(kKey, bytes_); }

  private:
    std::string& bytes_;
};

void add_names(const FleetFrame& frame, const FleetFrame::Row& row, Print& print) {
    print.add(row.target->address);
    print.add(row.region);
    print.add(row.groups.size());
    for (const std::uint32_t group : row.groups) print.add(frame.groups()[group]);
    const model::AlertLabels& labels = *frame.label_sets()[row.labels];
    print.add(labels.size());
    for (const auto& [name, value] : labels) {
        print.add(name);
        print.add(value);
    }
    if (row.parents == nullptr) return;
    for (const auto& any_of : *row.parents) {
        for (const std::string& parent : any_of) print.add(parent);
    }
}

std::uint64_t row_print(const FleetSnapshot& fleet, std::size_t place, Print print) {
    const FleetFrame::Row& target = fleet.frame->rows()[fleet.shown[place]];
    const FleetRow& row = fleet.rows[place];
    add_names(*fleet.frame, target, print);
    print.add(static_cast<std::uint64_t>(row.state));
    print.add(row.tier ? 1U + static_cast<std::uint64_t>(*row.tier) : 0U);
    print.add(row.interval);
    print.add(row.suggested);
    print.add(row.bound);
    print.add(row.failures);
    print.add(static_cast<std::uint64_t>(row.breaker));
    print.add(static_cast<std::uint64_t>(row.dead_letter));
    print.add(row.problem);
    const auto alerts = fleet.alerts.targets.find(target.target->key);
    if (alerts != fleet.alerts.targets.end()) {
        print.add(static_cast<std::uint64_t>(alerts->second.worst));
        print.add(alerts->second.open);
        print.add(alerts->second.acknowledged);
    }
    return print.hash();
}

std::uint64_t values_print(const FleetRow& row, Print print) {
    if (row.headline) {
        for (const auto& value : row.headline->values) {
            print.add(value.metric);
            print.add(value.row);
            print.add(std::bit_cast<std::uint64_t>(value.value));
        }
    }
    if (row.value) print.add(std::bit_cast<std::uint64_t>(*row.value));
    return print.hash();
}

std::uint64_t run_print(const FleetRow& row, Print print) {
    print.add(row.duration);
    print.add(row.lag);
    return print.hash();
}

std::uint64_t keys_print(const FleetSnapshot& fleet, Print print) {
    for (const std::uint32_t i : fleet.shown) print.add(fleet.frame->rows()[i].target->key);
    return print.hash();
}

// Wall times are made of boot times anew for each snapshot, and tremble. What is the same stays as
// it was told, so that it does not creep either.
constexpr std::int64_t kTremble = 100'000;  // us
bool differs(base::WallTime& now, base::WallTime before) {
    if (std::abs(now.us - before.us) > kTremble) return true;
    now = before;
    return false;
}

}  // namespace

FleetMarks::FleetMarks(std::uint32_t start, std::shared_ptr<std::atomic<std::uint64_t>> generations)
    : start_(start), generations_(std::move(generations)) {}

std::string FleetMarks::version() const {
    return fmt::format("{}.{}.{}", start_, generation_, newest_);
}

// The last part of a version of this generation.
std::optional<std::uint32_t> FleetMarks::known(std::string_view version) const {
    const std::string begin = fmt::format("{}.{}.", start_, generation_);
    if (generation_ == 0 || !version.starts_with(begin)) return std::nullopt;
    version.remove_prefix(begin.size());
    std::uint32_t number = 0;
    const auto read = std::from_chars(version.data(), version.data() + version.size(), number);
    const bool whole = read.ec == std::errc() && read.ptr == version.data() + version.size();
    return whole && number <= newest_ ? std::optional(number) : std::nullopt;
}

FleetMarks::Mark FleetMarks::mark_of(const FleetSnapshot& fleet, std::size_t place,
                                     std::string& bytes) {
    const FleetRow& row = fleet.rows[place];
    Mark mark;
    mark.row = row_print(fleet, place, Print(bytes));
    mark.values = values_print(row, Print(bytes));
    mark.run = run_print(row, Print(bytes));
    mark.success = row.last_success;
    mark.due = row.next_due;
    mark.since = row.since;
    return mark;
}

bool FleetMarks::moved(Mark& now, const Mark& before, bool told_by_events) {
    const bool since = differs(now.since, before.since);
    const bool due = differs(now.due, before.due);
    const bool success = differs(now.success, before.success);
    const bool ran = success || now.run != before.run;
    return since || (told_by_events ? due && !ran : due || ran);
}

FleetMarks::Told FleetMarks::note(const FleetSnapshot& fleet, std::string_view since, bool values) {
    std::string bytes;
    const std::uint64_t keys = keys_print(fleet, Print(bytes));
    std::vector<Mark> now;
    now.reserve(fleet.shown.size());
    for (std::size_t i = 0; i < fleet.shown.size(); ++i) now.push_back(mark_of(fleet, i, bytes));
    const std::lock_guard lock(mutex_);
    constexpr std::uint32_t kMostVersions = 0xFFFF'FFFF;
    if (generation_ == 0 || keys != keys_ || newest_ == kMostVersions) {
        generation_ = generations_->fetch_add(1) + 1;
        keys_ = keys;
        newest_ = 1;
        marks_ = std::move(now);
        return {.version = version(), .changed = std::nullopt};
    }
    const auto from = known(since);
    ++newest_;
    Told told{.version = version(), .changed = std::nullopt};
    if (from) told.changed.emplace();
    for (std::uint32_t i = 0; i < marks_.size(); ++i) {
        const Mark& before = marks_[i];
        Mark& mark = now[i];
        const bool one_task = fleet.frame->rows()[fleet.shown[i]].tasks.size() == 1;
        const bool other = moved(mark, before, one_task) || mark.row != before.row;
        mark.row_at = other ? newest_ : before.row_at;
        mark.values_at = mark.values != before.values ? newest_ : before.values_at;
        if (from && (mark.row_at > *from || (values && mark.values_at > *from))) {
            told.changed->push_back(i);
        }
    }
    marks_ = std::move(now);
    return told;
}

std::shared_ptr<FleetMarks> FleetChanges::of(const std::string& sight) {
    const auto found = std::ranges::find(all_, sight, &One::sight);
    if (found != all_.end()) {
        all_.splice(all_.begin(), all_, found);
    } else {
        all_.push_front({sight, std::make_shared<FleetMarks>(start_, generations_)});
        if (all_.size() > most_) all_.pop_back();
    }
    return all_.front().marks;
}

FleetSnapshot narrowed(FleetSnapshot fleet, const std::vector<std::uint32_t>& places) {
    std::vector<std::uint32_t> shown;
    std::vector<FleetRow> rows;
    shown.reserve(places.size());
    rows.reserve(places.size());
    for (const std::uint32_t place : places) {
        shown.push_back(fleet.shown[place]);
        rows.push_back(std::move(fleet.rows[place]));
    }
    fleet.shown = std::move(shown);
    fleet.rows = std::move(rows);
    return fleet;
}

}  // namespace pollux::api
