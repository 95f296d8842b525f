// Elementwise operations. Every argument is an Array or a C++ number; arrays broadcast as in numpy and
// promote as `promote` says, numbers take the dtype of the arrays they meet. Functions of floats take
// integers and b1 as f32. All throw TypeError for shapes that do not broadcast, dtypes that do not fit, and
// complex arrays. Unless a line says otherwise, float results are differentiable to any order, and integer
// and b1 results carry no derivatives.
#pragma once
#include <optional>
#include <vector>

#include "anadrome/array.h"

namespace anadrome {

// ---- arithmetic: integers wrap, b1 counts as i32
/// x + y.
Array operator+(const Operand& x, const Operand& y);
/// x - y.
Array operator-(const Operand& x, const Operand& y);
/// x y.
Array operator*(const Operand& x, const Operand& y);
/// x / y; of integers the truncated quotient, with x / 0 = -1 (all bits set). A float array y that is repeated
/// to the shape of the result is inverted first, once an element: then 1 ulp off.
Array operator/(const Operand& x, const Operand& y);
/// The remainder of the truncated quotient, with the sign of x; of integers x % 0 = x.
Array operator%(const Operand& x, const Operand& y);
/// The same as `x % y`.
Array rem(const Operand& x, const Operand& y);
/// -x.
Array operator-(const Operand& x);
/// The same as `-x`.
Array neg(const Operand& x);
/// a = a + y; the dtype may change as in `a + y`.
Array& operator+=(Array& a, const Operand& y);
/// a = a - y; the dtype may change as in `a - y`.
Array& operator-=(Array& a, const Operand& y);
/// a = a * y; the dtype may change as in `a * y`.
Array& operator*=(Array& a, const Operand& y);
/// a = a / y; the dtype may change as in `a / y`.
Array& operator/=(Array& a, const Operand& y);
/// a = a % y; the dtype may change as in `a % y`.
Array& operator%=(Array& a, const Operand& y);
/// |x|; the derivative at 0 is 1.
Array abs(const Operand& x);
/// -1, 0 or 1; the sign of a zero and NaN are kept.
Array sign(const Operand& x);
/// x x: an integer_pow.
Array square(const Operand& x);
/// 1 / x of floats: an integer_pow.
Array reciprocal(const Operand& x);
/// The remainder of the quotient rounded down, with the sign of y; of integers mod(x, 0) = x.
Array mod(const Operand& x, const Operand& y);
/// The quotient rounded down; of integers x / 0 = -1 (all bits set).
Array floor_div(const Operand& x, const Operand& y);
/// The larger, elementwise; NaN wins, and the derivative is shared at ties.
Array max(const Operand& x, const Operand& y);
/// The smaller, elementwise; NaN wins, and the derivative is shared at ties.
Array min(const Operand& x, const Operand& y);
/// min(max(lo, x), hi); the derivative of x is 0 at a bound.
Array clamp(const Operand& lo, const Operand& x, const Operand& hi);
/// min(max(x, lo), hi), each bound only if given; the derivative of x is one half at a bound.
Array clip(const Operand& x, const std::optional<Operand>& lo,
           const std::optional<Operand>& hi = std::nullopt);

// ---- powers, exponentials, logarithms
/// x^y. An integer C++ number as y records integer_pow; integers stay integers, a float x may have an i32 y.
Array pow(const Operand& x, const Operand& y);
/// x^n for a fixed n; TypeError for integers with a negative n.
Array integer_pow(const Operand& x, std::int64_t n);
/// The square root; NaN below 0, derivative inf at 0.
Array sqrt(const Operand& x);
/// 1 / sqrt(x).
Array rsqrt(const Operand& x);
/// The real cube root; derivative inf at 0.
Array cbrt(const Operand& x);
/// sqrt(x^2 + y^2) without overflow.
Array hypot(const Operand& x, const Operand& y);
/// e^x.
Array exp(const Operand& x);
/// 2^x, as e^(x log 2) except in f32: about |x| / 2 ulp off.
Array exp2(const Operand& x);
/// e^x - 1, accurate beside 0.
Array expm1(const Operand& x);
/// The natural logarithm; NaN below 0.
Array log(const Operand& x);
/// The logarithm to base 2.
Array log2(const Operand& x);
/// The logarithm to base 10.
Array log10(const Operand& x);
/// log(1 + x), accurate beside 0.
Array log1p(const Operand& x);
/// log(e^x + e^y) without overflow.
Array logaddexp(const Operand& x, const Operand& y);
/// x log(y), and 0 where x is 0.
Array xlogy(const Operand& x, const Operand& y);
/// 1 / (1 + e^-x).
Array logistic(const Operand& x);
/// The same as `logistic`.
Array sigmoid(const Operand& x);

// ---- trigonometric and hyperbolic functions
/// The sine.
Array sin(const Operand& x);
/// The cosine.
Array cos(const Operand& x);
/// The tangent.
Array tan(const Operand& x);
/// The inverse sine; NaN outside [-1, 1].
Array asin(const Operand& x);
/// The inverse cosine; NaN outside [-1, 1].
Array acos(const Operand& x);
/// The inverse tangent.
Array atan(const Operand& x);
/// The angle of the point (x, y), in [-pi, pi].
Array atan2(const Operand& y, const Operand& x);
/// The hyperbolic sine.
Array sinh(const Operand& x);
/// The hyperbolic cosine.
Array cosh(const Operand& x);
/// The hyperbolic tangent.
Array tanh(const Operand& x);
/// The inverse hyperbolic sine.
Array asinh(const Operand& x);
/// The inverse hyperbolic cosine; NaN below 1.
Array acosh(const Operand& x);
/// The inverse hyperbolic tangent; NaN outside [-1, 1].
Array atanh(const Operand& x);

// ---- special functions
/// The error function.
Array erf(const Operand& x);
/// 1 - erf(x), accurate in the tail.
Array erfc(const Operand& x);
/// The inverse of erf.
Array erf_inv(const Operand& x);
/// log |Gamma(x)|.
Array lgamma(const Operand& x);
/// The derivative of lgamma.
Array digamma(const Operand& x);
/// The n-th derivative of digamma. Not differentiable in n (RuleError).
Array polygamma(const Operand& n, const Operand& x);
/// The Hurwitz zeta function. Not differentiable in s (RuleError).
Array zeta(const Operand& s, const Operand& q);
/// The regularized lower incomplete gamma function.
Array igamma(const Operand& a, const Operand& x);
/// The regularized upper incomplete gamma function.
Array igammac(const Operand& a, const Operand& x);
/// The regularized incomplete beta function I_x(a, b). Differentiable in x only (RuleError).
Array betainc(const Operand& a, const Operand& b, const Operand& x);
/// e^-|x| I0(x), the scaled modified Bessel function.
Array bessel_i0e(const Operand& x);
/// e^-|x| I1(x), the scaled modified Bessel function.
Array bessel_i1e(const Operand& x);

// ---- rounding and representation
/// The largest integer that is not larger; integers pass. The derivative is 0.
Array floor(const Operand& x);
/// The smallest integer that is not smaller; integers pass. The derivative is 0.
Array ceil(const Operand& x);
/// The nearest integer, halves away from zero; integers pass. The derivative is 0.
Array round(const Operand& x);
/// The nearest integer, halves to even; integers pass. The derivative is 0.
Array rint(const Operand& x);
/// The integer part; integers pass. The derivative is 0.
Array trunc(const Operand& x);
/// The neighbour of x in the direction of y. Not differentiable (RuleError).
Array nextafter(const Operand& x, const Operand& y);
/// |x| with the sign of y.
Array copysign(const Operand& x, const Operand& y);
/// Whether x is negative, -0 and negative NaN included; b1.
Array signbit(const Operand& x);
/// Whether x is neither infinite nor NaN; b1.
Array is_finite(const Operand& x);
/// Whether x is NaN; b1.
Array isnan(const Operand& x);
/// Whether x is inf or -inf; b1.
Array isinf(const Operand& x);
/// x with NaN replaced by 0 and infinities by the largest finite numbers; the derivative is 0 there.
Array nan_to_num(const Operand& x);
/// x in another dtype: floats to integers truncate and saturate (NaN gives 0), integers wrap, b1 is x != 0.
/// Differentiable between floats.
Array convert(const Operand& x, DType dtype);
/// The same as `convert`.
Array astype(const Operand& x, DType dtype);
/// The bits of each element read as another dtype of the same size (TypeError otherwise).
Array bitcast(const Operand& x, DType dtype);
/// x rounded to a float format with fewer bits; derivatives are rounded alike.
Array reduce_precision(const Operand& x, int exponent_bits, int mantissa_bits);

// ---- comparison, logic, choice; comparisons give b1
/// x == y; write all(x == y).item<bool>() for one answer.
Array operator==(const Operand& x, const Operand& y);
/// x != y.
Array operator!=(const Operand& x, const Operand& y);
/// x < y.
Array operator<(const Operand& x, const Operand& y);
/// x <= y.
Array operator<=(const Operand& x, const Operand& y);
/// x > y.
Array operator>(const Operand& x, const Operand& y);
/// x >= y.
Array operator>=(const Operand& x, const Operand& y);
/// Whether x is 0 (false).
Array logical_not(const Operand& x);
/// Whether both differ from 0.
Array logical_and(const Operand& x, const Operand& y);
/// Whether one or both differ from 0.
Array logical_or(const Operand& x, const Operand& y);
/// Whether exactly one differs from 0.
Array logical_xor(const Operand& x, const Operand& y);
/// x where `condition` holds (is not 0), else y. Differentiable in x and y. The derivative of the choice that is
/// not taken is multiplied by 0, so that an infinite one gives NaN: guard its argument too, as in
/// `where(x < 1, x, sqrt(where(x < 1, 1, x)))`.
Array where(const Operand& condition, const Operand& x, const Operand& y);
/// cases[which], element by element; `which` is b1 or an integer, a scalar one takes a whole case.
/// Differentiable in the cases.
Array select_n(const Operand& which, const std::vector<Array>& cases);

// ---- bits of b1 and integers
/// Bits set in both.
Array operator&(const Operand& x, const Operand& y);
/// Bits set in one or both.
Array operator|(const Operand& x, const Operand& y);
/// Bits that differ.
Array operator^(const Operand& x, const Operand& y);
/// All bits flipped; of b1 the negation.
Array operator~(const Operand& x);
/// The same as `~x`.
Array bit_not(const Operand& x);
/// The number of set bits of an integer.
Array population_count(const Operand& x);
/// The number of leading zero bits of an integer.
Array clz(const Operand& x);
/// x shifted left by n bits; 0 where n is at least the width.
Array shift_left(const Operand& x, const Operand& n);
/// x shifted right by n bits, filled with the sign.
Array shift_right_arithmetic(const Operand& x, const Operand& n);
/// x shifted right by n bits, filled with zeros.
Array shift_right_logical(const Operand& x, const Operand& n);

// ---- activations and other derived functions
/// max(x, 0); the derivative at 0 is 0.
Array relu(const Operand& x);
/// x where x >= 0, else slope x.
Array leaky_relu(const Operand& x, double slope = 0.01);
/// x where x > 0, else alpha (e^x - 1).
Array elu(const Operand& x, double alpha = 1);
/// x logistic(x).
Array silu(const Operand& x);
/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
Array gelu_tanh(const Operand& x);
/// x Phi(x), with the normal distribution function Phi.
Array gelu_erf(const Operand& x);
/// log(1 + e^x) without overflow.
Array softplus(const Operand& x);
/// log(logistic(x)) without underflow.
Array log_sigmoid(const Operand& x);
/// sin(pi x) / (pi x), and 1 at 0; exactly 0 at the other integers. All derivatives are accurate beside 0.
Array sinc(const Operand& x);
/// x, taken as a constant by every derivative.
Array stop_gradient(const Operand& x);

}  // namespace anadrome
