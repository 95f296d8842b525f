// What every step of a loop computes from the same numbers is computed once.
#include <gtest/gtest.h>

#include "anadrome/anadrome.h"
#include "core/attrs.h"
#include "optimize/passes.h"
#include "primitives/prims.h"
#include "support/values.h"

namespace anadrome {
namespace {

/// How often a primitive stands in a program, the bodies of its loops left out.
int outside(const Program& p, const Prim& prim) {
  return static_cast<int>(std::count_if(p.equations.begin(), p.equations.end(), [&](const Equation& e) { return e.prim == &prim; }));
}
const Program& body_of_loop(const Program& p) {
  for (const Equation& e : p.equations)
    if (e.prim == &prim::scan) return *e.as<ScanAttr>().body;
  throw InternalError("no loop");
}

Program optimized(const std::function<Array(Array, Array)>& f) { return optimize(make_program(f, zeros({3, 3}), zeros({3}))); }

Array steps(std::int64_t n, const Array& w, const Array& h, const std::function<Array(const Array& w, const Array& h)>& step) {
  return scan(h, {.length = n}, [&](const Array& x) { return std::pair{step(w, x), std::tuple<>{}}; }).first;
}

TEST(Hoist, ArithmeticOfConstantsGoesBeforeTheLoop) {
  const auto f = [](const Array& w, const Array& h) {
    return steps(4, w, h, [](const Array& w, const Array& h) { return tanh(dot(exp(transpose(w)) * 0.5, h)); });
  };
  const Program p = optimized(f);
  EXPECT_EQ(outside(p, prim::exp), 1);
  EXPECT_EQ(outside(body_of_loop(p), prim::exp), 0);
  EXPECT_EQ(outside(body_of_loop(p), prim::mul), 0);
  EXPECT_EQ(outside(body_of_loop(p), prim::dot_general), 1);
}

TEST(Hoist, MovementStaysWhereItIsRead) {
  const Program p = optimized([](const Array& w, const Array& h) {
    return steps(4, w, h, [](const Array& w, const Array& h) { return h * w[1]; });
  });
  EXPECT_EQ(p.equations.size(), 1u);
}

TEST(Hoist, OneStepKeepsItAll) {
  const Program p = optimized([](const Array& w, const Array& h) {
    return steps(1, w, h, [](const Array& w, const Array& h) { return dot(exp(w), h); });
  });
  EXPECT_EQ(outside(p, prim::exp), 0);
}

TEST(Hoist, OutOfBothLoops) {
  const auto f = [](const Array& w, const Array& h) {
    return steps(3, w, h, [](const Array& w, const Array& h) {
      return steps(2, w, h, [&](const Array& w, const Array& x) { return tanh(dot(exp(w), x) + sin(h)); });
    });
  };
  const Program p = optimized(f);
  EXPECT_EQ(outside(p, prim::exp), 1);
  const Program& outer = body_of_loop(p);
  EXPECT_EQ(outside(outer, prim::exp), 0);
  EXPECT_EQ(outside(outer, prim::sin), 1);
  EXPECT_EQ(outside(body_of_loop(outer), prim::sin), 0);
}

TEST(Hoist, GivesTheSameValues) {
  std::mt19937 random(4);
  const Array w = testing::random_array({f64, {3, 3}}, random), h = testing::random_array({f64, {3}}, random);
  const auto f = [](const Array& w, const Array& h) {
    return sum(steps(5, w, h, [](const Array& w, const Array& h) { return tanh(dot(exp(w) + sum(w), h)) + w[0]; }));
  };
  for (const char* backend : {"eval", "native"}) {
    const auto [value, gradient] = jit(value_and_grad<0>(f), {.compile = {.backend = backend}})(w, h);
    Array x = h;
    for (int i = 0; i < 5; ++i) x = tanh(dot(exp(w) + sum(w), x)) + w[0];
    EXPECT_LT(testing::difference(value, sum(x)), 1e-13) << backend;
    const auto unrolled = [&](const Array& w) {
      Array x = h;
      for (int i = 0; i < 5; ++i) x = tanh(dot(exp(w) + sum(w), x)) + w[0];
      return sum(x);
    };
    EXPECT_LT(testing::difference(gradient, grad(unrolled)(w)), 1e-12) << backend;
  }
}

}  // namespace
}  // namespace anadrome
