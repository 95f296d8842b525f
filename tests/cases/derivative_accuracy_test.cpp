// Derivatives where digits can be lost: cancelling special functions, decay, overflow on the way.
#include <cmath>

#include "cases/near.h"

namespace anadrome::cases {
namespace {

TEST(DerivativeAccuracy, DifferencesOfLogGammasKeepTheirLeadingDigits) {
  const auto direct = [](int k) -> Fn { return [k](const Array& a) { return lgamma(a + k) - lgamma(a); }; };
  const auto as_sum = [](int k) -> Fn {
    return [k](const Array& a) { return sum(log(a + arange(k, f64))); };
  };
  for (const Mode& m : modes()) {
    SCOPED_TRACE(m.name);
    expect_values(m.derivative(direct(3))(number(1e10 + 1)), {2.9999999994e-10}, 1e-3);
    expect_values(m.derivative(direct(5))(number(1e12)), {4.99999999999e-12}, 1e-3);
    expect_values(m.derivative(as_sum(3))(number(1e10 + 1)), {2.9999999994e-10});
    expect_values(m.derivative(as_sum(5))(number(1e12)), {4.99999999999e-12});
  }
}

TEST(DerivativeAccuracy, TheGradientOfADecayIsThatOfItsSteps) {
  const Fn last = [](Array y) {
    for (int i = 0; i < 100; ++i) y = y * (1 - 0.05);
    return y;
  };
  expect_values(last(number(1)), {0.005920529220333997});
  const Fn squared = [&](const Array& y) { return square(last(y)); };
  expect_values(reverse(squared)(number(1)), {7.01053324976574e-05});
  expect_values(forward(squared)(number(1)), {7.01053324976574e-05});
  Array naive = last(number(1)), exact = naive;
  for (int i = 0; i < 100; ++i) naive = naive + 0.05 * naive, exact = exact / 0.95;
  expect_values(naive, {0.7785570395897152});
  expect_values(exact, {1});
}

TEST(DerivativeAccuracy, LargeArgumentsDoNotOverflowOnTheWay) {
  const Fn sum_of = [](const Array& x) { return logsumexp(x); };
  expect_values(reverse(sum_of)(vec({1000, 1000, 0})), {0.5, 0.5, 0});
  const Fn long_side = [](const Array& x) { return hypot(x, number(4e200)); };
  expect_values(reverse(long_side)(number(3e200)), {0.6});
  const Fn entropy = [](const Array& x) { return log_softmax(x)[0]; };
  expect_values(reverse(entropy)(vec({-800, 0})), {1, -1});
}

TEST(DerivativeAccuracy, SmallArgumentsKeepTheirDigits) {
  const double x = 1e-12;
  const Fn inverse = [](const Array& v) { return log1p(v) - v; };  // -x^2/2: the derivative is -x/(1+x)
  expect_values(reverse(inverse)(number(x)), {-x}, 1e-3);
  const Fn grown = [](const Array& v) { return expm1(v); };
  expect_values(forward(forward(grown))(number(x)), {std::exp(x)});
  const Fn curve = [](const Array& v) { return sinc(v); };  // -pi^2 x / 3 beside 0
  const double pi = std::acos(-1.0);
  expect_values(reverse(curve)(number(1e-8)), {-pi * pi * 1e-8 / 3}, 1e-12);
}

TEST(DerivativeAccuracy, ManySmallTermsAreSummedAccuratelyInBothModes) {
  const Array many = full({100000}, scalar(0.1, f32));
  const auto mean_square = [](const Array& x) { return mean(square(x)); };
  const Array g = grad(mean_square)(many);
  EXPECT_NEAR(sum(g).item<double>(), 0.2, 1e-7);
  EXPECT_NEAR(jvp(mean_square, at(many), along(ones_like(many))).tangent.item<double>(), 0.2, 1e-7);
}

}  // namespace
}  // namespace anadrome::cases
