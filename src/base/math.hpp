// Elementary functions with fixed operations: the same bits on every machine and compiler.
//
// libm's exp, log, pow and sin differ between CPUs and versions, and one different bit ends a
// deterministic replay. These use only + - * / on IEEE doubles and integer operations on their
// bits, in a fixed order. They rely on -ffp-contract=off: a fused multiply-add changes results.
//
// Accuracy: relative error below 1e-13 for normal results (in practice a few 1e-16); sin and cos
// within 1e-12 absolute. Zeros, infinities and NaN behave as in C's Annex F.
#pragma once

#include <bit>
#include <cfloat>
#include <cstdint>
#include <limits>

#if defined(__FAST_MATH__)
#error "fixed operations need IEEE arithmetic: build without -ffast-math"
#endif
static_assert(std::numeric_limits<double>::is_iec559 && FLT_EVAL_METHOD == 0);

namespace pollux::base {

double fixed_exp(double x);
double fixed_expm1(double x);
double fixed_exp2(double x);  // exact for whole x
double fixed_log(double x);
double fixed_log2(double x);  // exact for powers of two; inline below: called once per poll
double fixed_pow(double base, double exponent);

// NaN for |x| > 2^52, where neighbouring doubles are too far apart to have a phase.
double fixed_sin(double x);
double fixed_cos(double x);

namespace detail {

// A positive finite number as 2^exponent * (1 + fraction), 1 + fraction in [sqrt(1/2), sqrt(2)).
struct BinarySplit {
    int exponent;
    double fraction;  // exact
};

inline BinarySplit split_normal(std::uint64_t bits) {
    constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdULL;
    constexpr std::uint64_t kExponentMask = 0xfffULL << 52;
    const std::uint64_t above = bits - kSqrtHalf;
    const int exponent = static_cast<int>(static_cast<std::int64_t>(above) >> 52);
    const double mantissa = std::bit_cast<double>(bits - (above & kExponentMask));
    return {exponent, mantissa - 1.0};
}

inline bool is_positive_normal(std::uint64_t bits) {
    constexpr std::uint64_t kSmallest = 0x0010000000000000ULL;
    constexpr std::uint64_t kInfinity = 0x7ff0000000000000ULL;
    return bits - kSmallest < kInfinity - kSmallest;
}

// atanh(s) / s - 1 from z = s * s, |s| <= 0.1716: z/3 + z^2/5 + ... + z^10/21. In pairs (Estrin's
// scheme): the latency of one long chain would be most of the cost of a logarithm.
inline double atanh_tail(double z) {
    const double z2 = z * z;
    const double z4 = z2 * z2;
    const double a = (1.0 / 3 + z * (1.0 / 5)) + z2 * (1.0 / 7 + z * (1.0 / 9));
    const double b = (1.0 / 11 + z * (1.0 / 13)) + z2 * (1.0 / 15 + z * (1.0 / 17));
    const double c = 1.0 / 19 + z * (1.0 / 21);
    return z * (a + z4 * (b + z4 * c));
}

// log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)): 2 atanh(f / (2 + f)).
inline double log_near_one(double f) {
    const double s = f / (2.0 + f);
    return 2.0 * (s + s * atanh_tail(s * s));
}

// Zero, negative, denormal, infinite, NaN.
double log2_of_unusual(double x);

}  // namespace detail

inline double fixed_log2(double x) {
    constexpr double kLog2E = 0x1.71547652b82fep+0;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    if (!detail::is_positive_normal(bits)) return detail::log2_of_unusual(x);
    const detail::BinarySplit split = detail::split_normal(bits);
    return static_cast<double>(split.exponent) + detail::log_near_one(split.fraction) * kLog2E;
}

}  // namespace pollux::base
