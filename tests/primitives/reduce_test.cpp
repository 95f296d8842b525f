// Reductions, scans, sorting and pooling: against plain loops, on empty arrays, with special values,
// messages.
#include <anadrome/ops/reduce.h>
#include <anadrome/ops/shape.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/eval.h"
#include "primitives/op.h"

namespace anadrome {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<std::int32_t>;
constexpr float inf = std::numeric_limits<float>::infinity();
const float nan = std::nanf("");

Array randoms(const Shape& shape, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> number(-2, 2);
  Floats v(static_cast<std::size_t>(shape.elements()));
  for (float& x : v) x = number(engine);
  return array(v, shape);
}
Floats floats(const Array& a) {
  return a.to_vector<float>();
}
Integers integers(const Array& a) {
  return a.to_vector<std::int32_t>();
}

template <class F> std::string type_error(F f) {
  try {
    f();
  } catch (const TypeError& e) {
    return e.what();
  }
  return "no error";
}
void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

/// The sum over the axes in `mask` by visiting every element once.
std::vector<double> naive_sum(const Array& x, unsigned mask) {
  const Floats v = floats(x);
  const Shape& shape = x.shape();
  std::int64_t results = 1;
  for (int k = 0; k < shape.rank(); ++k)
    if (!(mask >> k & 1)) results *= shape[k];
  std::vector<double> y(static_cast<std::size_t>(results));
  for (std::size_t i = 0; i < v.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), place = 0, step = 1;
    for (int k = shape.rank() - 1; k >= 0; --k) {
      if (!(mask >> k & 1)) place += rest % shape[k] * step, step *= shape[k];
      rest /= shape[k];
    }
    y[static_cast<std::size_t>(place)] += static_cast<double>(v[i]);
  }
  return y;
}

TEST(Reduce, SumOverAnyAxesEqualsPlainLoops) {
  for (const Shape& shape :
       {Shape{37}, Shape{5, 130}, Shape{130, 3}, Shape{4, 1, 17}, Shape{3, 5, 7, 2}, Shape{2, 0, 3}})
    for (unsigned mask = 0; mask < 1u << shape.rank(); ++mask) {
      const Array x = randoms(shape);
      Ints axes;
      for (int k = 0; k < shape.rank(); ++k)
        if (mask >> k & 1) axes.push_back(k);
      const Floats got = floats(sum(x, axes));
      const std::vector<double> want = naive_sum(x, mask);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(got[i], want[i], 1e-6 * (1 + std::abs(want[i]))) << to_string(shape) << " mask " << mask;
    }
}

TEST(Reduce, LongSumsOfFloatsAreRoundedOnce) {
  EXPECT_EQ(sum(full({100000}, 0.1f)).item<float>(), static_cast<float>(100000 * static_cast<double>(0.1f)));
  EXPECT_EQ(sum(full({1000}, 1, bf16)).item<float>(), 1000);
}

