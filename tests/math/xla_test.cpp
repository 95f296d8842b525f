// The formulas of XLA in float64: against recorded values to a few ulp, and against the accurate functions.
#include "math/xla.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace m = anadrome::math;
namespace xla = anadrome::math::xla;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// got differs from want by at most `units` of 2^-52 max(1, |want|).
void expect_close(double got, double want, double units) {
  EXPECT_LE(std::fabs(got - want), units * 0x1p-52 * std::fmax(1, std::fabs(want))) << got << " for " << want;
}

TEST(XlaFormulas, LoseAccuracyAsRecorded) {
  EXPECT_DOUBLE_EQ(xla::exp2(1024.0), 1.7976931348622732e308);
  EXPECT_DOUBLE_EQ(xla::sinh(709.0), 4.1092037307777122e307);
  EXPECT_DOUBLE_EQ(xla::cosh(-709.0), 4.1092037307777122e307);
  EXPECT_DOUBLE_EQ(xla::erf_inv(0.9999999), 3.7665625816333361);
  EXPECT_DOUBLE_EQ(xla::lgamma(1.00001), -5.7720744024436499e-06);
}

TEST(XlaFormulas, AgreeWithTheAccurateFunctions) {
  for (double x : {-7.3, -0.4, 1e-9, 0.3, 0.999, 1.46, 5.0, 80.0, 1e10}) {
    expect_close(xla::lgamma(x), m::lgamma(x), 40);
    expect_close(xla::digamma(x), m::digamma(x), 40);
  }
  for (double x : {-0.999, -0.5, 1e-300, 1e-9, 0.7, 0.9}) expect_close(xla::erf_inv(x), m::erf_inv(x), 40);
  for (double a : {0.01, 0.6, 3.0, 90.0, 999.0, 1001.0, 1e8}) {
    for (double ratio : {0.05, 0.9, 1.0, 1.1, 8.0}) {
      const double x = a * ratio, relative = 20 + 20 * std::fmin(a, 1001) * std::fabs(std::log(a + x) + 1);
      expect_close(xla::igamma(a, x), m::igamma(a, x), relative);
      expect_close(xla::igammac(a, x), m::igammac(a, x), relative);
      expect_close(xla::igamma_grad_a(a, x), m::igamma_grad_a(a, x), relative);
      expect_close(xla::betainc(a, 2 * a, ratio / 10), m::betainc(a, 2 * a, ratio / 10), relative);
    }
  }
}

TEST(XlaFormulas, SpecialValues) {
  for (double x : {0.0, -0.0, -3.0, inf, -inf, 1e308}) EXPECT_EQ(xla::lgamma(x), inf) << x;
  EXPECT_EQ(xla::lgamma(1.0), 0);
  EXPECT_EQ(xla::lgamma(2.0), 0);
  EXPECT_EQ(xla::digamma(0.0), -inf);
  EXPECT_EQ(xla::digamma(inf), inf);
  EXPECT_TRUE(std::isnan(xla::digamma(-2.0)));
  EXPECT_EQ(xla::erf_inv(-1.0), -inf);
  EXPECT_TRUE(std::isnan(xla::erf_inv(1.5)));
  EXPECT_EQ(xla::sinh(-inf), -inf);
  EXPECT_EQ(xla::cosh(-inf), inf);
  EXPECT_EQ(xla::exp2(-inf), 0);
  EXPECT_EQ(xla::igamma(2.0, 0.0), 0);
  EXPECT_EQ(xla::igammac(2.0, inf), 0);
  EXPECT_EQ(xla::betainc(2.0, 3.0, 1.0), 1);
  for (double bad : {-1.0, nan}) {
    EXPECT_TRUE(std::isnan(xla::igamma(bad, 1.0))) << bad;
    EXPECT_TRUE(std::isnan(xla::igammac(1.0, bad))) << bad;
    EXPECT_TRUE(std::isnan(xla::betainc(bad, 1.0, 0.5))) << bad;
  }
  EXPECT_EQ(xla::lgamma(2.5f), m::lgamma(2.5f));
}

}  // namespace
