// The vector functions of one instruction set behind plain addresses. The including file defines
// ANADROME_VECTOR_BYTES.
#pragma once
#include <math.h>

#include "native/vector_kernels.h"
#include "native/vector_sources.h"

namespace anadrome {
namespace {

using NarrowUnary = Wide (*)(Wide);
using NarrowBinary = Wide (*)(Wide, Wide);

template <Narrow (*f)(Narrow)> FloatRegister float_unary(FloatRegister x) {
  return f(x).v;
}
template <NarrowUnary f> FloatRegister narrow_unary(FloatRegister x) {
  const Halves h = widened(x);
  return narrowed(f(h.low), f(h.high));
}
template <NarrowBinary f> FloatRegister narrow_binary(FloatRegister x, FloatRegister y) {
  const Halves a = widened(x), b = widened(y);
  return narrowed(f(a.low, b.low), f(a.high, b.high));
}
template <NarrowUnary f> Register wide_unary(Register x) {
  return f(x).v;
}

// ---- functions of angles: large ones go to the standard library, one at a time

template <float (*one)(float)> [[gnu::noinline, gnu::cold]] FloatRegister repair(FloatRegister x, FloatRegister y) {
  constexpr int lanes = ANADROME_VECTOR_BYTES / 4;
  alignas(64) float from[lanes], to[lanes];
  ANADROME_INTRINSIC(store_ps)(from, x);
  ANADROME_INTRINSIC(store_ps)(to, y);
  for (int i = 0; i < lanes; ++i)
    if (!(from[i] >= -largest_angle && from[i] <= largest_angle)) to[i] = one(from[i]);
  return ANADROME_INTRINSIC(load_ps)(to);
}
template <double (*one)(double)> [[gnu::noinline, gnu::cold]] Register repair(Register x, Register y) {
  alignas(64) double from[Wide::lanes], to[Wide::lanes];
  store(from, x);
  store(to, y);
  for (std::size_t i = 0; i < Wide::lanes; ++i)
    if (!(from[i] >= -largest_angle && from[i] <= largest_angle)) to[i] = one(from[i]);
  return load(to).v;
}
template <NarrowUnary f, float (*one)(float)> FloatRegister narrow_angle(FloatRegister x) {
  const Halves h = widened(x);
  const FloatRegister y = narrowed(f(h.low), f(h.high));
  if (any_above(abs(Narrow(x)), static_cast<float>(largest_angle))) [[unlikely]] return repair<one>(x, y);
  return y;
}
template <NarrowUnary f, double (*one)(double)> Register wide_angle(Register x) {
  const Register y = f(x).v;
  if (any(abs(x) > largest_angle)) [[unlikely]] return repair<one>(x, y);
  return y;
}

// Both functions of the same angles: the sines are returned, the cosines go to memory.

inline FloatRegister narrow_sincos(FloatRegister x, float* cosines) {
  const Halves h = widened(x);
  const SineCosine low = sincos_narrow(h.low), high = sincos_narrow(h.high);
  const FloatRegister y = narrowed(low.sine, high.sine), cosine = narrowed(low.cosine, high.cosine);
  ANADROME_INTRINSIC(storeu_ps)(cosines, cosine);
  if (any_above(abs(Narrow(x)), static_cast<float>(largest_angle))) [[unlikely]] {
    ANADROME_INTRINSIC(storeu_ps)(cosines, repair<::cosf>(x, cosine));
    return repair<::sinf>(x, y);
  }
  return y;
}
inline Register wide_sincos(Register x, double* cosines) {
  const SineCosine y = sincos_wide(x);
  store(cosines, y.cosine);
  if (any(abs(x) > largest_angle)) [[unlikely]] {
    store(cosines, repair<::cos>(x, y.cosine.v));
    return repair<::sin>(x, y.sine.v);
  }
  return y.sine.v;
}

template <class F> void* address(F function) {
  return reinterpret_cast<void*>(function);
}

const OwnFunction own_functions[] = {
    {"exp", f32, 1, address(narrow_unary<exp_narrow>)},
    {"expm1", f32, 1, address(narrow_unary<expm1_narrow>)},
    {"log", f32, 1, address(narrow_unary<log_narrow>)},
    {"logistic", f32, 1, address(narrow_unary<logistic_narrow>)},
    {"cbrt", f32, 1, address(narrow_unary<cbrt_narrow>)},
    {"sin", f32, 1, address(narrow_angle<sin_narrow, ::sinf>)},
    {"cos", f32, 1, address(narrow_angle<cos_narrow, ::cosf>)},
    {"sincos", f32, 1, address(narrow_sincos)},
    {"tan", f32, 1, address(narrow_angle<tan_narrow, ::tanf>)},
    {"tanh", f32, 1, address(float_unary<tanh_float>)},
    {"asin", f32, 1, address(narrow_unary<asin_narrow>)},
    {"acos", f32, 1, address(narrow_unary<acos_narrow>)},
    {"atan2", f32, 2, address(narrow_binary<atan2_narrow>)},
    {"pow", f32, 2, address(narrow_binary<pow_narrow>)},
    {"exp", f64, 1, address(wide_unary<exp_wide>)},
    {"exp2", f64, 1, address(wide_unary<exp2_wide>)},
    {"expm1", f64, 1, address(wide_unary<expm1_wide>)},
    {"log", f64, 1, address(wide_unary<log_wide>)},
    {"log2", f64, 1, address(wide_unary<log2_wide>)},
    {"log10", f64, 1, address(wide_unary<log10_wide>)},
    {"log1p", f64, 1, address(wide_unary<log1p_wide>)},
    {"logistic", f64, 1, address(wide_unary<logistic_wide>)},
    {"sinh", f64, 1, address(wide_unary<sinh_wide>)},
    {"cosh", f64, 1, address(wide_unary<cosh_wide>)},
    {"sin", f64, 1, address(wide_angle<sin_wide, ::sin>)},
    {"cos", f64, 1, address(wide_angle<cos_wide, ::cos>)},
    {"sincos", f64, 1, address(wide_sincos)},
    {"tan", f64, 1, address(wide_angle<tan_wide, ::tan>)},
    {"asin", f64, 1, address(wide_unary<asin_wide>)},
    {"acos", f64, 1, address(wide_unary<acos_wide>)},
    {"atanh", f64, 1, address(wide_unary<atanh_wide>)},
};

}  // namespace
}  // namespace anadrome
