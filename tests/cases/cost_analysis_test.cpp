// Counted operations follow the program that runs.
#include "cases/near.h"

namespace anadrome::cases {
namespace {

TEST(CostAnalysis, AChainOfStepsCountsEveryStep) {
  const Array x = abstract(f32, {100, 100});
  for (int n : {1, 2, 50}) {
    const auto f = [n](Array c, const Array& w) {
      for (int i = 0; i < n; ++i) c = sin(dot(c, w));
      return c;
    };
    const auto lowered = jit(f).lower(x, x);
    for (const CostAnalysis& cost : {lowered.cost_analysis(), lowered.compile().cost_analysis()}) {
      EXPECT_EQ(cost.flops, n * 2000000.0);
      EXPECT_EQ(cost.transcendentals, n * 10000.0);
      EXPECT_EQ(cost.by_primitive.at("dot_general").equations, n);
    }
  }
}

TEST(CostAnalysis, ACalledFunctionCountsOncePerCall) {
  const auto step = jit([](const Array& c, const Array& w) { return sin(dot(c, w)); });
  const auto f = [&](Array c, const Array& w) {
    for (int i = 0; i < 3; ++i) c = step(c, w);
    return c;
  };
  const Array x = abstract(f32, {10, 10});
  EXPECT_EQ(jit(f).lower(x, x).cost_analysis().flops, 3 * 2000.0);
  EXPECT_EQ(jit(f).lower(x, x).compile().cost_analysis().flops, 3 * 2000.0);
}

TEST(CostAnalysis, SumsAndRunningSumsFollowTheirAlgorithm) {
  const Array x = abstract(f32, {1024});
  const auto total = jit([](const Array& v) { return sum(v); }).lower(x);
  const auto running = jit([](const Array& v) { return cumsum(v); }).lower(x);
  EXPECT_EQ(total.cost_analysis().flops, 1023);
  EXPECT_EQ(total.compile().cost_analysis().flops, 1023);
  EXPECT_EQ(running.cost_analysis().flops, 1023);
  EXPECT_EQ(running.compile().cost_analysis().flops, 1023);
}

TEST(CostAnalysis, ABatchedProductCountsLikeItsExamples) {
  const auto f = [](const Array& a, const Array& b) { return dot(a, b); };
  const auto one = jit(f).lower(abstract(f32, {4, 5}), abstract(f32, {5, 6})).cost_analysis();
  const auto many =
      jit(vmap(f)).lower(abstract(f32, {8, 4, 5}), abstract(f32, {8, 5, 6})).compile().cost_analysis();
  EXPECT_EQ(one.flops, 240);
  EXPECT_EQ(many.flops, 8 * 240);
  EXPECT_EQ(many.by_primitive.at("dot_general").equations, 1);
}

TEST(CostAnalysis, AGradientOfALayerTakesThreeProducts) {
  const auto loss = [](const Array& w, const Array& x) { return sum(tanh(dot(tanh(dot(x, w)), w))); };
  const Array a = abstract(f32, {64, 64});
  const auto cost = jit(grad(loss)).lower(a, a).compile().cost_analysis();
  // forward: two products; backward: two for w, one for the inner activation
  EXPECT_EQ(cost.by_primitive.at("dot_general").flops, 5 * 2.0 * 64 * 64 * 64);
  EXPECT_EQ(cost.transcendentals, 2 * 64 * 64);
}

TEST(CostAnalysis, DeadAndRepeatedWorkIsCountedBeforeOptimisationOnly) {
  const auto f = [](const Array& x) {
    const Array unused = dot(x, x);
    (void)unused;
    return sin(x) + sin(x);
  };
  const auto lowered = jit(f).lower(abstract(f32, {10, 10}));
  EXPECT_EQ(lowered.cost_analysis().transcendentals, 200);
  EXPECT_EQ(lowered.compile().cost_analysis().transcendentals, 100);
  EXPECT_EQ(lowered.compile().cost_analysis().flops, 100);
}

}  // namespace
}  // namespace anadrome::cases
