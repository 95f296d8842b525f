// associative_scan and fori_loop with bounds that are values, against the same written step by step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "anadrome/anadrome.h"

namespace anadrome {
namespace {

/// The composition of maps x -> a x + b: associative, and the order of its arguments matters.
struct Line {
  Array a, b;
};
Line after(const Line& first, const Line& second) {
  return {first.a * second.a, second.a * first.b + second.b};
}
Line lines(std::int64_t n) {
  const Array i = arange(n, f64);
  return {1 + 0.1 * sin(i), cos(i)};
}
Line line(const Line& all_of_them, std::int64_t k) {
  return {all_of_them.a[k], all_of_them.b[k]};
}

void expect_near(const Array& got, const Array& want) {
  ASSERT_EQ(got.type(), want.type());
  const std::vector<double> x = got.to_vector<double>(), y = want.to_vector<double>();
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(x[i], y[i], 1e-12 * std::max(1.0, std::abs(y[i]))) << i;
}

TEST(AssociativeScan, EqualsOneStepAfterTheOtherForEveryLength) {
  for (std::int64_t n = 1; n < 20; ++n) {
    const Line x = lines(n), prefixes = associative_scan(after, x);
    const Line suffixes = associative_scan(after, x, 0, true);
    Line total = line(x, 0), from_end = line(x, n - 1);
    for (std::int64_t k = 0; k < n; ++k) {
      if (k > 0) total = after(total, line(x, k)), from_end = after(from_end, line(x, n - 1 - k));
      expect_near(prefixes.a[k], total.a);
      expect_near(prefixes.b[k], total.b);
      expect_near(suffixes.a[n - 1 - k], from_end.a);
      expect_near(suffixes.b[n - 1 - k], from_end.b);
    }
  }
}

TEST(AssociativeScan, TakesAnyAxisAndNoElements) {
  const auto add = [](const Array& x, const Array& y) { return x + y; };
  const Array x = sin(reshape(arange(42, f64), {2, 7, 3}));
  for (int axis : {0, 1, 2, -1, -2}) {
    expect_near(associative_scan(add, x, axis), cumsum(x, axis));
    expect_near(associative_scan(add, x, axis, true), cumsum(x, axis, true));
  }
  EXPECT_EQ(associative_scan(add, zeros({3, 0}), 1).shape(), (Shape{3, 0}));
}

TEST(AssociativeScan, GoesThroughTheTransforms) {
  const auto add = [](const Array& x, const Array& y) { return x + y; };
  const auto multiply = [](const Array& x, const Array& y) { return x * y; };
  const auto f = [=](const Array& x) { return sum(sin(associative_scan(multiply, x))); };
  const auto g = [](const Array& x) { return sum(sin(cumprod(x))); };
  const Array x = 0.5 + arange(7, f64) / 5, X = 0.5 + reshape(arange(21, f64), {3, 7}) / 30;
  expect_near(grad(f)(x), grad(g)(x));
  expect_near(jit(hessian(f))(x), hessian(g)(x));
  expect_near(vmap(grad(f))(X), vmap(grad(g))(X));
  expect_near(vmap([=](const Array& a) { return associative_scan(add, a); })(X), cumsum(X, 1));
}

TEST(AssociativeScan, RefusesWhatDoesNotFit) {
  const auto first = [](const Line& x, const Line&) { return x; };
  const auto shorter = [](const Line& x, const Line& y) { return Line{x.a, y.b[from(1)]}; };
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const TypeError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message([&] {
              (void)associative_scan(first, Line{ones({3}), ones({4})});
            }).find("argument 0: b: f32[4]"),
            std::string::npos);
  EXPECT_NE(message([&] {
              (void)associative_scan(first, Line{ones({3}), scalar(1)});
            }).find("argument 0: b: f32[]"),
            std::string::npos);
  EXPECT_NE(message([&] {
              (void)associative_scan(shorter, Line{ones({4}), ones({4})});
            }).find("argument 0: b"),
            std::string::npos);
}

TEST(ForiLoop, TakesBoundsThatAreValues) {
  const auto power = [](const Array& lo, const Array& hi, const Array& x) {
    return fori_loop(lo, hi, ones_like(x),
                     [x](const Array& i, const Array& s) { return s * (x + convert(i, f64)); });
  };
  const Array x = scalar(1.5, f64), two = scalar(2, i32), five = scalar(5, i32);
  expect_near(power(two, five, x), scalar(3.5 * 4.5 * 5.5, f64));
  expect_near(jit(power)(two, five, x), scalar(3.5 * 4.5 * 5.5, f64));
  expect_near(power(five, two, x), scalar(1, f64));
  const Array slope = jvp(power, at(two, five, x), along(no_gradient, no_gradient, scalar(1, f64))).tangent;
  expect_near(slope, scalar(3.5 * 4.5 + 3.5 * 5.5 + 4.5 * 5.5, f64));
  expect_near(vmap(power, {.in = {none, 0, none}})(two, arange(2, 6), x),
              array(std::vector<double>{1, 3.5, 3.5 * 4.5, 3.5 * 4.5 * 5.5}));
  EXPECT_THROW((void)grad<2>(power)(two, five, x), RuleError);
}

TEST(ForiLoop, CountsInTheDtypeOfItsBounds) {
  const auto last = [](const Array& i, const Array&) { return i; };
  const Array big = scalar(std::int64_t{1} << 40, i64);
  EXPECT_EQ(fori_loop(big, big + 3, big, last).item<std::int64_t>(), (std::int64_t{1} << 40) + 2);
  EXPECT_EQ(fori_loop(0, scalar(3, u8), scalar(0, u8), last).item<int>(), 2);
  EXPECT_THROW((void)fori_loop(0, scalar(3.0), scalar(0), last), TypeError);
  EXPECT_THROW((void)fori_loop(0, arange(3), scalar(0), last), TypeError);
}

}  // namespace
}  // namespace anadrome
