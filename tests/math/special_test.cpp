// Special functions against constants from tables and 40-digit evaluations, and against identities.
#include "math/special.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace m = anadrome::math;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = std::numbers::pi;

/// got differs from want by at most `ulps` units in the last place of want.
void expect_ulps(double got, double want, double ulps) {
  const double unit = std::nextafter(std::fabs(want), inf) - std::fabs(want);
  EXPECT_LE(std::fabs(got - want), ulps * unit) << got << " instead of " << want;
}

TEST(Gamma, KnownValues) {
  expect_ulps(m::lgamma(0.5), std::log(pi) / 2, 4);
  expect_ulps(m::lgamma(100.0), 359.13420536957539878, 4);
  expect_ulps(m::lgamma(-0.5), std::log(2 * std::sqrt(pi)), 4);
  expect_ulps(m::digamma(1.0), -std::numbers::egamma, 3);
  expect_ulps(m::digamma(0.5), -std::numbers::egamma - 2 * std::numbers::ln2, 3);
  expect_ulps(m::digamma(-1e-10), 1e10 - std::numbers::egamma, 3);
  EXPECT_NEAR(m::digamma(1.4616321449683623), 0, 1e-15);
  EXPECT_EQ(m::digamma(2.5f), static_cast<float>(0.70315664064524318723));
}

TEST(Gamma, SpecialValues) {
  EXPECT_EQ(m::lgamma(0.0), inf);
  EXPECT_EQ(m::lgamma(-2.0), inf);
  EXPECT_EQ(m::lgamma(-inf), inf);
  EXPECT_EQ(m::lgamma(1.0f), 0.0f);
  EXPECT_EQ(m::lgamma(std::numeric_limits<double>::max()), inf);
  EXPECT_EQ(m::digamma(0.0), -inf);
  EXPECT_EQ(m::digamma(-0.0), -inf);
  EXPECT_EQ(m::digamma(inf), inf);
  for (double x : {-1.0, -2.0, -1e30, -inf, nan}) EXPECT_TRUE(std::isnan(m::digamma(x))) << x;
}

TEST(Erf, InverseAndTail) {
  expect_ulps(m::erf_inv(0.5), 0.47693627620446987338, 3);
  expect_ulps(m::erf_inv(0.9999999), 3.7665625816384708887, 3);
  for (double x : {1e-300, 1e-9, 0.1, 0.7, 0.99, 0.999999}) expect_ulps(std::erf(m::erf_inv(x)), x, 8);
  EXPECT_EQ(m::erf_inv(1.0), inf);
  EXPECT_EQ(m::erf_inv(-1.0), -inf);
  EXPECT_TRUE(std::isnan(m::erf_inv(1.5)));
  EXPECT_TRUE(std::signbit(m::erf_inv(-0.0)));
  EXPECT_GT(m::erf_inv(1e-310), 0);
  expect_ulps(m::erfc(10.0), 2.0884875837625447570e-45, 1);
}

TEST(IncompleteGamma, KnownValues) {
  for (double x : {1e-5, 0.3, 2.0, 40.0}) {
    expect_ulps(m::igamma(1.0, x), -std::expm1(-x), 2);
    expect_ulps(m::igammac(1.0, x), std::exp(-x), 2);
    expect_ulps(m::igammac(0.5, x), std::erfc(std::sqrt(x)), 64);  // the root's rounding counts x times
  }
  // P(a, a) = 1/2 + 1 / (3 sqrt(2 pi a)) + O(a^-3/2)
  for (double a : {1e8, 1e12, 1e15, 1e20}) {
    const double excess = 1 / (3 * std::sqrt(2 * pi * a));
    EXPECT_NEAR(m::igamma(a, a), 0.5 + excess, 1e-15 + excess / a);
    EXPECT_NEAR(m::igammac(a, a), 0.5 - excess, 1e-15 + excess / a);
  }
}

TEST(IncompleteGamma, SpecialValues) {
  EXPECT_EQ(m::igamma(2.0, 0.0), 0);
  EXPECT_EQ(m::igamma(2.0, inf), 1);
  EXPECT_EQ(m::igamma(0.0, 2.0), 1);
  EXPECT_EQ(m::igammac(inf, 2.0), 1);
  EXPECT_EQ(m::igammac(2.0f, 0.0f), 1);
  for (double a : {-1.0, 0.0, nan}) EXPECT_TRUE(std::isnan(m::igamma(a, 0.0))) << a;
  EXPECT_TRUE(std::isnan(m::igammac(1.0, -1.0)));
  EXPECT_TRUE(std::isnan(m::igamma_grad_a(0.0, 1.0)));
  EXPECT_EQ(m::igamma_grad_a(1.0, 0.0), 0);
}

