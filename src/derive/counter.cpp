#include "derive/counter.hpp"

namespace pollux::derive {
namespace {

constexpr std::uint64_t kRange32 = 1ULL << 32U;
constexpr double kFaster = 8;  // than the last rate: still believed

bool is_plausible(std::uint64_t difference, std::uint64_t half, std::uint64_t small,
                  const CounterStep& step) {
    if (difference >= half) return false;
    if (difference <= small) return true;
    return step.last_rate &&
           static_cast<double>(difference) / step.seconds <= kFaster * *step.last_rate;
}

}  // namespace

std::optional<std::uint64_t> counter_difference(const CounterStep& step) {
    if (step.after >= step.before) return step.after - step.before;
    const bool narrow = step.bits == 32 || (step.bits == 0 && !step.wide);
    if (narrow) {
        // Without a declared width a short way round is still nearly always a wrap: a reset would
        // have to happen just below the top and start just above zero.
        if (step.before >= kRange32) return std::nullopt;
        const std::uint64_t difference = kRange32 - step.before + step.after;
        const std::uint64_t small = step.bits == 32 ? kRange32 >> 4U : kRange32 >> 8U;
        if (is_plausible(difference, kRange32 / 2, small, step)) return difference;
        return std::nullopt;
    }
    const std::uint64_t difference = step.after - step.before;  // modulo 2^64
    if (is_plausible(difference, 1ULL << 62U, 1ULL << 40U, step)) return difference;
    return std::nullopt;
}

}  // namespace pollux::derive
