#include "app/top_screen.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "net/event_loop.hpp"

namespace pollux::app {
namespace {

using document::Node;

std::string text_of(const Node& node, std::string_view field) {
    const Node* found = node.find(field);
    return found == nullptr || found->is_null() ? std::string("-") : found->scalar();
}

double number_of(const Node& node, std::string_view field) {
    const std::string text = text_of(node, field);
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::string seconds_of(const Node& node, std::string_view field) {
    const Node* found = node.find(field);
    if (found == nullptr || found->is_null()) return "never";
    return base::format_duration(base::from_seconds(number_of(node, field)));
}

const std::vector<Node>& items_of(const Node& node, std::string_view field) {
    static const std::vector<Node> kNone;
    const Node* found = node.find(field);
    return found == nullptr ? kNone : found->items();
}

std::string fit(std::string text, std::size_t width) {
    if (text.size() <= width) return text;
    // Cut between characters, not inside of one.
    std::size_t end = width > 0 ? width - 1 : 0;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
    text.resize(end);
    return text + "~";
}

std::string bar(double share, std::size_t width) {
    const double inside = share > 0 ? std::min(share, 1.0) : 0;
    const auto full = static_cast<std::size_t>(inside * static_cast<double>(width));
    return std::string(full, '#') + std::string(width - full, '.');
}

}  // namespace

int terminal_width() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
    return size.ws_col;
}

std::string with_cleared_lines(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\n') out += "\x1b[K";
        out += c;
    }
    return out;
}

double TopScreen::polls_per_second(const Node& status) {
    const double started = number_of(status, "started");
    const double now = base::to_seconds(net::boot_now() - base::BootTime{});
    // A count that went back is that of a server that was started again.
    if (last_started_ > started) last_started_ = -1;
    if (last_started_ >= 0 && now > last_time_) {
        const double fresh = (started - last_started_) / (now - last_time_);
        rate_ = rate_ == 0 ? fresh : 0.7 * rate_ + 0.3 * fresh;
    }
    last_started_ = started;
    last_time_ = now;
    return rate_;
}

std::string TopScreen::line(const Node& status) {
    return fmt::format(
        "{}  {} tasks, {:.1f} polls/s, {} in flight, {} ready, {} over bound, {} failing, {} "
        "breakers, {} dead letters\n",
        text_of(status, "time"), text_of(status, "enabled"), polls_per_second(status),
        text_of(status, "in_flight"), text_of(status, "ready"), text_of(status, "over_bound"),
        text_of(status, "failing"), text_of(status, "breakers"), text_of(status, "dead_letters"));
}

std::string TopScreen::page(const Node& status, int width) {
    const auto columns = static_cast<std::size_t>(std::max(width, 60));
    const double rate = polls_per_second(status);
    const double cap = number_of(status, "global_rate");
    static constexpr std::string_view kModes[] = {"off", "shadow", "on"};
    const auto mode = static_cast<std::size_t>(number_of(status, "adaptive"));
    std::string out;
    out += fmt::format("Pollux   {}   adaptive polling {}{}\n\n", text_of(status, "time"),
                       kModes[std::min<std::size_t>(mode, 2)],
                       text_of(status, "store_failing") == "true" ? "   STORE FAILING" : "");
    out += fmt::format("polls    {:8.1f}/s of {:.0f}   [{}]   planned {:.1f}/s\n", rate, cap,
                       bar(cap > 0 ? rate / cap : 0, 24), number_of(status, "planned_rate"));
    out += fmt::format("tasks    {:>8}   ready {}   in flight {}   due soon {}\n",
                       text_of(status, "enabled"), text_of(status, "ready"),
                       text_of(status, "in_flight"), text_of(status, "due_soon"));
    out +=
        fmt::format("fresh    {:>8} over their bound   {} never answered   start lag p99 <= {}\n",
                    text_of(status, "over_bound"), text_of(status, "never_answered"),
                    seconds_of(status, "lag_p99"));
    out += fmt::format("failing  {:>8}   breakers {}   dead letters {}\n\n",
                       text_of(status, "failing"), text_of(status, "breakers"),
                       text_of(status, "dead_letters"));
    const std::size_t key_width = std::min<std::size_t>(44, columns / 2);
    out += fmt::format("{:<{}} {:>10} {:>10} {:>10}  tier\n", "NEXT", key_width, "due in",
                       "interval", "age");
    for (const Node& task : items_of(status, "next")) {
        out +=
            fmt::format("{:<{}} {:>10} {:>10} {:>10}  {}\n", fit(text_of(task, "key"), key_width),
                        key_width, seconds_of(task, "due_in"), seconds_of(task, "interval"),
                        seconds_of(task, "age"), text_of(task, "tier"));
    }
    const std::vector<Node>& worst = items_of(status, "worst");
    if (worst.empty()) return out;
    out += fmt::format("\n{:<{}} {:>8} {:>10} {:>10}  why\n", "FAILING", key_width, "failures",
                       "breaker", "next try");
    for (const Node& task : worst) {
        const std::size_t used = key_width + 33;
        out +=
            fmt::format("{:<{}} {:>8} {:>10} {:>10}  {}\n", fit(text_of(task, "key"), key_width),
                        key_width, text_of(task, "failures"),
                        text_of(task, "dead_letter") != "none" ? "dead" : text_of(task, "breaker"),
                        seconds_of(task, "due_in"),
                        fit(text_of(task, "error"), columns > used ? columns - used : 0));
    }
    return out;
}

}  // namespace pollux::app
