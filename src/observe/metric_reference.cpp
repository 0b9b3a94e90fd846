// The page docs/metrics-reference.md, written from the catalog.
#include <fmt/format.h>

#include <string_view>

#include "model/failure.hpp"
#include "observe/histogram.hpp"
#include "observe/metric_catalog.hpp"

namespace pollux::observe {
namespace {

constexpr std::string_view kIntroduction = R"(# Metrics

Written by `pollux metrics reference`; edit `src/observe/metric_catalog.cpp` or
`src/observe/metric_reference.cpp` instead.

There are two pages, both in the text format of Prometheus, on `POLLUX_METRICS_BIND` and
`POLLUX_METRICS_PORT` (127.0.0.1:9091 unless set; port 0 takes any free one, and the log line
`serving` tells which). Neither asks for a password: bind them to an address that only your
Prometheus reaches.

| page | what | made of |
|---|---|---|
| `/metrics` | Pollux itself: polls, freshness, queue, breakers, store, process | the tables below |
| `/metrics/devices` | the last polled value of every series | the manifests of the addons |

```sh
curl -s http://127.0.0.1:9091/metrics | grep pollux_targets
curl -s http://127.0.0.1:9091/metrics/devices | grep pollux_device_uptime
```

## What to know before reading numbers

- **Nothing is kept for the page.** Each scrape asks the scheduler while it stands still, so all its
  numbers belong to one moment. Staleness grows while nothing answers, without a poll in between.
- **A target that is removed is gone** from the next scrape on. Nothing has to be cleaned up.
- **Up to 2000 targets each has its own series** (`POLLUX_METRICS_TARGET_LIMIT`). Above it the
  durations, totals and errors of polls are summed up per class under `instance="*"`, the families
  about freshness name the 50 stalest targets only, and the families about failures name failing
  targets up to the limit. Sums per class stay complete: alert on `pollux_targets_over_bound`.
- **Counters begin at 0 when the process starts.** `rate()` and `increase()` know how to read that.
- `instance_type` is the addon (the class of a target), `instance` the rest of its key: the device,
  with `#group` behind it where a poll group has an interval of its own. Names that begin with
  `pulse_` are those of an older system, so that its dashboards and rules can go on.
- A target that never answered has a staleness of -1, no last success, and is counted in
  `pollux_targets_never_seen`. Families about breakers and dead letters have a series only for
  targets that have failed.

## Values of devices

On `/metrics/devices` a metric of a manifest becomes `pollux_device_<metric>_<unit>`, always a
gauge. A counter is shown as its rate, `pollux_device_<metric>_<unit>_per_second`, from the second
answer on. A state is shown as its number. Texts are not shown. Characters that a name cannot have
become `_`.

| label | what |
|---|---|
| `target` | the key, `addon::device` |
| `device` | the device |
| `addon` | the addon |
| `row` | the row of a table, like the name of an interface; only where there are rows |

`pollux_device_age_seconds` is the age of the newest answer of a target. What is older than twice
the target's longest interval, and older than five minutes, is left out: a gap in a chart is a gap
in what was known. This page has every series of every target and no limit; scrape it more rarely,
or not at all.

## Scraping

```yaml
scrape_configs:
  - job_name: pollux
    honor_labels: true        # `instance` is the polled target, not the address of Pollux
    static_configs:
      - targets: ["127.0.0.1:9091"]
  - job_name: pollux-devices
    metrics_path: /metrics/devices
    scrape_interval: 1m
    static_configs:
      - targets: ["127.0.0.1:9091"]
```

Three rules that find most trouble:

```yaml
groups:
  - name: pollux
    rules:
      - alert: PolluxDataTooOld
        expr: sum by (class) (pollux_targets_over_bound) > 0
        for: 5m
      - alert: PolluxStoreFailing
        expr: pollux_store_failing == 1
        for: 1m
      - alert: PolluxSweepRepaired
        expr: increase(pollux_sweep_repairs_total[1h]) > 0
```
)";

struct Section {
    std::string_view prefix;
    std::string_view title;
};

constexpr Section kSections[] = {
    {"pulse_monitor_", "Polls and freshness"},
    {"pulse_scheduler_", "Queue, breakers and dead letters"},
    {"pulse_http_", "Requests to the API"},
    {"pulse_alert", "Alerts"},
    {"pollux_", "More about Pollux"},
    {"process_", "The process"},
};

void add_table(std::string& page, const Section& section) {
    page += fmt::format("\n## {}\n\n| name | type | labels | meaning |\n|---|---|---|---|\n",
                        section.title);
    for (const MetricFamily& family : metric_catalog()) {
        if (!family.name.starts_with(section.prefix)) continue;
        page += fmt::format("| `{}` | {} | {} | {} |\n", family.name, to_string(family.type),
                            fmt::join(family.label_span(), ", "), family.help);
    }
}

void add_label_values(std::string& page) {
    std::string kinds;
    for (auto kind = static_cast<int>(model::FailureKind::kConnection);
         kind <= static_cast<int>(model::FailureKind::kUnknown); ++kind) {
        kinds += fmt::format("{}`{}`", kinds.empty() ? "" : ", ",
                             model::to_string(static_cast<model::FailureKind>(kind)));
    }
    page += fmt::format(
        "\n## Values of labels, bounds of histograms\n\n"
        "| label or family | values |\n|---|---|\n"
        "| `result` of polls | `success`, `error` |\n"
        "| `error_type` | {} |\n"
        "| `pulse_monitor_poll_duration_seconds` | {} |\n"
        "| `pulse_scheduler_queue_wait_seconds`, `pollux_schedule_lag_seconds` | {} |\n"
        "| `route` | the template of the path, `unmatched` for all others |\n"
        "| `status_class` | `client_error`, `server_error` |\n"
        "| `pulse_http_request_duration_seconds` | {} |\n",
        kinds, fmt::join(kPollDurationBounds, ", "), fmt::join(kQueueWaitBounds, ", "),
        fmt::join(kHttpDurationBounds, ", "));
}

}  // namespace

std::string metric_reference() {
    std::string page(kIntroduction);
    for (const Section& section : kSections) add_table(page, section);
    add_label_values(page);
    return page;
}

}  // namespace pollux::observe
