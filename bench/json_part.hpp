// JSON of a page with many rows: the writer without a tree beside the tree's own writer.
#pragma once

#include <string>

#include "base/check.hpp"
#include "bench/result_table.hpp"
#include "document/json_writer.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::bench {

// Ten thousand rows like those of the health page.
inline std::string write_rows(std::size_t rows) {
    std::string out;
    document::JsonWriter json(out);
    json.object().field("enabled", true).key("instances").array();
    for (std::size_t i = 0; i < rows; ++i) {
        json.object().field("key", "pve::pve-node1").field("type", "pve");
        json.key("breaker").object().field("state", "closed").field("failureCount", i % 7);
        json.time_field("since", base::WallTime{1'772'323'199'999'000}).end_object();
        json.key("deadLetter").object().field("present", i % 9 == 0).end_object();
        json.key("pollStatus").object().field("lastDurationSeconds", 0.125 + 1e-3 * double(i));
        json.field("lastSuccess", base::WallTime{1'772'323'199'999'000});
        json.field("message", "the \"core\" switch does not answer").end_object().end_object();
    }
    json.end_array().end_object();
    return out;
}

inline void measure_json(ResultTable& table, int rounds) {
    constexpr std::size_t kRows = 10'000;
    document::Diagnostics diagnostics;
    const std::string text = write_rows(kRows);
    const document::Parsed tree = document::parse(
        text, "a.json", diagnostics, {.max_bytes = 64U << 20U, .max_nodes = 10'000'000});
    POLLUX_CHECK_MSG(tree.ok, "the page cannot be read");
    Slices ours;
    Slices theirs;
    std::size_t bytes = 0;
    for (int i = 0; i < rounds; ++i) {
        auto start = Clock::now();
        CoreShare share;
        bytes += write_rows(kRows).size();
        ours.add(static_cast<double>(nanos_since(start)) * share.now() * 1e-6);
        start = Clock::now();
        const CoreShare other;
        bytes += document::to_json(tree.root).size();
        theirs.add(static_cast<double>(nanos_since(start)) * other.now() * 1e-6);
    }
    table.require(bytes > 0, "nothing was written");
    table.add({.what = fmt::format("JSON, 10,000 rows, {:.1f} MB", double(text.size()) * 1e-6),
               .ours = fmt::format("{:.1f} ms", ours.median()),
               .goal = "<= 40 ms",
               .met = ours.median() <= 40,
               .peer = "to_json of the tree",
               .peers_figure = fmt::format("{:.1f} ms", theirs.median()),
               .ratio = theirs.median() / ours.median()});
}

}  // namespace pollux::bench
