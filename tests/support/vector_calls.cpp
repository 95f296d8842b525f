// Calls vector functions on arrays.
#include "support/vector_calls.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace anadrome::testing {
namespace {

template <class T> void scalar_loop(const MathFunction& f, const T* a, const T* b, T* y, std::size_t n) {
  const auto one = reinterpret_cast<T (*)(T)>(f.address);
  const auto two = reinterpret_cast<T (*)(T, T)>(f.address);
  for (std::size_t i = 0; i < n; ++i) y[i] = f.operands == 2 ? two(a[i], b[i]) : one(a[i]);
}

#if defined(__x86_64__)
// The loops are written out: the registers they use depend on the instruction set of the function they stand in.
#define ANADROME_VECTOR_LOOP(name, set, Element, Vector, load, save)                                       \
  [[gnu::target(set)]] void name(const MathFunction& f, const void* a, const void* b, void* y, std::size_t n) { \
    const auto* p = static_cast<const Element*>(a);                                                        \
    const auto* q = static_cast<const Element*>(b);                                                        \
    auto* to = static_cast<Element*>(y);                                                                   \
    using One = Vector (*)(Vector);                                                                        \
    using Two = Vector (*)(Vector, Vector);                                                                \
    for (std::size_t i = 0; i < n; i += sizeof(Vector) / sizeof(Element)) {                                \
      if (f.operands == 2) save(to + i, reinterpret_cast<Two>(f.address)(load(p + i), load(q + i)));       \
      else save(to + i, reinterpret_cast<One>(f.address)(load(p + i)));                                    \
    }                                                                                                      \
  }
ANADROME_VECTOR_LOOP(floats_256, "avx2", float, __m256, _mm256_loadu_ps, _mm256_storeu_ps)
ANADROME_VECTOR_LOOP(doubles_256, "avx2", double, __m256d, _mm256_loadu_pd, _mm256_storeu_pd)
ANADROME_VECTOR_LOOP(floats_512, "avx512f", float, __m512, _mm512_loadu_ps, _mm512_storeu_ps)
ANADROME_VECTOR_LOOP(doubles_512, "avx512f", double, __m512d, _mm512_loadu_pd, _mm512_storeu_pd)
#undef ANADROME_VECTOR_LOOP
#define ANADROME_PAIR_LOOP(name, set, Element, Vector, load, save)                                       \
  [[gnu::target(set)]] void name(const MathFunction& f, const void* x, void* y, void* z, std::size_t n) { \
    const auto* from = static_cast<const Element*>(x);                                                   \
    auto *sines = static_cast<Element*>(y), *cosines = static_cast<Element*>(z);                          \
    using Pair = Vector (*)(Vector, Element*);                                                           \
    for (std::size_t i = 0; i < n; i += sizeof(Vector) / sizeof(Element))                                 \
      save(sines + i, reinterpret_cast<Pair>(f.address)(load(from + i), cosines + i));                    \
  }
ANADROME_PAIR_LOOP(float_pairs_256, "avx2", float, __m256, _mm256_loadu_ps, _mm256_storeu_ps)
ANADROME_PAIR_LOOP(double_pairs_256, "avx2", double, __m256d, _mm256_loadu_pd, _mm256_storeu_pd)
ANADROME_PAIR_LOOP(float_pairs_512, "avx512f", float, __m512, _mm512_loadu_ps, _mm512_storeu_ps)
ANADROME_PAIR_LOOP(double_pairs_512, "avx512f", double, __m512d, _mm512_loadu_pd, _mm512_storeu_pd)
#undef ANADROME_PAIR_LOOP
#endif

}  // namespace

void call_vector(const MathFunction& f, DType dtype, int lanes, const void* a, const void* b, void* y,
                 std::size_t n) {
#if defined(__x86_64__)
  const bool narrow = dtype == f32;
  if (lanes == (narrow ? 8 : 4)) return narrow ? floats_256(f, a, b, y, n) : doubles_256(f, a, b, y, n);
  return narrow ? floats_512(f, a, b, y, n) : doubles_512(f, a, b, y, n);
#else
  static_cast<void>(lanes);
  call_scalar(f, dtype, a, b, y, n);
#endif
}

void call_sine_cosine([[maybe_unused]] const MathFunction& f, [[maybe_unused]] DType dtype,
                      [[maybe_unused]] int lanes, [[maybe_unused]] const void* x, [[maybe_unused]] void* sines,
                      [[maybe_unused]] void* cosines, [[maybe_unused]] std::size_t n) {
#if defined(__x86_64__)  // elsewhere there is no such function
  const bool narrow = dtype == f32;
  if (lanes == (narrow ? 8 : 4))
    return narrow ? float_pairs_256(f, x, sines, cosines, n) : double_pairs_256(f, x, sines, cosines, n);
  return narrow ? float_pairs_512(f, x, sines, cosines, n) : double_pairs_512(f, x, sines, cosines, n);
#endif
}

void call_scalar(const MathFunction& f, DType dtype, const void* a, const void* b, void* y, std::size_t n) {
  if (dtype == f32)
    scalar_loop(f, static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(y), n);
  else
    scalar_loop(f, static_cast<const double*>(a), static_cast<const double*>(b), static_cast<double*>(y), n);
}

}  // namespace anadrome::testing
