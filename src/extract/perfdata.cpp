#include "extract/perfdata.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "document/scalar.hpp"

namespace pollux::extract {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kMaxLabel = 200;
constexpr std::size_t kMaxUnit = 16;
constexpr std::size_t kMaxRange = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// How many characters at the beginning make a number: sign, digits, point, exponent.
std::size_t number_length(std::string_view text) {
    std::size_t at = 0;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    std::size_t digits = 0;
    while (at < text.size() && (is_digit(text[at]) || text[at] == '.')) {
        if (is_digit(text[at])) ++digits;
        ++at;
    }
    if (digits == 0) return 0;
    // An exponent, unless the E begins a unit.
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        std::size_t end = at + 1;
        if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
        const std::size_t first = end;
        while (end < text.size() && is_digit(text[end])) ++end;
        if (end > first) at = end;
    }
    return at;
}

std::optional<double> number_of(std::string_view text) {
    if (text.empty() || number_length(text) != text.size()) return std::nullopt;
    if (text.starts_with('+')) text.remove_prefix(1);
    std::string whole(text);
    // "5." and ".5" are numbers to every plugin.
    if (whole.starts_with('.')) whole.insert(0, "0");
    if (whole.starts_with("-.")) whole.insert(1, "0");
    if (whole.ends_with('.')) whole.push_back('0');
    return document::parse_number(whole);
}

class PerfReader {
  public:
    PerfReader(std::string_view text, PluginOutput& out) : text_(text), out_(out) {}

    void read() {
        while (skip_blanks()) {
            std::string label;
            const bool labelled = take_label(label);
            const std::string_view piece = take_piece();
            if (!labelled || !add(std::move(label), piece)) ++out_.unreadable;
        }
    }

  private:
    bool skip_blanks() {
        const std::size_t at = text_.find_first_not_of(kBlanks);
        text_.remove_prefix(std::min(at, text_.size()));
        return !text_.empty();
    }

    // Up to and with the equals sign. A quote within quotes is written twice.
    bool take_label(std::string& label) {
        if (text_[0] != '\'') {
            const std::size_t end = text_.find_first_of("= \t\r\n");
            if (end == std::string_view::npos || text_[end] != '=') return false;
            label = std::string(text_.substr(0, end));
            text_.remove_prefix(end + 1);
            return true;
        }
        std::size_t at = 1;
        while (at < text_.size()) {
            if (text_[at] == '\'' && at + 1 < text_.size() && text_[at + 1] == '\'') {
                label.push_back('\'');
                at += 2;
            } else if (text_[at] == '\'') {
                break;
            } else {
                label.push_back(text_[at++]);
            }
        }
        if (at + 1 >= text_.size() || text_[at + 1] != '=') return false;
        text_.remove_prefix(at + 2);
        return true;
    }

    std::string_view take_piece() {
        const std::size_t end = std::min(text_.find_first_of(kBlanks), text_.size());
        const std::string_view piece = text_.substr(0, end);
        text_.remove_prefix(end);
        return piece;
    }

    bool add(std::string label, std::string_view piece) {
        if (label.empty() || label.size() > kMaxLabel || base::has_control(label) ||
            !base::is_valid_utf8(label) || out_.values.size() >= kMaxPerfValues) {
            return false;
        }
        std::array<std::string_view, 5> parts;
        for (std::string_view& part : parts) {
            const std::size_t end = std::min(piece.find(';'), piece.size());
            part = piece.substr(0, end);
            piece.remove_prefix(std::min(end + 1, piece.size()));
        }
        PerfValue value;
        value.label = std::move(label);
        if (parts[0] != "U") {
            const std::size_t length = number_length(parts[0]);
            value.value = number_of(parts[0].substr(0, length));
            if (!value.value) return false;
            const std::string_view unit = parts[0].substr(length);
            if (unit.size() > kMaxUnit || base::has_control(unit) || !base::is_valid_utf8(unit)) {
                return false;
            }
            value.unit = std::string(unit);
        }
        value.warning = base::valid_utf8(parts[1].substr(0, kMaxRange));
        value.critical = base::valid_utf8(parts[2].substr(0, kMaxRange));
        value.low = number_of(parts[3]);
        value.high = number_of(parts[4]);
        out_.values.push_back(std::move(value));
        return true;
    }

    std::string_view text_;
    PluginOutput& out_;
};

}  // namespace

PluginOutput parse_plugin_output(std::string_view output) {
    PluginOutput out;
    const std::size_t first_end = std::min(output.find('\n'), output.size());
    const std::string_view first = output.substr(0, first_end);
    const std::string_view rest = output.substr(std::min(first_end + 1, output.size()));
    const std::size_t bar = std::min(first.find('|'), first.size());
    out.text = base::plain_text(first.substr(0, bar));
    PerfReader(first.substr(std::min(bar + 1, first.size())), out).read();
    // After the first bar of the long text everything is performance data.
    const std::size_t long_bar = std::min(rest.find('|'), rest.size());
    out.long_text = base::plain_text(rest.substr(0, long_bar));
    PerfReader(rest.substr(std::min(long_bar + 1, rest.size())), out).read();
    return out;
}

BaseUnit base_unit(std::string_view unit) {
    static constexpr std::array<std::pair<std::string_view, std::pair<std::string_view, double>>,
                                19>
        kUnits = {{{"s", {"seconds", 1}},
                   {"ms", {"seconds", 1e-3}},
                   {"us", {"seconds", 1e-6}},
                   {"ns", {"seconds", 1e-9}},
                   {"%", {"percent", 1}},
                   {"c", {"count", 1}},
                   {"B", {"bytes", 1}},
                   {"KB", {"bytes", 1024}},
                   {"kB", {"bytes", 1024}},
                   {"MB", {"bytes", 1048576}},
                   {"GB", {"bytes", 1073741824}},
                   {"TB", {"bytes", 1099511627776}},
                   {"PB", {"bytes", 1125899906842624}},
                   {"KiB", {"bytes", 1024}},
                   {"MiB", {"bytes", 1048576}},
                   {"GiB", {"bytes", 1073741824}},
                   {"TiB", {"bytes", 1099511627776}},
                   {"PiB", {"bytes", 1125899906842624}},
                   {"b", {"bits", 1}}}};
    for (const auto& [name, base] : kUnits) {
        if (name == unit) return {std::string(base.first), base.second};
    }
    return {std::string(unit), 1};
}

std::int64_t plugin_state(int exit_status) {
    return exit_status >= 0 && exit_status <= 3 ? exit_status : 3;
}

}  // namespace pollux::extract
