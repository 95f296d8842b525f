#pragma once

// Special functions that the standard library lacks or gets wrong for our purposes. None of them throws, sets
// errno on purpose or touches global state. The float overloads evaluate in double and round once, so their
// error is just over half an ulp; the bounds below are those of the double overloads. NaN arguments give NaN,
// and subnormal numbers are honoured.

namespace anadrome::math {

/// log |Gamma(x)|, without the global signgam. Poles (0, negative integers) and infinities give +inf. Within
/// 4 ulp for x > 0; for x < 0 within 6 ulp away from the zeros and 1e-15 absolute next to them.
double lgamma(double x);
/// @copydoc lgamma(double)
float lgamma(float x);

/// Derivative of lgamma. -inf at 0 and -0, NaN at negative integers and -inf, inf at inf. Within 3 ulp for x
/// > 0 and relative to max(1, |value|) for x < 0.
double digamma(double x);
/// @copydoc digamma(double)
float digamma(float x);

/// Inverse of erf: +-inf at +-1, NaN outside [-1, 1], -0 at -0. Within 3 ulp.
double erf_inv(double x);
/// @copydoc erf_inv(double)
float erf_inv(float x);

/// Complementary error function, accurate in the tail (std::erfc). Within 1 ulp.
double erfc(double x);
/// @copydoc erfc(double)
float erfc(float x);

/// Regularized lower incomplete gamma function P(a, x). NaN for a < 0, x < 0 or a = x = 0 (or both infinite);
/// 0 at x = 0 and a = inf; 1 at x = inf and a = 0. Within 1 ulp for a up to 1000 and 5 ulp
/// beyond, where long double is wider than double.
double igamma(double a, double x);
/// @copydoc igamma(double, double)
float igamma(float a, float x);

/// Regularized upper incomplete gamma function Q(a, x) = 1 - P(a, x), without cancellation; domain as igamma.
double igammac(double a, double x);
/// @copydoc igammac(double, double)
float igammac(float a, float x);

/// d igamma(a, x) / d a (at most 0). NaN for a <= 0 or x < 0; 0 at x = 0, x = inf and a = inf. Free of
/// cancellation: relative error about 1e-14, where long double is wider than double.
double igamma_grad_a(double a, double x);
/// @copydoc igamma_grad_a(double, double)
float igamma_grad_a(float a, float x);

/// Regularized incomplete beta function I_x(a, b). NaN for a <= 0, b <= 0 or x outside [0, 1]; a = inf gives
/// 0 below x = 1, b = inf gives 1 above x = 0. Within 1 ulp for moderate a and b, 5 ulp
/// where both exceed 10^4, where long double is wider than double.
double betainc(double a, double b, double x);
/// @copydoc betainc(double, double, double)
float betainc(float a, float b, float x);

/// Hurwitz zeta function, the sum of (q + k)^-s over k >= 0. inf at s = 1, NaN for s < 1. For q <= 0: inf
/// where q is an integer or -inf, otherwise NaN unless s is an integer. Within 8 ulp for q > 0 and s up to
/// about 50.
double zeta(double s, double q);
/// @copydoc zeta(double, double)
float zeta(float s, float q);

/// n-th derivative of digamma. NaN unless n is a non-negative integer; n = 0 is digamma; for n > 0 NaN at
/// inf. For x <= 0 as digamma and zeta: (-1)^(n+1) inf at the poles. Within 10 ulp for x > 0 and n up to 300.
double polygamma(double n, double x);
/// @copydoc polygamma(double, double)
float polygamma(float n, float x);

/// exp(-|x|) I0(x), the exponentially scaled modified Bessel function of order 0. 0 at +-inf. Within 4 ulp.
double bessel_i0e(double x);
/// @copydoc bessel_i0e(double)
float bessel_i0e(float x);

/// exp(-|x|) I1(x), the exponentially scaled modified Bessel function of order 1 (odd). 0 at +-inf. Within 4
/// ulp.
double bessel_i1e(double x);
/// @copydoc bessel_i1e(double)
float bessel_i1e(float x);

}  // namespace anadrome::math
