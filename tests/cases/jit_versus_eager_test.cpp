// Compiled code computes what eager code computes: no unsafe rewriting of values or gradients.
#include <cmath>
#include <limits>

#include "cases/near.h"

namespace anadrome::cases {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// f and its derivative, eager and compiled, at the elements of x, bit for bit.
void expect_same(const Fn& f, const Array& x, std::source_location line = std::source_location::current()) {
  const Fn value = batched(f), slope = batched(reverse(f)), push = batched(forward(f));
  for (const Fn& each : {value, slope, push})
    expect_values(jitted(each)(x), each(x).to_vector<double>(), 0, line);
}

TEST(JitVersusEager, AnEnergyAndItsGradientsAreEqualInBothModes) {
  const auto f = [](const Array& m, const Array& s) {
    const Array x = m + s * vec({-2, 0});
    const Array wells = (x[0] + vec({-1, 3})) / 0.8;
    return 0.5 * square(norm(x) - 1) / 0.25 - logsumexp(-0.5 * square(wells));
  };
  const Array m = vec({0, 0}), s = vec({1, 1});
  expect_values(f(m, s), {2.7793214067957805});
  expect_values(jit(f)(m, s), {2.7793214067957805});
  const auto gradients = grad<0, 1>(f);
  const auto [gm, gs] = gradients(m, s);
  expect_values(gm, {-2.449542091645797, 0});
  expect_values(gs, {4.899084183291594, 0});
  const auto [jm, js] = jit(gradients)(m, s);
  expect_values(jm, gm.to_vector<double>());
  expect_values(js, gs.to_vector<double>());
}

TEST(JitVersusEager, TheChainRuleIsTakenLiterallyAtAnUnderflow) {
  // x * x underflows to 0, where the root has the derivative inf: both modes follow the chain rule.
  const Fn f = [](const Array& x) { return sqrt(abs(x * x)); };
  expect_values(reverse(f)(number(1e-200)), {infinity});
  expect_values(jitted(reverse(f))(number(1e-200)), {infinity});
}

TEST(JitVersusEager, SpecialValuesPassThroughSimplification) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Array x = vec({0.0, -0.0, 1.0, -2.5, infinity, -infinity, nan, 5e-324, 1e308});
  const std::vector<Fn> functions{
      [](const Array& v) { return v * 0; },       [](const Array& v) { return v - v; },
      [](const Array& v) { return v / v; },       [](const Array& v) { return 0 - (0 - v); },
      [](const Array& v) { return v * 1 + 0; },   [](const Array& v) { return (v + 1) - 1; },
      [](const Array& v) { return exp(log(v)); }, [](const Array& v) { return sqrt(v * v); },
      [](const Array& v) { return max(v, v); },   [](const Array& v) { return where(v == v, v, 0); },
      [](const Array& v) { return pow(v, 2); },   [](const Array& v) { return -(-v) * -1; },
      [](const Array& v) { return v * 3 / 3; },   [](const Array& v) { return v + v - 2 * v; },
  };
  for (std::size_t i = 0; i < functions.size(); ++i) {
    SCOPED_TRACE(i);
    expect_same(functions[i], x);
  }
}

TEST(JitVersusEager, SignedZerosKeepTheirSign) {
  const Fn f = [](const Array& v) { return (v + 0.0) * 1.0; };
  const Fn g = [](const Array& v) { return v * 1.0 - 0.0; };
  for (const Fn& each : {f, g})
    for (double zero : {0.0, -0.0})
      EXPECT_EQ(std::signbit(each(number(zero)).item<double>()),
                std::signbit(jitted(each)(number(zero)).item<double>()));
  EXPECT_TRUE(std::signbit(jitted(g)(number(-0.0)).item<double>()));
}

TEST(JitVersusEager, SubnormalNumbersAndTheirGradientsSurvive) {
  const Array smallest_normal = vec({2.2250738585072014e-308, 1e-310, 5e-324});
  expect_same([](const Array& v) { return v * 0.5; }, smallest_normal);
  expect_same([](const Array& v) { return abs(v) * 1e300; }, smallest_normal);
  const auto f32_case = [](const Array& v) { return sum(v * 0.5f) * 1e30f; };
  const Array tiny = array(std::vector<float>{1e-40f, 1.1754944e-38f});
  EXPECT_EQ(jit(f32_case)(tiny).item<float>(), f32_case(tiny).item<float>());
  EXPECT_GT(f32_case(tiny).item<float>(), 0);
}

TEST(JitVersusEager, IntegerWrappingAndDivisionAgree) {
  const auto f = [](const Array& a, const Array& b) {
    return std::tuple(a * b + a, a / b, a % b, floor_div(a, b));
  };
  const Array a = array({2147483647, -2147483647, 7, -7, 5}, i32), b = array({2, 3, -2, 2, 0}, i32);
  const auto eager = f(a, b), compiled = jit(f)(a, b);
  const auto same = [](const Array& x, const Array& y) { return all(x == y).item<bool>(); };
  EXPECT_TRUE(same(std::get<0>(eager), std::get<0>(compiled)));
  EXPECT_TRUE(same(std::get<1>(eager), std::get<1>(compiled)));
  EXPECT_TRUE(same(std::get<2>(eager), std::get<2>(compiled)));
  EXPECT_TRUE(same(std::get<3>(eager), std::get<3>(compiled)));
}

TEST(JitVersusEager, ThePlainAndTheStructuredJacobianAreTheSameNumbers) {
  const auto f = [](const Array& x) {
    return jacfwd([](const Array& v) { return sin(v) * v + exp(-v); })(x);
  };
  const Array x = vec({0.1, 0.2, 0.3, 0.4});
  const std::vector<double> eager = f(x).to_vector<double>();
  expect_values(jit(f)(x), eager);
  expect_values(jit(f, {.compile = {.structured_tangents = false}})(x), eager);
  expect_values(jit(f, {.compile = {.backend = "eval"}})(x), eager);
}

}  // namespace
}  // namespace anadrome::cases
