#include "extract/time_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "extract/value_math.hpp"

namespace pollux::extract {
namespace {

constexpr std::string_view kLetters = "YymdeHIMSfpbBaAjzZsTDF%";
constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};
constexpr std::array<std::string_view, 7> kDays = {"monday", "tuesday",  "wednesday", "thursday",
                                                   "friday", "saturday", "sunday"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Index of the name that the text begins with, whole or by its first three letters.
template <std::size_t N>
std::optional<std::size_t> take_name(std::string_view& text,
                                     const std::array<std::string_view, N>& names) {
    const auto begins = [&](std::string_view name) {
        return text.size() >= name.size() &&
               std::ranges::equal(text.substr(0, name.size()), name, [](char a, char b) {
                   return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
               });
    };
    for (std::size_t i = 0; i < N; ++i) {
        for (const std::string_view name : {names[i], names[i].substr(0, 3)}) {
            if (!begins(name)) continue;
            text.remove_prefix(name.size());
            return i;
        }
    }
    return std::nullopt;
}

class TimeParser {
  public:
    explicit TimeParser(std::string_view text) : text_(text) {}

    bool run(std::string_view format) {
        for (std::size_t i = 0; i < format.size(); ++i) {
            if (is_blank(format[i])) {
                skip_blanks();
            } else if (format[i] != '%' || i + 1 == format.size()) {
                if (!take(format[i])) return false;
            } else if (!letter(format[++i])) {
                return false;
            }
        }
        return text_.empty();
    }

    std::optional<base::WallTime> time() const {
        using namespace std::chrono;
        if (epoch_) return base::WallTime{*epoch_ * 1'000'000 + micros_};
        const int hour = pm_ ? hour_ % 12 + (*pm_ ? 12 : 0) : hour_;
        if (hour > 23 || minute_ > 59 || second_ > 60) return std::nullopt;
        sys_days day;
        if (day_of_year_) {
            day = sys_days(std::chrono::year(year_) / January / 1) + days(*day_of_year_ - 1);
        } else {
            const year_month_day date{std::chrono::year(year_), month(month_),
                                      std::chrono::day(day_)};
            if (!date.ok()) return std::nullopt;
            day = date;
        }
        const std::int64_t seconds = std::int64_t{day.time_since_epoch().count()} * 86'400 +
                                     hour * 3600 + minute_ * 60 + second_ - offset_;
        return base::WallTime{seconds * 1'000'000 + micros_};
    }

  private:
    void skip_blanks() {
        while (!text_.empty() && is_blank(text_.front())) text_.remove_prefix(1);
    }

    bool take(char c) {
        if (text_.empty() || text_.front() != c) return false;
        text_.remove_prefix(1);
        return true;
    }

    bool number(std::size_t most, std::int64_t low, std::int64_t high, std::int64_t& out) {
        std::size_t digits = 0;
        std::int64_t value = 0;
        while (digits < most && digits < text_.size() && is_digit(text_[digits])) {
            value = value * 10 + (text_[digits++] - '0');
        }
        if (digits == 0 || value < low || value > high) return false;
        text_.remove_prefix(digits);
        out = value;
        return true;
    }

    template <class T>
    bool field(std::size_t most, std::int64_t low, std::int64_t high, T& out) {
        std::int64_t value = 0;
        if (!number(most, low, high, value)) return false;
        out = static_cast<T>(value);
        return true;
    }

    bool fraction() {
        std::size_t digits = 0;
        std::int64_t scale = 100'000;
        while (digits < text_.size() && is_digit(text_[digits]) && digits < 9) {
            micros_ += (text_[digits++] - '0') * scale;
            scale /= 10;
        }
        text_.remove_prefix(digits);
        return digits > 0;
    }

    bool offset() {
        if (take('Z') || take('z')) return true;
        const bool minus = text_.starts_with('-');
        if (!take('+') && !take('-')) return false;
        std::int64_t hours = 0;
        std::int64_t minutes = 0;
        if (!number(2, 0, 14, hours)) return false;
        take(':');
        if (!number(2, 0, 59, minutes)) return false;
        offset_ = (minus ? -1 : 1) * (hours * 3600 + minutes * 60);
        return true;
    }

    bool word(std::initializer_list<std::string_view> words) {
        for (const std::string_view known : words) {
            if (!text_.starts_with(known)) continue;
            text_.remove_prefix(known.size());
            return true;
        }
        return false;
    }

    bool letter(char c) {
        switch (c) {
            case 'Y': return field(4, 1, 9999, year_);
            case 'y': {
                std::int64_t value = 0;
                if (!number(2, 0, 99, value)) return false;
                year_ = static_cast<int>(value < 69 ? 2000 + value : 1900 + value);
                return true;
            }
            case 'm': return field(2, 1, 12, month_);
            case 'e': skip_blanks(); [[fallthrough]];
            case 'd': return field(2, 1, 31, day_);
            case 'H': return field(2, 0, 23, hour_);
            case 'I': return field(2, 1, 12, hour_);
            case 'M': return field(2, 0, 59, minute_);
            case 'S': return field(2, 0, 60, second_);
            case 'f': return fraction();
            case 'p':
                pm_ = text_.starts_with('P') || text_.starts_with('p');
                return word({"AM", "PM", "am", "pm"});
            case 'b':
            case 'B': {
                const auto name = take_name(text_, kMonths);
                if (name) month_ = static_cast<unsigned>(*name + 1);
                return name.has_value();
            }
            case 'a':
            case 'A': return take_name(text_, kDays).has_value();
            case 'j': {
                std::int64_t value = 0;
                if (!number(3, 1, 366, value)) return false;
                day_of_year_ = value;
                return true;
            }
            case 'z': return offset();
            case 'Z': return word({"UTC", "GMT", "Z"});
            case 's': {
                std::int64_t value = 0;
                if (!number(11, 0, 99'999'999'999, value)) return false;
                epoch_ = value;
                return true;
            }
            case 'T': return part("%H:%M:%S");
            case 'D': return part("%m/%d/%y");
            case 'F': return part("%Y-%m-%d");
            case '%': return take('%');
            default: return false;
        }
    }

    bool part(std::string_view format) {
        for (std::size_t i = 0; i < format.size(); ++i) {
            const bool ok = format[i] == '%' ? letter(format[++i]) : take(format[i]);
            if (!ok) return false;
        }
        return true;
    }

    std::string_view text_;
    int year_ = 1970;
    unsigned month_ = 1;
    unsigned day_ = 1;
    int hour_ = 0;
    int minute_ = 0;
    int second_ = 0;
    std::int64_t micros_ = 0;
    std::int64_t offset_ = 0;
    std::optional<bool> pm_;
    std::optional<std::int64_t> day_of_year_;
    std::optional<std::int64_t> epoch_;
};

}  // namespace

std::optional<base::WallTime> parse_time(std::string_view text, std::string_view format) {
    TimeParser parser(text);
    if (!parser.run(format)) return std::nullopt;
    return parser.time();
}

bool is_time_format(std::string_view format) {
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%') continue;
        if (++i == format.size() || kLetters.find(format[i]) == std::string_view::npos) {
            return false;
        }
    }
    return !format.empty();
}

std::optional<base::WallTime> guess_time(const model::Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) {
        for (const std::string_view format :
             {"%FT%T.%f%z", "%FT%T%z", "%FT%T.%f", "%FT%T", "%F %T.%f", "%F %T", "%F"}) {
            if (const auto time = parse_time(*text, format)) return time;
        }
    }
    const auto number = as_double(to_number(value));
    if (!number || *number < 1e6 || *number > 1e15) return std::nullopt;
    const double seconds = *number > 1e11 ? *number / 1000 : *number;
    return base::WallTime{static_cast<std::int64_t>(seconds * 1e6)};
}

std::string iso_time(base::WallTime time) {
    using namespace std::chrono;
    const std::int64_t seconds = base::detail::floor_div(time.us, 1'000'000);
    const std::int64_t day = base::detail::floor_div(seconds, 86'400);
    const std::int64_t rest = seconds - day * 86'400;
    const year_month_day date{sys_days(days(day))};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       rest / 3600, rest / 60 % 60, rest % 60);
}

}  // namespace pollux::extract
