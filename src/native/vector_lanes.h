// Vectors of doubles and floats of ANADROME_VECTOR_BYTES bytes, for the files that compile the vector functions once
// per instruction set. Everything has internal linkage: code for one instruction set must not replace that for
// another.
#pragma once
#include <immintrin.h>

#include <cstddef>

namespace anadrome {
namespace {

#if ANADROME_VECTOR_BYTES == 64
using Register = __m512d;
using FloatRegister = __m512;
using HalfRegister = __m256;
using Mask = __mmask8;
#define ANADROME_INTRINSIC(name) _mm512_##name
#else
using Register = __m256d;
using FloatRegister = __m256;
using HalfRegister = __m128;
#define ANADROME_INTRINSIC(name) _mm256_##name
struct Mask {
  __m256d bits;
};
inline Mask operator&(Mask a, Mask b) {
  return {_mm256_and_pd(a.bits, b.bits)};
}
inline Mask operator|(Mask a, Mask b) {
  return {_mm256_or_pd(a.bits, b.bits)};
}
#endif

/// Doubles; also their bit patterns as integers.
struct Wide {
  Register v;
  static constexpr std::size_t lanes = ANADROME_VECTOR_BYTES / 8;

  Wide(Register register_) : v(register_) {}
  Wide(double number) : v(ANADROME_INTRINSIC(set1_pd)(number)) {}
};

inline Wide operator+(Wide a, Wide b) {
  return ANADROME_INTRINSIC(add_pd)(a.v, b.v);
}
inline Wide operator-(Wide a, Wide b) {
  return ANADROME_INTRINSIC(sub_pd)(a.v, b.v);
}
inline Wide operator*(Wide a, Wide b) {
  return ANADROME_INTRINSIC(mul_pd)(a.v, b.v);
}
inline Wide operator/(Wide a, Wide b) {
  return ANADROME_INTRINSIC(div_pd)(a.v, b.v);
}
/// a b + c, rounded once.
inline Wide fma(Wide a, Wide b, Wide c) {
  return ANADROME_INTRINSIC(fmadd_pd)(a.v, b.v, c.v);
}
/// c - a b, rounded once.
inline Wide fnma(Wide a, Wide b, Wide c) {
  return ANADROME_INTRINSIC(fnmadd_pd)(a.v, b.v, c.v);
}
/// a b - c, rounded once.
inline Wide fms(Wide a, Wide b, Wide c) {
  return ANADROME_INTRINSIC(fmsub_pd)(a.v, b.v, c.v);
}
inline Wide sqrt(Wide x) {
  return ANADROME_INTRINSIC(sqrt_pd)(x.v);
}
/// The smaller one; b where one is NaN.
inline Wide smaller(Wide a, Wide b) {
  return ANADROME_INTRINSIC(min_pd)(a.v, b.v);
}
/// The larger one; b where one is NaN.
inline Wide larger(Wide a, Wide b) {
  return ANADROME_INTRINSIC(max_pd)(a.v, b.v);
}

// ---- bit patterns
#if ANADROME_VECTOR_BYTES == 64
inline __m512i bits(Wide x) {
  return _mm512_castpd_si512(x.v);
}
inline Wide from_bits(__m512i x) {
  return _mm512_castsi512_pd(x);
}
inline Wide operator&(Wide a, Wide b) {
  return from_bits(_mm512_and_si512(bits(a), bits(b)));
}
inline Wide operator|(Wide a, Wide b) {
  return from_bits(_mm512_or_si512(bits(a), bits(b)));
}
inline Wide operator^(Wide a, Wide b) {
  return from_bits(_mm512_xor_si512(bits(a), bits(b)));
}
#else
inline __m256i bits(Wide x) {
  return _mm256_castpd_si256(x.v);
}
inline Wide from_bits(__m256i x) {
  return _mm256_castsi256_pd(x);
}
inline Wide operator&(Wide a, Wide b) {
  return _mm256_and_pd(a.v, b.v);
}
inline Wide operator|(Wide a, Wide b) {
  return _mm256_or_pd(a.v, b.v);
}
inline Wide operator^(Wide a, Wide b) {
  return _mm256_xor_pd(a.v, b.v);
}
#endif
inline Wide add_bits(Wide a, Wide b) {
  return from_bits(ANADROME_INTRINSIC(add_epi64)(bits(a), bits(b)));
}
inline Wide subtract_bits(Wide a, Wide b) {
  return from_bits(ANADROME_INTRINSIC(sub_epi64)(bits(a), bits(b)));
}
template <int count> Wide shift_left(Wide x) {
  return from_bits(ANADROME_INTRINSIC(slli_epi64)(bits(x), count));
}
template <int count> Wide shift_right(Wide x) {
  return from_bits(ANADROME_INTRINSIC(srli_epi64)(bits(x), count));
}
/// -0.0 where x has its sign bit set, else 0.
inline Wide sign_of(Wide x) {
  return x & Wide(-0.0);
}
inline Wide abs(Wide x) {
  return from_bits(ANADROME_INTRINSIC(srli_epi64)(ANADROME_INTRINSIC(slli_epi64)(bits(x), 1), 1));
}
/// The bit pattern of an integer, as Wide.
inline Wide integer(long long number) {
  return Wide(__builtin_bit_cast(double, number));
}

// ---- choices
#if ANADROME_VECTOR_BYTES == 64
template <int predicate> Mask compare(Wide a, Wide b) {
  return _mm512_cmp_pd_mask(a.v, b.v, predicate);
}
/// a where the mask holds, else b.
inline Wide select(Mask m, Wide a, Wide b) {
  return _mm512_mask_blend_pd(m, b.v, a.v);
}
inline bool any(Mask m) {
  return m != 0;
}
/// The lanes whose sign bit is set.
inline Mask negative_bit(Wide x) {
  return _mm512_movepi64_mask(bits(x));
}
#else
template <int predicate> Mask compare(Wide a, Wide b) {
  return {_mm256_cmp_pd(a.v, b.v, predicate)};
}
/// a where the mask holds, else b.
inline Wide select(Mask m, Wide a, Wide b) {
  return _mm256_blendv_pd(b.v, a.v, m.bits);
}
inline bool any(Mask m) {
  return _mm256_movemask_pd(m.bits) != 0;
}
/// The lanes whose sign bit is set.
inline Mask negative_bit(Wide x) {
  return {x.v};
}
#endif
inline Mask operator<(Wide a, Wide b) {
  return compare<_CMP_LT_OQ>(a, b);
}
inline Mask operator>(Wide a, Wide b) {
  return compare<_CMP_GT_OQ>(a, b);
}
inline Mask operator==(Wide a, Wide b) {
  return compare<_CMP_EQ_OQ>(a, b);
}
inline Mask operator!=(Wide a, Wide b) {
  return compare<_CMP_NEQ_UQ>(a, b);
}

// ---- memory
inline void store(double* to, Wide x) {
  ANADROME_INTRINSIC(storeu_pd)(to, x.v);
}
inline Wide load(const double* from) {
  return ANADROME_INTRINSIC(loadu_pd)(from);
}

// ---- floats as two halves of doubles
struct Halves {
  Wide low, high;
};
#if ANADROME_VECTOR_BYTES == 64
inline Halves widened(FloatRegister x) {
  return {_mm512_cvtps_pd(_mm512_castps512_ps256(x)), _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1))};
}
inline FloatRegister narrowed(Wide low, Wide high) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low.v)), _mm512_cvtpd_ps(high.v), 1);
}
#else
inline Halves widened(FloatRegister x) {
  return {_mm256_cvtps_pd(_mm256_castps256_ps128(x)), _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1))};
}
inline FloatRegister narrowed(Wide low, Wide high) {
  return _mm256_set_m128(_mm256_cvtpd_ps(high.v), _mm256_cvtpd_ps(low.v));
}
#endif


