// The command line that the benchmarks share: --quick, and --only PART as often as wanted.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

namespace pollux::bench {

struct BenchOptions {
    bool quick = false;
    std::vector<std::string_view> only;

    bool wants(std::string_view part) const {
        return only.empty() || std::ranges::find(only, part) != only.end();
    }
};

// Ends the program with the usage when a word is not understood.
inline BenchOptions bench_options(int count, char** words, std::string_view usage,
                                  std::span<const std::string_view> parts) {
    BenchOptions options;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        if (word == "--quick") {
            options.quick = true;
        } else if (word == "--only" && i + 1 < count &&
                   std::ranges::find(parts, words[i + 1]) != parts.end()) {
            options.only.emplace_back(words[++i]);
        } else {
            fmt::print(stderr, "not understood: {}\n{}", word, usage);
            std::exit(2);
        }
    }
    return options;
}

}  // namespace pollux::bench
