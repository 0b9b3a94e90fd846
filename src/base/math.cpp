#include "base/math.hpp"

namespace pollux::base {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kLog2ELow = 0x1.777d0ffda0d24p-56;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
// ln 2 in two parts; the first has 32 bits, so that its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
// pi / 2 in three parts.
constexpr double kHalfPi1 = 0x1.921fb54442d18p+0;
constexpr double kHalfPi2 = 0x1.1a62633145c07p-54;
constexpr double kHalfPi3 = -0x1.f1976b7ed8fbcp-110;

double magnitude(double x) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~(1ULL << 63));
}

bool is_negative(double x) { return std::bit_cast<std::int64_t>(x) < 0; }

bool is_nan(double x) { return !(x == x); }

// Nearest whole number, half away from zero; |x| < 2^62.
std::int64_t nearest_integer(double x) {
    return static_cast<std::int64_t>(x < 0 ? x - 0.5 : x + 0.5);
}

// 2^exponent for a normal result.
double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// x * 2^exponent for x around 1; overflows and underflows with a single rounding.
double scale(double x, int exponent) {
    if (exponent > 1023) return x * 0x1p1023 * power_of_two(exponent - 1023);
    if (exponent < -1021) return x * power_of_two(exponent + 1000) * 0x1p-1000;
    return x * power_of_two(exponent);
}

// exp(r) - 1 for |r| <= 0.36, by its Taylor series up to r^13, in pairs (Estrin's scheme).
double expm1_near_zero(double r) {
    const double r2 = r * r;
    const double r4 = r2 * r2;
    const double a = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
    const double b = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
    const double c =
        (1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600 + r * (1.0 / 6227020800.0));
    return r + r2 * (a + r4 * (b + r4 * c));
}

// x = exponent * ln 2 + rest, |x| < 1000.
struct ExpSplit {
    int exponent;
    double rest;
};

ExpSplit split_exp(double x) {
    const auto exponent = static_cast<int>(nearest_integer(x * kLog2E));
    const double k = static_cast<double>(exponent);
    return {exponent, (x - k * kLn2High) - k * kLn2Low};
}

// 2^(high + low) for |low| << |high|.
double exp2_of_sum(double high, double low) {
    if (high >= 1025.0) return kInfinity;
    if (high <= -1080.0) return 0.0;
    const std::int64_t whole = nearest_integer(high);
    const double rest = ((high - static_cast<double>(whole)) + low) * kLn2;
    return scale(1.0 + expm1_near_zero(rest), static_cast<int>(whole));
}

// A number as an unevaluated sum, about 106 bits.
struct Pair {
    double high;
    double low;
};

// a + b without error; |a| >= |b| or a == 0.
Pair exact_sum(double a, double b) {
    const double high = a + b;
    return {high, b - (high - a)};
}

