// Transposes of square blocks in 256-bit registers, for the instruction sets of x86-64 that have them.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace anadrome::products {
namespace {

inline void transpose_block(const float* from, std::int64_t row, float* to, std::int64_t to_row) {
  __m256 a[8], b[8];
  for (int i = 0; i < 8; ++i) a[i] = _mm256_loadu_ps(from + i * row);
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    a[i] = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
    a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xee);
    a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
    a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * to_row, _mm256_permute2f128_ps(a[i], a[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * to_row, _mm256_permute2f128_ps(a[i], a[i + 4], 0x31));
  }
}

inline void transpose_block(const double* from, std::int64_t row, double* to, std::int64_t to_row) {
  __m256d a[4], b[4];
  for (int i = 0; i < 4; ++i) a[i] = _mm256_loadu_pd(from + i * row);
  for (int i = 0; i < 4; i += 2) {
    b[i] = _mm256_unpacklo_pd(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_pd(a[i], a[i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    _mm256_storeu_pd(to + i * to_row, _mm256_permute2f128_pd(b[i], b[i + 2], 0x20));
    _mm256_storeu_pd(to + (i + 2) * to_row, _mm256_permute2f128_pd(b[i], b[i + 2], 0x31));
  }
}

}  // namespace
}  // namespace anadrome::products
