// The rule of a zone for years that its table does not list.
#include <charconv>
#include <chrono>

#include "base/time_zone.hpp"

namespace pollux::base {
namespace {

using std::chrono::sys_days;

constexpr std::int64_t kDay = 86'400;

// Takes what it understands off the front of the text.
class RuleReader {
  public:
    explicit RuleReader(std::string_view text) : rest_(text) {}

    bool done() const { return rest_.empty(); }
    bool take(char c) {
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    std::optional<int> number(int high) {
        int value = 0;
        const auto end = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (end.ec != std::errc{} || value < 0 || value > high || rest_.front() == '-') {
            return std::nullopt;
        }
        rest_.remove_prefix(static_cast<std::size_t>(end.ptr - rest_.data()));
        return value;
    }
    bool name() {
        if (take('<')) {
            const std::size_t end = rest_.find('>');
            if (end == std::string_view::npos) return false;
            rest_.remove_prefix(end + 1);
            return true;
        }
        std::size_t length = 0;
        while (length < rest_.size() && ((rest_[length] | 0x20) >= 'a') &&
               ((rest_[length] | 0x20) <= 'z')) {
            ++length;
        }
        rest_.remove_prefix(length);
        return length >= 3;
    }
    // [+-]hh[:mm[:ss]] in seconds.
    std::optional<int> time() {
        const bool negative = take('-');
        if (!negative) take('+');
        const auto hours = number(167);
        if (!hours) return std::nullopt;
        int seconds = *hours * 3'600;
        for (const int unit : {60, 1}) {
            if (!take(':')) break;
            const auto part = number(59);
            if (!part) return std::nullopt;
            seconds += *part * unit;
        }
        return negative ? -seconds : seconds;
    }
    std::optional<ZoneRule::Change> change() {
        ZoneRule::Change change;
        if (!take(',')) return std::nullopt;
        if (take('M')) {
            change.form = ZoneRule::DayForm::kMonthWeekDay;
            const auto month = number(12);
            const auto week = month && take('.') ? number(5) : std::nullopt;
            const auto day = week && take('.') ? number(6) : std::nullopt;
            if (!day || *month == 0 || *week == 0) return std::nullopt;
            change.month = *month;
            change.week = *week;
            change.day = *day;
        } else {
            change.form = take('J') ? ZoneRule::DayForm::kJulian : ZoneRule::DayForm::kZeroBased;
            const auto day = number(365);
            if (!day) return std::nullopt;
            change.day = *day;
        }
        if (!take('/')) return change;
        const auto at = time();
        if (!at) return std::nullopt;
        change.seconds = *at;
        return change;
    }

  private:
    std::string_view rest_;
};

sys_days day_of(const ZoneRule::Change& change, std::chrono::year year) {
    using std::chrono::days;
    using std::chrono::month;
    using std::chrono::weekday;
    const sys_days first = year / std::chrono::January / 1;
    switch (change.form) {
        case ZoneRule::DayForm::kZeroBased: return first + days(change.day);
        case ZoneRule::DayForm::kJulian:
            // 29 February is never counted.
            return first + days(change.day - 1 + (year.is_leap() && change.day >= 60 ? 1 : 0));
        case ZoneRule::DayForm::kMonthWeekDay: break;
    }
    const month of{static_cast<unsigned>(change.month)};
    const weekday on{static_cast<unsigned>(change.day)};
    if (change.week == 5) return sys_days(year / of / on[std::chrono::last]);
    return sys_days(year / of / on[static_cast<unsigned>(change.week)]);
}

std::int64_t second_of(const ZoneRule::Change& change, std::chrono::year year, int offset) {
    return day_of(change, year).time_since_epoch().count() * kDay + change.seconds - offset;
}

}  // namespace

std::int64_t ZoneRule::offset_at(std::int64_t unix_seconds) const {
    if (!summer) return standard;
    const std::int64_t local = unix_seconds + standard;
    const sys_days day{std::chrono::days(detail::floor_div(local, kDay))};
    const std::chrono::year year = std::chrono::year_month_day(day).year();
    const std::int64_t begins = second_of(begin, year, standard);
    const std::int64_t ends = second_of(end, year, *summer);
    const bool inside = begins < ends ? unix_seconds >= begins && unix_seconds < ends
                                      : unix_seconds >= begins || unix_seconds < ends;
    return inside ? *summer : standard;
}

std::optional<ZoneRule> parse_zone_rule(std::string_view text) {
    RuleReader reader(text);
    ZoneRule rule;
    if (!reader.name()) return std::nullopt;
    const auto standard = reader.time();
    if (!standard) return std::nullopt;
    rule.standard = -*standard;  // POSIX counts to the west
    if (reader.done()) return rule;
    if (!reader.name()) return std::nullopt;
    rule.summer = rule.standard + 3'600;
    if (const auto summer = reader.time()) rule.summer = -*summer;
    const auto begin = reader.change();
    const auto end = begin ? reader.change() : std::nullopt;
    if (!end || !reader.done()) return std::nullopt;
    rule.begin = *begin;
    rule.end = *end;
    return rule;
}

}  // namespace pollux::base
