#include "runtime/queue_history.hpp"

#include <algorithm>
#include <bit>

#include "base/bytes.hpp"

namespace pollux::runtime {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr int kFirstBits = 10;  // 1024 µs: what is quicker is in the first step
constexpr double kShareOfP95 = 0.95;

std::int64_t bucket_of(base::WallTime at) {
    return at.us /
           std::chrono::duration_cast<std::chrono::microseconds>(QueueHistory::kBucket).count();
}

std::size_t step_of(base::Duration duration) {
    const auto us = static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, std::chrono::floor<std::chrono::microseconds>(duration).count()));
    const auto bits = static_cast<int>(std::bit_width(us));
    if (bits <= kFirstBits) return 0;
    const auto half = static_cast<int>(us >> static_cast<unsigned>(bits - 2) & 1U);
    return std::min(static_cast<std::size_t>(2 * (bits - kFirstBits) - 1 + half),
                    QueueHistory::kSteps - 1);
}

// Seconds at which a step begins.
double begin_of(std::size_t step) {
    if (step == 0) return 0;
    const std::size_t power = (step - 1) / 2;
    const double whole = static_cast<double>(std::uint64_t{1} << (power + kFirstBits)) * 1e-6;
    return step % 2 == 1 ? whole : whole * 1.5;
}

template <class Count>
double p95_of(const std::array<Count, QueueHistory::kSteps>& steps, std::uint64_t all) {
    const double wanted = kShareOfP95 * static_cast<double>(all);
    double below = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto count = static_cast<double>(steps[i]);
        if (count > 0 && below + count >= wanted) {
            const double begin = begin_of(i);
            return begin + (begin_of(i + 1) - begin) * (wanted - below) / count;
        }
        below += count;
    }
    return 0;
}

}  // namespace

bool QueueHistory::set_time(base::WallTime now) {
    const std::int64_t before = std::exchange(now_, bucket_of(now));
    return before != 0 && before != now_;
}

QueueHistory::Ring* QueueHistory::ring(const std::string& name) {
    const auto found = rings_.find(name);
    if (found != rings_.end()) return found->second.get();
    if (rings_.size() >= kMostQueues) return nullptr;
    return rings_.emplace(name, std::make_unique<Ring>()).first->second.get();
}

QueueHistory::Bucket* QueueHistory::current(std::uint16_t index, const std::string& name) {
    if (by_index_.size() <= index) by_index_.resize(index + std::size_t{1});
    Ring*& own = by_index_[index];
    if (own == nullptr) own = ring(name);
    if (own == nullptr) return nullptr;
    Bucket& bucket = (*own)[static_cast<std::size_t>(now_) % kBuckets];
    if (bucket.number != now_) {
        bucket = {};
        bucket.number = now_;
    }
    return &bucket;
}

void QueueHistory::ended(std::uint16_t index, const std::string& name, bool success,
                         base::Duration duration) {
    Bucket* bucket = current(index, name);
    if (bucket == nullptr) return;
    ++(success ? bucket->ok : bucket->failed);
    bucket->seconds += base::to_seconds(duration);
    ++bucket->steps[step_of(duration)];
}

QueueSummary QueueHistory::summary(std::string_view name, base::WallTime now) const {
    QueueSummary sum;
    const auto found = rings_.find(name);
    if (found == rings_.end()) return sum;
    const std::int64_t number = bucket_of(now);
    std::array<std::uint64_t, kSteps> steps{};
    double seconds = 0;
    std::uint64_t started_lately = 0;
    std::uint64_t finished_lately = 0;
    for (const Bucket& bucket : *found->second) {
        if (!is_recent(bucket, number)) continue;
        sum.started += bucket.started;
        sum.ok += bucket.ok;
        sum.failed += bucket.failed;
        seconds += bucket.seconds;
        for (std::size_t i = 0; i < kSteps; ++i) steps[i] += bucket.steps[i];
        if (number - bucket.number > 1) continue;
        started_lately += bucket.started;
        finished_lately += std::uint64_t{bucket.ok} + bucket.failed;
    }
    const double lately = base::to_seconds(kBucket) + base::to_seconds(now - base::WallTime{}) -
                          static_cast<double>(number) * base::to_seconds(kBucket);
    sum.start_rate = static_cast<double>(started_lately) / lately;
    sum.finish_rate = static_cast<double>(finished_lately) / lately;
    if (sum.finished() == 0) return sum;
    sum.mean = seconds / static_cast<double>(sum.finished());
    sum.p95 = p95_of(steps, sum.finished());
    return sum;
}

