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

// The states after so many more in which nothing changed.
std::uint32_t shifted(std::uint32_t changes, std::int64_t slots) {
    return slots >= FlapHistory::kStates ? 0 : (changes << slots) & kMask;
}

double percent_of(std::uint32_t changes) {
    double sum = 0;
    for (std::uint32_t age = 0; age < FlapHistory::kStates; ++age) {
        if ((changes >> age & 1U) != 0) sum += weight(age);
    }
    return 100 * sum / FlapHistory::kStates;
}

}  // namespace

std::int64_t FlapHistory::slots_until(base::BootTime now, base::Duration slot) const {
    if (counted_ == base::BootTime::min() || slot <= base::Duration::zero()) return 0;
    return std::clamp<std::int64_t>((now - counted_) / slot, 0, kStates);
}

void FlapHistory::change(base::BootTime now, const FlapSettings& settings) {
    flapping_ = flaps(now, settings);  // what is over is over before this counts
    changes_ = ((shifted(changes_, slots_until(now, settings.slot)) << 1) | 1) & kMask;
    counted_ = now;
    changed_at_ = now;
    if (percent_of(changes_) >= settings.high_percent) flapping_ = true;
}

void FlapHistory::tell(base::BootTime now, const FlapSettings& settings) {
    flapping_ = flaps(now, settings) || recent(now, settings) + 1 >= settings.tellings;
    std::erase_if(told_, [&](base::BootTime at) { return now - at >= settings.cool_down; });
    if (told_.size() >= kMaxTold) told_.erase(told_.begin());
    told_.push_back(now);
}

std::uint32_t FlapHistory::recent(base::BootTime now, const FlapSettings& settings) const {
    return static_cast<std::uint32_t>(std::ranges::count_if(
        told_, [&](base::BootTime at) { return now - at < settings.cool_down; }));
}

bool FlapHistory::flaps(base::BootTime now, const FlapSettings& settings) const {
    return flapping_ && now < steady_at(settings);
}

base::BootTime FlapHistory::steady_at(const FlapSettings& settings) const {
    std::int64_t slots = 0;
    while (slots < kStates && percent_of(shifted(changes_, slots)) > settings.low_percent) ++slots;
    return std::max(changed_at_ + settings.cool_down,
                    counted_ + base::saturating_mul(settings.slot, slots));
}

double FlapHistory::percent(base::BootTime now, const FlapSettings& settings) const {
    return percent_of(shifted(changes_, slots_until(now, settings.slot)));
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
