// The counts of the desk of alerts as metrics.
#pragma once

#include "observe/metric_writer.hpp"
#include "runtime/alerts/alert_desk.hpp"

namespace pollux::runtime {

void write_alert_metrics(observe::MetricWriter& writer, const AlertCounts& counts);
void write_sentinel_metrics(observe::MetricWriter& writer, const model::SentinelStatus& status);

}  // namespace pollux::runtime
