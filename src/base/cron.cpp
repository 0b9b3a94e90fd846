#include "base/cron.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <vector>

#include "base/text.hpp"

namespace pollux::base {
namespace {

constexpr std::size_t kMaxText = 256;
constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"sun", "mon", "tue", "wed",
                                                       "thu", "fri", "sat"};

struct Field {
    std::string_view name;
    unsigned low;
    unsigned high;
    std::span<const std::string_view> words;  // of low, low + 1, ...
};

constexpr std::array<Field, 5> kFields = {{{"minute", 0, 59, {}},
                                           {"hour", 0, 23, {}},
                                           {"day of month", 1, 31, {}},
                                           {"month", 1, 12, kMonths},
                                           {"day of week", 0, 7, kWeekdays}}};

std::optional<unsigned> number(const Field& field, std::string_view text) {
    for (std::size_t i = 0; i < field.words.size(); ++i) {
        const std::string_view word = field.words[i];
        bool same = text.size() == word.size();
        for (std::size_t c = 0; same && c < word.size(); ++c) same = (text[c] | 0x20) == word[c];
        if (same) return field.low + static_cast<unsigned>(i);
    }
    unsigned value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || end.ec != std::errc{} || end.ptr != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

// One item of a list; nothing if it is not understood.
std::optional<std::uint64_t> bits_of(const Field& field, std::string_view item) {
    unsigned step = 1;
    const std::size_t slash = item.find('/');
    if (slash != std::string_view::npos) {
        const auto given = number({field.name, 0, 0, {}}, item.substr(slash + 1));
        if (!given || *given == 0 || *given > field.high) return std::nullopt;
        step = *given;
        item = item.substr(0, slash);
    }
    unsigned low = field.low;
    unsigned high = field.high;
    if (item != "*") {
        const std::size_t dash = item.find('-');
        const auto first = number(field, item.substr(0, dash));
        if (!first) return std::nullopt;
        low = *first;
        high = slash == std::string_view::npos ? low : field.high;
        if (dash != std::string_view::npos) {
            const auto last = number(field, item.substr(dash + 1));
            if (!last) return std::nullopt;
            high = *last;
        }
    }
    if (low < field.low || high > field.high || low > high) return std::nullopt;
    std::uint64_t bits = 0;
    for (unsigned value = low; value <= high; value += step) bits |= std::uint64_t{1} << value;
    return bits;
}

Result<std::uint64_t> parse_field(const Field& field, std::string_view text) {
    std::uint64_t all = 0;
    for (std::string_view rest = text;;) {
        const std::size_t comma = rest.find(',');
        const auto bits = bits_of(field, rest.substr(0, comma));
        if (!bits) {
            return config_error("cron.invalid",
                                fmt::format("{} is no {}: it must be *, a number from {} to {}, a "
                                            "range such as {}-{}, a step such as */2, or a list "
                                            "of these with commas",
                                            quoted(text), field.name, field.low, field.high,
                                            field.low + 1, field.low + 2));
        }
        all |= *bits;
        if (comma == std::string_view::npos) return all;
        rest = rest.substr(comma + 1);
    }
}

std::string_view macro(std::string_view text) {
    if (text == "@hourly") return "0 * * * *";
    if (text == "@daily" || text == "@midnight") return "0 0 * * *";
    if (text == "@weekly") return "0 0 * * 0";
    if (text == "@monthly") return "0 0 1 * *";
    if (text == "@yearly" || text == "@annually") return "0 0 1 1 *";
    return text;
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const std::size_t begin = text.find_first_not_of(" \t");
        if (begin == std::string_view::npos) break;
        const std::size_t end = text.find_first_of(" \t", begin);
        words.push_back(text.substr(begin, end - begin));
        text = end == std::string_view::npos ? std::string_view() : text.substr(end);
    }
    return words;
}

bool names_a_day(const Cron& cron) {
    constexpr std::array<unsigned, 13> kLongest = {0,  31, 29, 31, 30, 31, 30,
                                                   31, 31, 30, 31, 30, 31};
    if (!cron.any_weekday) return true;
    for (unsigned month = 1; month <= 12; ++month) {
        if (((cron.months >> month) & 1U) == 0) continue;
        const std::uint64_t days = (std::uint64_t{2} << kLongest[month]) - 1;
        if ((cron.days & days) != 0) return true;
    }
    return false;
}

}  // namespace

bool Cron::on_day(std::chrono::year_month_day date) const {
    if (((months >> static_cast<unsigned>(date.month())) & 1U) == 0) return false;
    const bool day = ((days >> static_cast<unsigned>(date.day())) & 1U) != 0;
    const std::chrono::weekday of_week{std::chrono::sys_days(date)};
    const bool weekday = ((weekdays >> of_week.c_encoding()) & 1U) != 0;
    if (any_day || any_weekday) return day && weekday;
    return day || weekday;
}

Result<Cron> parse_cron(std::string_view text) {
    if (text.size() > kMaxText) {
        return config_error("cron.invalid",
                            fmt::format("a cron expression has at most {} bytes", kMaxText));
    }
    const std::vector<std::string_view> words = words_of(macro(text));
    if (words.size() != kFields.size()) {
        return config_error(
            "cron.invalid",
            fmt::format("{} has {} fields, not 5: minute, hour, day of month, month, day of week, "
                        "such as 0 22 * * 1-5",
                        quoted(text), words.size()));
    }
    std::array<std::uint64_t, 5> bits{};
    for (std::size_t i = 0; i < kFields.size(); ++i) {
        const auto parsed = parse_field(kFields[i], words[i]);
        if (!parsed) return std::unexpected(parsed.error());
        bits[i] = *parsed;
    }
    Cron cron;
    cron.minutes = bits[0];
    cron.hours = static_cast<std::uint32_t>(bits[1]);
    cron.days = static_cast<std::uint32_t>(bits[2]);
    cron.months = static_cast<std::uint32_t>(bits[3]);
    cron.weekdays = static_cast<std::uint32_t>((bits[4] | (bits[4] >> 7U)) & 0x7FU);
    cron.any_day = words[2].starts_with('*');
    cron.any_weekday = words[4].starts_with('*');
    if (!names_a_day(cron)) {
        return config_error(
            "cron.invalid",
            fmt::format("{} never comes: no such month has such a day", quoted(text)));
    }
    return cron;
}

}  // namespace pollux::base
