// Cases of the classic interval rule: config, interval, interval_sequence, interval_jitter, clamp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "schedule/classic_interval.hpp"
#include "tests/known_answers/categories.hpp"

namespace pollux::known_answers {
namespace {

using schedule::ClassicConfig;
using schedule::ClassicDecision;
using schedule::ClassicInput;

// A case that asks for more runs than this is a mistake in the file.
constexpr std::int64_t kMaxRuns = 100'000;

ClassicConfig read_bounds(Fields& fields) {
    ClassicConfig config;
    config.base = fields.seconds("base_s");
    config.min = fields.seconds("min_s");
    config.max = fields.seconds("max_s");
    return config;
}

void run_config(CaseRun& run) {
    const ClassicConfig config = normalised(read_bounds(run.inputs()));
    run.check_seconds("base_s", config.base);
    run.check_seconds("min_s", config.min);
    run.check_seconds("max_s", config.max);
}

// Not normalised here: the rule itself has an answer for bounds that a configuration never has.
void run_interval(CaseRun& run) {
    Fields& fields = run.inputs();
    ClassicConfig config = read_bounds(fields);
    config.alpha = fields.number("alpha");
    config.error_penalty = fields.number("error_penalty");
    config.queue_stretch = fields.number("queue_stretch");
    config.jitter = fields.number("jitter_fraction");
    ClassicInput input;
    input.staleness_score = fields.number("staleness_score");
    input.error_count = fields.integer("error_count");
    input.ready_depth = fields.integer("queue_depth");
    input.last_interval = fields.seconds("last_interval_s");
    if (const auto ema = fields.nullable_number("ema_state_s"))
        input.ema = base::from_seconds(*ema);
    input.unit = fields.number_or("rng", input.unit);

    const ClassicDecision decision = classic_interval(config, input);
    run.check_seconds("interval_s", decision.interval);
    if (run.expected().has("test_bounds_s")) {
        run.check_within("test_bounds_s", base::to_seconds(decision.interval));
    }
}

void run_sequence(CaseRun& run) {
    Fields& fields = run.inputs();
    ClassicConfig config = read_bounds(fields);
    config.jitter = fields.number("jitter_fraction");
    ClassicInput input;
    input.ready_depth = fields.integer("queue_depth");
    const bool same_key = fields.boolean_or("same_key", true);

    std::vector<double> got;
    for (const double score : fields.numbers("scores")) {
        input.staleness_score = score;
        const ClassicDecision decision = classic_interval(config, input);
        if (same_key) input.ema = decision.smoothed;
        got.push_back(base::to_seconds(decision.interval));
    }
    const double tolerance = run.expected().number_or("tolerance_s", kDefaultTolerance);
    run.check_numbers("intervals_s", got, tolerance);
}

// The rule is given its random number, so the runs walk evenly through all that it can be.
void run_jitter(CaseRun& run) {
    Fields& fields = run.inputs();
    ClassicConfig config = read_bounds(fields);
    config.jitter = fields.number("jitter_fraction");
    ClassicInput input;
    input.staleness_score = fields.number("score");
    const std::int64_t runs = fields.integer("runs");
    if (runs < 1 || runs > kMaxRuns) {
        fields.problem("runs", "must be from 1 to 100000");
        return;
    }
    std::vector<double> got;
    for (std::int64_t i = 0; i < runs; ++i) {
        input.unit = static_cast<double>(i) / static_cast<double>(runs);
        got.push_back(base::to_seconds(classic_interval(config, input).interval));
    }
    std::ranges::sort(got);
    run.check_within("all_within_s", got.front());
    run.check_within("all_within_s", got.back());
    const auto repeated = std::ranges::unique(got);
    got.erase(repeated.begin(), repeated.end());
    const std::int64_t least = run.expected().integer_or("min_unique", 1);
    if (std::ssize(got) < least) {
        run.mismatch("min_unique", fmt::to_string(least), fmt::to_string(got.size()));
    }
}

void run_clamp(CaseRun& run) {
    Fields& fields = run.inputs();
    const double value = fields.number("v");
    const double low = fields.number("min");
    const double high = fields.number("max");
    run.check_number("value", schedule::clamp_number(value, low, high));
}

constexpr std::array<Category, 5> kCategories = {{
    {"config", run_config},
    {"interval", run_interval},
    {"interval_sequence", run_sequence},
    {"interval_jitter", run_jitter},
    {"clamp", run_clamp},
}};

}  // namespace

std::span<const Category> interval_categories() { return kCategories; }

}  // namespace pollux::known_answers
