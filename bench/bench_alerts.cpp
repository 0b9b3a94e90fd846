// How fast the alert engine takes observations with 100,000 alerts open, and what an alert costs;
// beside a plain deduplication in a hash map, which knows no time, cause, incident or restart. And
// how soon somebody who watches is told of an alert by a whole server.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "alert/alert_engine.hpp"
#include "alert/fingerprint.hpp"
#include "base/uuid.hpp"
#include "bench/alert_live_part.hpp"
#include "bench/bench_options.hpp"
#include "bench/result_table.hpp"

namespace {

using namespace pollux;
using namespace std::chrono_literals;

constexpr std::size_t kTargets = 10'000;
constexpr std::size_t kTypes = 10;
constexpr std::size_t kOpen = kTargets * kTypes;
constexpr std::size_t kBatch = 100;
constexpr std::size_t kPerSlice = 200'000;
constexpr int kSlices = 5;
constexpr double kGoal = 200'000;

alert::AlertFleet fleet() {
    alert::AlertFleet out;
    for (std::size_t i = 0; i < kTargets; ++i) {
        alert::TargetFacts facts;
        facts.device = fmt::format("switch-{:05}", i);
        facts.addon = "snmp-switch";
        facts.key = facts.addon + "::" + facts.device;
        facts.id = base::make_uuid7(base::WallTime{1'700'000'000'000'000}, bench::scatter(i),
                                    bench::scatter(i + kTargets));
        facts.address = fmt::format("10.{}.{}.{}", i / 65536, i / 256 % 256, i % 256);
        facts.labels = {{"site", "berlin"}, {"role", "access"}};
        facts.groups = {"berlin", "all"};
        out.targets.push_back(std::move(facts));
    }
    return out;
}

alert::Observed observation(const alert::AlertFleet& fleet, std::size_t which,
                            std::uint64_t round) {
    alert::Observed out;
    out.target = fleet.targets[which / kTypes].key;
    out.signal.type = fmt::format("interface_errors_{}", which % kTypes);
    out.signal.subject = "GigabitEthernet1/0/24";
    out.signal.severity = "warning";
    out.signal.title = "Errors on an interface";
    out.signal.message = fmt::format("{} errors/s on GigabitEthernet1/0/24", round % 1000);
    out.signal.rule = "rate(ifInErrors) > 10";
    out.signal.fields = {{"value", std::to_string(round % 1000)}, {"trigger", "10"}};
    return out;
}

// Batches of observations: of ten, eight repeat an open alert, one ends one, one raises it again.
std::vector<std::vector<alert::Input>> mixed(const alert::AlertFleet& fleet) {
    std::vector<std::vector<alert::Input>> out;
    std::size_t ended = 0;
    for (std::size_t i = 0; i < kPerSlice; ++i) {
        if (i % kBatch == 0) out.emplace_back();
        std::size_t which = bench::scatter(i) % kOpen;
        if (i % 10 == 8) ended = which;
        if (i % 10 == 9) which = ended;
        alert::Observed one = observation(fleet, which, i);
        if (i % 10 == 8) one.step = alert::ObservedStep::kCleared;
        out.back().emplace_back(std::move(one));
    }
    return out;
}

// What a plain solution does: one map from fingerprint to alert, and a copy for whoever listens.
class PlainDedup {
  public:
    explicit PlainDedup(const alert::AlertFleet& fleet) {
        for (const auto& facts : fleet.targets) targets_[facts.key] = &facts;
    }

    void step(const std::vector<alert::Input>& inputs, std::vector<model::Alert>& out) {
        out.clear();
        for (const alert::Input& input : inputs) {
            const auto& one = std::get<alert::Observed>(input);
            const alert::TargetFacts& facts = *targets_.at(one.target);
            const std::string fingerprint =
                alert::own_fingerprint(facts.id, facts.addon, one.signal.type, one.signal.subject);
            if (one.step == alert::ObservedStep::kCleared) {
                const auto found = alerts_.find(fingerprint);
                if (found == alerts_.end()) continue;
                found->second.state = model::AlertState::kResolved;
                out.push_back(std::move(found->second));
                alerts_.erase(found);
                continue;
            }
            model::Alert& alert = alerts_[fingerprint];
            if (alert.id.empty()) create(alert, fingerprint, facts, one);
            alert.message = one.signal.message;
            alert.fields = one.signal.fields;
            ++alert.occurrences;
            out.push_back(alert);
        }
    }

  private:
    void create(model::Alert& alert, const std::string& fingerprint,
                const alert::TargetFacts& facts, const alert::Observed& one) {
        ++made_;
        alert.id = base::make_uuid7(base::WallTime{1'700'000'000'000'000}, bench::scatter(made_),
                                    bench::scatter(~made_));
        alert.fingerprint = fingerprint;
        alert.addon = facts.addon;
        alert.type = one.signal.type;
        alert.subject = one.signal.subject;
        alert.target = facts.key;
        alert.target_id = facts.id;
        alert.device = facts.device;
        alert.address = facts.address;
        alert.labels = facts.labels;
        alert.groups = facts.groups;
        alert.title = one.signal.title;
        alert.rule = one.signal.rule;
        alert.state = model::AlertState::kActive;
    }

    std::unordered_map<std::string, const alert::TargetFacts*> targets_;
    std::unordered_map<std::string, model::Alert> alerts_;
    std::uint64_t made_ = 0;
};

// Per second of the time on a core.
template <class Step>
bench::Slices measure(const std::vector<std::vector<alert::Input>>& batches, Step&& step) {
    bench::Slices out;
    for (int slice = 0; slice < kSlices; ++slice) {
        const bench::CoreShare share;
        const auto start = bench::Clock::now();
        for (const auto& batch : batches) step(batch);
        const double seconds = static_cast<double>(bench::nanos_since(start)) * 1e-9 * share.now();
        out.add(static_cast<double>(kPerSlice) / seconds);
    }
    return out;
}

constexpr std::string_view kUsage = R"(usage: bench_alerts [--quick] [--only PART]...

  --quick        shorter: a look, not a figure to quote
  --only PART    one part; may be given again: engine client
)";

constexpr std::array<std::string_view, 2> kParts = {"engine", "client"};

void measure_engine(bench::ResultTable& table) {
    const auto all = std::make_shared<const alert::AlertFleet>(fleet());
    const auto batches = mixed(*all);
    base::Instant now{base::BootTime{3'600'000'000'000}, base::WallTime{1'700'000'000'000'000}};
    alert::Output out;
    std::vector<alert::Input> raise_all;
    for (std::size_t i = 0; i < kOpen; ++i) raise_all.emplace_back(observation(*all, i, i));

    alert::AlertSettings settings;
    settings.flap.tellings =
        1'000'000;  // the same few are ended again and again: not what is measured
    settings.flap.high_percent = 1000;
    alert::AlertEngine engine(settings, {{7, 11}, 1});
    engine.step(now, std::vector<alert::Input>{alert::FleetChanged{all}}, out);
    const double before = bench::resident_bytes();
    for (std::size_t at = 0; at < kOpen; at += kBatch) {
        engine.step(now, std::span(raise_all).subspan(at, kBatch), out);
    }
    const double bytes = (bench::resident_bytes() - before) / static_cast<double>(kOpen);
    table.require(engine.stats().open_alerts == kOpen, "not all alerts are open");
    const auto ours = measure(batches, [&](const std::vector<alert::Input>& batch) {
        now.boot += 1ms;
        now.wall += base::Duration(1ms);
        engine.step(now, batch, out);
    });
    table.require(engine.stats().open_alerts == kOpen, "alerts were lost or left over");
    table.require(engine.stats().refused == 0, "alerts were refused");

    PlainDedup plain(*all);
    std::vector<model::Alert> changed;
    const double plain_before = bench::resident_bytes();
    plain.step(raise_all, changed);
    changed = {};
    const double plain_bytes =
        (bench::resident_bytes() - plain_before) / static_cast<double>(kOpen);
    const auto peers = measure(
        batches, [&](const std::vector<alert::Input>& batch) { plain.step(batch, changed); });

    table.add({.what = "observations/s, 100,000 alerts open",
               .ours = ours.rate_text(),
               .goal = ">= 200000",
               .met = ours.median() >= kGoal,
               .peer = "plain hash map",
               .peers_figure = peers.rate_text(),
               .ratio = ours.median() / peers.median()});
    table.add({.what = "memory per open alert, incident included",
               .ours = fmt::format("{:.0f} bytes", bytes),
               .peer = "plain hash map",
               .peers_figure = fmt::format("{:.0f} bytes", plain_bytes),
               .ratio = plain_bytes / bytes});
}

}  // namespace

int main(int count, char** words) {
    const bench::BenchOptions options = bench::bench_options(count, words, kUsage, kParts);
    bench::ResultTable table;
    if (options.wants("engine")) measure_engine(table);
    if (options.wants("client")) bench::measure_alert_to_client(table, options.quick ? 5 : 20);
    return table.finish();
}
