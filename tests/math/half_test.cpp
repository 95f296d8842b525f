// 16-bit floating point: exact conversion to float, one rounding on the way back.
#include "math/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace anadrome::math {
namespace {

template <class T> class Half : public testing::Test {};
using Halves = testing::Types<BFloat16, Float16>;
TYPED_TEST_SUITE(Half, Halves);

/// All finite non-negative values in ascending order are those of the patterns 0, 1, 2, ...
template <class T> T pattern(int bits) {
  return T::from_bits(static_cast<std::uint16_t>(bits));
}

TYPED_TEST(Half, EveryPatternSurvivesARoundTrip) {
  for (int i = 0; i < 65536; ++i) {
    const TypeParam x = pattern<TypeParam>(i);
    const float f = x;
    if (std::isnan(f)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(f)))) << i;
      EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(static_cast<double>(f))))) << i;
    } else {
      EXPECT_EQ(TypeParam(f).bits, i);
      EXPECT_EQ(TypeParam(static_cast<double>(f)).bits, i);
    }
  }
}

TYPED_TEST(Half, TiesGoToEvenAndOnlyTies) {
  using Limits = std::numeric_limits<TypeParam>;
  for (int i = 0; pattern<TypeParam>(i) < static_cast<float>(Limits::max()); ++i) {
    const double low = static_cast<float>(pattern<TypeParam>(i));
    const double middle = (low + static_cast<float>(pattern<TypeParam>(i + 1))) / 2;
    ASSERT_EQ(TypeParam(middle).bits, i % 2 ? i + 1 : i);
    ASSERT_EQ(TypeParam(-middle).bits, 0x8000 | (i % 2 ? i + 1 : i));
    ASSERT_EQ(TypeParam(std::nextafter(middle, 0.0)).bits, i);
    ASSERT_EQ(TypeParam(std::nextafter(middle, 1e300)).bits, i + 1);
    const float narrow = static_cast<float>(middle);
    if (narrow == middle) {
      ASSERT_EQ(TypeParam(narrow).bits, i % 2 ? i + 1 : i);
      ASSERT_EQ(TypeParam(std::nextafter(narrow, 0.0f)).bits, i);
      ASSERT_EQ(TypeParam(std::nextafter(narrow, std::numeric_limits<float>::infinity())).bits, i + 1);
    }
  }
}

TYPED_TEST(Half, OverflowAndSpecialValues) {
  using Limits = std::numeric_limits<TypeParam>;
  const double largest = static_cast<float>(Limits::max());
  const double half_unit = std::ldexp(1.0, Limits::max_exponent - Limits::digits - 1);
  EXPECT_EQ(TypeParam(largest + half_unit).bits, Limits::infinity().bits);
  EXPECT_EQ(TypeParam(std::nextafter(largest + half_unit, 0.0)).bits, Limits::max().bits);
  EXPECT_EQ(TypeParam(-1e300).bits, Limits::infinity().bits | 0x8000);
  EXPECT_EQ(TypeParam(std::numeric_limits<double>::infinity()).bits, Limits::infinity().bits);
  EXPECT_EQ(TypeParam(-0.0).bits, 0x8000);
  EXPECT_EQ(TypeParam(-1e-300).bits, 0x8000);
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(std::numeric_limits<double>::quiet_NaN()))));
  EXPECT_EQ(static_cast<float>(Limits::epsilon()), std::ldexp(1.0f, 1 - Limits::digits));
  EXPECT_EQ(static_cast<float>(Limits::min()), std::ldexp(1.0f, Limits::min_exponent - 1));
}

TYPED_TEST(Half, IntegersAreRoundedOnce) {
  EXPECT_EQ(static_cast<float>(TypeParam(-3)), -3.0f);
  EXPECT_EQ(static_cast<float>(TypeParam(std::uint8_t{255})), 255.0f);
  EXPECT_TRUE(std::is_trivially_copyable_v<TypeParam>);
  EXPECT_EQ(sizeof(TypeParam), 2u);
}

TEST(BFloat16, WideIntegersAreRoundedOnce) {
  const std::int64_t tie = (std::int64_t{1} << 60) + (std::int64_t{1} << 52);
  EXPECT_EQ(static_cast<float>(BFloat16(tie)), 0x1p60f);
  EXPECT_EQ(static_cast<float>(BFloat16(tie + 1)), 0x1.02p60f);
  EXPECT_EQ(static_cast<float>(BFloat16(-tie - 1)), -0x1.02p60f);
  EXPECT_EQ(static_cast<float>(BFloat16(std::numeric_limits<std::int64_t>::min())), -0x1p63f);
  EXPECT_EQ(static_cast<float>(BFloat16(std::numeric_limits<std::uint64_t>::max())), 0x1p64f);
}

TEST(Float16, KnownPatterns) {
  static_assert(Float16(1.0f).bits == 0x3C00);
  static_assert(Float16(65504.0).bits == 0x7BFF);
  static_assert(Float16(0x1p-24).bits == 0x0001);
  static_assert(Float16(1.0 / 3).bits == 0x3555);
  static_assert(static_cast<float>(Float16::from_bits(0xC000)) == -2.0f);
  static_assert(BFloat16(1.0f).bits == 0x3F80);
  static_assert(BFloat16(3.14159265).bits == 0x4049);
}

}  // namespace
}  // namespace anadrome::math
