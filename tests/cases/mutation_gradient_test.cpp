// Updates of places: gradients of what stays, and values that outlive what they were computed from.
#include "cases/near.h"

namespace anadrome::cases {
namespace {

TEST(MutationGradient, RepeatedWritesToOnePlaceCountOnce) {
  const Fn added = [](const Array& x) {
    Array v = zeros({2}, f64);
    for (int i = 0; i < 3; ++i) v = v.at(0).set(v[0] + x[i]);
    return v[0];
  };
  const Fn multiplied = [](const Array& x) {
    Array v = ones({2}, f64);
    for (int i = 0; i < 3; ++i) v = v.at(0).set(v[0] * x[i]);
    return sum(v);
  };
  const Fn counted = [](Array x) {
    for (int i = 0; i < 3; ++i) x = x.at(i).set(x[i] + 1);
    return sum(x);
  };
  for (bool compiled : {false, true}) {
    const auto slope = [&](const Fn& f) { return compiled ? jitted(reverse(f)) : reverse(f); };
    expect_values(slope(added)(vec({1, 2, 4})), {1, 1, 1});
    expect_values(slope(multiplied)(vec({2, 3, 5})), {15, 10, 6});
    expect_values(slope(counted)(vec({1, 2, 3})), {1, 1, 1});
  }
  expect_values(jacfwd(multiplied)(vec({2, 3, 5})), {15, 10, 6});
}

TEST(MutationGradient, UpdatesThatReadAndWriteTheSameArray) {
  const Fn shifted = [](Array x) {
    x = x.at(from(1)).add(x[until(-1)]);  // reads the old values
    return sum(x * x);
  };
  expect_values(reverse(shifted)(vec({1, 2, 3})), {8, 16, 10});
  expect_values(jacfwd(shifted)(vec({1, 2, 3})), {8, 16, 10});
  const Fn scaled = [](const Array& x) { return prod(x.at(1).multiply(x[1])); };  // x0 x1^2
  expect_values(reverse(scaled)(vec({3, 2})), {4, 12});
  const Fn largest = [](const Array& x) { return sum(x.at(0).max(x[1])); };
  expect_values(reverse(largest)(vec({1, 5})), {0, 2});
}

TEST(MutationGradient, APullbackKeepsTheValuesOfItsForwardPass) {
  Array x = number(3);
  const auto r = vjp([](const Array& v) { return v * v; }, x);
  x = number(10);
  expect_values(r.pullback(number(1)), {6});
}

TEST(MutationGradient, APullbackOfADonatedArgumentIsRightOrAClearError) {
  const Array x = vec({3});
  const auto r = vjp([](const Array& v) { return v * v; }, x);
  expect_values(jit([](const Array& v) { return v + 7; }, {.donate = {0}})(x), {10});
  expect_contains(message<TypeError>([&] { return r.pullback(vec({1})); }), {"f64[1]", "donated"});
}

TEST(MutationGradient, ObservingAnIntermediateDoesNotCutItsGradient) {
  int seen = 0;
  const Fn f = [&](const Array& a) {
    const Array b = a + ones({3, 3, 3}, f64);
    seen += any(b < 1).item<bool>();
    return square(b);
  };
  const auto r = vjp(f, ones({3, 3}, f64));
  expect_values(r.pullback(ones({3, 3, 3}, f64)), std::vector<double>(9, 12));
  EXPECT_EQ(seen, 0);
}

TEST(MutationGradient, PrintingOrReadingHalfwayChangesNothing) {
  const Fn f = [](const Array& x) {
    const Array y = sin(x);
    (void)to_string(y);
    (void)y.item<double>();
    return y * y;
  };
  const Fn plain = [](const Array& x) { return sin(x) * sin(x); };
  expect_values(reverse(f)(number(0.3)), {reverse(plain)(number(0.3)).item<double>()});
  expect_values(reverse(reverse(f))(number(0.3)), {reverse(reverse(plain))(number(0.3)).item<double>()});
}

TEST(MutationGradient, OfARepeatedIndexOnlyTheValueThatStaysGetsAGradient) {
  const Fn f = [](const Array& x) {
    return dot(zeros({3}, f64).at(array({1, 1}, i32)).set(x), vec({1, 10, 100}));
  };
  const Array x = vec({5, 7});
  expect_values(f(x), {70});
  for (bool compiled : {false, true}) {
    expect_values((compiled ? jitted(reverse(f)) : reverse(f))(x), {0, 10});
    expect_values((compiled ? jitted(forward(f)) : forward(f))(x), {10});
  }
  expect_values(jacfwd(f)(x), {0, 10});
}

TEST(MutationGradient, RepeatedIndicesOfTheOtherUpdatesAddUp) {
  const Array places = array({1, 1, 2}, i32), weights = vec({1, 10, 100});
  const Fn added = [&](const Array& x) { return dot(zeros({3}, f64).at(places).add(x), weights); };
  expect_values(reverse(added)(vec({1, 2, 3})), {10, 10, 100});
  const Fn multiplied = [&](const Array& x) { return dot(ones({3}, f64).at(places).multiply(x), weights); };
  expect_values(reverse(multiplied)(vec({2, 3, 5})), {30, 20, 100});
  expect_values(reverse(multiplied)(vec({0, 3, 5})), {30, 0, 100});
  const Fn written_over = [&](const Array& base) {
    return dot(base.at(places).set(vec({7, 8, 9})), weights);
  };
  expect_values(reverse(written_over)(vec({1, 2, 3})), {1, 0, 0});
}

}  // namespace
}  // namespace anadrome::cases
