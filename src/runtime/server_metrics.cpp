// The two pages of metrics: about Pollux itself, and the polled values of devices.
#include <memory>

#include "observe/metric_writer.hpp"
#include "runtime/alerts/alert_metrics.hpp"
#include "runtime/core_metrics.hpp"
#include "runtime/process_stats.hpp"
#include "runtime/server.hpp"

namespace pollux::runtime {
namespace {

using observe::MetricId;
using observe::MetricWriter;

// Parts of a page come from several threads; the last one finishes it.
struct Gathering {
    std::string core;
    std::vector<ShardCounts> shards;
    InboundCounts inbound;
    AlertCounts alerts;
    DevicePage devices;
    std::size_t missing = 0;
    std::move_only_function<void(std::string)> done;
};

void plain(MetricWriter& writer, MetricId id, double value) {
    writer.family(id);
    writer.sample({}, value);
}

template <class Value>
void per_protocol(MetricWriter& writer, MetricId id, const ShardCounts& counts, Value&& value) {
    writer.family(id);
    for (const auto& [protocol, one] : counts.protocols) value(protocol, one);
}

void write_drivers(MetricWriter& writer, const std::vector<ShardCounts>& shards,
                   const InboundCounts& inbound) {
    ShardCounts all;
    for (const ShardCounts& shard : shards) {
        all.snmp_pdus += shard.snmp_pdus;
        for (const auto& [kind, count] : shard.snmp_reports) all.snmp_reports[kind] += count;
        all.snmp_discoveries += shard.snmp_discoveries;
        all.snmp_resyncs += shard.snmp_resyncs;
        all.snmp_untrusted += shard.snmp_untrusted;
        all.snmp_profiles += shard.snmp_profiles;
        all.ssh_handshakes += shard.ssh_handshakes;
        all.ssh_connections += shard.ssh_connections;
        for (const auto& [protocol, one] : shard.protocols) {
            ProtocolCounts& sum = all.protocols[protocol];
            for (const auto& [code, count] : one.ended) sum.ended[code] += count;
            sum.in_flight += one.in_flight;
            sum.bytes_in += one.bytes_in;
            sum.bytes_out += one.bytes_out;
        }
    }
    per_protocol(writer, MetricId::kDriverAsks, all, [&](const auto& protocol, const auto& one) {
        for (const auto& [code, count] : one.ended) {
            writer.sample({protocol, code}, static_cast<double>(count));
        }
    });
    per_protocol(writer, MetricId::kDriverInFlight, all,
                 [&](const auto& protocol, const auto& one) {
                     writer.sample({protocol}, static_cast<double>(one.in_flight));
                 });
    per_protocol(writer, MetricId::kDriverBytes, all, [&](const auto& protocol, const auto& one) {
        writer.sample({protocol, "in"}, static_cast<double>(one.bytes_in));
        writer.sample({protocol, "out"}, static_cast<double>(one.bytes_out));
    });
    plain(writer, MetricId::kDriverPdus, static_cast<double>(all.snmp_pdus));
    writer.family(MetricId::kSnmpReports);
    for (const auto& [kind, count] : all.snmp_reports) {
        writer.sample({kind}, static_cast<double>(count));
    }
    plain(writer, MetricId::kSnmpDiscoveries, static_cast<double>(all.snmp_discoveries));
    plain(writer, MetricId::kSnmpResyncs, static_cast<double>(all.snmp_resyncs));
    plain(writer, MetricId::kSnmpUntrusted, static_cast<double>(all.snmp_untrusted));
    const SnmpProfileCounts& profiles = all.snmp_profiles;
    plain(writer, MetricId::kSnmpProfiles, static_cast<double>(profiles.known));
    plain(writer, MetricId::kSnmpLiars, static_cast<double>(profiles.liars));
    plain(writer, MetricId::kSnmpStepsBack, static_cast<double>(profiles.steps_back));
    plain(writer, MetricId::kSnmpRelearned, static_cast<double>(profiles.relearned));
    plain(writer, MetricId::kSnmpNarrowChecks, static_cast<double>(profiles.narrow_checks));
    plain(writer, MetricId::kSshHandshakes, static_cast<double>(all.ssh_handshakes));
    plain(writer, MetricId::kSshConnections, static_cast<double>(all.ssh_connections));
    writer.family(MetricId::kLoopLongestTurn);
    for (std::size_t i = 0; i < shards.size(); ++i) {
        writer.sample({"shard-" + std::to_string(i)}, base::to_seconds(shards[i].longest_turn));
    }
    writer.sample({"inbound"}, base::to_seconds(inbound.longest_turn));
}

void write_signals(MetricWriter& writer, const InboundCounts& heard, const SignalCounts& polled) {
    writer.family(MetricId::kSignals);
    constexpr std::array<std::string_view, 3> kSteps = {"raised", "repeated", "cleared"};
    for (std::size_t i = 0; i < kSteps.size(); ++i) {
        writer.sample({"message", kSteps[i]}, static_cast<double>(heard.signals[i]));
        writer.sample({"poll", kSteps[i]}, static_cast<double>(polled.steps[i]));
    }
    plain(writer, MetricId::kSignalsRaised, static_cast<double>(polled.raised));
    plain(writer, MetricId::kSignalsWaiting, static_cast<double>(polled.waiting));
    plain(writer, MetricId::kSignalsDropped, static_cast<double>(polled.dropped));
}

void write_inbound(MetricWriter& writer, const InboundCounts& counts) {
    writer.family(MetricId::kInboundMessages);
    for (std::size_t kind = 0; kind < kInboundKindNames.size(); ++kind) {
        for (std::size_t result = 0; result < kInboundResultNames.size(); ++result) {
            writer.sample({kInboundKindNames[kind], kInboundResultNames[result]},
                          static_cast<double>(counts.messages[kind][result]));
        }
    }
    plain(writer, MetricId::kInboundWaiting, static_cast<double>(counts.waiting));
    plain(writer, MetricId::kInboundUnknownSenders, static_cast<double>(counts.unknown_senders));
    plain(writer, MetricId::kInboundDatagramsDropped,
          static_cast<double>(counts.datagrams_dropped));
    writer.family(MetricId::kInboundConfirms);
    writer.sample({"asked"}, static_cast<double>(counts.confirms_asked));
    writer.sample({"held"}, static_cast<double>(counts.confirms_held));
    writer.family(MetricId::kPushTargets);
    for (const PushState state : {PushState::kUnknown, PushState::kUp, PushState::kDown}) {
        writer.sample({to_string(state)},
                      static_cast<double>(counts.push_targets[static_cast<std::size_t>(state)]));
    }
}

void write_store(MetricWriter& writer, const store::StoreStats& stats) {
    plain(writer, MetricId::kStoreCommits, static_cast<double>(stats.commits));
    plain(writer, MetricId::kStoreFailures, static_cast<double>(stats.failures));
    plain(writer, MetricId::kStoreRows, static_cast<double>(stats.rows));
    plain(writer, MetricId::kStoreQueue, static_cast<double>(stats.queue_depth));
    plain(writer, MetricId::kStoreReads, static_cast<double>(stats.reads));
    std::array<double, store::kCommitBucketsMs.size()> bounds{};
    for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = store::kCommitBucketsMs[i] / 1e3;
    writer.family(MetricId::kStoreCommitSeconds);
    writer.histogram({}, bounds, stats.latency_counts, stats.latency_sum_s);
}

}  // namespace

void Server::write_own_metrics(const std::vector<ShardCounts>& shards, const InboundCounts& inbound,
                               std::string& out) const {
    MetricWriter writer(out);
    write_drivers(writer, shards, inbound);
    write_inbound(writer, inbound);
    write_signals(writer, inbound, journal_->counts());
    const store::StoreStats store = store_->stats();
    write_store(writer, store);
    writer.family(MetricId::kStoreBytes);
    writer.sample({"state"}, static_cast<double>(store.bytes_on_disk));
    if (history_) {
        const store::HistoryStats history = history_->stats();
        writer.sample({"history"}, static_cast<double>(history.bytes_on_disk));
        plain(writer, MetricId::kHistorySamples, static_cast<double>(history.samples_accepted));
        plain(writer, MetricId::kHistoryDropped,
              static_cast<double>(history.samples_dropped + history.samples_lost));
        plain(writer, MetricId::kHistorySeries, static_cast<double>(history.series));
        plain(writer, MetricId::kHistoryBytes, static_cast<double>(history.block_bytes_written));
    }
    writer.family(MetricId::kLogLines);
    for (const auto level : {observe::LogLevel::kDebug, observe::LogLevel::kInfo,
                             observe::LogLevel::kWarn, observe::LogLevel::kError}) {
        writer.sample({observe::to_string(level)}, static_cast<double>(log_.lines(level)));
    }
    writer.family(MetricId::kConfigReloads);
    writer.sample({"ok"}, static_cast<double>(reloads_ok_));
    writer.sample({"failed"}, static_cast<double>(reloads_failed_));
    if (last_reload_.us > 0) {
        plain(writer, MetricId::kConfigLastReload, static_cast<double>(last_reload_.us) / 1e6);
    }
    writer.family(MetricId::kBuildInfo);
    writer.sample({options_.version}, 1);
    const ProcessStats process = process_stats();
    plain(writer, MetricId::kProcessCpu, process.cpu_seconds);
    plain(writer, MetricId::kProcessMemory, static_cast<double>(process.resident_bytes));
    plain(writer, MetricId::kProcessOpenFds, static_cast<double>(process.open_fds));
    plain(writer, MetricId::kProcessStart, static_cast<double>(started_.wall.us) / 1e6);
}

void Server::metrics(std::move_only_function<void(std::string)> done) {
    auto gathering = std::make_shared<Gathering>();
    gathering->missing = shards_.size() + (alerts_ ? 3 : 2);
    gathering->shards.resize(shards_.size());
    gathering->done = std::move(done);
    const auto arrived = [this, gathering] {
        if (--gathering->missing > 0) return;
        std::string page = std::move(gathering->core);
        write_own_metrics(gathering->shards, gathering->inbound, page);
        MetricWriter writer(page);
        write_alert_metrics(writer, gathering->alerts);
        write_sentinel_metrics(writer, sentinel());
        gathering->done(std::move(page));
    };
    ask(
        [](const CoreLoop::View& view) {
            std::string text;
            write_core_metrics(view, text);
            return text;
        },
        [gathering, arrived](std::string text) {
            gathering->core = std::move(text);
            arrived();
        });
    desk_->collect_counts([this, gathering, arrived](const InboundCounts& counts) {
        later([gathering, arrived, counts] {
            gathering->inbound = counts;
            arrived();
        });
    });
    if (alerts_) {
        alerts_->collect_counts([this, gathering, arrived](AlertCounts counts) {
            later([gathering, arrived, counts = std::move(counts)] {
                gathering->alerts = counts;
                arrived();
            });
        });
    }
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        shards_[i]->collect_counts([this, i, gathering, arrived](ShardCounts counts) {
            later([i, gathering, arrived, counts = std::move(counts)]() mutable {
                gathering->shards[i] = std::move(counts);
                arrived();
            });
        });
    }
}

void Server::device_metrics(std::move_only_function<void(std::string)> done) {
    auto gathering = std::make_shared<Gathering>();
    gathering->missing = shards_.size();
    gathering->done = std::move(done);
    for (const auto& shard : shards_) {
        shard->collect_devices([this, gathering](DevicePage page) {
            later([gathering, page = std::move(page)]() mutable {
                gathering->devices.merge(std::move(page));
                if (--gathering->missing == 0) gathering->done(gathering->devices.text());
            });
        });
    }
}

}  // namespace pollux::runtime