TEST(IncompleteGamma, DerivativeAgreesWithDifferences) {
  for (double a : {0.02, 0.7, 3.0, 30.0, 99.0, 101.0, 500.0, 3000.0}) {
    for (double deviation : {-4.0, -1.5, 0.0, 1.0, 4.0}) {
      const double x = a * std::exp(deviation / std::sqrt(a + 1)), h = 2e-3 * (a < 1 ? a : std::sqrt(a));
      const auto value = [&](double t) { return deviation < 0 ? m::igamma(t, x) : -m::igammac(t, x); };
      // Sixth-order central difference.
      const double want = (45 * (value(a + h) - value(a - h)) - 9 * (value(a + 2 * h) - value(a - 2 * h)) +
                           (value(a + 3 * h) - value(a - 3 * h))) /
                          (60 * h);
      EXPECT_NEAR(m::igamma_grad_a(a, x), want, 1e-8 * std::fabs(want)) << a << " " << x;
    }
  }
  // As a tends to 0, P(a, x) = 1 - a E1(x) + O(a^2).
  EXPECT_NEAR(m::igamma_grad_a(1e-12, 1.0), -0.21938393439552027368, 1e-11);
}

TEST(IncompleteBeta, KnownAndSpecialValues) {
  expect_ulps(m::betainc(2.0, 3.0, 0.25), 0.26171875, 2);
  expect_ulps(m::betainc(0.5, 0.5, 0.3), 2 / pi * std::asin(std::sqrt(0.3)), 3);
  expect_ulps(m::betainc(5.0, 1.0, 0.01), 1e-10, 3);
  for (double a : {20.0, 2e4, 1e10, 1e20, 1e50, 1e308}) EXPECT_NEAR(m::betainc(a, a, 0.5), 0.5, 1e-14) << a;
  EXPECT_EQ(m::betainc(2.0, 3.0, 0.0), 0);
  EXPECT_EQ(m::betainc(2.0f, 3.0f, 1.0f), 1);
  EXPECT_EQ(m::betainc(inf, 3.0, 0.5), 0);
  EXPECT_EQ(m::betainc(2.0, inf, 0.5), 1);
  EXPECT_TRUE(std::isnan(m::betainc(0.0, 1.0, 0.5)));
  EXPECT_TRUE(std::isnan(m::betainc(1.0, 1.0, 1.5)));
}

TEST(Zeta, KnownAndSpecialValues) {
  expect_ulps(m::zeta(2.0, 1.0), pi * pi / 6, 4);
  expect_ulps(m::zeta(4.0, 1.0), std::pow(pi, 4) / 90, 4);
  expect_ulps(m::zeta(3.0, 1.0), 1.2020569031595942854, 4);
  expect_ulps(m::zeta(2.0, 0.5), pi * pi / 2, 4);
  // zeta(s, q) = q^-s + zeta(s, q + 1), also below zero.
  expect_ulps(m::zeta(3.0, -0.25), -64 + m::zeta(3.0, 0.75), 4);
  expect_ulps(m::zeta(2.0, -1.5), 1 / 2.25 + 4 + pi * pi / 2, 4);
  EXPECT_EQ(m::zeta(1.0, 3.0), inf);
  EXPECT_EQ(m::zeta(2.0, -3.0), inf);
  EXPECT_EQ(m::zeta(inf, 2.0), 0);
  EXPECT_TRUE(std::isnan(m::zeta(0.5, 1.0)));
  EXPECT_TRUE(std::isnan(m::zeta(2.5, -0.5)));
  EXPECT_NEAR(m::zeta(2.0, -1e15 - 0.5), pi * pi, 1e-12);  // returns at once
}

TEST(Polygamma, KnownAndSpecialValues) {
  expect_ulps(m::polygamma(1.0, 1.0), pi * pi / 6, 4);
  expect_ulps(m::polygamma(2.0, 1.0), -2 * 1.2020569031595942854, 4);
  EXPECT_EQ(m::polygamma(0.0, 2.5), m::digamma(2.5));
  EXPECT_EQ(m::polygamma(1.0f, 0.0f), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(m::polygamma(1.5, 2.0)));
  EXPECT_TRUE(std::isnan(m::polygamma(-1.0, 2.0)));
  expect_ulps(m::polygamma(1.0, 1e200), 1e-200, 4);
  EXPECT_TRUE(std::isfinite(m::polygamma(200.0, 100.0)));  // neither 200! nor 100^-201 would be
}

TEST(Bessel, KnownAndSpecialValues) {
  expect_ulps(m::bessel_i0e(1.0), 0.46575960759364043650, 4);
  expect_ulps(m::bessel_i1e(1.0), 0.20791041534970844887, 4);
  expect_ulps(m::bessel_i1e(-1.0), -0.20791041534970844887, 4);
  expect_ulps(m::bessel_i0e(1000.0), 0.012617240455891256586, 4);
  expect_ulps(m::bessel_i1e(1000.0), 0.012610930256928628, 4);
  EXPECT_EQ(m::bessel_i0e(0.0), 1);
  EXPECT_EQ(m::bessel_i0e(-inf), 0);
  EXPECT_TRUE(std::signbit(m::bessel_i1e(-0.0)));
  EXPECT_EQ(m::bessel_i1e(1e-310), 5e-311);
  EXPECT_TRUE(std::isnan(m::bessel_i1e(nan)));
}

}  // namespace
