// The kernels for AVX-512: 32 registers of 512 bits, and masks for the last vector of a row.
#if defined(__x86_64__)
#include <immintrin.h>

#include "native/products/lanes_x86.h"
#include "native/products/tiles.h"

namespace anadrome::products {
namespace {

struct Sizes {
  /// Rows of a tile that the registers hold beside its row of b and a factor.
  static constexpr int rows_of(int vectors) {
    constexpr int rows[] = {0, 12, 12, 8, 6, 4, 4, 3, 3};
    return rows[vectors];
  }
  static constexpr int usual_vectors = 4;
};

struct Floats : Sizes {
  using T = float;
  using V = __m512;
  using Part = __mmask16;
  static constexpr int lanes = 16;
  static V zero() { return _mm512_setzero_ps(); }
  static V load(const T* p) { return _mm512_loadu_ps(p); }
  static void store(T* p, V v) { _mm512_storeu_ps(p, v); }
  static V broadcast(const T* p) { return _mm512_set1_ps(*p); }
  static V multiply_add(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
  static T multiply_add_one(T a, T b, T c) { return __builtin_fmaf(a, b, c); }
  static V add(V a, V b) { return _mm512_add_ps(a, b); }
  static Part part(int count) { return static_cast<Part>((1u << count) - 1); }
  static V load_part(const T* p, Part part) { return _mm512_maskz_loadu_ps(part, p); }
  static void store_part(T* p, Part part, V v) { _mm512_mask_storeu_ps(p, part, v); }
  static T sum(V v) {
    alignas(64) T halves[lanes];  // not by intrinsics: gcc 12 takes their undefined operand for an error
    _mm512_store_ps(halves, v);
    const __m256 half = _mm256_add_ps(_mm256_load_ps(halves), _mm256_load_ps(halves + 8));
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
  }
  static void transpose(const T* from, Index row, T* to, Index to_row) {
    for (int i = 0; i < lanes; i += 8)
      for (int j = 0; j < lanes; j += 8)
        transpose_block(from + i * row + j, row, to + j * to_row + i, to_row);
  }
};

struct Doubles : Sizes {
  using T = double;
  using V = __m512d;
  using Part = __mmask8;
  static constexpr int lanes = 8;
  static V zero() { return _mm512_setzero_pd(); }
  static V load(const T* p) { return _mm512_loadu_pd(p); }
  static void store(T* p, V v) { _mm512_storeu_pd(p, v); }
  static V broadcast(const T* p) { return _mm512_set1_pd(*p); }
  static V multiply_add(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
  static T multiply_add_one(T a, T b, T c) { return __builtin_fma(a, b, c); }
  static V add(V a, V b) { return _mm512_add_pd(a, b); }
  static Part part(int count) { return static_cast<Part>((1u << count) - 1); }
  static V load_part(const T* p, Part part) { return _mm512_maskz_loadu_pd(part, p); }
  static void store_part(T* p, Part part, V v) { _mm512_mask_storeu_pd(p, part, v); }
  static T sum(V v) {
    alignas(64) T halves[lanes];
    _mm512_store_pd(halves, v);
    const __m256d half = _mm256_add_pd(_mm256_load_pd(halves), _mm256_load_pd(halves + 4));
    const __m128d s = _mm_add_pd(_mm256_castpd256_pd128(half), _mm256_extractf128_pd(half, 1));
    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
  }
  static void transpose(const T* from, Index row, T* to, Index to_row) {
    for (int i = 0; i < lanes; i += 4)
      for (int j = 0; j < lanes; j += 4)
        transpose_block(from + i * row + j, row, to + j * to_row + i, to_row);
  }
};

}  // namespace

constinit const KernelSet avx512_kernels = {"avx512", kernels_of<Floats>(), kernels_of<Doubles>()};

}  // namespace anadrome::products
#endif
