// Products of square matrices on one thread: the library's against a tile written by hand and against
// OpenBLAS.
#include <benchmark/benchmark.h>
#ifdef ANADROME_BENCH_OPENBLAS
#include <cblas.h>
#endif

#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;

namespace {

template <class T> ad::Array numbers(std::int64_t n, int seed) {
  return ad::random::normal(ad::random::prng_key(seed), {n, n}, ad::dtype_of<T>);
}

void count_flops(benchmark::State& state) {
  const auto n = static_cast<double>(state.range(0));
  state.counters["flops"] = benchmark::Counter(2 * n * n * n, benchmark::Counter::kIsIterationInvariantRate);
}

template <class T> void library(benchmark::State& state) {
  const ad::Array a = numbers<T>(state.range(0), 0), b = numbers<T>(state.range(0), 1);
  const auto product = ad::jit([](const ad::Array& x, const ad::Array& y) { return ad::matmul(x, y); });
  ad::Array c = product(a, b);
  for (auto _ : state) benchmark::DoNotOptimize(c = product(a, b));
  count_flops(state);
}

template <class T> struct Vector {
  static constexpr std::size_t bytes = 32, lanes = bytes / sizeof(T);
  typedef T type __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));
};

/// Six rows of C times two vectors of columns stay in registers while the row of A and the columns of B pass
/// by.
template <class T> void tile(std::size_t n, const T* a, const T* b, T* c) {
  using V = typename Vector<T>::type;
  V left[6] = {}, right[6] = {};
  for (std::size_t k = 0; k < n; ++k) {
    const V* columns = reinterpret_cast<const V*>(b + k * n);
    const V first = columns[0], second = columns[1];
#pragma GCC unroll 6
    for (std::size_t i = 0; i < 6; ++i) {
      left[i] += a[i * n + k] * first;
      right[i] += a[i * n + k] * second;
    }
  }
#pragma GCC unroll 6
  for (std::size_t i = 0; i < 6; ++i) {
    V* rows = reinterpret_cast<V*>(c + i * n);
    rows[0] = left[i], rows[1] = right[i];
  }
}

/// For extents that are multiples of 6 and 16.
template <class T> void by_hand(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const ad::Array a = numbers<T>(state.range(0), 0), b = numbers<T>(state.range(0), 1);
  const T *pa = a.span<T>().data(), *pb = b.span<T>().data();
  std::vector<T> c(n * n);
  for (auto _ : state) {
    for (std::size_t j = 0; j < n; j += 2 * Vector<T>::lanes)
      for (std::size_t i = 0; i < n; i += 6) tile(n, pa + i * n, pb + j, c.data() + i * n + j);
    benchmark::ClobberMemory();
  }
  count_flops(state);
}

void sizes(benchmark::internal::Benchmark* b) {
  b->Arg(48)->Arg(96)->Arg(192)->Arg(384)->Arg(768);
}

BENCHMARK(library<float>)->Name("float")->Apply(sizes);
BENCHMARK(by_hand<float>)->Name("float_by_hand")->Apply(sizes);
BENCHMARK(library<double>)->Name("double")->Apply(sizes);
BENCHMARK(by_hand<double>)->Name("double_by_hand")->Apply(sizes);

#ifdef ANADROME_BENCH_OPENBLAS
void gemm(int n, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}
void gemm(int n, const double* a, const double* b, double* c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}

template <class T> void openblas(benchmark::State& state) {
  const auto n = static_cast<int>(state.range(0));
  const ad::Array a = numbers<T>(n, 0), b = numbers<T>(n, 1);
  std::vector<T> c(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  openblas_set_num_threads(1);
  for (auto _ : state) {
    gemm(n, a.span<T>().data(), b.span<T>().data(), c.data());
    benchmark::ClobberMemory();
  }
  count_flops(state);
}
BENCHMARK(openblas<float>)->Name("float_openblas")->Apply(sizes);
BENCHMARK(openblas<double>)->Name("double_openblas")->Apply(sizes);
#endif

}  // namespace

int main(int count, char** values) {
  ad::set_num_threads(1);
  benchmark::Initialize(&count, values);
  benchmark::RunSpecifiedBenchmarks();
}