TEST(Reduce, NeutralElementsAndDtypes) {
  const Array none = zeros({0, 2});
  EXPECT_EQ(floats(sum(none, 0)), (Floats{0, 0}));
  EXPECT_EQ(floats(prod(none, 0)), (Floats{1, 1}));
  EXPECT_EQ(floats(reduce_max(none, 0)), (Floats{-inf, -inf}));
  EXPECT_EQ(sum(array({1, 2, 250}, u8)).item<int>(), 253);
  EXPECT_EQ(sum(array({200, 100}, u8)).item<int>(), 44);
  EXPECT_EQ(sum(array({1, 0, 1}, b1)).type(), (Type{i32, {}}));
  EXPECT_EQ(mean(array({1, 2}, i32)).type(), (Type{f32, {}}));
  EXPECT_EQ(sum(scalar(3)).item<float>(), 3);
  EXPECT_EQ(sum(zeros({2, 3, 4}), {0, -1}, true).shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(sum(zeros({2, 3}), Ints{}).shape(), (Shape{2, 3}));
  EXPECT_TRUE(all(array({1, 1}, b1)).item<bool>());
  EXPECT_TRUE(all(zeros({0})).item<bool>());
  EXPECT_FALSE(any(zeros({0})).item<bool>());
  EXPECT_EQ(all(array({{1, 0}, {1, 1}}), {1}).to_vector<bool>(), (std::vector<bool>{false, true}));
}

TEST(Reduce, SpecialValues) {
  EXPECT_TRUE(std::isnan(reduce_max(array(Floats{1, nan, 2})).item<float>()));
  EXPECT_FALSE(std::signbit(reduce_max(array(Floats{-0.0f, 0.0f})).item<float>()));
  EXPECT_TRUE(std::signbit(reduce_min(array(Floats{0.0f, -0.0f})).item<float>()));
  EXPECT_EQ(logsumexp(array(Floats{-inf, -inf})).item<float>(), -inf);
  EXPECT_TRUE(std::isnan(mean(zeros({0})).item<float>()));
  EXPECT_EQ(argmax(array(Floats{1, nan, nan})).item<int>(), 1);
  EXPECT_EQ(argmin(array(Floats{3, 1, 1})).item<int>(), 1);
  EXPECT_EQ(integers(argmax(array({{1, 5}, {7, 2}}), 0)), (Integers{1, 0}));
  EXPECT_EQ(argmax(array({{1, 5}, {7, 2}})).item<int>(), 2);
  EXPECT_TRUE(std::isnan(median(array(Floats{1, nan, 2})).item<float>()));
  EXPECT_EQ(median(array({3, 1, 2, 5})).item<float>(), 2.5f);
}

TEST(Reduce, Messages) {
  expect_contains(type_error([] { (void)argmax(zeros({0})); }), "argmax: axis 0 of f32[0] is empty");
  expect_contains(type_error([] { (void)sum(zeros({2}), 1); }), "sum: axis 1");
  expect_contains(type_error([] { (void)sum(zeros({2}), {0, -1}); }), "twice");
  expect_contains(type_error([] { (void)quantile(zeros({2}), 1.5); }), "quantile: q is 1.5");
  expect_contains(type_error([] { (void)top_k(zeros({2}), 3); }), "top_k: k is 3");
  expect_contains(type_error([] { (void)sum(zeros({2}), 1); }), "reduce_test.cpp:");
}

TEST(Scan, ForwardsAndInReverseOnEveryAxis) {
  const Array x = array({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(floats(cumsum(x, 0)), (Floats{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(floats(cumsum(x, 1, true)), (Floats{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(floats(cumprod(x, -1)), (Floats{1, 2, 6, 4, 20, 120}));
  EXPECT_EQ(floats(cummax(array({2, 1, 3, 0}))), (Floats{2, 2, 3, 3}));
  EXPECT_EQ(floats(cummin(array({2, 1, 3, 0}), 0, true)), (Floats{0, 0, 0, 0}));
  EXPECT_EQ(cumsum(zeros({2, 0}), 1).shape(), (Shape{2, 0}));
  const Floats lse = floats(cumlogsumexp(array(Floats{-inf, 1, 1000, -inf, 1})));
  EXPECT_EQ(lse, (Floats{-inf, 1, 1000, 1000, 1000}));
  const Floats stays = floats(cumlogsumexp(array(Floats{nan, inf, 1})));
  for (float v : stays) EXPECT_TRUE(std::isnan(v));
  EXPECT_EQ(floats(diff(array({1, 4, 9, 16}), 2)), (Floats{2, 2}));
}

TEST(Scan, RowsAreColumnsOfTheTranspose) {
  for (std::int64_t rows : {1, 3, 4, 6, 9}) {
    const Array x = randoms({rows, 37});
    for (const bool reverse : {false, true})
      for (const auto scan : {op::cumsum, op::cumprod, op::cummax, op::cummin, op::cumlogsumexp})
        EXPECT_EQ(floats(scan(x, 1, reverse)), floats(transpose(scan(transpose(x), 0, reverse)))) << rows;
  }
}

TEST(Arg, IsTheFirstOfTiesAndOfNaNsInRowsOfAnyLength) {
  std::mt19937 engine(3);
  for (const int n : {1, 2, 63, 64, 127, 128, 129, 200, 1000})
    for (int round = 0; round < 30; ++round) {
      Floats v(static_cast<std::size_t>(n));
      for (float& x : v) x = static_cast<float>(engine() % 7) - (engine() % 2 ? 3.0f : 3.5f);
      if (round % 3 == 0)
        for (int k = 0; k < 2; ++k) v[engine() % v.size()] = nan;
      if (round % 5 == 0) std::fill(v.begin(), v.end(), round % 2 ? nan : 1.0f);
      const auto first = [&](auto better) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < v.size(); ++i)
          if (!std::isnan(v[best]) && (std::isnan(v[i]) || better(v[i], v[best]))) best = i;
        return static_cast<std::int32_t>(best);
      };
      EXPECT_EQ(op::argmax(array(v), 0).item<std::int32_t>(), first(std::greater<>())) << n;
      EXPECT_EQ(op::argmin(array(v), 0).item<std::int32_t>(), first(std::less<>())) << n;
    }
}

TEST(Sort, AgreesWithTheStandardLibrary) {
  for (std::int64_t n : {0, 1, 2, 31, 33, 1000}) {
    const Array x = array(std::vector<std::int32_t>([&] {
      std::mt19937 engine(7);
      std::vector<std::int32_t> v(static_cast<std::size_t>(n));
      for (auto& i : v) i = static_cast<std::int32_t>(engine() % 50) - 25;
      return v;
    }()));
    Integers want = integers(x), order(want.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return want[a] < want[b]; });
    EXPECT_EQ(integers(argsort(x)), order);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return a < b; });
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return want[a] > want[b]; });
    EXPECT_EQ(integers(argsort(x, 0, true)), order);
    for (std::int64_t k : {std::int64_t{0}, n / 3, n}) {
      order.resize(static_cast<std::size_t>(k));
      if (k == n)
        order = integers(argsort(x, 0, true));
      else
        order = integers(argsort(x, 0, true)), order.resize(static_cast<std::size_t>(k));
      EXPECT_EQ(integers(top_k(x, k).indices), order);
    }
    std::sort(want.begin(), want.end());
    EXPECT_EQ(integers(sort(x)), want);
  }
}

TEST(Sort, KeysAxesAndSpecialValues) {
  const Floats y = floats(sort(array(Floats{3, nan, -0.0f, 0.0f, -inf})));
  EXPECT_EQ(y[0], -inf);
  EXPECT_TRUE(std::signbit(y[1]) && !std::signbit(y[2]) && std::isnan(y[4]));
  EXPECT_EQ(floats(sort(array({{3, 1}, {2, 4}}), 0)), (Floats{2, 1, 3, 4}));
  const auto r = sort_key_val({array({1, 0, 1, 0}, i32), array({5, 6, 4, 7}), array({0, 1, 2, 3}, i32)}, 2);
  EXPECT_EQ(integers(r[2]), (Integers{1, 3, 2, 0}));
  EXPECT_EQ(integers(argsort(array({3, -1, 200}, i16))), (Integers{1, 0, 2}));
}

TEST(Pool, WindowsStridesAndPadding) {
  const Array x = array({1, 5, 2, 4, 3});
  EXPECT_EQ(floats(max_pool(x, {3})), (Floats{5, 5, 4}));
  EXPECT_EQ(floats(min_pool(x, {3}, {{2}, {1}, {1}})), (Floats{1, 2, 3}));
  EXPECT_EQ(floats(sum_pool(x, {2}, {{2}, {}, {1}})), (Floats{6, 6, 3}));
  EXPECT_EQ(floats(sum_pool(x, {2}, {{1}, {3}, {}}))[0], 0);
  EXPECT_EQ(floats(max_pool(reshape(arange(12, f32), {1, 3, 4}), {2, 2}, {{2, 2}, {}, {}})), (Floats{5, 7}));
  EXPECT_EQ(max_pool(x, {6}).shape(), (Shape{0}));
  EXPECT_EQ(max_pool(array({1, 2}, i32), {2}).item<int>(), 2);
}

}  // namespace
}  // namespace anadrome
