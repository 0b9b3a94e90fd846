// `pollux history`: what was measured. Asks the running server, which holds the newest samples.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/control_client.hpp"
#include "base/time.hpp"
#include "document/scalar.hpp"
#include "document/write.hpp"
#include "net/event_loop.hpp"

namespace pollux::app {
namespace {

using document::Node;

constexpr std::size_t kMostLines = 60;  // of a table, unless a step was given

struct HistoryArguments {
    std::string data = "data";
    std::string key;
    std::string metric;
    std::string row;
    std::string last = "1h";
    std::string from;
    std::string to;
    std::string step;
    std::string output = "table";
};

struct Range {
    base::WallTime from;
    base::WallTime to;
    base::Duration step{};
};

int complain(const std::string& message) {
    fmt::print(stderr, "pollux: {}\n", message);
    return 1;
}

// The smallest round step that gives at most kMostLines lines.
base::Duration round_step(base::Duration length) {
    using namespace std::chrono_literals;
    constexpr std::array<base::Duration, 12> kSteps = {10s, 30s, 60s, 5min, 10min, 30min,
                                                       1h,  3h,  6h,  12h,  24h,   168h};
    for (const base::Duration step : kSteps) {
        if (length / step <= static_cast<std::int64_t>(kMostLines)) return step;
    }
    return kSteps.back();
}

base::Result<Range> range_of(const HistoryArguments& arguments) {
    const auto refuse = [](std::string_view option, std::string_view text, std::string_view form) {
        return base::config_error("history.range", fmt::format("--{} {}: {}", option, text, form));
    };
    Range range;
    range.to = net::wall_now();
    if (!arguments.to.empty()) {
        const auto to = base::parse_utc(arguments.to);
        if (!to) return refuse("to", arguments.to, "write a time like 2026-03-01T12:00:00Z");
        range.to = *to;
    }
    const auto last = document::parse_duration(arguments.last);
    if (!last || *last == base::Duration::zero()) {
        return refuse("last", arguments.last, "write a duration like 30m, 24h or 7d");
    }
    range.from = range.to - *last;
    if (!arguments.from.empty()) {
        const auto from = base::parse_utc(arguments.from);
        if (!from) return refuse("from", arguments.from, "write a time like 2026-03-01T12:00:00Z");
        range.from = *from;
    }
    if (range.from >= range.to) {
        return refuse("from", base::format_utc(range.from), "must lie before the end of the range");
    }
    range.step = round_step(range.to - range.from);
    if (!arguments.step.empty()) {
        const auto step = document::parse_duration(arguments.step);
        if (!step) return refuse("step", arguments.step, "write a duration like 5m, or 0 for all");
        range.step = *step;
    }
    return range;
}

std::string text_of(const Node& node, std::string_view field) {
    const Node* found = node.find(field);
    return found == nullptr || found->is_null() ? "-" : found->scalar();
}

// Six digits are enough for people; -o json and csv have all of them.
std::string short_number(const Node& node, std::string_view field) {
    const auto value = document::parse_number(text_of(node, field));
    if (!value) return "-";
    const double size = std::abs(*value);
    return size >= 1e6 && size < 1e15 ? fmt::format("{:.0f}", *value)
                                      : fmt::format("{:.6g}", *value);
}

std::string series_title(const Node& series) {
    std::string title = text_of(series, "metric");
    if (const std::string row = text_of(series, "row"); !row.empty()) title += "[" + row + "]";
    return title;
}

void print_list(const Node& page) {
    fmt::print("{:<40} {:>14} {:<24} {}\n", "series", "newest", "at", "unit");
    for (const Node& series : page.find("series")->items()) {
        fmt::print("{:<40} {:>14} {:<24} {}\n", series_title(series), short_number(series, "last"),
                   text_of(series, "at"), text_of(series, "unit"));
    }
}

void print_table(const Node& page) {
    bool first = true;
    for (const Node& series : page.find("series")->items()) {
        if (!first) fmt::print("\n");
        first = false;
        fmt::print("{} {} (from {})\n", series_title(series), text_of(series, "unit"),
                   text_of(series, "from"));
        const auto& points = series.find("points")->items();
        if (points.empty()) {
            fmt::print("  nothing in this time\n");
            continue;
        }
        fmt::print("  {:<24} {:>12} {:>12} {:>12} {:>12} {:>7}\n", "time (UTC)", "min", "mean",
                   "max", "last", "samples");
        for (const Node& point : points) {
            fmt::print("  {:<24} {:>12} {:>12} {:>12} {:>12} {:>7}\n", text_of(point, "at"),
                       short_number(point, "min"), short_number(point, "mean"),
                       short_number(point, "max"), short_number(point, "last"),
                       text_of(point, "count"));
        }
        if (text_of(series, "truncated") == "true") {
            fmt::print("  ... there are more; give a larger --step or a shorter time\n");
        }
    }
}

// A field of RFC 4180.
std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + "\"";
}

void print_csv(const Node& page) {
    fmt::print("metric,row,time,count,min,mean,max,last\n");
    for (const Node& series : page.find("series")->items()) {
        for (const Node& point : series.find("points")->items()) {
            fmt::print("{},{},{},{},{},{},{},{}\n", csv_field(text_of(series, "metric")),
                       csv_field(text_of(series, "row")), text_of(point, "at"),
                       text_of(point, "count"), text_of(point, "min"), text_of(point, "mean"),
                       text_of(point, "max"), text_of(point, "last"));
        }
    }
}

int show(const HistoryArguments& arguments) {
    const auto range = range_of(arguments);
    if (!range) return complain(range.error().message);
    const auto escaped = &ControlClient::escaped;
    const auto answer =
        ControlClient(arguments.data)
            .ask("GET",
                 fmt::format("/history?key={}&metric={}&row={}&from={}&to={}&step={}",
                             escaped(arguments.key), escaped(arguments.metric),
                             escaped(arguments.row), escaped(base::format_utc(range->from)),
                             escaped(base::format_utc(range->to)),
                             escaped(document::duration_text(range->step))),
                 "");
    if (!answer) return complain(answer.error().message);
    if (arguments.output == "json") {
        fmt::print("{}\n", document::to_json(*answer));
    } else if (arguments.metric.empty()) {
        print_list(*answer);
    } else if (arguments.output == "csv") {
        print_csv(*answer);
    } else {
        print_table(*answer);
    }
    if (text_of(*answer, "more") == "true") {
        fmt::print(stderr, "pollux: there are more series; name a metric or a --row\n");
    }
    return 0;
}

}  // namespace

void add_history(CLI::App& app, int& status) {
    auto arguments = std::make_shared<HistoryArguments>();
    auto* command =
        app.add_subcommand("history", "What was measured: series, or values over time.");
    command->add_option("key", arguments->key, "addon::device, as in `pollux top`")->required();
    command->add_option("metric", arguments->metric, "Nothing: list what there is");
    command->add_option("--row", arguments->row, "Only this interface, disk, ...");
    command->add_option("--last", arguments->last, "How far back, like 30m, 24h or 7d")
        ->capture_default_str();
    command->add_option("--from", arguments->from, "Instead: from this time on (RFC 3339)");
    command->add_option("--to", arguments->to, "Up to this time (RFC 3339); now if not given");
    command->add_option("--step", arguments->step,
                        "One line per step; 0: every sample. Chosen for one screen if not given");
    command->add_option("-o,--output", arguments->output, "table, csv or json")
        ->check(CLI::IsMember({"table", "csv", "json"}))
        ->capture_default_str();
    command->add_option("--data", arguments->data, "Data folder of the server")
        ->envname("POLLUX_DATA")
        ->capture_default_str();
    command->callback([arguments, &status] { status = show(*arguments); });
}

}  // namespace pollux::app
