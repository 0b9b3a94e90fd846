#include "derive/derive.hpp"

#include <bit>
#include <cmath>

#include "derive/condition_keeper.hpp"
#include "derive/counter.hpp"
#include "derive/series_key.hpp"

namespace pollux::derive {

using model::MetricType;
using model::Value;

namespace {

constexpr std::size_t kMaxText = 256;

std::optional<double> number_of(const Value& value) {
    if (const auto* i = std::get_if<std::int64_t>(&value)) return static_cast<double>(*i);
    if (const auto* u = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*u);
    if (const auto* d = std::get_if<double>(&value)) {
        return std::isfinite(*d) ? std::optional(*d) : std::nullopt;
    }
    if (const auto* b = std::get_if<bool>(&value)) return *b ? 1.0 : 0.0;
    return std::nullopt;
}

// Counters below zero or with fractions are no counters.
std::optional<std::uint64_t> counter_of(const Value& value) {
    if (const auto* u = std::get_if<std::uint64_t>(&value)) return *u;
    if (const auto* i = std::get_if<std::int64_t>(&value)) {
        return *i < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(*i));
    }
    if (const auto* d = std::get_if<double>(&value)) {
        if (!(*d >= 0) || *d >= 0x1p63) return std::nullopt;
        return static_cast<std::uint64_t>(*d);
    }
    return std::nullopt;
}

}  // namespace

// One call of derive(); befriended by the memory.
class Deriver {
  public:
    Deriver(const model::Addon& addon, const model::AlertPolicy& policy,
            const model::Readings& readings, base::Instant now, TargetMemory& memory)
        : addon_(addon),
          readings_(readings),
          now_(now),
          memory_(memory),
          conditions_(addon, policy, now, memory, out_, sum_) {}

    model::Observation run() {
        ++memory_.polls_;
        make_room();
        first_new_ = memory_.size();
        look_at_uptime();
        out_.dropped = readings_.dropped;
        out_.samples.reserve(readings_.values.size());
        out_.conditions.reserve(memory_.decided_);
        for (const model::Reading& reading : readings_.values) take(reading);
        memory_.order_.resize(place_);
        derive_ratios();
        name_rows();
        look_for_silence();
        add_facts();
        out_.new_series = out_.renumbered ? memory_.size() : memory_.size() - first_new_;
        out_.digest = base::siphash24(kDigestKey, sum_);
        out_.has_digest = true;
        memory_.decided_ = static_cast<std::uint32_t>(out_.conditions.size());
        memory_.last_poll_ = now_;
        memory_.has_poll_ = true;
        return std::move(out_);
    }

  private:
    using Series = TargetMemory::Series;

    void make_room() {
        const bool tight = memory_.size() + readings_.values.size() > memory_.max_series_;
        if (!tight || memory_.forgotten_ == 0) return;
        memory_.compact();
        out_.renumbered = true;
    }

    // A device that was up for less time than at the last poll has rebooted, unless its clock of
    // 32 bits just went round (after 497 days).
    void look_at_uptime() {
        if (memory_.has_poll_) elapsed_ = base::to_seconds(now_.boot - memory_.last_poll_.boot);
        if (!readings_.uptime_ticks) return;
        const std::uint64_t ticks = *readings_.uptime_ticks;
        if (memory_.has_uptime_ && memory_.has_poll_) {
            const std::uint64_t before = memory_.uptime_ticks_;
            if (ticks < before) {
                const double round = static_cast<double>((1ULL << 32U) + ticks - before) / 100;
                const bool wrapped = before < (1ULL << 32U) && round < elapsed_ * 1.5 + 60;
                out_.restarted = !wrapped;
                if (wrapped) uptime_elapsed_ = round;
            } else {
                uptime_elapsed_ = static_cast<double>(ticks - before) / 100;
            }
        }
        if (out_.restarted) ++memory_.restarts_;
        memory_.uptime_ticks_ = ticks;
        memory_.has_uptime_ = true;
    }

    std::uint32_t slot_of(std::uint16_t metric, std::uint32_t row) {
        const std::string& name = readings_.rows[row];
        // Polls resemble each other: the slot is mostly the one at this place last time.
        if (place_ < memory_.order_.size()) {
            const std::uint32_t guess = memory_.order_[place_];
            const Series& series = memory_.series_[guess];
            if (series.metric == metric && series.alive && series.row == name) {
                ++place_;
                return guess;
            }
        }
        const std::uint32_t slot = find_or_add(metric, name);
        if (slot == TargetMemory::kNone) return slot;
        if (place_ < memory_.order_.size()) {
            memory_.order_[place_] = slot;
        } else {
            memory_.order_.push_back(slot);
        }
        ++place_;
        return slot;
    }

