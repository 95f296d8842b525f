// Text of arrays: what numpy 2.4 prints for the same numbers.
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "anadrome/jit.h"
#include "anadrome/ops/elementwise.h"
#include "anadrome/ops/shape.h"

namespace anadrome {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

TEST(PrintArray, VectorsOfFloats) {
  EXPECT_EQ(to_string(array({1, 2, 3})), "[1. 2. 3.]");
  EXPECT_EQ(to_string(array({0.1, -2.25, 100})), "[  0.1   -2.25 100.  ]");
  EXPECT_EQ(to_string(array({1.0 / 3, 2.0 / 3}, f64)), "[0.33333333 0.66666667]");
  EXPECT_EQ(to_string(array({0.0, -0.0})), "[ 0. -0.]");
  EXPECT_EQ(to_string(linspace(0, 1, 11)), "[0.  0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1. ]");
}

TEST(PrintArray, ExponentsWhereNumbersAreLargeSmallOrFarApart) {
  EXPECT_EQ(to_string(array({1e-5, 1})), "[1.e-05 1.e+00]");
  EXPECT_EQ(to_string(array({1e6, 1})), "[1.e+06 1.e+00]");
  EXPECT_EQ(to_string(array({999999, 1000})), "[999999.   1000.]");
  EXPECT_EQ(to_string(array({99999999, 100000}, f64)), "[99999999.   100000.]");
  EXPECT_EQ(to_string(array({1e8, 1}, f64)), "[1.e+08 1.e+00]");
  EXPECT_EQ(to_string(array({1e-310, -1e100}, f64)), "[ 1.e-310 -1.e+100]");
}

TEST(PrintArray, NumbersThatAreNotFinite) {
  EXPECT_EQ(to_string(array({nan, inf, -inf, 1.5})), "[ nan  inf -inf  1.5]");
  EXPECT_EQ(to_string(array({nan, 1})), "[nan  1.]");
  EXPECT_EQ(to_string(array({-inf})), "[-inf]");
}

TEST(PrintArray, SixteenBitFloatsPrintTheirOwnShortestDigits) {
  EXPECT_EQ(to_string(array({1.1, 65504}, f16)), "[1.10e+00 6.55e+04]");
  EXPECT_EQ(to_string(array({1.1, 100}, f16)), "[  1.1 100. ]");
  EXPECT_EQ(to_string(array({1.5, 3, 0.1}, bf16)), "[1.5 3.  0.1]");
}

TEST(PrintArray, IntegersAndBools) {
  EXPECT_EQ(to_string(array({{1, -2}, {30, 4}}, i32)), "[[ 1 -2]\n [30  4]]");
  EXPECT_EQ(to_string(array({true, false}, b1)), "[ True False]");
  EXPECT_EQ(to_string(array(std::vector<std::uint64_t>{~std::uint64_t{0}, 1})),
            "[18446744073709551615                    1]");
}

TEST(PrintArray, NestedBracketsWithBlankLines) {
  EXPECT_EQ(to_string(ones({2, 2, 2})), "[[[1. 1.]\n  [1. 1.]]\n\n [[1. 1.]\n  [1. 1.]]]");
}

TEST(PrintArray, NoElements) {
  EXPECT_EQ(to_string(zeros({0})), "[]");
  EXPECT_EQ(to_string(zeros({2, 0})), "[]");
}

TEST(PrintArray, LongRowsWrap) {
  EXPECT_EQ(to_string(arange(25)),
            "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n 24]");
}

TEST(PrintArray, MoreThanAThousandElementsAreSummarised) {
  EXPECT_EQ(to_string(arange(1001)), "[   0    1    2 ...  998  999 1000]");
  EXPECT_EQ(to_string(ones({1001, 2}, i32)), "[[1 1]\n [1 1]\n [1 1]\n ...\n [1 1]\n [1 1]\n [1 1]]");
  EXPECT_EQ(to_string(iota(f32, {2, 600}, 1)),
            "[[  0.   1.   2. ... 597. 598. 599.]\n [  0.   1.   2. ... 597. 598. 599.]]");
}

TEST(PrintArray, ScalarsPrintAsNumbers) {
  EXPECT_EQ(to_string(scalar(0.1)), "0.1");
  EXPECT_EQ(to_string(scalar(0)), "0.0");
  EXPECT_EQ(to_string(scalar(1e6)), "1e+06");
  EXPECT_EQ(to_string(scalar(123456)), "123456.0");
  EXPECT_EQ(to_string(scalar(1e15, f64)), "1000000000000000.0");
  EXPECT_EQ(to_string(scalar(1e16, f64)), "1e+16");
  EXPECT_EQ(to_string(scalar(1.5e-5, f64)), "1.5e-05");
  EXPECT_EQ(to_string(scalar(-inf)), "-inf");
  EXPECT_EQ(to_string(scalar(-7, i32)), "-7");
  EXPECT_EQ(to_string(scalar(true, b1)), "True");
}

TEST(PrintArray, ValuesWithoutNumbersPrintTheirType) {
  std::string seen;
  const auto f = jit([&](const Array& x) {
    std::ostringstream out;
    out << x;
    seen = out.str();
    return x * 2;
  });
  const Array y = f(array({1, 2, 3}));
  EXPECT_EQ(seen, "f32[3] (traced)");
  EXPECT_EQ(to_string(y), "[2. 4. 6.]");
  EXPECT_EQ(to_string(abstract(f32, {3})), "f32[3] (abstract)");
  EXPECT_EQ(to_string(Array::no_gradient({3})), "no_gradient[3]");
  EXPECT_EQ(to_string(Array()), "(empty Array)");
}

}  // namespace
}  // namespace anadrome
