#include "base/math.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "base/siphash.hpp"
#include "base/test_random.hpp"

namespace pollux::base {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kDenormal = std::numeric_limits<double>::denorm_min();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallestNormal = std::numeric_limits<double>::min();
constexpr int kPoints = 100'000;

std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }

double relative_error(double value, double exact) {
    if (value == exact) return 0.0;
    return std::fabs(value - exact) / std::fabs(exact);
}

// A positive number whose logarithm is spread evenly over all normal numbers.
double any_magnitude(TestRandom& random) { return std::exp2(random.between(-1022.0, 1024.0)); }

TEST(FixedExp, AgreesWithLibm) {
    TestRandom random(1);
    for (int i = 0; i < kPoints; ++i) {
        const double wide = random.between(-708.0, 709.7);
        ASSERT_LE(relative_error(fixed_exp(wide), std::exp(wide)), 1e-15) << wide;
        const double narrow = random.between(-2.0, 2.0);
        ASSERT_LE(relative_error(fixed_exp(narrow), std::exp(narrow)), 1e-15) << narrow;
    }
}

TEST(FixedExp, Edges) {
    EXPECT_EQ(fixed_exp(0.0), 1.0);
    EXPECT_EQ(fixed_exp(-0.0), 1.0);
    EXPECT_EQ(fixed_exp(kInfinity), kInfinity);
    EXPECT_EQ(fixed_exp(-kInfinity), 0.0);
    EXPECT_EQ(fixed_exp(709.8), kInfinity);
    EXPECT_EQ(fixed_exp(1e300), kInfinity);
    EXPECT_EQ(fixed_exp(-745.2), 0.0);
    EXPECT_EQ(fixed_exp(-1e300), 0.0);
    EXPECT_TRUE(std::isnan(fixed_exp(kNaN)));
    EXPECT_LE(relative_error(fixed_exp(709.78), std::exp(709.78)), 1e-15);
    EXPECT_NEAR(fixed_exp(-740.0), std::exp(-740.0), kDenormal);
    EXPECT_EQ(fixed_exp(-745.0), kDenormal);
    EXPECT_EQ(fixed_exp(kDenormal), 1.0);
}

TEST(FixedExpm1, AgreesWithLibm) {
    TestRandom random(2);
    for (int i = 0; i < kPoints; ++i) {
        const double wide = random.between(-60.0, 709.0);
        ASSERT_LE(relative_error(fixed_expm1(wide), std::expm1(wide)), 2e-15) << wide;
        const double narrow = random.between(-2.0, 2.0);
        ASSERT_LE(relative_error(fixed_expm1(narrow), std::expm1(narrow)), 2e-15) << narrow;
        const double tiny = std::exp2(random.between(-100.0, -1.0));
        ASSERT_LE(relative_error(fixed_expm1(-tiny), std::expm1(-tiny)), 2e-15) << tiny;
    }
}

TEST(FixedExpm1, Edges) {
    EXPECT_EQ(bits_of(fixed_expm1(0.0)), bits_of(0.0));
    EXPECT_EQ(bits_of(fixed_expm1(-0.0)), bits_of(-0.0));
    EXPECT_EQ(fixed_expm1(kDenormal), kDenormal);
    EXPECT_EQ(fixed_expm1(kInfinity), kInfinity);
    EXPECT_EQ(fixed_expm1(-kInfinity), -1.0);
    EXPECT_EQ(fixed_expm1(710.0), kInfinity);
    EXPECT_EQ(fixed_expm1(-60.0), -1.0);
    EXPECT_TRUE(std::isnan(fixed_expm1(kNaN)));
}

TEST(FixedExp2, AgreesWithLibm) {
    TestRandom random(3);
    for (int i = 0; i < kPoints; ++i) {
        const double x = random.between(-1022.0, 1023.99);
        ASSERT_LE(relative_error(fixed_exp2(x), std::exp2(x)), 1e-15) << x;
    }
}

TEST(FixedExp2, WholeNumbersAreExact) {
    for (int k = -1074; k <= 1023; ++k) {
        ASSERT_EQ(fixed_exp2(static_cast<double>(k)), std::ldexp(1.0, k)) << k;
    }
    EXPECT_EQ(fixed_exp2(1024.0), kInfinity);
    EXPECT_EQ(fixed_exp2(1e18), kInfinity);
    EXPECT_EQ(fixed_exp2(kInfinity), kInfinity);
    EXPECT_EQ(fixed_exp2(-1076.0), 0.0);
    EXPECT_EQ(fixed_exp2(-kInfinity), 0.0);
    EXPECT_TRUE(std::isnan(fixed_exp2(kNaN)));
}