// a * b without error (Veltkamp and Dekker), for |a|, |b| < 2^990.
Pair exact_product(double a, double b) {
    constexpr double kSplitter = 134217729.0;  // 2^27 + 1
    const double a_scaled = a * kSplitter;
    const double a_high = a_scaled - (a_scaled - a);
    const double a_low = a - a_high;
    const double b_scaled = b * kSplitter;
    const double b_high = b_scaled - (b_scaled - b);
    const double b_low = b - b_high;
    const double product = a * b;
    return {product,
            ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

detail::BinarySplit split_positive(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    if (detail::is_positive_normal(bits)) return detail::split_normal(bits);
    detail::BinarySplit split = detail::split_normal(std::bit_cast<std::uint64_t>(x * 0x1p54));
    split.exponent -= 54;
    return split;
}

// log2 of a positive finite number with about 64 bits: a power multiplies its error by up to 1024.
Pair precise_log2(double x) {
    const detail::BinarySplit split = split_positive(x);
    const double f = split.fraction;
    // s = f / (2 + f) with its rounding error.
    const Pair divisor = exact_sum(2.0, f);
    const double s = f / divisor.high;
    const Pair back = exact_product(s, divisor.high);
    const double s_low = (((f - back.high) - back.low) - s * divisor.low) / divisor.high;
    // The tail is below 1 % of s, so plain doubles are precise enough for it.
    const Pair natural = exact_sum(2.0 * s, 2.0 * (s_low + s * detail::atanh_tail(s * s)));
    const Pair product = exact_product(natural.high, kLog2E);
    const double product_low = product.low + (natural.high * kLog2ELow + natural.low * kLog2E);
    const Pair sum = exact_sum(static_cast<double>(split.exponent), product.high);
    return exact_sum(sum.high, sum.low + product_low);
}

bool is_whole(double x) {
    const double size = magnitude(x);
    return size >= 0x1p53 || static_cast<double>(static_cast<std::int64_t>(size)) == size;
}

bool is_odd(double x) {
    const double size = magnitude(x);
    return size < 0x1p53 && is_whole(x) && (static_cast<std::int64_t>(size) & 1) != 0;
}

// base^exponent for a positive base (infinity included) and an exponent other than zero and NaN.
double power_of_positive(double base, double exponent) {
    if (base == 1.0) return 1.0;
    if (base == kInfinity) return exponent > 0 ? kInfinity : 0.0;
    if (magnitude(exponent) == kInfinity) {
        return (base > 1.0) == (exponent > 0) ? kInfinity : 0.0;
    }
    const Pair log2 = precise_log2(base);
    const double estimate = exponent * log2.high;
    if (estimate >= 1025.0) return kInfinity;
    if (estimate <= -1080.0) return 0.0;
    const Pair product = exact_product(exponent, log2.high);
    return exp2_of_sum(product.high, product.low + exponent * log2.low);
}

// The remainder of x by pi/2, about [-pi/4, pi/4], and which quarter turn it is in.
struct Phase {
    double rest;
    int quarter;  // 0 to 3
};

Phase split_phase(double x) {
    const std::int64_t turns = nearest_integer(x * kTwoOverPi);
    const double k = static_cast<double>(turns);
    const Pair first = exact_product(k, kHalfPi1);
    const Pair second = exact_product(k, kHalfPi2);
    const double rest =
        ((((x - first.high) - first.low) - second.high) - second.low) - k * kHalfPi3;
    return {rest, static_cast<int>(turns & 3)};
}

// Taylor series, good beyond |r| = 1.2: the nearest quarter of a huge x is found only to within
// one quarter of a turn.
double sin_near_zero(double r) {
    const double z = r * r;
    double q = -1.0 / 121645100408832000.0;
    q = q * z + 1.0 / 355687428096000.0;
    q = q * z - 1.0 / 1307674368000.0;
    q = q * z + 1.0 / 6227020800.0;
    q = q * z - 1.0 / 39916800.0;
    q = q * z + 1.0 / 362880.0;
    q = q * z - 1.0 / 5040.0;
    q = q * z + 1.0 / 120.0;
    q = q * z - 1.0 / 6.0;
    return r + r * z * q;
}

double cos_near_zero(double r) {
    const double z = r * r;
    double q = -1.0 / 6402373705728000.0;
    q = q * z + 1.0 / 20922789888000.0;
    q = q * z - 1.0 / 87178291200.0;
    q = q * z + 1.0 / 479001600.0;
    q = q * z - 1.0 / 3628800.0;
    q = q * z + 1.0 / 40320.0;
    q = q * z - 1.0 / 720.0;
    q = q * z + 1.0 / 24.0;
    q = q * z - 1.0 / 2.0;
    return 1.0 + z * q;
}

// sin of the phase plus `shift` quarter turns.
double sin_of_phase(const Phase& phase, int shift) {
    const int quarter = (phase.quarter + shift) & 3;
    const double value = (quarter & 1) != 0 ? cos_near_zero(phase.rest) : sin_near_zero(phase.rest);
    return (quarter & 2) != 0 ? -value : value;
}

constexpr double kLargestPhase = 0x1p52;

}  // namespace

double fixed_exp(double x) {
    if (is_nan(x)) return x;
    if (x > 710.0) return kInfinity;
    if (x < -746.0) return 0.0;
    const ExpSplit split = split_exp(x);
    return scale(1.0 + expm1_near_zero(split.rest), split.exponent);
}

double fixed_expm1(double x) {
    if (is_nan(x)) return x;
    if (magnitude(x) < 0x1p-54) return x;  // keeps -0 and denormals
    if (x > 50.0) return fixed_exp(x);
    if (x < -50.0) return -1.0;
    const ExpSplit split = split_exp(x);
    const double near = expm1_near_zero(split.rest);
    const double size = power_of_two(split.exponent);
    return size * near + (size - 1.0);
}

double fixed_exp2(double x) { return is_nan(x) ? x : exp2_of_sum(x, 0.0); }

double detail::log2_of_unusual(double x) {
    if (is_nan(x) || x == kInfinity) return x;
    if (x == 0.0) return -kInfinity;
    if (x < 0.0) return kNaN;
    return fixed_log2(x * 0x1p54) - 54.0;
}

double fixed_log(double x) {
    if (is_nan(x) || x == kInfinity) return x;
    if (x == 0.0) return -kInfinity;
    if (x < 0.0) return kNaN;
    const detail::BinarySplit split = split_positive(x);
    const double k = static_cast<double>(split.exponent);
    return k * kLn2High + (detail::log_near_one(split.fraction) + k * kLn2Low);
}

double fixed_pow(double base, double exponent) {
    if (exponent == 0.0 || base == 1.0) return 1.0;
    if (is_nan(base) || is_nan(exponent)) return kNaN;
    if (base == -1.0 && magnitude(exponent) == kInfinity) return 1.0;
    const bool flips = is_negative(base) && is_odd(exponent);
    const double size = magnitude(base);
    double power = 0.0;
    if (size == 0.0) {
        power = exponent > 0 ? 0.0 : kInfinity;
    } else {
        const bool real = !is_negative(base) || size == kInfinity || is_whole(exponent);
        if (!real) return kNaN;
        power = power_of_positive(size, exponent);
    }
    return flips ? -power : power;
}

double fixed_sin(double x) {
    if (!(magnitude(x) <= kLargestPhase)) return kNaN;
    if (magnitude(x) < 0x1p-27) return x;  // keeps -0
    return sin_of_phase(split_phase(x), 0);
}

double fixed_cos(double x) {
    if (!(magnitude(x) <= kLargestPhase)) return kNaN;
    return sin_of_phase(split_phase(x), 1);
}

}  // namespace pollux::base
