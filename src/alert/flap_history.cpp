#include "alert/flap_history.hpp"

#include <algorithm>

namespace pollux::alert {
namespace {

constexpr std::uint32_t kMask = (1U << FlapHistory::kStates) - 1;
constexpr std::size_t kMaxTold = 16;
constexpr std::size_t kIdBytes = 64;

// From 0.8 for the oldest state to 1.15 for the newest, in equal steps.
constexpr double weight(std::uint32_t age) {
    return 1.15 - 0.35 * static_cast<double>(age) / (FlapHistory::kStates - 1);
}

}  // namespace

void FlapHistory::advance(base::BootTime now, base::Duration slot) {
    if (counted_ == base::BootTime::min() || slot <= base::Duration::zero()) {
        counted_ = now;
        return;
    }
    const std::int64_t slots = std::max<std::int64_t>(0, (now - counted_) / slot);
    changes_ = slots >= kStates ? 0 : (changes_ << slots) & kMask;
    counted_ += base::saturating_mul(slot, slots);
}

void FlapHistory::change(base::BootTime now, const FlapSettings& settings) {
    flaps(now, settings);  // what is over is over before this counts
    changes_ = ((changes_ << 1) | 1) & kMask;
    counted_ = now;
    changed_at_ = now;
    if (percent() >= settings.high_percent) flapping_ = true;
}

void FlapHistory::tell(base::BootTime now, const FlapSettings& settings) {
    if (recent(now, settings) + 1 >= settings.tellings) flapping_ = true;
    std::erase_if(told_, [&](base::BootTime at) { return now - at >= settings.cool_down; });
    if (told_.size() >= kMaxTold) told_.erase(told_.begin());
    told_.push_back(now);
}

std::uint32_t FlapHistory::recent(base::BootTime now, const FlapSettings& settings) const {
    return static_cast<std::uint32_t>(std::ranges::count_if(
        told_, [&](base::BootTime at) { return now - at < settings.cool_down; }));
}

bool FlapHistory::flaps(base::BootTime now, const FlapSettings& settings) {
    advance(now, settings.slot);
    if (flapping_ && now - changed_at_ >= settings.cool_down && percent() <= settings.low_percent) {
        flapping_ = false;
    }
    return flapping_;
}

base::BootTime FlapHistory::review_at(base::BootTime now, const FlapSettings& settings) const {
    return std::max(changed_at_ + settings.cool_down, std::max(now, counted_ + settings.slot));
}

double FlapHistory::percent() const {
    double sum = 0;
    for (std::uint32_t age = 0; age < kStates; ++age) {
        if ((changes_ >> age & 1U) != 0) sum += weight(age);
    }
    return 100 * sum / kStates;
}

void FlapHistory::encode(base::ByteWriter& out, const TimeCodec& times) const {
    out.varint(changes_);
    times.write(out, counted_);
    times.write(out, changed_at_);
    out.varint(told_.size());
    for (const base::BootTime at : told_) times.write(out, at);
    out.boolean(flapping_);
    out.string(previous);
}

FlapHistory FlapHistory::decode(base::ByteReader& in, const TimeCodec& times) {
    FlapHistory out;
    const std::uint64_t changes = in.varint();
    if (changes > kMask) in.fail();
    out.changes_ = static_cast<std::uint32_t>(changes & kMask);
    out.counted_ = times.read(in);
    out.changed_at_ = times.read(in);
    const std::uint64_t told = in.varint();
    if (told > kMaxTold) in.fail();
    for (std::uint64_t i = 0; i < told && in.ok(); ++i) out.told_.push_back(times.read(in));
    out.flapping_ = in.boolean();
    out.previous = in.string(kIdBytes);
    return out;
}

}  // namespace pollux::alert
