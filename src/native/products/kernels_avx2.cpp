// The kernels for AVX2 with FMA: 16 registers of 256 bits.
#if defined(__x86_64__)
#include <immintrin.h>

#include "native/products/lanes_x86.h"
#include "native/products/tiles.h"

namespace anadrome::products {
namespace {

struct Sizes {
  /// Rows of a tile that the registers hold beside its row of b and a factor.
  static constexpr int rows_of(int vectors) {
    constexpr int rows[] = {0, 8, 6, 4, 3, 2, 2, 1, 1};
    return rows[vectors];
  }
  static constexpr int usual_vectors = 2;
};

alignas(64) constexpr std::int32_t ones_then_zeros[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

struct Floats : Sizes {
  using T = float;
  using V = __m256;
  struct Part {
    __m256i mask;
    int count;
  };
  static constexpr int lanes = 8;
  static V zero() { return _mm256_setzero_ps(); }
  static V load(const T* p) { return _mm256_loadu_ps(p); }
  static void store(T* p, V v) { _mm256_storeu_ps(p, v); }
  static V broadcast(const T* p) { return _mm256_broadcast_ss(p); }
  static V multiply_add(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
  static T multiply_add_one(T a, T b, T c) { return __builtin_fmaf(a, b, c); }
  static V add(V a, V b) { return _mm256_add_ps(a, b); }
  static Part part(int count) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones_then_zeros + 8 - count)), count};
  }
  static V load_part(const T* p, Part part) { return _mm256_maskload_ps(p, part.mask); }
  /// By halves: masked stores take tens of cycles on some machines.
  static void store_part(T* p, Part part, V v) {
    if (part.count == 8) return store(p, v);
    __m128 half = _mm256_castps256_ps128(v);
    if (part.count & 4) {
      _mm_storeu_ps(p, half);
      half = _mm256_extractf128_ps(v, 1);
      p += 4;
    }
    if (part.count & 2) {
      _mm_storel_pi(reinterpret_cast<__m64*>(p), half);
      half = _mm_movehl_ps(half, half);
      p += 2;
    }
    if (part.count & 1) _mm_store_ss(p, half);
  }
  static T sum(V v) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
  }
  static void transpose(const T* from, Index row, T* to, Index to_row) {
    transpose_block(from, row, to, to_row);
  }
};

struct Doubles : Sizes {
  using T = double;
  using V = __m256d;
  using Part = Floats::Part;
  static constexpr int lanes = 4;
  static V zero() { return _mm256_setzero_pd(); }
  static V load(const T* p) { return _mm256_loadu_pd(p); }
  static void store(T* p, V v) { _mm256_storeu_pd(p, v); }
  static V broadcast(const T* p) { return _mm256_broadcast_sd(p); }
  static V multiply_add(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
  static T multiply_add_one(T a, T b, T c) { return __builtin_fma(a, b, c); }
  static V add(V a, V b) { return _mm256_add_pd(a, b); }
  static Part part(int count) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones_then_zeros + 8 - 2 * count)), count};
  }
  static V load_part(const T* p, Part part) { return _mm256_maskload_pd(p, part.mask); }
  static void store_part(T* p, Part part, V v) {
    if (part.count == 4) return store(p, v);
    __m128d half = _mm256_castpd256_pd128(v);
    if (part.count & 2) {
      _mm_storeu_pd(p, half);
      half = _mm256_extractf128_pd(v, 1);
      p += 2;
    }
    if (part.count & 1) _mm_store_sd(p, half);
  }
  static T sum(V v) {
    const __m128d s = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
  }
  static void transpose(const T* from, Index row, T* to, Index to_row) {
    transpose_block(from, row, to, to_row);
  }
};

}  // namespace

constinit const KernelSet avx2_kernels = {"avx2", kernels_of<Floats>(), kernels_of<Doubles>()};

}  // namespace anadrome::products
#endif
