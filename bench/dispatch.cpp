// What a call costs by itself: jitted and compiled functions, operations outside jit, gradients outside jit.
#include <benchmark/benchmark.h>

#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;

namespace {

ad::Array line(const ad::Array& x) {
  return x * 2 + 1;
}

/// One small array in, one out.
void jitted_call(benchmark::State& state) {
  const ad::Array x = ad::ones({8});
  const auto f = ad::jit(line);
  ad::Array y = f(x);
  for (auto _ : state) benchmark::DoNotOptimize(y = f(x));
}
BENCHMARK(jitted_call);

/// The same without the look-up by structure and types.
void compiled_call(benchmark::State& state) {
  const ad::Array x = ad::ones({8});
  const auto f = ad::jit(line).lower(x).compile();
  ad::Array y = f(x);
  for (auto _ : state) benchmark::DoNotOptimize(y = f(x));
}
BENCHMARK(compiled_call);

/// A struct of many small arrays in, as many out.
void jitted_call_of_leaves(benchmark::State& state) {
  const std::vector<ad::Array> x(static_cast<std::size_t>(state.range(0)), ad::ones({8}));
  const auto f = ad::jit([](const std::vector<ad::Array>& leaves) { return ad::map_leaves(leaves, line); });
  std::vector<ad::Array> y = f(x);
  for (auto _ : state) benchmark::DoNotOptimize(y = f(x));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(jitted_call_of_leaves)->Arg(1)->Arg(10)->Arg(100);

/// One operation outside jit.
void operation(benchmark::State& state) {
  const ad::Array x = ad::ones({8});
  ad::Array y = x + x;
  for (auto _ : state) benchmark::DoNotOptimize(y = x + x);
}
BENCHMARK(operation);

/// A gradient outside jit with a number that changes each time: recorded, recognised, and run.
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

}  // namespace

BENCHMARK_MAIN();