TEST(FixedLog, AgreesWithLibm) {
    TestRandom random(4);
    for (int i = 0; i < kPoints; ++i) {
        const double wide = any_magnitude(random);
        ASSERT_LE(relative_error(fixed_log(wide), std::log(wide)), 1e-15) << wide;
        const double narrow = random.between(0.25, 4.0);
        ASSERT_LE(relative_error(fixed_log(narrow), std::log(narrow)), 1e-15) << narrow;
        const double near = 1.0 + random.between(-1e-5, 1e-5);
        ASSERT_LE(relative_error(fixed_log(near), std::log(near)), 1e-15) << near;
    }
}

TEST(FixedLog2, AgreesWithLibm) {
    TestRandom random(5);
    for (int i = 0; i < kPoints; ++i) {
        const double wide = any_magnitude(random);
        ASSERT_LE(relative_error(fixed_log2(wide), std::log2(wide)), 1e-15) << wide;
        const double narrow = random.between(0.25, 4.0);
        ASSERT_LE(relative_error(fixed_log2(narrow), std::log2(narrow)), 1e-15) << narrow;
        const double near = 1.0 + random.between(-1e-5, 1e-5);
        ASSERT_LE(relative_error(fixed_log2(near), std::log2(near)), 1e-15) << near;
    }
}

TEST(FixedLog2, PowersOfTwoAreExact) {
    for (int k = -1074; k <= 1023; ++k) {
        ASSERT_EQ(fixed_log2(std::ldexp(1.0, k)), static_cast<double>(k));
    }
}

TEST(FixedLog, EdgesOfBothLogarithms) {
    for (double (*log)(double) : {&fixed_log, &fixed_log2}) {
        EXPECT_EQ(log(1.0), 0.0);
        EXPECT_EQ(log(0.0), -kInfinity);
        EXPECT_EQ(log(-0.0), -kInfinity);
        EXPECT_EQ(log(kInfinity), kInfinity);
        EXPECT_TRUE(std::isnan(log(-1.0)));
        EXPECT_TRUE(std::isnan(log(-kInfinity)));
        EXPECT_TRUE(std::isnan(log(-kDenormal)));
        EXPECT_TRUE(std::isnan(log(kNaN)));
    }
    for (const double x : {kDenormal, 3 * kDenormal, 0.3 * kSmallestNormal, kLargest}) {
        EXPECT_LE(relative_error(fixed_log(x), std::log(x)), 1e-15) << x;
        EXPECT_LE(relative_error(fixed_log2(x), std::log2(x)), 1e-15) << x;
    }
}

TEST(FixedPow, AgreesWithLibm) {
    TestRandom random(6);
    int compared = 0;
    for (int i = 0; i < kPoints; ++i) {
        const double base = std::exp2(random.between(-40.0, 40.0));
        const double exponent = random.between(-60.0, 60.0);
        const double exact = std::pow(base, exponent);
        if (!std::isnormal(exact)) continue;
        ++compared;
        ASSERT_LE(relative_error(fixed_pow(base, exponent), exact), 1e-15)
            << base << "^" << exponent;
    }
    EXPECT_GT(compared, kPoints / 10);
}

TEST(FixedPow, KeepsItsPrecisionWithHugeExponents) {
    TestRandom random(7);
    for (int i = 0; i < kPoints; ++i) {
        const double base = 1.0 + random.between(-1e-4, 1e-4);
        const double exponent = random.between(-5e6, 5e6);
        ASSERT_LE(relative_error(fixed_pow(base, exponent), std::pow(base, exponent)), 1e-15)
            << base << "^" << exponent;
        const double any = any_magnitude(random);
        ASSERT_LE(relative_error(fixed_pow(any, 0.9), std::pow(any, 0.9)), 1e-15) << any;
    }
}

TEST(FixedPow, SpecialValuesAsInC) {
    const std::array<double, 20> values{0.0,       -0.0,       1.0,        -1.0,  0.5,
                                        -0.5,      2.0,        -2.0,       3.0,   -3.0,
                                        kInfinity, -kInfinity, 0x1p53,     1e300, kLargest,
                                        -kLargest, kDenormal,  -kDenormal, kNaN,  2.5};
    for (const double base : values) {
        for (const double exponent : values) {
            const double exact = std::pow(base, exponent);
            const double value = fixed_pow(base, exponent);
            if (std::isnan(exact)) {
                EXPECT_TRUE(std::isnan(value)) << base << "^" << exponent;
            } else {
                EXPECT_LE(relative_error(value, exact), 1e-15) << base << "^" << exponent;
                EXPECT_EQ(std::signbit(value), std::signbit(exact)) << base << "^" << exponent;
            }
        }
    }
}

