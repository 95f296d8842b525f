// Literals: rounding, wrapping, canonical bits, elements in memory.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "anadrome/error.h"
#include "core/text.h"

namespace anadrome {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const DType every_dtype[] = {b1, i8, i16, i32, i64, u8, u16, u32, u64, bf16, f16, f32, f64, c64, c128};

TEST(Literal, RoundsToTheFloatType) {
  EXPECT_EQ(Literal::of(0.1, f64).as_double(), 0.1);
  EXPECT_EQ(Literal::of(0.1, f32).as_double(), 0.1f);
  EXPECT_EQ(Literal::of(1.00390625, bf16).as_double(), 1.0);       // a tie, to even
  EXPECT_EQ(Literal::of(1.01171875, bf16).as_double(), 1.015625);  // a tie, to even
  EXPECT_EQ(Literal::of(65520, f16).as_double(), inf);
  EXPECT_EQ(Literal::of(65519, f16).as_double(), 65504);
  EXPECT_EQ(Literal::of(1e39, f32).as_double(), inf);
  EXPECT_EQ(Literal::of(0x1p-149, f32).as_double(), 0x1p-149);
}

TEST(Literal, RoundsALargeIntegerOnce) {
  const std::int64_t value =
      (std::int64_t{1} << 62) + (std::int64_t{1} << 38) + 1;  // just above a tie of f32
  EXPECT_EQ(Literal::of_integer(value, f32).as_double(), 0x1p62 + 0x1p39);
}

TEST(Literal, WrapsAndExtendsIntegers) {
  EXPECT_EQ(Literal::of_integer(200, i8).as_integer(), -56);
  EXPECT_EQ(Literal::of_integer(200, i8).bits, ~std::uint64_t{55});
  EXPECT_EQ(Literal::of_integer(-1, u16).as_integer(), 65535);
  EXPECT_EQ(Literal::of_integer(-1, u64).as_double(), 0x1p64);
  EXPECT_EQ(Literal::of_integer(-5, i64).as_double(), -5);
  EXPECT_EQ(Literal::of_integer(7, b1).bits, 1u);
  EXPECT_EQ(Literal::of(2.9, i32).as_integer(), 2);
  EXPECT_EQ(Literal::of(-2.9, i32).as_integer(), -2);
  EXPECT_EQ(Literal::of(std::nan(""), i32).as_integer(), 0);
  EXPECT_EQ(Literal::of(0x1p63, u64).bits, std::uint64_t{1} << 63);
}

TEST(Literal, ComparesByBits) {
  EXPECT_NE(Literal::of(0.0, f32), Literal::of(-0.0, f32));
  EXPECT_EQ(Literal::of(std::nan(""), f32), Literal::of(-std::nan("7"), f32));
  EXPECT_NE(Literal::of(1, f32), Literal::of(1, f64));
}

TEST(Literal, StoresAndLoadsEveryType) {
  for (DType t : every_dtype)
    for (double v : {0.0, 1.0, 3.0}) {
      unsigned char memory[24];
      std::memset(memory, 0xA5, sizeof memory);
      const Literal l = Literal::of(v, t);
      l.store(memory);
      EXPECT_EQ(Literal::load(t, memory), l) << tag(t) << ' ' << v;
      EXPECT_EQ(memory[item_size(t)], 0xA5) << tag(t) << ": wrote too much";
    }
}

TEST(Literal, StoresTheBitsOfTheElement) {
  std::uint16_t half = 0;
  Literal::of(-0.0, f16).store(&half);
  EXPECT_EQ(half, 0x8000);
  Literal::of(1, bf16).store(&half);
  EXPECT_EQ(half, 0x3F80);
  std::int8_t byte = 0;
  Literal::of_integer(-3, i8).store(&byte);
  EXPECT_EQ(byte, -3);
}

TEST(Literal, LoadsNoImaginaryPart) {
  const std::complex<float> value(1, 2);
  EXPECT_THROW(static_cast<void>(Literal::load(c64, &value)), TypeError);
}

TEST(Literal, PrintsTheShortestTextThatReadsBack) {
  EXPECT_EQ(to_string(Literal::of(2, f32)), "2.0:f32");
  EXPECT_EQ(to_string(Literal::of(0.1, f32)), "0.1:f32");
  EXPECT_EQ(to_string(Literal::of(0.1, bf16)), "0.1:bf16");
  EXPECT_EQ(to_string(Literal::of(0.1, f64)), "0.1:f64");
  EXPECT_EQ(to_string(Literal::of(-0.0, f32)), "-0.0:f32");
  EXPECT_EQ(to_string(Literal::of(-inf, f64)), "-inf:f64");
  EXPECT_EQ(to_string(Literal::of(std::nan(""), f16)), "nan:f16");
  EXPECT_EQ(to_string(Literal::of_integer(-3, i32)), "-3:i32");
  EXPECT_EQ(to_string(Literal::of_integer(-1, u64)), "18446744073709551615:u64");
  EXPECT_EQ(to_string(Literal::of(1, b1)), "true:b1");
}

Literal read_back(const Literal& l) {
  return parse_program("{ lambda ; . let in (" + to_string(l) + ") }").outputs.at(0).literal;
}

TEST(Literal, ReadsBackEveryHalf) {
  for (DType t : {bf16, f16})
    for (std::uint32_t bits = 0; bits < 65536; bits += 7) {
      const auto half = static_cast<std::uint16_t>(bits);
      const Literal l = Literal::load(t, &half);
      ASSERT_EQ(read_back(l), l) << to_string(l);
    }
}

TEST(Literal, ReadsBackFloatsAndDoubles) {
  std::uint64_t state = 1;
  for (int i = 0; i < 5000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t word = state ^ (state >> 31);
    const Literal f = Literal::load(f32, &word), d = Literal::load(f64, &word);
    ASSERT_EQ(read_back(f), f) << to_string(f);
    ASSERT_EQ(read_back(d), d) << to_string(d);
  }
  for (double v : {0x1p-149, 0x1p-127, -0x1.8p-130})
    EXPECT_EQ(read_back(Literal::of(v, f32)), Literal::of(v, f32));
  for (double v : {0x1p-1074, 1.7976931348623157e308, 0x1p-1022})
    EXPECT_EQ(read_back(Literal::of(v, f64)), Literal::of(v, f64));
}

}  // namespace
}  // namespace anadrome