/// Floats; also their bit patterns as integers.
struct Narrow {
  FloatRegister v;

  Narrow(FloatRegister register_) : v(register_) {}
  Narrow(float number) : v(ANADROME_INTRINSIC(set1_ps)(number)) {}
};

inline Narrow operator+(Narrow a, Narrow b) {
  return ANADROME_INTRINSIC(add_ps)(a.v, b.v);
}
inline Narrow operator-(Narrow a, Narrow b) {
  return ANADROME_INTRINSIC(sub_ps)(a.v, b.v);
}
inline Narrow operator*(Narrow a, Narrow b) {
  return ANADROME_INTRINSIC(mul_ps)(a.v, b.v);
}
inline Narrow operator/(Narrow a, Narrow b) {
  return ANADROME_INTRINSIC(div_ps)(a.v, b.v);
}
inline Narrow fma(Narrow a, Narrow b, Narrow c) {
  return ANADROME_INTRINSIC(fmadd_ps)(a.v, b.v, c.v);
}
inline Narrow fnma(Narrow a, Narrow b, Narrow c) {
  return ANADROME_INTRINSIC(fnmadd_ps)(a.v, b.v, c.v);
}
/// The smaller one; b where one is NaN.
inline Narrow smaller(Narrow a, Narrow b) {
  return ANADROME_INTRINSIC(min_ps)(a.v, b.v);
}
inline Narrow operator&(Narrow a, Narrow b) {
  return ANADROME_INTRINSIC(and_ps)(a.v, b.v);
}
inline Narrow operator|(Narrow a, Narrow b) {
  return ANADROME_INTRINSIC(or_ps)(a.v, b.v);
}
inline Narrow operator^(Narrow a, Narrow b) {
  return ANADROME_INTRINSIC(xor_ps)(a.v, b.v);
}
inline Narrow abs(Narrow x) {
  return ANADROME_INTRINSIC(andnot_ps)(Narrow(-0.0f).v, x.v);
}
/// True when a > b in some lane.
inline bool any_above(Narrow a, Narrow b) {
#if ANADROME_VECTOR_BYTES == 64
  return _mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ) != 0;
#else
  return _mm256_movemask_ps(_mm256_cmp_ps(a.v, b.v, _CMP_GT_OQ)) != 0;
#endif
}
/// 2^n, n the integer in the low bits of k; -126 <= n <= 127.
inline Narrow power_of_two(Narrow k) {
#if ANADROME_VECTOR_BYTES == 64
  return _mm512_castsi512_ps(
      _mm512_add_epi32(_mm512_slli_epi32(_mm512_castps_si512(k.v), 23), _mm512_set1_epi32(0x3f800000)));
#else
  return _mm256_castsi256_ps(
      _mm256_add_epi32(_mm256_slli_epi32(_mm256_castps_si256(k.v), 23), _mm256_set1_epi32(0x3f800000)));
#endif
}

}  // namespace
}  // namespace anadrome
