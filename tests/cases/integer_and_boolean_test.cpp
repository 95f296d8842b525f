// Integers and truth values carry no derivative: asking for one is an error, and operations that round have
// the derivative 0.
#include "cases/near.h"

namespace anadrome::cases {
namespace {

const auto square_of = [](const Array& x) { return x * x; };

TEST(IntegerAndBoolean, AGradientOfAnIntegerOrBoolIsAnErrorThatNamesItsType) {
  const std::string integer = message<TypeError>([] { return grad(square_of)(scalar(3, i32)); });
  expect_contains(integer, {"grad", "argument 0 is i32[]", "convert", "integer_and_boolean_test.cpp"});
  const std::string truth = message<TypeError>([] { return grad(square_of)(scalar(true, b1)); });
  expect_contains(truth, {"argument 0 is b1[]", "convert"});
  const std::string tangent =
      message<TypeError>([] { return jvp(square_of, at(scalar(3, i32)), along(scalar(1, i32))); });
  expect_contains(tangent, {"jvp", "argument 0 is i32[]", "no_gradient"});
  expect_contains(message<TypeError>([] { return jacfwd(square_of)(scalar(3, i32)); }),
                  {"argument 0 is i32[]"});
  expect_values(grad(square_of)(convert(scalar(3, i32), f64)), {6});
}

TEST(IntegerAndBoolean, AnIntegerValueHasNoGradientEither) {
  const auto f = [](const Array& x) { return convert(x, i32); };
  expect_contains(message<TypeError>([&] { return grad(f)(number(2)); }), {"i32[]", "float"});
  const auto r = jvp(f, at(number(2)), along(number(1)));
  EXPECT_TRUE(r.tangent.is_no_gradient());
}

TEST(IntegerAndBoolean, PiecewiseConstantOperationsHaveTheDerivativeZero) {
  const std::vector<std::pair<Fn, double>> cases{
      {[](const Array& x) { return floor(x); }, 0},
      {[](const Array& x) { return ceil(x); }, 0},
      {[](const Array& x) { return round(x); }, 0},
      {[](const Array& x) { return rint(x); }, 0},
      {[](const Array& x) { return trunc(x); }, 0},
      {[](const Array& x) { return sign(x); }, 0},
      {[](const Array& x) { return convert(x > 1, f64) * x; }, 1},
      {[](const Array& x) { return x * convert(convert(x, i32), f64); }, 1},
      {[](const Array& x) { return x * convert(x, i64); }, 1},
      {[](const Array& x) { return x - floor(x); }, 1},
      {[](const Array& x) { return mod(x, 1.0); }, 1},
  };
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (const Mode& m : modes()) {
      SCOPED_TRACE(i);
      expect_values(m.derivative(cases[i].first)(number(1.5)), {cases[i].second});
      expect_values(jitted(m.derivative(cases[i].first))(number(1.5)), {cases[i].second});
      expect_values(batched(m.derivative(cases[i].first))(vec({1.5})), {cases[i].second});
    }
}

TEST(IntegerAndBoolean, IntegerLeavesOfAPullbackAreNoGradientAndRefuseArithmetic) {
  const auto f = [](const Array& i, const Array& x) { return sum(x[i] * convert(i, f64)); };
  const auto r = vjp(f, array({2, 0}, i32), vec({5, 6, 7}));
  const auto [gi, gx] = r.pullback(number(1));
  EXPECT_TRUE(gi.is_no_gradient());
  expect_values(gx, {0, 0, 2});
  const Array g = gi;
  expect_contains(message<TypeError>([&] { return g + 1; }),
                  {"no_gradient", "[2]", "integer_and_boolean_test.cpp"});
}

TEST(IntegerAndBoolean, ConvertingBetweenFloatsIsDifferentiableAndKeepsTheTypeOfTheArgument) {
  const auto f = [](const Array& x) { return sum(square(convert(x, f32))); };
  const Array g = grad(f)(vec({1, 2}));
  EXPECT_EQ(g.dtype(), f64);
  expect_values(g, {2, 4});
  const Array half = grad(f)(convert(vec({1, 2}), bf16));
  EXPECT_EQ(half.dtype(), bf16);
}

}  // namespace
}  // namespace anadrome::cases
