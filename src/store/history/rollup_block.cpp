#include "store/history/rollup_block.hpp"

#include <algorithm>
#include <cmath>

#include "base/bytes.hpp"

namespace pollux::store {

namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint64_t kMostBuckets = kDayMs / kMinuteMs;
constexpr std::int64_t kMicros = 1000;

struct Columns {
    ValueCodec last;
    ValueCodec min;
    ValueCodec max;
    ValueCodec sum;
};

}  // namespace

void merge(HistoryPoint& into, const HistoryPoint& later) {
    if (later.count == 0) return;
    if (into.count == 0) {
        const auto at = into.at;
        into = later;
        into.at = at;
        return;
    }
    into.count += later.count;
    into.min = std::min(into.min, later.min);
    into.max = std::max(into.max, later.max);
    into.sum += later.sum;
    into.last = later.last;
}

std::vector<HistoryPoint> sum_up(std::span<const HistoryPoint> points, std::int64_t bucket_ms) {
    std::vector<HistoryPoint> sums;
    const std::int64_t bucket_us = bucket_ms * kMicros;
    for (const auto& point : points) {
        if (std::isnan(point.last)) continue;
        const std::int64_t start = base::detail::floor_div(point.at.us, bucket_us) * bucket_us;
        if (sums.empty() || sums.back().at.us != start) {
            sums.push_back(HistoryPoint{base::WallTime{start}, 0, 0, 0, 0, 0});
        }
        merge(sums.back(), point);
    }
    return sums;
}

std::vector<HistoryPoint> as_points(std::vector<TimedValue> samples) {
    std::ranges::stable_sort(samples, {}, &TimedValue::at_ms);
    std::vector<HistoryPoint> points;
    points.reserve(samples.size());
    for (const auto& sample : samples) {
        const double value = sample.value;
        const base::WallTime at{sample.at_ms * kMicros};
        const HistoryPoint point{at, 1, value, value, value, value};
        if (!points.empty() && points.back().at == at) {
            points.back() = point;
        } else {
            points.push_back(point);
        }
    }
    return points;
}

std::string encode_rollups(std::uint32_t day, std::int64_t bucket_ms,
                           std::span<const HistoryPoint> points) {
    BitWriter bits;
    Columns columns;
    std::int64_t next = 0;  // bucket that needs no distance
    std::uint32_t count = 1;
    for (const auto& point : points) {
        const std::int64_t bucket =
            (point.at.us / kMicros - std::int64_t{day} * kDayMs) / bucket_ms;
        if (bucket == next) {
            bits.put(0, 1);
        } else {
            bits.put(1, 1);
            bits.put(static_cast<std::uint64_t>(bucket - next), 11);
        }
        next = bucket + 1;
        if (point.count == count) {
            bits.put(0, 1);
        } else {
            bits.put(1, 1);
            bits.put(point.count, 32);
            count = point.count;
        }
        columns.last.encode(bits, point.last);
        if (count == 1) continue;
        columns.min.encode(bits, point.min);
        columns.max.encode(bits, point.max);
        columns.sum.encode(bits, point.sum);
    }
    base::ByteWriter out;
    out.u8(kVersion);
    out.varint(points.size());
    out.raw(bits.bytes());
    return out.take();
}

base::Status decode_rollups(std::uint32_t day, std::int64_t bucket_ms, std::string_view bytes,
                            std::vector<HistoryPoint>& out) {
    const auto damaged = [] {
        return base::make_error(base::ErrorClass::kPermanent, "history.damaged",
                                "history: a block of sums is damaged and was left out");
    };
    base::ByteReader head(bytes);
    const std::uint8_t version = head.u8();
    const std::uint64_t size = head.varint();
    if (!head.ok() || version != kVersion || size > kMostBuckets) return damaged();
    BitReader in(bytes.substr(head.offset()));
    Columns columns;
    std::int64_t next = 0;
    std::uint32_t count = 1;
    for (std::uint64_t i = 0; i < size; ++i) {
        if (in.bit()) next += static_cast<std::int64_t>(in.get(11));
        if (in.bit()) count = static_cast<std::uint32_t>(in.get(32));
        HistoryPoint point;
        point.at.us = (std::int64_t{day} * kDayMs + next * bucket_ms) * kMicros;
        point.count = count;
        point.last = columns.last.decode(in);
        const bool single = count == 1;
        point.min = single ? point.last : columns.min.decode(in);
        point.max = single ? point.last : columns.max.decode(in);
        point.sum = single ? point.last : columns.sum.decode(in);
        if (!in.ok() || next * bucket_ms >= kDayMs) return damaged();
        ++next;
        out.push_back(point);
    }
    return {};
}

}  // namespace pollux::store