TEST(FixedPow, SmallWholePowersAreExact) {
    EXPECT_EQ(fixed_pow(2.0, 10.0), 1024.0);
    EXPECT_EQ(fixed_pow(3.0, 2.0), 9.0);
    EXPECT_EQ(fixed_pow(10.0, 3.0), 1000.0);
    EXPECT_EQ(fixed_pow(-2.0, 3.0), -8.0);
    EXPECT_EQ(fixed_pow(4.0, 0.5), 2.0);
}

TEST(FixedSinCos, AgreeWithLibm) {
    TestRandom random(8);
    for (int i = 0; i < kPoints; ++i) {
        for (const double x : {random.between(-10.0, 10.0), random.between(-1e6, 1e6),
                               random.between(-1e12, 1e12), random.between(-0x1p52, 0x1p52)}) {
            ASSERT_NEAR(fixed_sin(x), std::sin(x), 1e-15) << x;
            ASSERT_NEAR(fixed_cos(x), std::cos(x), 1e-15) << x;
        }
    }
}

TEST(FixedSinCos, Edges) {
    EXPECT_EQ(bits_of(fixed_sin(0.0)), bits_of(0.0));
    EXPECT_EQ(bits_of(fixed_sin(-0.0)), bits_of(-0.0));
    EXPECT_EQ(fixed_sin(kDenormal), kDenormal);
    EXPECT_EQ(fixed_sin(1e-9), 1e-9);
    EXPECT_EQ(fixed_cos(0.0), 1.0);
    EXPECT_EQ(fixed_cos(-1e-9), 1.0);
    for (const double x : {kInfinity, -kInfinity, kNaN, 0x1p53, -kLargest}) {
        EXPECT_TRUE(std::isnan(fixed_sin(x))) << x;
        EXPECT_TRUE(std::isnan(fixed_cos(x))) << x;
    }
}

TEST(FixedMath, ExpUndoesLog) {
    TestRandom random(9);
    for (int i = 0; i < 1'000; ++i) {
        const double x = random.between(1e-3, 1e3);
        EXPECT_LE(relative_error(fixed_exp(fixed_log(x)), x), 5e-15);
        EXPECT_LE(relative_error(fixed_exp2(fixed_log2(x)), x), 5e-15);
    }
}

// A change of one bit anywhere here breaks the replay of recorded runs.
TEST(FixedMath, BitsArePinned) {
    EXPECT_EQ(bits_of(fixed_exp(1.0)), 0x4005bf0a8b14576au);
    EXPECT_EQ(bits_of(fixed_exp(-0.1)), 0x3fecf46d99d52b3au);
    EXPECT_EQ(bits_of(fixed_expm1(-0.3)), 0xbfd0966f2c7907f6u);
    EXPECT_EQ(bits_of(fixed_exp2(0.7)), 0x3ff9fdf8bcce533du);
    EXPECT_EQ(bits_of(fixed_log(10.0)), 0x40026bb1bbb55516u);
    EXPECT_EQ(bits_of(fixed_log2(10.0)), 0x400a934f0979a371u);
    EXPECT_EQ(bits_of(fixed_pow(1.1, 9.7)), 0x40042a3fe50a9b65u);
    EXPECT_EQ(bits_of(fixed_sin(100.0)), 0xbfe03425b78c4db8u);
    EXPECT_EQ(bits_of(fixed_cos(100.0)), 0x3feb981dbf665fe0u);
}

TEST(FixedMath, BitsOfManyPointsArePinned) {
    constexpr SipKey kKey{1, 2};
    TestRandom random(10);
    std::uint64_t digest = 0;
    for (int i = 0; i < 20'000; ++i) {
        const double x = random.between(-700.0, 700.0);
        const double positive = fixed_exp2(random.between(-1070.0, 1023.0));
        for (const double value :
             {fixed_exp(x), fixed_expm1(x / 100), fixed_exp2(x), fixed_log(positive),
              fixed_log2(positive), fixed_pow(positive, x / 700), fixed_sin(x), fixed_cos(x)}) {
            digest = siphash24(kKey, digest, bits_of(value));
        }
    }
    EXPECT_EQ(digest, 0xcb1915cc74c6a07du);
}

}  // namespace
}  // namespace pollux::base
