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

/// The cost as written, and of what runs.
template <class F> std::vector<CostAnalysis> costs(const F& f, const Array& x) {
  const auto lowered = jit(f).lower(x);
  return {lowered.cost_analysis(), lowered.compile().cost_analysis()};
}

TEST(CostAnalysis, ALoopCountsEveryStep) {
  const Array x = abstract(f32, {100});
  const auto steps = [](std::int64_t n, const Array& start, const auto& step) {
    return scan(start, {.length = n}, [&](const Array& v) { return std::pair{step(v), std::tuple<>{}}; }).first;
  };
  const auto once = [](const Array& v) { return sin(v) * v; };
  for (std::int64_t n : {0, 1, 2, 50})
    for (const CostAnalysis& cost : costs([&](const Array& v) { return steps(n, v, once); }, x)) {
      EXPECT_EQ(cost.flops, static_cast<double>(100 * n));
      EXPECT_EQ(cost.transcendentals, static_cast<double>(100 * n));
      EXPECT_EQ(cost.by_primitive.at("sin").transcendentals, static_cast<double>(100 * n));
      EXPECT_EQ(cost.by_primitive.at("sin").equations, 1);
    }
  const auto nested = [&](const Array& v) { return steps(3, v, [&](const Array& u) { return steps(4, u, once); }); };
  for (const CostAnalysis& cost : costs(nested, x)) EXPECT_EQ(cost.transcendentals, 1200);
}

TEST(CostAnalysis, AGradientOfACheckpointedLoopCountsThreeProductsAStep) {
  const Array x = abstract(f32, {100, 100});
  for (int n : {1, 2, 50}) {
    const auto loss = [n](const Array& c, const Array& w) {
      const auto step = checkpoint([](const Array& v, const Array& u) { return sin(dot(v, u)); });
      return sum(fori_loop(0, n, c, [&](const Array&, const Array& v) { return step(v, w); }));
    };
    const CostAnalysis cost = jit(grad(loss)).lower(x, x).compile().cost_analysis();
    // Forward, recomputed, cotangent; a sine and a cosine. Elementwise work beside them is under 1 %.
    EXPECT_NEAR(cost.flops, n * 6e6, n * 6e4) << n;
    EXPECT_EQ(cost.transcendentals, n * 20000.0) << n;
    EXPECT_EQ(cost.by_primitive.at("dot_general").flops, n * 6e6) << n;
  }
}

TEST(CostAnalysis, ARuleOfItsOwnCountsWhatRuns) {
  const auto f = custom_vjp([](const Array& v) { return sin(v); }, [](const Array& v) { return std::pair{sin(v), v}; },
                            [](const Array& v, const Array& ct) { return ct * exp(cos(v)); });
  const Array x = abstract(f32, {100});
  for (const CostAnalysis& cost : costs(f, x)) {
    EXPECT_EQ(cost.transcendentals, 100);
    EXPECT_EQ(cost.flops, 0);
  }
  EXPECT_EQ(jit(grad([&](const Array& v) { return sum(f(v)); })).lower(x).compile().cost_analysis().transcendentals, 200);
}

TEST(CostAnalysis, AConditionalCountsItsDearestBranchAndAWhileLoopOneStep) {
  const Array x = abstract(f32, {100});
  const auto choice = [](const Array& v) { return cond(v[0] > 0, [&] { return sin(cos(v)); }, [&] { return exp(v); }); };
  for (const CostAnalysis& cost : costs(choice, x)) {
    EXPECT_EQ(cost.transcendentals, 200);
    EXPECT_FALSE(cost.by_primitive.contains("exp"));
  }
  const auto loop = [](const Array& v) {
    return while_loop(v, [](const Array& u) { return sum(u) < 9; }, [](const Array& u) { return exp(u); });
  };
  for (const CostAnalysis& cost : costs(loop, x)) {
    EXPECT_EQ(cost.transcendentals, 100);
    EXPECT_EQ(cost.by_primitive.at("reduce_sum").flops, 99);
  }
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
