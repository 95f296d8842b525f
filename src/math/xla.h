#pragma once

// Float64 functions by the formulas that XLA uses, so that results agree with those of JAX to a few ulp, next
// to the zeros of a function and where its argument is reduced too. There they are less accurate than the
// functions of special.h, which remain in use for float: rounded once from double they are accurate whatever
// the formula.

#include <cmath>

#include "special.h"

namespace anadrome::math::xla {

/// 2^x as e^(x log 2): relative error about |x| / 2 ulp, so that 2^10 is not quite 1024.
double exp2(double x);
inline float exp2(float x) {
  return std::exp2(x);
}

/// Hyperbolic sine and cosine as e^(x - log 2) -+ e^(-x - log 2): no overflow before the result's, relative
/// error about |x| / 4 ulp.
double sinh(double x);
inline float sinh(float x) {
  return std::sinh(x);
}
/// @copydoc sinh(double)
double cosh(double x);
inline float cosh(float x) {
  return std::cosh(x);
}

/// log |Gamma(x)| by Lanczos' sum: absolute error about 1e-15 where it is small, else relative error 1e-15.
double lgamma(double x);
inline float lgamma(float x) {
  return math::lgamma(x);
}

/// The derivative of lgamma by the derivative of Lanczos' sum: error about 1e-15 max(1, |value|).
double digamma(double x);
inline float digamma(float x) {
  return math::digamma(x);
}

/// The inverse of erf by Giles' polynomials in -log(1 - x^2): relative error up to 1e-16 / (1 - |x|) next
/// to 1.
double erf_inv(double x);
inline float erf_inv(float x) {
  return math::erf_inv(x);
}

/// The regularized incomplete gamma functions by the power series or the continued fraction. Beyond a or x of
/// 1000, where these take long, and for arguments outside the domain: the functions of special.h.
double igamma(double a, double x);
inline float igamma(float a, float x) {
  return math::igamma(a, x);
}
/// @copydoc igamma(double, double)
double igammac(double a, double x);
inline float igammac(float a, float x) {
  return math::igammac(a, x);
}
/// d igamma(a, x) / d a, by the derivative of the same series or fraction.
double igamma_grad_a(double a, double x);
inline float igamma_grad_a(float a, float x) {
  return math::igamma_grad_a(a, x);
}

/// The regularized incomplete beta function by its continued fraction; beyond a or b of 1000 and outside the
/// domain the function of special.h.
double betainc(double a, double b, double x);
inline float betainc(float a, float b, float x) {
  return math::betainc(a, b, x);
}

}  // namespace anadrome::math::xla
