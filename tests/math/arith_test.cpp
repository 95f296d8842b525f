#include "math/arith.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace anadrome::math {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(IntegerDivision, AllPairsOfBytes) {
  for (int i = -128; i < 128; ++i) {
    for (int j = -128; j < 128; ++j) {
      const auto x = static_cast<std::int8_t>(i), y = static_cast<std::int8_t>(j);
      if (j == 0) {
        EXPECT_EQ(div(x, y), -1);
        EXPECT_EQ(rem(x, y), i);
        EXPECT_EQ(floor_div(x, y), -1);
        EXPECT_EQ(mod(x, y), i);
        continue;
      }
      const int floor = static_cast<int>(std::floor(static_cast<double>(i) / j));
      EXPECT_EQ(div(x, y), static_cast<std::int8_t>(i / j));
      EXPECT_EQ(rem(x, y), i % j);
      EXPECT_EQ(floor_div(x, y), static_cast<std::int8_t>(floor));
      EXPECT_EQ(mod(x, y), i - floor * j);
    }
  }
}

TEST(IntegerDivision, EdgesOfWideTypes) {
  constexpr auto smallest = std::numeric_limits<std::int64_t>::min();
  static_assert(div(smallest, std::int64_t{-1}) == smallest && rem(smallest, std::int64_t{-1}) == 0);
  static_assert(div(5u, 0u) == 0xFFFFFFFFu && rem(5u, 0u) == 5u && floor_div(7u, 2u) == 3u);
  static_assert(div(std::uint8_t{5}, std::uint8_t{0}) == 255);
}

void expect_same(double got, double want) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << got;
  } else {
    EXPECT_EQ(got, want);
    EXPECT_EQ(std::signbit(got), std::signbit(want)) << got << " " << want;
  }
}

TEST(FloatDivision, SignsAndSpecialValues) {
  expect_same(mod(-2.5, 2.0), 1.5);
  expect_same(mod(2.0, -2.5), -0.5);
  expect_same(mod(-1.0, 1.0), -0.0);
  expect_same(mod(1.0, -1.0), 0.0);
  expect_same(mod(1.0, -inf), -inf);
  expect_same(mod(-1.0, inf), inf);
  expect_same(mod(1.0, inf), 1.0);
  expect_same(mod(1.0, 0.0), nan);
  expect_same(mod(inf, 1.0), nan);
  expect_same(rem(-2.5, 2.0), -0.5);
  expect_same(rem(1e300, 0.5), 0.0);
  expect_same(floor_div(-2.5, 1.0), -3.0);
  expect_same(floor_div(-1.0, -2.5), -0.0);
  expect_same(floor_div(1.0, -0.0), -inf);
  expect_same(floor_div(0.0, 0.0), nan);
  expect_same(floor_div(inf, 2.0), nan);
  expect_same(floor_div(1.0, -inf), -1.0);
  expect_same(floor_div(0.3, 0.1), 2.0);
  expect_same(static_cast<float>(mod(BFloat16(-2.5f), BFloat16(2.0f))), 1.5);
  expect_same(static_cast<float>(floor_div(Float16(-2.5f), Float16(2.0f))), -2.0);
  expect_same(static_cast<float>(div(Float16(1.0f), Float16(3.0f))), static_cast<float>(Float16(1.0 / 3)));
}

TEST(Shifts, BeyondTheWidth) {
  using S = std::int8_t;
  static_assert(shift_left(S{5}, S{7}) == -128 && shift_left(S{5}, S{8}) == 0 &&
                shift_left(S{5}, S{-1}) == 0);
  static_assert(shift_right_logical(S{-1}, S{1}) == 127 && shift_right_logical(S{-1}, S{8}) == 0);
  static_assert(shift_right_arithmetic(S{-7}, S{1}) == -4 && shift_right_arithmetic(S{-7}, S{9}) == -1);
  static_assert(shift_right_arithmetic(S{7}, S{100}) == 0);
  static_assert(shift_left(std::uint64_t{1}, std::uint64_t{63}) == std::uint64_t{1} << 63);
}

TEST(Bits, CountsInEveryWidth) {
  static_assert(population_count(std::int8_t{-1}) == 8 && population_count(std::int64_t{-1}) == 64);
  static_assert(clz(std::int8_t{1}) == 7 && clz(std::uint16_t{0}) == 16 && clz(std::int32_t{-1}) == 0);
}

TEST(SaturatingCast, EdgesAndNan) {
  static_assert(saturating_cast<std::int8_t>(127.9f) == 127 && saturating_cast<std::int8_t>(-128.9f) == -128);
  static_assert(saturating_cast<std::int32_t>(2147483648.0f) == 2147483647);
  static_assert(saturating_cast<std::int32_t>(-3e9f) == std::numeric_limits<std::int32_t>::min());
  static_assert(saturating_cast<std::uint8_t>(-0.9) == 0 && saturating_cast<std::uint8_t>(-1.0) == 0);
  static_assert(saturating_cast<std::uint64_t>(1e19) == 10000000000000000000u);
  static_assert(saturating_cast<std::uint64_t>(1e30f) == std::numeric_limits<std::uint64_t>::max());
  static_assert(saturating_cast<std::int64_t>(-inf) == std::numeric_limits<std::int64_t>::min());
  static_assert(saturating_cast<std::int64_t>(nan) == 0);
  static_assert(saturating_cast<std::int16_t>(std::numeric_limits<Float16>::infinity()) == 32767);
}

TEST(NextAfter, SixteenBitTypesStepThroughEveryValue) {
  const Float16 up = std::numeric_limits<Float16>::infinity();
  Float16 x = std::numeric_limits<Float16>::lowest();
  int steps = 0;
  for (float previous = x; x < static_cast<float>(up); previous = x, ++steps) {
    x = next_after(x, up);
    ASSERT_GT(static_cast<float>(x), previous);
  }
  EXPECT_EQ(steps, 2 * 0x7C00 - 1);  // the patterns below infinity of both signs; there is one zero
  EXPECT_EQ(next_after(BFloat16(0.0f), BFloat16(-1.0f)).bits, 0x8001);
  EXPECT_EQ(next_after(BFloat16(0.0f), BFloat16(-0.0f)).bits, 0x8000);
  EXPECT_TRUE(std::isnan(static_cast<float>(next_after(BFloat16(nan), BFloat16(1.0f)))));
  EXPECT_EQ(next_after(1.0f, 2.0f), 1.0f + 0x1p-23f);
}

TEST(ReducePrecision, RoundsOverflowsAndFlushes) {
  static_assert(reduce_precision(3.14159f, 8, 7) == static_cast<float>(BFloat16(3.14159f)));
  static_assert(reduce_precision(1.1, 11, 52) == 1.1);
  static_assert(reduce_precision(65520.0f, 5, 10) == std::numeric_limits<float>::infinity());
  static_assert(reduce_precision(0x1p-14f, 5, 10) == 0x1p-14f && reduce_precision(0x1p-15f, 5, 10) == 0.0f);
  static_assert(reduce_precision(1.9999999f, 8, 0) == 2.0f && reduce_precision(-1.5, 11, 0) == -2.0);
  EXPECT_TRUE(std::signbit(reduce_precision(-1e-30f, 5, 10)));
  EXPECT_TRUE(std::isnan(reduce_precision(nan, 4, 3)));
  EXPECT_EQ(reduce_precision(-inf, 4, 3), -inf);
  EXPECT_EQ(static_cast<float>(reduce_precision(Float16(1.1f), 5, 3)), 1.125f);
}

}  // namespace
}  // namespace anadrome::math
