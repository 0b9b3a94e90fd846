// Cases of what depends on time that passed: backoff and staleness.
#include <array>

#include "schedule/backoff.hpp"
#include "schedule/staleness.hpp"
#include "tests/known_answers/categories.hpp"

namespace pollux::known_answers {
namespace {

// Some moment: only distances from it count.
constexpr base::BootTime kNow{1'000'000'000'000'000};

void run_backoff(CaseRun& run) {
    Fields& fields = run.inputs();
    schedule::BackoffConfig config;
    config.initial = fields.seconds("initial_s");
    config.multiplier = fields.number("multiplier");
    config.jitter = fields.number("jitter");
    config.max = fields.seconds("max_s");
    const std::int64_t attempt = fields.integer("attempt");
    const base::Duration delay = backoff_delay(config, attempt, fields.number("rng"));
    run.check_seconds("delay_s", delay);
    if (run.expected().has("range_s")) run.check_within("range_s", base::to_seconds(delay));
}

void run_staleness(CaseRun& run) {
    Fields& fields = run.inputs();
    schedule::StalenessInput input;
    input.tracked = fields.boolean_or("tracked", true);
    input.now = kNow;
    input.max_stale = fields.seconds("max_stale_s");
    if (const auto age = fields.nullable_number("age_s")) {
        input.last_success = kNow - base::from_seconds(*age);
    }
    const schedule::StalenessScore got = staleness_score(input);
    const double tolerance = run.expected().number_or("tolerance", kDefaultTolerance);
    run.check_number("score", got.score, tolerance);
    if (run.expected().has("known")) run.check_boolean("known", got.known);
}

constexpr std::array<Category, 2> kCategories = {{
    {"backoff", run_backoff},
    {"staleness", run_staleness},
}};

}  // namespace

std::span<const Category> delay_categories() { return kCategories; }

}  // namespace pollux::known_answers
