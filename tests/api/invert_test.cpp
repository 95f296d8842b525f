// invert: there and back again on steps, couplings and random bodies.
#include <gtest/gtest.h>

#include "anadrome/anadrome.h"
#include "api/loop_laws.h"
#include "support/messages.h"

namespace anadrome::testing {
namespace {

struct State {
  Array x, v;
};

/// x and v after f and its inverse, beside x and v.
template <class F>
void expect_round_trip(const std::string& name, const F& f, const State& s, double tolerance = 1e-12) {
  const auto back = invert(f, s);
  const auto roundtrip = [&](const State& a) { return back(f(a)); };
  for (const State& got : {roundtrip(s), jit(roundtrip)(s)}) {
    EXPECT_LT(difference(got.x, s.x), tolerance) << name;
    EXPECT_LT(difference(got.v, s.v), tolerance) << name;
  }
}
State values(const Shape& shape = {3, 4}) { return {random_values(shape, 1), random_values(shape, 2)}; }

TEST(Inverse, OfAMomentumStep) {
  const Array w = random_values({4, 4}, 3);
  expect_round_trip("momentum", [&](const State& s) {
    const Array v = 0.9 * s.v + tanh(matmul(s.x, w));
    return State{s.x + 0.1 * v, v};
  }, values());
}

TEST(Inverse, OfALeapfrogStep) {
  expect_round_trip("leapfrog", [](const State& s) {
    const auto energy = [](const Array& x) { return sum(cos(x)) + sum(x * x * x * x) / 4; };
    const Array half = s.v - 0.05 * grad(energy)(s.x);
    const Array x = s.x + 0.1 * half;
    return State{x, half - 0.05 * grad(energy)(x)};
  }, values());
}

TEST(Inverse, OfCouplings) {
  const Array w = random_values({2, 2}, 3);
  const auto additive = [&](const State& s) {
    const Array a = s.x[{slice(0, 3), slice(0, 2)}], b = s.x[{slice(0, 3), slice(2, 4)}];
    return State{concatenate({a, b + tanh(matmul(a, w))}, 1), s.v};
  };
  expect_round_trip("additive", additive, values());
  const auto affine = [&](const State& s) {
    const Array a = s.x[{slice(0, 3), slice(0, 2)}], b = s.x[{slice(0, 3), slice(2, 4)}];
    return State{concatenate({b * exp(tanh(matmul(a, w))) + a * a, a}, 1), reshape(transpose(s.v), {3, 4})};
  };
  expect_round_trip("affine", affine, values());
  expect_round_trip("affine of additive", [&](const State& s) { return affine(additive(affine(s))); }, values(), 1e-11);
}

TEST(Inverse, OfFunctionsOfOneValue) {
  const auto there_and_back = [](const Function& f, const Array& x) {
    const Array y = f({x})[0];
    const auto back = functional::invert(f, {x}, {true}, {"invert", {}, {}});
    EXPECT_LT(difference(back({y})[0], x), 1e-9) << show(x);
  };
  const Array any = random_values({5}, 1), positive = random_values({5}, 2, 0.1, 2), large = random_values({5}, 3, 1.1, 3);
  using Unary = Array (*)(const Operand&);
  for (const Unary f : {Unary(sinh), Unary(asinh), Unary(tanh), Unary(atanh), Unary(asin), Unary(acos), Unary(atan), Unary(exp), Unary(exp2),
                        Unary(expm1), Unary(logistic), Unary(erf), Unary(cbrt), Unary(erf_inv)})
    there_and_back([f](const Arrays& x) { return Arrays{f(x[0])}; }, any);
  for (const Unary f : {Unary(log), Unary(log2), Unary(log10), Unary(log1p), Unary(sqrt), Unary(rsqrt)})
    there_and_back([f](const Arrays& x) { return Arrays{f(x[0])}; }, positive);
  there_and_back([](const Arrays& x) { return Arrays{acosh(x[0])}; }, large);
  for (int n : {-3, -1, 1, 3, 5, 7}) there_and_back([n](const Arrays& x) { return Arrays{integer_pow(x[0], n)}; }, any);
  there_and_back([](const Arrays& x) { return Arrays{2 / (3 - x[0])}; }, any);
  there_and_back([](const Arrays& x) { return Arrays{flip(-x[0]) / 7}; }, any);
}

TEST(Inverse, KeepsTheArgumentsThatAreKnown) {
  const auto f = [](const Array& x, const Array& w) { return x * w + w * w; };
  const Array x = random_values({3}, 1), w = random_values({3}, 2, 1, 2);
  EXPECT_LT(difference(invert<0>(f, x, w)(f(x, w)), x), 1e-12);
  expect_contains(message<NotInvertible>([&] { return invert<1>(f, x, w)(f(x, w)); }), {"more than one of its operands"});
}

TEST(Inverse, IsAFunctionLikeAnyOther) {
  const auto back = invert([](const Array& x) { return exp(2 * x); }, abstract(f64, {3}));
  const Array y = random_values({3}, 1, 1, 2);
  EXPECT_LT(difference(grad([&](const Array& v) { return sum(back(v)); })(y), 0.5 / y), 1e-12);
  EXPECT_LT(difference(vmap(back)(stacked({y, y}, 0))[1], log(y) / 2), 1e-12);
}

/// A body of random couplings: each moves one of the state's arrays by a function of the other.
Function random_body(std::uint32_t seed) {
  return [seed](const Arrays& in) {
    std::mt19937 random(seed);
    Array a = in[0], b = in[1];
    for (int k = 0; k < 6; ++k) {
      const Array other = random() % 2 ? sin(a) : tanh(a * a);
      switch (random() % 6) {
        case 0: b = b + other; break;
        case 1: b = 0.5 * b - other; break;
        case 2: b = b * exp(other); break;
        case 3: b = transpose(flip(b, {0})); a = transpose(a); break;
        case 4: b = sinh(b) / (2 + other); break;
        default: b = concatenate({b[{slice(1, 3)}] + other[{slice(1, 3)}], b[{slice(0, 1)}]}, 0); break;
      }
      std::swap(a, b);
    }
    return Arrays{a, b};
  };
}

TEST(Inverse, OfRandomBodiesGoesThereAndBack) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Function f = random_body(seed);
    const Arrays x{random_values({3, 3}, 100 + seed), random_values({3, 3}, 200 + seed)};
    const auto back = functional::invert(f, x, {true, true}, {"invert", {}, {}});
    const Arrays got = back(f(x));
    for (std::size_t i = 0; i < 2; ++i) EXPECT_LT(difference(got[i], x[i]), 1e-8) << seed;
    const auto forth = functional::invert(back, f(x), {true, true}, {"invert", {}, {}});
    const Arrays again = forth(x), want = f(x);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_LT(difference(again[i], want[i]), 1e-8) << seed;
  }
}

TEST(Inverse, NamesTheLineThatCannotBeUndone) {
  const auto relu = [](const Array& x) {
    const Array y = 2 * x;
    return max(y, 0) - 1;
  };
  const int line = __LINE__ - 2;
  expect_contains(message<NotInvertible>([&] { return invert(relu, ones({3})); }),
                  {"invert: ", "max ", "loses information", this_file() + std::to_string(line)});
}

TEST(Inverse, ChecksTheResultsItIsGiven) {
  const auto back = invert([](const Array& x) { return -x; }, ones({3}));
  expect_error<TypeError>([&] { return back(ones({4})); }, {"invert: result 0 is f32[4]; the function gives f32[3]."}, [&] { return back(ones({3})); });
}

}  // namespace
}  // namespace anadrome::testing