    std::uint32_t find_or_add(std::uint16_t metric, std::string_view row) {
        const std::uint64_t key = series_key(metric, row);
        const std::uint32_t slot = memory_.index_.find(key, [&](std::uint32_t at) {
            return memory_.series_[at].metric == metric && memory_.series_[at].row == row;
        });
        if (slot != TargetMemory::kNone) return slot;
        if (memory_.size() >= memory_.max_series_) return TargetMemory::kNone;
        return memory_.append(metric, row, key);
    }

    void take(const model::Reading& reading) {
        const std::uint32_t slot = slot_of(reading.metric, reading.row);
        if (slot == TargetMemory::kNone) {
            ++out_.dropped;
            return;
        }
        const model::MetricDef& metric = addon_.metrics[reading.metric];
        Series& series = memory_.series_[slot];
        series.poll = memory_.polls_;
        switch (metric.type) {
            case MetricType::kCounter: take_counter(metric, slot, reading.value); break;
            case MetricType::kGauge:
                if (const auto number = number_of(reading.value))
                    take_number(metric, slot, *number);
                break;
            case MetricType::kState: take_state(metric, slot, reading.value); break;
            case MetricType::kText: take_text(metric, slot, reading.value); break;
        }
        series.at = now_.boot;
    }

    void take_counter(const model::MetricDef& metric, std::uint32_t slot, const Value& value) {
        Series& series = memory_.series_[slot];
        const auto raw = counter_of(value);
        if (!raw) {
            ++out_.dropped;
            return;
        }
        if (series.has_raw && !out_.restarted) {
            CounterStep step;
            step.before = series.raw;
            step.after = *raw;
            step.seconds = seconds_since(series.at);
            step.bits = metric.counter_bits;
            step.wide = series.wide;
            if (series.has_value) step.last_rate = series.value;
            const bool usable =
                step.seconds > 0 && step.seconds <= base::to_seconds(TargetMemory::kLongestGap);
            const auto difference = usable ? counter_difference(step) : std::nullopt;
            series.has_value = false;
            if (difference) {
                take_number(metric, slot, static_cast<double>(*difference) / step.seconds);
            }
        } else {
            series.has_value = false;
        }
        series.wide = series.wide || *raw >= (1ULL << 32U);
        series.raw = *raw;
        series.has_raw = true;
    }

    // The device's own clock is better than ours, which includes the network, if it goes right.
    double seconds_since(base::BootTime at) const {
        const double ours = base::to_seconds(now_.boot - at);
        if (!uptime_elapsed_ || at != memory_.last_poll_.boot) return ours;
        const double theirs = *uptime_elapsed_;
        const double difference = theirs > ours ? theirs - ours : ours - theirs;
        return theirs > 0 && difference <= 2 + ours * 0.1 ? theirs : ours;
    }

    void take_number(const model::MetricDef& metric, std::uint32_t slot, double number) {
        Series& series = memory_.series_[slot];
        if (!metric.conditions.empty()) {
            FreshValue fresh{.number = number};
            if (series.has_value) fresh.before = ValueAt{series.at, series.value};
            conditions_.take(metric, slot, fresh);
        }
        series.value = number;
        series.has_value = true;
        out_.samples.push_back({slot, number});
        if (metric.change) count_change(addon_.change[*metric.change], series);
    }

    void count_change(const model::ChangeField& field, Series& series) {
        const double moved = series.value > series.counted ? series.value - series.counted
                                                           : series.counted - series.value;
        const double size = series.counted < 0 ? -series.counted : series.counted;
        const double tolerance = field.share > 0 ? field.share * size : field.tolerance;
        if (!series.has_counted || moved > tolerance) series.counted = series.value;
        series.has_counted = true;
        add(kPartChange, series.key, std::bit_cast<std::uint64_t>(series.counted + 0.0));
    }

    void take_state(const model::MetricDef& metric, std::uint32_t slot, const Value& value) {
        Series& series = memory_.series_[slot];
        if (const auto* word = std::get_if<std::string>(&value)) {
            series.has_value = false;
            const bool changed = remember_text(series, *word);
            add(kPartWord, series.key, base::siphash24(kDigestKey, *word));
            conditions_.take(metric, slot, {.word = *word, .changed = changed});
            return;
        }
        const auto number = number_of(value);
        if (!number) return;
        series.value = *number;
        series.has_value = true;
        out_.samples.push_back({slot, *number});
        add(kPartNumber, series.key, std::bit_cast<std::uint64_t>(*number + 0.0));
        const bool known = *number >= 0 && *number < static_cast<double>(metric.states.size());
        static const std::string kNoWord;
        const std::string& word =
            known ? metric.states[static_cast<std::size_t>(*number)] : kNoWord;
        const bool changed = remember_text(series, word);
        conditions_.take(metric, slot, {.number = *number, .word = word, .changed = changed});
    }

    void take_text(const model::MetricDef& metric, std::uint32_t slot, const Value& value) {
        Series& series = memory_.series_[slot];
        const auto* text = std::get_if<std::string>(&value);
        if (text == nullptr) return;
        const bool changed = remember_text(series, *text);
        add(kPartWord, series.key, base::siphash24(kDigestKey, *text));
        conditions_.take(metric, slot, {.word = *text, .changed = changed});
    }

