// Elementwise operations: special values, broadcasting, promotion, wrapping integers, derivatives at special
// points.
#include <anadrome/ops.h>
#include <anadrome/transform.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace anadrome {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

Array floats(std::vector<float> v) {
  return array(v);
}
Array integers(std::vector<std::int32_t> v) {
  return array(v);
}

/// Equal values, where NaN equals NaN and zeros have signs.
void expect_same(const Array& got, std::vector<float> want) {
  const auto values = got.to_vector<float>();
  ASSERT_EQ(values.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << "element " << i << ": " << values[i];
      continue;
    }
    EXPECT_EQ(values[i], want[i]) << "element " << i;
    EXPECT_EQ(std::signbit(values[i]), std::signbit(want[i])) << "element " << i;
  }
}

template <class F> std::vector<float> slopes(F f, const std::vector<float>& points) {
  std::vector<float> out;
  for (float x : points) out.push_back(grad(f)(scalar(x)).template item<float>());
  return out;
}

TEST(Elementwise, ScalarsMeetArraysOfEveryShape) {
  const Array x = array({{1, 2, 3}, {4, 5, 6}}), s = scalar(2);
  expect_same(x * s, {2, 4, 6, 8, 10, 12});
  expect_same(s - x, {1, 0, -1, -2, -3, -4});
  expect_same(1 / x[0], {1, 0.5f, 1.0f / 3});
  EXPECT_EQ((s + s).shape(), Shape{});
  expect_same(clamp(2, x, s + 2), {2, 2, 3, 4, 4, 4});
}

TEST(Elementwise, BroadcastsAsNumpy) {
  const Array column = array({{1}, {2}}), row = floats({10, 20, 30});
  expect_same(column + row, {11, 21, 31, 12, 22, 32});
  EXPECT_EQ((column * zeros({1, 0})).shape(), (Shape{2, 0}));
  EXPECT_THROW((void)(row + floats({1, 2})), TypeError);
}

TEST(Elementwise, EmptyArrays) {
  const Array none = zeros({0, 3});
  EXPECT_EQ((none + 1).shape(), (Shape{0, 3}));
  EXPECT_EQ(tanh(none).shape(), (Shape{0, 3}));
  EXPECT_EQ(where(none > 0, none, 1).size(), 0);
}

TEST(Elementwise, LiteralsAreWeak) {
  EXPECT_EQ((zeros({2}, bf16) * 2.5).dtype(), bf16);
  EXPECT_EQ((integers({1, 2}) * 2).dtype(), i32);
  EXPECT_EQ((integers({1, 2}) * 0.5).dtype(), f32);
  EXPECT_EQ((zeros({2}, b1) + 1).dtype(), i32);
  EXPECT_EQ(exp(integers({1})).dtype(), f32);
  EXPECT_THROW((void)(zeros({2}, i8) + 200), TypeError);
  EXPECT_THROW((void)(zeros({2}, u8) - (-1)), TypeError);
  EXPECT_THROW((void)(zeros({2}, u64) + zeros({2}, i32)), TypeError);
}

TEST(Elementwise, Promotion) {
  EXPECT_EQ(promote(u8, i8), i16);
  EXPECT_EQ(promote(u32, i8), i64);
  EXPECT_EQ(promote(bf16, f16), f32);
  EXPECT_EQ(promote(i64, bf16), bf16);
  EXPECT_EQ(promote(f64, c64), c128);
  EXPECT_EQ(promote(b1, u8), u8);
}

TEST(Elementwise, IntegersWrap) {
  const std::int32_t low = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ((integers({low}) - 1).to_vector<std::int32_t>()[0], std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(abs(integers({low})).to_vector<std::int32_t>()[0], low);
  EXPECT_EQ((integers({7, -7, 7, low}) / integers({2, 2, 0, -1})).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{3, -3, -1, low}));
  EXPECT_EQ((integers({7, -7, 7}) % integers({2, 2, 0})).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{1, -1, 7}));
  EXPECT_EQ(mod(integers({-7, 7}), integers({2, -2})).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{1, -1}));
  EXPECT_EQ(floor_div(integers({-7, 7, 7}), integers({2, -2, 0})).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{-4, -4, -1}));
  const Array shifted = shift_right_logical(array(std::vector<std::int8_t>{-1, -1}), 9);
  EXPECT_EQ(shifted.to_vector<std::int8_t>(), (std::vector<std::int8_t>{0, 0}));
}

TEST(Elementwise, MaxAndMinPropagateNanAndOrderZeros) {
  expect_same(max(floats({nan, 1, 0.f, -0.f}), floats({1, nan, -0.f, 0.f})), {nan, nan, 0.f, 0.f});
  expect_same(min(floats({nan, 1, 0.f, -0.f}), floats({1, nan, -0.f, 0.f})), {nan, nan, -0.f, -0.f});
}

