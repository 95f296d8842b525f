// Loops over one array: the library's kernels against loops written by hand, in float32 and on one thread.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;

namespace {

using ad::Array;
using Numbers = std::span<const float>;

Array line(const Array& x) {
  return x * 2 + 1;
}
void line_by_hand(Numbers x, std::span<float> y) {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * 2 + 1;
}

Array gradient(const Array& x) {
  const Array t = tanh(x);
  return t + x * (1 - t * t);
}
void gradient_by_hand(Numbers x, std::span<float> y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float t = std::tanh(x[i]);
    y[i] = t + x[i] * (1 - t * t);
  }
}

Array total(const Array& x) {
  return sum(x);
}
/// 64 sums side by side, as one would write it for speed.
void total_by_hand(Numbers x, std::span<float> y) {
  std::array<float, 64> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= x.size(); i += sums.size())
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += x[i + k];
  y[0] = std::accumulate(x.begin() + static_cast<std::ptrdiff_t>(i), x.end(), 0.0f);
  y[0] += std::accumulate(sums.begin(), sums.end(), 0.0f);
}

Array numbers(std::int64_t n) {
  return ad::random::normal(ad::random::prng_key(0), {n});
}

void count_elements(benchmark::State& state) {
  state.counters["per_element"] =
      benchmark::Counter(static_cast<double>(state.range(0)),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <auto f> void library(benchmark::State& state) {
  const Array x = numbers(state.range(0));
  const auto jitted = ad::jit(f);
  Array y = jitted(x);
  for (auto _ : state) benchmark::DoNotOptimize(y = jitted(x));
  count_elements(state);
}

template <auto f> void by_hand(benchmark::State& state) {
  const Array x = numbers(state.range(0));
  std::vector<float> y(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    f(x.span<float>(), y);
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
  }
  count_elements(state);
}

void sizes(benchmark::internal::Benchmark* b) {
  b->Arg(1'000)->Arg(100'000)->Arg(10'000'000);
}

BENCHMARK(library<line>)->Name("line")->Apply(sizes);
BENCHMARK(by_hand<line_by_hand>)->Name("line_by_hand")->Apply(sizes);
BENCHMARK(library<gradient>)->Name("gradient")->Apply(sizes);
BENCHMARK(by_hand<gradient_by_hand>)->Name("gradient_by_hand")->Apply(sizes);
BENCHMARK(library<total>)->Name("total")->Apply(sizes);
BENCHMARK(by_hand<total_by_hand>)->Name("total_by_hand")->Apply(sizes);

}  // namespace

int main(int count, char** values) {
  ad::set_num_threads(1);
  benchmark::Initialize(&count, values);
  benchmark::RunSpecifiedBenchmarks();
}
