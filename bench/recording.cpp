// What recording costs: nanoseconds per equation (the goal is at most 100).
#include <benchmark/benchmark.h>

#include "anadrome/anadrome.h"

namespace ad = anadrome;

namespace {

/// Records `equations` multiplications and additions of [8] vectors; nothing is run.
void record_chain(benchmark::State& state) {
  const auto equations = state.range(0);
  const ad::Array x = ad::ones({8}), y = ad::ones({8});
  for (auto _ : state) {
    const ad::Program p = ad::make_program(
        [&](ad::Array a, const ad::Array& b) {
          for (std::int64_t i = 0; i < equations; i += 2) a = a * b + b;
          return a;
        },
        x, y);
    benchmark::DoNotOptimize(p.equations.size());
  }
  state.counters["ns_per_equation"] = benchmark::Counter(
      static_cast<double>(equations) * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(record_chain)->Arg(100)->Arg(1000)->Arg(10000);

/// A gradient outside jit with a literal that changes each time: recorded, recognised, and run.
void eager_gradient(benchmark::State& state) {
  const ad::Array x = ad::ones({8});
  double rate = 0;
  for (auto _ : state) {
    rate += 1e-3;
    const ad::Array g = ad::grad([&](const ad::Array& a) { return sum(sin(a * rate) * a); })(x);
    benchmark::DoNotOptimize(g.size());
  }
}
BENCHMARK(eager_gradient);

/// A call of a jitted function on small arrays: what the call itself costs.
void jitted_call(benchmark::State& state) {
  const ad::Array x = ad::ones({8});
  const auto f = ad::jit([](const ad::Array& a) { return a * 2.0 + 1.0; });
  (void)f(x);
  for (auto _ : state) {
    const ad::Array y = f(x);
    benchmark::DoNotOptimize(y.size());
  }
}
BENCHMARK(jitted_call);

}  // namespace

BENCHMARK_MAIN();