TEST(Elementwise, SpecialValues) {
  expect_same(sign(floats({-2, -0.f, 0, nan})), {-1, -0.f, 0, nan});
  expect_same(logistic(floats({-inf, 0, inf})), {0, 0.5f, 1});
  expect_same(logaddexp(floats({inf, -inf, -inf}), floats({inf, -inf, 1})), {inf, -inf, 1});
  expect_same(rint(floats({0.5f, 1.5f, -0.5f})), {0, 2, -0.f});
  expect_same(round(floats({0.5f, 1.5f, -0.5f})), {1, 2, -1});
  expect_same(xlogy(floats({0, 0}), floats({0, 3})), {0, 0});
  expect_same(floor_div(floats({1, -1, 7}), floats({0, 0, -2})), {inf, -inf, -4});
  expect_same(sinc(floats({0, 1, inf})), {1, 0, 0});
  expect_same(copysign(floats({1, -1}), floats({-0.f, 2})), {-1, 1});
}

TEST(Elementwise, ConversionsSaturateAndWrap) {
  EXPECT_EQ(convert(floats({nan, 3e9f, -3e9f, -1.9f}), i32).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{0, 2147483647, std::numeric_limits<std::int32_t>::min(), -1}));
  EXPECT_EQ(convert(integers({257, -1}), u8).to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{1, 255}));
  EXPECT_EQ(convert(floats({nan, 0, -2}), b1).to_vector<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(bitcast(floats({1}), u32).to_vector<std::uint32_t>()[0], 0x3f800000u);
  EXPECT_THROW((void)bitcast(floats({1}), f64), TypeError);
}

TEST(Elementwise, HalfFloatsAreRoundedOnce) {
  const Array x = convert(floats({1, 256, 3}), bf16);
  expect_same(convert(x + 1, f32), {2, 256, 4});  // 257 is not a bf16: ties go to even
  EXPECT_EQ(tanh(x).dtype(), bf16);
  EXPECT_EQ(convert(nextafter(x, zeros({3}, bf16)), f32).to_vector<float>()[0], 1 - 0x1p-8f);
}

TEST(Elementwise, SelectsCases) {
  const std::vector<Array> cases{floats({1, 2, 3}), floats({4, 5, 6}), floats({7, 8, 9})};
  expect_same(select_n(integers({2, 0, 1}), cases), {7, 2, 6});
  expect_same(select_n(scalar(1, i32), cases), {4, 5, 6});
  EXPECT_EQ(logical_xor(integers({0, 2}), integers({3, 1})).to_vector<bool>(),
            (std::vector<bool>{true, false}));
}

TEST(Elementwise, DerivativesAtSpecialPoints) {
  EXPECT_EQ(slopes([](Array x) { return abs(x); }, {0.f, -0.f, -2}), (std::vector<float>{1, 1, -1}));
  EXPECT_EQ(slopes([](Array x) { return relu(x); }, {-1, 0, 1}), (std::vector<float>{0, 0, 1}));
  EXPECT_EQ(slopes([](Array x) { return max(x, 1); }, {0, 1, 2}), (std::vector<float>{0, 0.5f, 1}));
  EXPECT_EQ(slopes([](Array x) { return clip(x, -1, 1); }, {-2, -1, 0, 1}),
            (std::vector<float>{0, 0.5f, 1, 0.5f}));
  EXPECT_EQ(slopes([](Array x) { return clamp(-1, x, 1); }, {-1, 0, 1}), (std::vector<float>{0, 1, 0}));
  EXPECT_EQ(slopes([](Array x) { return sqrt(x); }, {0, 4}), (std::vector<float>{inf, 0.25f}));
  EXPECT_EQ(slopes([](Array x) { return cbrt(x); }, {0}), (std::vector<float>{inf}));
  EXPECT_EQ(slopes([](Array x) { return pow(x, 3); }, {0, 2}), (std::vector<float>{0, 12}));
  EXPECT_EQ(slopes([](Array x) { return pow(x, scalar(0, i32)); }, {0}), (std::vector<float>{0}));
  EXPECT_EQ(slopes([](Array x) { return leaky_relu(x); }, {0}), (std::vector<float>{1}));
}

TEST(Elementwise, SincHasItsSecondDerivativeAtZero) {
  const auto second = grad(grad([](Array x) { return sinc(x); }));
  EXPECT_NEAR(second(scalar(0)).item<float>(), -3.2898681f, 1e-6f);
  EXPECT_NEAR(second(scalar(1e-3)).item<float>(), -3.2898584f, 1e-5f);
}

TEST(Elementwise, ErrorsNameTheOperationAndTheTypes) {
  try {
    (void)(floats({1, 2}) + floats({1, 2, 3}));
    FAIL();
  } catch (const TypeError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("add: shapes [2] and [3]"), std::string::npos) << text;
    EXPECT_NE(text.find("elementwise_test.cpp:"), std::string::npos) << text;
  }
  EXPECT_THROW((void)(zeros({2}) & zeros({2})), TypeError);
  EXPECT_THROW((void)integer_pow(zeros({2}, i32), -1), TypeError);
  EXPECT_THROW((void)exp(Array()), TypeError);
}

}  // namespace
}  // namespace anadrome