std::vector<QueuePoint> QueueHistory::points(std::string_view name, base::WallTime now) const {
    std::vector<QueuePoint> out;
    const auto found = rings_.find(name);
    if (found == rings_.end()) return out;
    const std::int64_t number = bucket_of(now);
    for (const Bucket& bucket : *found->second) {
        if (!is_recent(bucket, number) || bucket.number == number) continue;
        QueuePoint& point =
            out.emplace_back(QueuePoint{.at = base::WallTime{} + bucket.number * kBucket,
                                        .started = bucket.started,
                                        .ok = bucket.ok,
                                        .failed = bucket.failed});
        if (point.finished() == 0) continue;
        point.mean = bucket.seconds / static_cast<double>(point.finished());
        point.p95 = p95_of(bucket.steps, point.finished());
    }
    std::ranges::sort(out, {}, &QueuePoint::at);
    return out;
}

store::MemoryBatch QueueHistory::save() {
    store::MemoryBatch batch;
    std::erase_if(rings_, [&](const auto& entry) {
        const auto& [name, ring] = entry;
        base::ByteWriter out;
        out.u8(kVersion);
        bool empty = true;
        for (const Bucket& bucket : *ring) {
            if (!is_recent(bucket, now_)) continue;
            empty = false;
            out.varint(static_cast<std::uint64_t>(bucket.number));
            out.varint(bucket.started);
            out.varint(bucket.ok);
            out.varint(bucket.failed);
            out.f64(bucket.seconds);
            const auto used =
                std::ranges::count_if(bucket.steps, [](std::uint32_t count) { return count > 0; });
            out.u8(static_cast<std::uint8_t>(used));
            for (std::size_t i = 0; i < kSteps; ++i) {
                if (bucket.steps[i] == 0) continue;
                out.u8(static_cast<std::uint8_t>(i));
                out.varint(bucket.steps[i]);
            }
        }
        std::string key = std::string(prefix_) + name;
        if (!empty) {
            batch.rows.push_back({std::move(key), out.take()});
            return false;
        }
        batch.removed.push_back(std::move(key));
        std::ranges::replace(by_index_, ring.get(), nullptr);
        return true;
    });
    return batch;
}

void QueueHistory::recall(std::string name, std::string_view bytes) {
    base::ByteReader in(bytes);
    if (in.u8() != kVersion) return;
    auto fresh = std::make_unique<Ring>();
    for (std::size_t count = 0; count < kBuckets && in.ok() && !in.at_end(); ++count) {
        Bucket bucket;
        const std::uint64_t number = in.varint();
        bucket.number = static_cast<std::int64_t>(std::min<std::uint64_t>(number, INT64_MAX));
        bucket.started = static_cast<std::uint32_t>(in.varint());
        bucket.ok = static_cast<std::uint32_t>(in.varint());
        bucket.failed = static_cast<std::uint32_t>(in.varint());
        bucket.seconds = in.f64();
        const std::size_t steps = in.u8();
        for (std::size_t i = 0; i < steps && in.ok(); ++i) {
            const std::size_t step = in.u8();
            if (step >= kSteps) return;
            bucket.steps[step] = static_cast<std::uint32_t>(in.varint());
        }
        if (in.ok()) (*fresh)[static_cast<std::size_t>(bucket.number) % kBuckets] = bucket;
    }
    if (!in.ok() || !in.at_end() || rings_.size() >= kMostQueues) return;
    // What was counted meanwhile stays.
    if (Ring* known = ring(name)) {
        for (std::size_t i = 0; i < kBuckets; ++i) {
            if ((*known)[i].number < (*fresh)[i].number) (*known)[i] = (*fresh)[i];
        }
    }
}

}  // namespace pollux::runtime
