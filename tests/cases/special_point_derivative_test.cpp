// Derivatives at points where a formula meets 0 times infinity, a removable singularity, or a lost tail.
#include <cmath>
#include <limits>

#include "cases/near.h"

namespace anadrome::cases {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Fn power(double p) {
  return [p](const Array& x) { return pow(x, p); };
}
/// The n-th derivative by nesting one mode.
Fn nth(Fn f, int n, const Mode& mode) {
  for (int i = 0; i < n; ++i) f = mode.derivative(f);
  return f;
}

TEST(SpecialPointDerivative, APowerWithAFloatExponentHasItsDerivativesAtZeroAndBelow) {
  for (const Mode& m : modes()) {
    SCOPED_TRACE(m.name);
    expect_values(nth(power(2.5), 1, m)(number(0)), {0});
    expect_values(nth(power(2.5), 2, m)(number(0)), {0});
    expect_values(nth(power(3.0), 1, m)(number(-2)), {12});
    expect_values(nth(power(-1.0), 1, m)(number(-2)), {-0.25});
    expect_values(nth(power(3.0), 3, m)(number(0)), {6});
    expect_values(nth(power(2.0), 3, m)(number(0)), {0});
    expect_values(nth(power(0.3), 1, m)(number(0)), {infinity});
  }
}

TEST(SpecialPointDerivative, DerivativesOfPowersPastTheirDegreeAreZero) {
  for (const Mode& m : modes()) {
    SCOPED_TRACE(m.name);
    expect_values(nth(power(1.0), 2, m)(number(0)), {0});
    expect_values(nth(power(0.0), 1, m)(number(0)), {0});
    expect_values(nth(power(2.0), 4, m)(number(0)), {0});
    const Fn cube = [](const Array& x) { return pow(x, 3); };  // an integer exponent: integer_pow
    expect_values(nth(cube, 3, m)(number(0)), {6});
    expect_values(nth(cube, 4, m)(number(0)), {0});
    expect_values(jitted(nth(power(2.0), 3, m))(number(0)), {0});
    expect_values(batched(nth(power(2.0), 3, m))(vec({0, 1})), {0, 0});
  }
}

TEST(SpecialPointDerivative, TheExponentOfAPowerHasItsDerivative) {
  const Fn in_exponent = [](const Array& p) { return pow(number(3), p); };
  const Fn at_zero = [](const Array& p) { return pow(number(0), p); };
  for (const Mode& m : modes()) {
    SCOPED_TRACE(m.name);
    expect_values(m.derivative(in_exponent)(number(2)), {9 * std::log(3.0)});
    expect_values(nth(in_exponent, 2, m)(number(0)), {std::log(3.0) * std::log(3.0)});
    expect_values(m.derivative(at_zero)(number(2)), {0});
  }
  // d/dp d/dx x^p = x^(p-1) (1 + p log x), at p = 0 too
  const Fn mixed = [](const Array& p) { return grad([&](const Array& x) { return pow(x, p); })(number(3)); };
  expect_values(reverse(mixed)(number(0)), {1.0 / 3});
}

TEST(SpecialPointDerivative, WhatIsSmoothInTheNormHasItsGradientAtTheOrigin) {
  const Fn squared = [](const Array& x) { return square(norm(x)); };
  const Fn scaled = [](const Array& a) { return norm(a * vec({0, 0})); };
  const Fn sum_of_squares = [](const Array& x) { return sum(x * x); };
  const Fn length = [](const Array& x) { return norm(x); };
  const Array origin = vec({0, 0});
  for (bool compiled : {false, true}) {
    const auto made = [&](const Fn& f) { return compiled ? jitted(reverse(f)) : reverse(f); };
    expect_values(made(squared)(origin), {0, 0});
    expect_values(made(scaled)(number(1.3)), {0});
    expect_values(made(sum_of_squares)(origin), {0, 0});
    expect_values(made(length)(origin), {0, 0});
  }
  expect_values(forward(squared)(origin), {0});
  expect_values(forward(scaled)(number(1.3)), {0});
  expect_values(reverse(length)(vec({3, 4})), {0.6, 0.8});
}

TEST(SpecialPointDerivative, OneZeroRowDoesNotSpoilTheNormsOfTheOthers) {
  const Array rows = array({{3, 4}, {0, 0}}, f64);
  const Fn lengths = [](const Array& x) { return sum(norm(x, 2, 1)); };
  const Fn cubic = [](const Array& x) { return sum(norm(x, 3, 1)); };
  expect_values(reverse(lengths)(rows), {0.6, 0.8, 0, 0});
  const double scale = std::pow(27 + 64, -2.0 / 3);
  expect_values(reverse(cubic)(rows), {9 * scale, 16 * scale, 0, 0});
  expect_values(norm(rows, 2, 1), {5, 0});
  expect_values(norm(vec({NAN, 0})), {NAN});
}

TEST(SpecialPointDerivative, SigmoidsKeepBothTailsToTheSecondDerivative) {
  const Fn log_of = [](const Array& x) { return log_sigmoid(x); };
  const Fn plus = [](const Array& x) { return softplus(x); };
  const Fn logistic_of = [](const Array& x) { return sigmoid(x); };
  const double far = 4.248354255291589e-18;  // e^-40
  for (const Mode& m : modes()) {
    SCOPED_TRACE(m.name);
    const Fn first = batched(m.derivative(log_of)), second = batched(nth(log_of, 2, m));
    expect_values(first(vec({0, 40, -40})), {0.5, far, 1}, 1e-10);
    expect_values(second(vec({37, -37, 50, -50, 700, -700})),
                  {-8.533047625744065e-17, -8.533047625744065e-17, -1.9287498479639178e-22,
                   -1.9287498479639178e-22, -9.85967654375977e-305, -9.85967654375977e-305},
                  1e-10);
    expect_values(batched(nth(plus, 2, m))(vec({37, -37, 0})),
                  {8.533047625744065e-17, 8.533047625744065e-17, 0.25}, 1e-10);
    expect_values(batched(nth(logistic_of, 2, m))(vec({37, -37, 0})),
                  {-8.533047625744063e-17, 8.533047625744063e-17, 0}, 1e-10);
    expect_values(batched(m.derivative(logistic_of))(vec({40, -40})), {far, far}, 1e-10);
  }
}

TEST(SpecialPointDerivative, ExponentialActivationsKeepTheirTails) {
  const double far = std::exp(-40.0);
  const Fn grown = [](const Array& x) { return expm1(x); };
  const Fn elu_of = [](const Array& x) { return elu(x); };
  const Fn silu_of = [](const Array& x) { return silu(x); };
  for (const Mode& m : modes()) {
    SCOPED_TRACE(m.name);
    expect_values(m.derivative(grown)(number(-40)), {far});
    expect_values(nth(grown, 2, m)(number(-40)), {far});
    expect_values(m.derivative(elu_of)(number(-40)), {far});
    expect_values(m.derivative(silu_of)(number(-40)), {far * (1 - 40 * (1 - far)) / (1 + far)}, 1e-10);
    // an infinite operand of logaddexp has the whole share, not NaN
    const Fn tie = [](const Array& x) { return logaddexp(x, number(infinity)); };
    expect_values(m.derivative(tie)(number(infinity)), {1});
    const Fn one_sided = [](const Array& x) { return logaddexp(x, number(-infinity)); };
    expect_values(m.derivative(one_sided)(number(3)), {1});
  }
}

TEST(SpecialPointDerivative, SincHasItsCurvatureAtZeroBehindAnAffineArgument) {
  const Fn f = [](const Array& t) { return 2 * sinc(t) - 3 * sinc(3 * t + 1.5) + 5 * sinc(2 - t); };
  for (const Mode& inner : modes())
    for (const Mode& outer : modes()) {
      SCOPED_TRACE(outer.name + " over " + inner.name);
      expect_values(outer.derivative(inner.derivative(f))(number(-0.5)), {80.3665183733044}, 1e-9);
    }
  const Fn alone = [](const Array& t) { return sinc(t); };
  const double pi = std::acos(-1.0);
  expect_values(reverse(alone)(number(0)), {0});
  expect_values(nth(alone, 3, modes()[1])(number(0)), {0});
  expect_values(nth(alone, 4, modes()[0])(number(0)), {std::pow(pi, 4) / 5}, 1e-9);
}

TEST(SpecialPointDerivative, ProductsDoNotDivideByTheirFactors) {
  const Fn cumulative = [](const Array& x) { return sum(cumprod(x)); };
  const Fn product = [](const Array& x) { return prod(x); };
  expect_values(reverse(cumulative)(vec({2, 0, 3, 4})), {1, 32, 0, 0});
  expect_values(reverse(product)(vec({2, 0, 4})), {0, 8, 0});
  expect_values(reverse(product)(vec({2, 3, 0, 0})), {0, 0, 0, 0});
  expect_values(jitted(reverse(cumulative))(vec({2, 0, 3, 4})), {1, 32, 0, 0});
}

TEST(SpecialPointDerivative, ProductsAlongAnAxisAndInReverseMeetZerosToo) {
  const Fn by_row = [](const Array& x) { return sum(prod(x, 1)); };
  expect_values(reverse(by_row)(array({{2, 0}, {3, 4}}, f64)), {0, 2, 4, 3});
  const Fn backwards = [](const Array& x) { return sum(cumprod(x, 0, true)); };
  expect_values(reverse(backwards)(vec({4, 3, 0, 2})), {0, 0, 32, 1});
  const Fn cumulative = [](const Array& x) { return sum(cumprod(x)); };
  for (const Array& h : hessians(cumulative, vec({0, 0, 2}))) expect_values(h, {0, 3, 0, 3, 0, 0, 0, 0, 0});
}

}  // namespace
}  // namespace anadrome::cases
