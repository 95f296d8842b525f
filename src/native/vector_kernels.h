// Vector functions that are more accurate or faster than those of libmvec, written once for all instruction sets.
// Float functions ("narrow") are evaluated in double and rounded once, so that their error is little more than half
// an ulp; those of double ("wide") keep the low part of what cancels. Errors: docs/vector-math.md. Coefficients:
// tools/fit_polynomials.py, lowest power first.
#pragma once
#include <cmath>
#include <limits>

#include "native/vector_coefficients.h"
#include "native/vector_lanes.h"

namespace anadrome {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// Adding it rounds |x| < 2^51 to an integer, which the low bits of the sum hold.
constexpr double round_by_adding = 0x1.8p52;
constexpr double ln2_high = 0x1.62e42fefa39efp-1, ln2_low = 0x1.abc9e3b39803fp-56;
constexpr double pi_1 = 0x1.921fb54442d18p+1, pi_2 = 0x1.1a62633145c07p-53;
constexpr double half_pi_1 = pi_1 / 2, half_pi_2 = pi_2 / 2, half_pi_3 = -0x1.f1976b7ed8fbcp-110;
/// Beyond it, angles are reduced by the functions of the standard library.
constexpr double largest_angle = 0x1p30;

// ---- polynomials, in pairs of terms (Estrin), so that little waits

template <int first, int count, std::size_t n> Wide partial(const double (&c)[n], Wide x, Wide x2, Wide x4, Wide x8) {
  if constexpr (count == 1) return Wide(c[first]);
  else if constexpr (count == 2) return fma(x, Wide(c[first + 1]), Wide(c[first]));
  else if constexpr (count <= 4)
    return fma(x2, partial<first + 2, count - 2>(c, x, x2, x4, x8), partial<first, 2>(c, x, x2, x4, x8));
  else if constexpr (count <= 8)
    return fma(x4, partial<first + 4, count - 4>(c, x, x2, x4, x8), partial<first, 4>(c, x, x2, x4, x8));
  else return fma(x8, partial<first + 8, count - 8>(c, x, x2, x4, x8), partial<first, 8>(c, x, x2, x4, x8));
}
template <std::size_t n> Wide polynomial(const double (&c)[n], Wide x) {
  const Wide x2 = x * x, x4 = x2 * x2, x8 = x4 * x4;
  return partial<0, static_cast<int>(n)>(c, x, x2, x4, x8);
}

/// 2^n, n the integer in the low bits of k; -1022 <= n <= 1023.
inline Wide power_of_two(Wide k) {
  return add_bits(shift_left<52>(k), Wide(1.0));
}
/// `magnitude` with the sign of x in place of +.
inline Wide with_sign(Wide magnitude, Wide x) {
  return magnitude | sign_of(x);
}
/// A sum as its rounded value and what was lost; |a| >= |b|, or a is 0.
struct Pair {
  Wide high, low;
};
inline Pair sum_of_ordered(Wide a, Wide b) {
  const Wide high = a + b;
  return {high, (a - high) + b};
}
inline Pair sum(Wide a, Wide b) {
  const Wide high = a + b, part = high - a;
  return {high, (a - (high - part)) + (b - part)};
}

// ---- exponentials

/// n and r with x = n log 2 + r: n in the low bits of k.
struct Reduced {
  Wide k, n, r;
};
inline Reduced reduce_exponent(Wide x) {
  const Wide k = fma(x, 1 / ln2_high, round_by_adding), n = k - round_by_adding;
  return {k, n, fnma(n, ln2_high, x)};
}
inline Wide exp_narrow(Wide x) {
  const Reduced e = reduce_exponent(smaller(150.0, larger(-150.0, x)));
  return polynomial(coefficients::exp_narrow, e.r) * power_of_two(e.k);
}
inline Wide expm1_narrow(Wide x) {
  const Reduced e = reduce_exponent(smaller(150.0, larger(-150.0, x)));
  const Wide scale = power_of_two(e.k);
  const Wide grown = e.r * polynomial(coefficients::expm1_narrow, e.r);
  return select(x == 0.0, x, fma(scale, grown, scale - 1.0));
}
inline Wide logistic_narrow(Wide x) {
  return 1.0 / (1.0 + exp_narrow(0.0 - x));
}
inline Wide exp_wide(Wide x) {
  x = smaller(710.0, larger(-746.0, x));
  const Reduced e = reduce_exponent(x);
  const Wide r = fnma(e.n, ln2_low, e.r);
  const Wide value = 1.0 + fma(r * r, polynomial(coefficients::exp_wide, r), r);
  // 2^n in two steps, for subnormal results and for n = 1024.
  const Wide half = shift_right<1>(e.k);
  return value * power_of_two(half) * power_of_two(subtract_bits(e.k, half));
}
/// As e^(x log 2), like the scalar function: relative error about |x| / 2 ulp.
inline Wide exp2_wide(Wide x) {
  return exp_wide(x * ln2_high);
}
inline Wide expm1_wide(Wide x) {
  const Wide bounded = smaller(710.0, larger(-50.0, x));
  const Reduced e = reduce_exponent(bounded);
  const Wide r = fnma(e.n, ln2_low, e.r), r_low = fnma(e.n, ln2_low, e.r - r);
  // r + r^2 / 2 with their low parts, then the terms from r^3 on.
  const Wide half = r * 0.5, square = r * half;
  const Wide rest = fma(square * r, polynomial(coefficients::expm1_wide, r), r_low + fms(r, half, square));
  // Half of everything, since 2^1024 is too large.
  const Wide scale = power_of_two(subtract_bits(e.k, integer(1)));
  const Wide less_half = scale - 0.5, lost = (scale - less_half) - 0.5;
  const Pair first = sum_of_ordered(less_half, scale * r);
  const Pair second = sum_of_ordered(first.high, scale * square);
  const Wide value = second.high + fma(scale, rest, lost + (first.low + second.low));
  return select(abs(x) < 0x1p-54, x, value + value);
}
inline Wide logistic_wide(Wide x) {
  const Wide small = exp_wide(0.0 - abs(x));
  const Wide top = select(negative_bit(x), small, 1.0);
  // One correction of the quotient, for its rounding and that of the sum.
  const Pair bottom = sum_of_ordered(1.0, small);
  const Wide inverse = 1.0 / bottom.high, quotient = top * inverse;
  return fma(fnma(quotient, bottom.low, fnma(quotient, bottom.high, top)), inverse, quotient);
}

/// expm1(2 |x|) / (expm1(2 |x|) + 2), in floats alone: tanh is worth the speed. No r^2, which could be subnormal.
inline Narrow tanh_float(Narrow x) {
  const Narrow sign = x & Narrow(-0.0f), a = smaller(9.1f, x ^ sign);  // tanh(9.1) rounds to 1
  const Narrow k = fma(a, static_cast<float>(2 / ln2_high), 0x1.8p23f), n = k - 0x1.8p23f;
  const Narrow r = fnma(n, static_cast<float>(ln2_high), a + a);
  Narrow p = coefficients::tanh_float[4];
  for (int i = 3; i >= 0; --i) p = fma(r, p, coefficients::tanh_float[i]);
  const Narrow scale = power_of_two(k);
  const Narrow growth = fma(scale, r * fma(r, p, 1.0f), scale - 1.0f);
  return growth / (growth + 2.0f) | sign;
}
// Hyperbolic functions by the formulas of the scalar ones: relative error about |x| / 4 ulp.
inline Wide sinh_wide(Wide x) {
  const Wide a = abs(x), growth = expm1_wide(a);
  const Wide near = (growth + growth / (growth + 1.0)) * 0.5;
  const Wide far = exp_wide(a - ln2_high) - exp_wide(-ln2_high - a);
  return with_sign(select(a < 1.0, near, far), x);
}
inline Wide cosh_wide(Wide x) {
  const Wide a = abs(x);
  return exp_wide(a - ln2_high) + exp_wide(-ln2_high - a);
}

// ---- logarithms

/// x = 2^e m with m in [sqrt(1/2), sqrt(2)), for normal positive x; `exponent` holds e in the exponent's place.
struct Scaled {
  Wide e, m, exponent;
};
inline Scaled split_exponent(Wide x) {
  const Wide from_root = add_bits(x, subtract_bits(Wide(1.0), Wide(0x1.6a09e667f3bcdp-1)));
  const Wide exponent = subtract_bits(from_root & integer(0x7ff0000000000000), Wide(1.0));
  const Wide e = (shift_right<52>(from_root) | Wide(0x1p52)) - (0x1p52 + 1023);
  return {e, subtract_bits(x, exponent), exponent};
}
/// `value` for positive finite x; else what a logarithm has there.
inline Wide log_domain(Wide x, Wide value) {
  value = select(x < infinity, value, x);
  return select(x > 0.0, value, select(x == 0.0, -infinity, nan));
}
inline Wide log_narrow(Wide x) {
  const Scaled s = split_exponent(x);
  const Wide f = s.m - 1.0;
  return log_domain(x, fma(s.e, ln2_high, f * polynomial(coefficients::log_narrow, f)));
}
/// log(x + low) as a sum, for |low| <= ulp(x) / 2; error about 2^-60 relative to the larger of 2^-6 and the value.
inline Pair log_pair(Wide x, Wide low) {
  const Mask tiny = x < 0x1p-1022;
  Scaled s = split_exponent(select(tiny, x * 0x1p54, x));
  s.e = s.e - select(tiny, 54.0, 0.0);
  const Wide scaled_low = (low * 0.5) * subtract_bits(Wide(2.0), s.exponent);  // e may be 1024
  // Near c in {1, 1.255, 0.795}: log m = log c + log(1 + f), f = m / c - 1, with a short 1 / c.
  const Mask above = s.m > 1.122, below = s.m < 0.891;
  const Wide inverse = select(above, 0.796875, select(below, 1.2578125, 1.0));
  const Wide log_high = select(above, 0x1.d1037f2656000p-3, select(below, -0x1.d5c216b4fc000p-3, 0.0));
  const Wide log_low = select(above, -0x1.84a7e75b6f6e4p-47, select(below, 0x1.1ba91bbca681bp-45, 0.0));
  const Wide product = s.m * inverse;
  const Wide f = product - 1.0, f_low = fma(scaled_low, inverse, fms(s.m, inverse, product));
  const Wide high = fma(s.e, 0x1.62e42fefa3800p-1, log_high);  // exact: both end 42 bits after the point
  const Wide rest = fma(s.e, 0x1.ef35793c76730p-45, log_low);
  // f - f^2 / 2 with their low parts, then the terms from f^3 on.
  const Pair first = sum_of_ordered(high, f);
  const Wide half = f * 0.5, square = f * half;
  const Wide value = first.high - square, value_low = (first.high - value) - square;
  const Wide cubic = square * (f + f) * polynomial(coefficients::log_wide, f);
  const Wide lows = (first.low + value_low) + (rest - fms(f, half, square));
  const Wide slope = fnma(f, fnma(f, 1.0 - f, 1.0), 1.0);  // of log(1 + f), for the low part of f
  return {value, cubic + fma(f_low, slope, lows)};
}
inline Wide log_wide(Wide x) {
  const Pair y = log_pair(x, 0.0);
  return log_domain(x, y.high + y.low);
}
/// y times the constant high + low.
inline Pair times(Pair y, double high, double low) {
  const Wide product = y.high * high;
  return {product, fma(y.high, low, fma(y.low, high, fms(y.high, high, product)))};
}
inline Wide log2_wide(Wide x) {
  const Pair y = times(log_pair(x, 0.0), 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56);
  return log_domain(x, y.high + y.low);
}
inline Wide log10_wide(Wide x) {
  const Pair y = times(log_pair(x, 0.0), 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57);
  return log_domain(x, y.high + y.low);
}
inline Wide log1p_value(Wide x) {
  const Pair one_more = sum(1.0, x);
  const Pair y = log_pair(one_more.high, one_more.low);
  return log_domain(one_more.high, y.high + y.low);
}
inline Wide log1p_wide(Wide x) {
  return select(abs(x) < 0x1p-54, x, log1p_value(x));
}
/// log((1 + x) / (1 - x)) / 2.
inline Wide atanh_wide(Wide x) {
  const Wide a = abs(x);
  const Wide value = log1p_value((a + a) / (1.0 - a)) * 0.5;
  return select(a < 0x1p-28, x, with_sign(value, x));
}

// ---- sine, cosine, tangent: |x| <= largest_angle

/// (-1)^n as a sign, n the integer in the low bits of k.
inline Wide parity(Wide k) {
  return shift_left<63>(k);
}
inline Wide sin_narrow(Wide x) {
  const Wide k = fma(x, 1 / pi_1, round_by_adding), n = k - round_by_adding;
  const Wide r = fnma(n, pi_2, fnma(n, pi_1, x));
  return r * polynomial(coefficients::sin_narrow, r * r) ^ parity(k);
}
inline Wide cos_narrow(Wide x) {
  // x = (n + 1/2) pi + r.
  const Wide k = fma(x, 1 / pi_1, -0.5) + round_by_adding, n = (k - round_by_adding) + 0.5;
  const Wide r = fnma(n, pi_2, fnma(n, pi_1, x));
  return r * polynomial(coefficients::sin_narrow, r * r) ^ parity(k) ^ Wide(-0.0);
}
inline Wide tan_narrow(Wide x) {
  const Wide k = fma(x, 1 / half_pi_1, round_by_adding), n = k - round_by_adding;
  const Wide r = fnma(n, half_pi_2, fnma(n, half_pi_1, x)), z = r * r;
  const Wide s = r * polynomial(coefficients::sin_quarter_narrow, z);
  const Wide c = polynomial(coefficients::cos_quarter_narrow, z);
  const Mask odd = negative_bit(parity(k));
  return select(odd, c, s) / select(odd, Wide(-0.0) ^ s, c);
}

/// The sine and the cosine of the same angles.
struct SineCosine {
  Wide sine, cosine;
};
/// `sine` and `cosine` are those of r, x = n pi / 2 + r, n the integer in the low bits of k.
inline SineCosine turned(Wide k, Wide sine, Wide cosine) {
  const Wide odd_bits = parity(k), sign = sign_of(shift_left<62>(k));
  const Mask odd = negative_bit(odd_bits);
  return {select(odd, cosine, sine) ^ sign, select(odd, sine, cosine) ^ sign ^ odd_bits};
}
/// c[0] + c[1] z + ... as head + z^2 tail. The factor of a sine goes into both parts, which takes less time than one
/// product at the end, and keeps the sign of zero.
struct SplitPolynomial {
  Wide head, tail;
};
inline SplitPolynomial split_polynomial(const double (&c)[5], Wide z, Wide z2) {
  return {fma(z, c[1], c[0]), fma(z2, c[4], fma(z, c[3], c[2]))};
}
inline SineCosine sincos_narrow(Wide x) {
  const Wide k = fma(x, 1 / half_pi_1, round_by_adding), n = k - round_by_adding;
  const Wide r = fnma(n, half_pi_2, fnma(n, half_pi_1, x)), z = r * r, z2 = z * z;
  const SplitPolynomial s = split_polynomial(coefficients::sin_quarter_narrow, z, z2);
  const SplitPolynomial c = split_polynomial(coefficients::cos_quarter_narrow, z, z2);
  return turned(k, fma(r * z2, s.tail, r * s.head), fma(z2, c.tail, c.head));
}

/// x = n pi / 2 + r + r_low, n the integer in the low bits of k.
struct Angle {
  Wide k, r, r_low;
};
inline Angle reduce_angle(Wide x) {
  const Wide k = fma(x, 1 / half_pi_1, round_by_adding), n = k - round_by_adding;
  const Wide first = fnma(n, half_pi_1, x);  // exact
  const Wide product = n * half_pi_2;
  const Pair r = sum(first, Wide(-0.0) ^ product);
  return {k, r.high, fnma(n, half_pi_3, r.low - fms(n, half_pi_2, product))};
}
/// sin(r + r_low) and cos(r + r_low) for |r| <= pi / 4, with their low parts.
inline Pair sin_pair(const Angle& a, Wide z, Wide z_low) {
  // r + r w, w = -z / 6 + z^2 q(z); the low parts of z / 6 and of the product r w are kept.
  const Wide leading = z * (-1.0 / 6), tail = z * z * polynomial(coefficients::sin_wide, z);
  const Wide leading_low = fma(z_low, -1.0 / 6, fma(z, -0x1.5555555555555p-57, fms(z, -1.0 / 6, leading)));
  const Pair w = sum_of_ordered(leading, tail);
  const Wide product = a.r * w.high;
  const Wide low = fma(a.r, w.low + leading_low, fms(a.r, w.high, product));
  const Pair y = sum_of_ordered(a.r, product);
  return {y.high, y.low + fma(a.r_low, fnma(z, fnma(z, 1.0 / 24, 0.5), 1.0), low)};
}
inline Pair cos_pair(const Angle& a, Wide z, Wide z_low) {
  // 1 - z / 2 + z^2 / 24 + z^3 q(z); the low parts of the first three terms are kept.
  const Wide half = z * 0.5;
  const Wide high = 1.0 - half, half_low = (1.0 - high) - half;
  const Wide square = z * z, square_low = fma(z + z, z_low, fms(z, z, square));
  const Wide fourth = square * (1.0 / 24);
  const Wide fourth_low =
      fma(square_low, 1.0 / 24, fma(square, 0x1.5555555555555p-59, fms(square, 1.0 / 24, fourth)));
  const Wide sine = fma(a.r * z, -1.0 / 6, a.r);
  const Wide lows = fma(z_low, -0.5, fnma(sine, a.r_low, half_low)) + fourth_low;
  return {high, fourth + fma(square * z, polynomial(coefficients::cos_wide, z), lows)};
}
struct SinCos {
  Angle angle;
  Pair sin, cos;
};
inline SinCos sin_and_cos(Wide x) {
  const Angle a = reduce_angle(x);
  const Wide z = a.r * a.r, z_low = fms(a.r, a.r, z);
  return {a, sin_pair(a, z, z_low), cos_pair(a, z, z_low)};
}
inline Wide sine_of(Wide x, const SinCos& y) {
  const Mask odd = negative_bit(parity(y.angle.k));
  const Wide value = select(odd, y.cos.high, y.sin.high) + select(odd, y.cos.low, y.sin.low);
  return select(x == 0.0, x, value ^ parity(shift_right<1>(y.angle.k)));
}
inline Wide cosine_of(const SinCos& y) {
  const Mask odd = negative_bit(parity(y.angle.k));
  const Wide value = select(odd, y.sin.high, y.cos.high) + select(odd, y.sin.low, y.cos.low);
  return value ^ parity(shift_right<1>(add_bits(y.angle.k, integer(1))));
}
inline Wide sin_wide(Wide x) {
  return sine_of(x, sin_and_cos(x));
}
inline Wide cos_wide(Wide x) {
  return cosine_of(sin_and_cos(x));
}
inline SineCosine sincos_wide(Wide x) {
  const SinCos y = sin_and_cos(x);
  return {sine_of(x, y), cosine_of(y)};
}
inline Wide tan_wide(Wide x) {
  const SinCos y = sin_and_cos(x);
  const Mask odd = negative_bit(parity(y.angle.k));
  const Wide sign = parity(y.angle.k);
  const Pair s = sum_of_ordered(y.sin.high, y.sin.low), c = sum_of_ordered(y.cos.high, y.cos.low);
  const Wide top = select(odd, c.high, s.high), top_low = select(odd, c.low, s.low);
  const Wide bottom = select(odd, s.high, c.high), bottom_low = select(odd, s.low, c.low);
  // One correction of the quotient, for its rounding and the low parts.
  const Wide inverse = 1.0 / bottom, quotient = top * inverse;
  const Wide rest = fnma(quotient, bottom, top) + fnma(quotient, bottom_low, top_low);
  const Wide value = fma(rest, inverse, quotient);
  return select(x == 0.0, x, value ^ sign);
}

// ---- inverse functions

/// asin(x) and acos(x) from |x| <= 1/2 as x + x z P(z), z = x^2, and else from z = (1 - |x|) / 2.
struct ArcParts {
  Mask near;        // |x| <= 1/2
  Wide root, rest;  // asin(|x|), or asin(sqrt(z)), is root + rest
};
inline ArcParts arc_parts_wide(Wide x) {
  const Wide a = abs(x);
  const Mask near = a < 0.5;
  const Wide z = select(near, x * x, fnma(a, 0.5, 0.5));
  const Wide root = select(near, a, sqrt(z));
  return {near, root, root * (z * polynomial(coefficients::asin_wide, z))};
}
inline Wide asin_wide(Wide x) {
  const ArcParts p = arc_parts_wide(x);
  const Wide twice = p.root + p.root;
  const Wide high = half_pi_1 - twice, low = (half_pi_1 - high) - twice;
  const Wide far = high + (low + fnma(p.rest, 2.0, half_pi_2));
  return with_sign(select(p.near, p.root + p.rest, far), x);
}
inline Wide acos_wide(Wide x) {
  const ArcParts p = arc_parts_wide(x);
  const Wide signed_root = p.root ^ sign_of(x), signed_rest = p.rest ^ sign_of(x);
  const Pair near = sum_of_ordered(half_pi_1, Wide(-0.0) ^ signed_root);
  const Wide near_value = near.high + (near.low + (half_pi_2 - signed_rest));
  const Wide twice = p.root + p.root, twice_rest = p.rest + p.rest;
  const Wide high = pi_1 - twice, low = (pi_1 - high) - twice;
  const Wide left = high + (low + (pi_2 - twice_rest));
  return select(p.near, near_value, select(negative_bit(x), left, twice + twice_rest));
}
inline ArcParts arc_parts_narrow(Wide x) {
  const Wide a = abs(x);
  const Mask near = a < 0.5;
  const Wide z = select(near, x * x, fnma(a, 0.5, 0.5));
  const Wide root = select(near, a, sqrt(z));
  return {near, root * polynomial(coefficients::asin_narrow, z), 0.0};
}
inline Wide asin_narrow(Wide x) {
  const ArcParts p = arc_parts_narrow(x);
  return with_sign(select(p.near, p.root, fnma(p.root, 2.0, half_pi_1)), x);
}
inline Wide acos_narrow(Wide x) {
  const ArcParts p = arc_parts_narrow(x);
  const Wide twice = p.root + p.root;
  return select(p.near, half_pi_1 - (p.root ^ sign_of(x)), select(negative_bit(x), pi_1 - twice, twice));
}
/// The angle of (x, y).
inline Wide atan2_narrow(Wide y, Wide x) {
  const Wide a = abs(y), b = abs(x);
  const Mask steep = a > b;
  const Wide small = select(steep, b, a), large = select(steep, a, b);
  Wide slope = small / large;
  slope = select(large == 0.0, 0.0, select(small == infinity, 1.0, slope));
  Wide angle = slope * polynomial(coefficients::atan_narrow, slope * slope);
  angle = select(steep, half_pi_1 - angle, angle);
  angle = select(negative_bit(x), pi_1 - angle, angle);
  // large is NaN only where one operand is: `a > b` then fails and both reach the quotient.
  return select((y != y) | (x != x), y + x, angle ^ sign_of(y));
}

// ---- powers

inline Wide cbrt_narrow(Wide x) {
  const Wide a = abs(x);
  const Wide exponent = subtract_bits(a & integer(0x7ff0000000000000), Wide(1.0));
  const Wide e = (shift_right<52>(a) | Wide(0x1p52)) - (0x1p52 + 1023);
  const Wide m = subtract_bits(a, exponent);  // in [1, 2)
  // e = 3 n + j with j in {-1, 0, 1}.
  const Wide k = fma(e, 1.0 / 3, round_by_adding), n = k - round_by_adding, j = fnma(n, 3.0, e);
  const Wide factor = select(j == 0.0, 1.0, select(j > 0.0, 0x1.428a2f98d728bp+0, 0x1.965fea53d6e3dp-1));
  const Wide value = polynomial(coefficients::cbrt_narrow, m) * factor * power_of_two(k);
  return select((a > 0.0) & (a < infinity), with_sign(value, x), x);
}
/// |x|^y with the sign and the exceptional cases of std::pow.
inline Wide pow_narrow(Wide x, Wide y) {
  const Wide a = abs(x);
  const Scaled s = split_exponent(a);
  const Wide ratio = (s.m - 1.0) / (s.m + 1.0), z = ratio * ratio;
  const Wide ln = (ratio + ratio) * polynomial(coefficients::log_ratio_narrow, z);
  Wide logarithm = fma(ln, 1 / ln2_high, s.e);
  logarithm = select(a < infinity, select(a == 0.0, -infinity, logarithm), a);
  // 1^y is 1 for every y.
  Wide product = select(logarithm == 0.0, 0.0, y * logarithm);
  product = smaller(200.0, larger(-200.0, product));
  const Wide k = product + round_by_adding, r = product - (k - round_by_adding);
  Wide value = polynomial(coefficients::exp2_narrow, r) * power_of_two(k);
  const Wide whole = (abs(y) + 0x1p52) - 0x1p52, half = y * 0.5;
  const Wide whole_half = (abs(half) + 0x1p52) - 0x1p52;
  const Mask large = abs(y) > 0x1p52;
  const Mask is_whole = large | (whole == abs(y));
  const Mask is_odd = is_whole & (whole_half != abs(half));
  value = value ^ select(is_odd, sign_of(x), 0.0);
  value = select(is_whole, value, select((x < 0.0) & (x > -infinity), nan, value));
  return select(y == 0.0, 1.0, value);
}

}  // namespace
}  // namespace anadrome
