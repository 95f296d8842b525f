// What recording and compiling cost by the number of equations. Compiling is warm: kernels that the process
// has are found again. The workloads equations_* measure it cold.
#include <benchmark/benchmark.h>

#include "anadrome/anadrome.h"

namespace ad = anadrome;

namespace {

/// Multiplications and additions of [8] vectors: all pairs alike.
auto alike(std::int64_t equations) {
  return [equations](ad::Array a, const ad::Array& b) {
    for (std::int64_t i = 0; i < equations; i += 2) a = a * b + b;
    return a;
  };
}

/// Sums along rows and products, so that nothing fuses across, with numbers that differ.
auto different(std::int64_t equations) {
  return [equations](ad::Array a, const ad::Array& b) {
    for (std::int64_t i = 0; i < equations; i += 5)
      a = tanh(a * (1 + 1e-3 * static_cast<double>(i % 97))) + sum(a) * b;
    return a;
  };
}

void count_equations(benchmark::State& state) {
  state.counters["per_equation"] =
      benchmark::Counter(static_cast<double>(state.range(0)),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <auto program> void record(benchmark::State& state) {
  const ad::Array x = ad::ones({8}), y = ad::ones({8});
  for (auto _ : state) benchmark::DoNotOptimize(ad::make_program(program(state.range(0)), x, y));
  count_equations(state);
}

template <auto program> void compile(benchmark::State& state) {
  const ad::Array x = ad::ones({8}), y = ad::ones({8});
  const auto lowered = ad::jit(program(state.range(0))).lower(x, y);
  for (auto _ : state) {
    state.PauseTiming();
    ad::clear_program_cache();
    state.ResumeTiming();
    benchmark::DoNotOptimize(lowered.compile());
  }
  count_equations(state);
}

BENCHMARK(record<alike>)->Name("record_alike")->Arg(500)->Arg(5000)->Arg(50000);
BENCHMARK(record<different>)->Name("record_different")->Arg(500)->Arg(5000)->Arg(50000);
BENCHMARK(compile<alike>)
    ->Name("compile_alike")
    ->Arg(500)
    ->Arg(5000)
    ->Arg(50000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(compile<different>)
    ->Name("compile_different")
    ->Arg(500)
    ->Arg(5000)
    ->Arg(50000)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