    // Whether it is another than before; the first one is not.
    static bool remember_text(Series& series, std::string_view text) {
        std::size_t end = text.size() <= kMaxText ? text.size() : kMaxText;
        while (end < text.size() && end > 0 &&
               (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
            --end;
        }
        if (series.text == text.substr(0, end)) return false;
        const bool changed = !series.text.empty();
        series.text = text.substr(0, end);
        return changed;
    }

    void derive_ratios() {
        for (std::size_t m = 0; m < addon_.metrics.size(); ++m) {
            const model::MetricDef& metric = addon_.metrics[m];
            if (!metric.ratio || metric.group != readings_.group) continue;
            const auto index = static_cast<std::uint16_t>(m);
            const std::uint32_t before = memory_.size();
            for (std::uint32_t slot = 0; slot < before; ++slot) derive_ratio(metric, index, slot);
        }
    }

    void derive_ratio(const model::MetricDef& metric, std::uint16_t index, std::uint32_t of_slot) {
        const Series& of = memory_.series_[of_slot];
        const bool fresh =
            of.metric == metric.ratio->of && of.alive && of.has_value && of.poll == memory_.polls_;
        if (!fresh) return;
        std::uint32_t to_slot = memory_.find(metric.ratio->to, of.row);
        if (to_slot == TargetMemory::kNone) to_slot = memory_.find(metric.ratio->to, "");
        if (to_slot == TargetMemory::kNone) return;
        const Series& to = memory_.series_[to_slot];
        if (!to.has_value || to.poll != memory_.polls_ || to.value == 0) return;
        const double value = of.value * metric.ratio->factor / to.value;
        const bool outside = !std::isfinite(value) ||
                             (metric.valid.low && value < *metric.valid.low) ||
                             (metric.valid.high && value > *metric.valid.high);
        if (outside) {
            ++out_.dropped;
            return;
        }
        const std::string row = of.row;  // the table may grow
        const std::uint32_t slot = find_or_add(index, row);
        if (slot == TargetMemory::kNone) {
            ++out_.dropped;
            return;
        }
        memory_.series_[slot].poll = memory_.polls_;
        take_number(metric, slot, value);
        memory_.series_[slot].at = now_.boot;
    }

    void name_rows() {
        for (std::size_t i = 1; i < readings_.rows.size(); ++i) {
            add(kPartRow, base::siphash24(kDigestKey, readings_.rows[i]), 1);
        }
    }

    // Series this poll did not have: their conditions are unknown, and after a while they are
    // forgotten.
    void look_for_silence() {
        for (std::size_t m = 0; m < addon_.metrics.size(); ++m) {
            const model::MetricDef& metric = addon_.metrics[m];
            const bool wanted =
                !metric.per_row && !metric.conditions.empty() && metric.group == readings_.group;
            if (wanted) find_or_add(static_cast<std::uint16_t>(m), "");
        }
        for (std::uint32_t slot = 0; slot < memory_.size(); ++slot) {
            Series& series = memory_.series_[slot];
            if (!series.alive || series.metric >= addon_.metrics.size()) continue;
            const model::MetricDef& metric = addon_.metrics[series.metric];
            const bool seen = series.poll == memory_.polls_;
            const bool rated = metric.type != MetricType::kCounter || series.has_value;
            if (seen && rated) continue;
            if (!seen) series.has_value = false;
            if (slot >= first_new_ && series.at.ns == 0) series.at = now_.boot;
            conditions_.miss(metric, slot, seen);
            if (!seen && now_.boot - series.at > TargetMemory::kForgetAfter &&
                !series.row.empty()) {
                conditions_.lose(metric, slot);
                memory_.forget(slot);
            }
        }
    }

    void add_facts() {
        const std::uint64_t facts = (readings_.degraded ? 1U : 0U) |
                                    (readings_.missing > 0 ? 2U : 0U) |
                                    (readings_.unreadable > 0 ? 4U : 0U);
        add(kPartFacts, memory_.restarts_, facts);
    }

    // A sum does not depend on the order.
    void add(std::uint64_t part, std::uint64_t key, std::uint64_t value) {
        sum_ += base::siphash24(kDigestKey, part, key, value);
    }

    const model::Addon& addon_;
    const model::Readings& readings_;
    base::Instant now_;
    TargetMemory& memory_;
    model::Observation out_;
    std::uint64_t sum_ = 0;
    ConditionKeeper conditions_;
    std::size_t place_ = 0;
    std::uint32_t first_new_ = 0;
    double elapsed_ = 0;
    std::optional<double> uptime_elapsed_;
};

model::Observation derive(const model::Addon& addon, const model::Readings& readings,
                          base::Instant now, TargetMemory& memory,
                          const model::AlertPolicy& policy) {
    return Deriver(addon, policy, readings, now, memory).run();
}

}  // namespace pollux::derive
