#include "special.h"

#include <math.h>  // lgamma_r, which is not in <cmath>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/log1p.hpp>
#include <cmath>
#include <limits>

namespace anadrome::math {
namespace {

namespace bm = boost::math;

// Nothing throws, and nothing is promoted unless we say so.
using Policy = bm::policies::policy<bm::policies::domain_error<bm::policies::ignore_error>,
                                    bm::policies::pole_error<bm::policies::ignore_error>,
                                    bm::policies::overflow_error<bm::policies::ignore_error>,
                                    bm::policies::underflow_error<bm::policies::ignore_error>,
                                    bm::policies::denorm_error<bm::policies::ignore_error>,
                                    bm::policies::rounding_error<bm::policies::ignore_error>,
                                    bm::policies::evaluation_error<bm::policies::ignore_error>,
                                    bm::policies::indeterminate_result_error<bm::policies::ignore_error>,
                                    bm::policies::promote_float<false>, bm::policies::promote_double<false>>;
constexpr Policy policy{};

// Boost's incomplete gamma and beta functions lose 10 to 400 ulp in their prefactors when they run in double.
// The double overloads therefore evaluate them in long double; the float overloads have no need to.
using Wide = long double;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = 3.14159265358979323846;
constexpr Wide wide_pi = 3.14159265358979323846264338327950288L;

/// Whether x is an integer (true beyond 2^52, false for infinities and NaN).
bool is_integer(double x) {
  return std::isfinite(x) && std::floor(x) == x;
}

/// exp(v) - 1 - v without cancellation.
double exp_minus_one_minus(double v) {
  if (std::fabs(v) > 0.5) return std::expm1(v) - v;
  double term = v * v / 2, sum = term;
  for (int k = 3; k < 20 && std::fabs(term) > 1e-17 * sum; ++k) sum += term *= v / k;
  return sum;
}

/// log(x) - digamma(a), also accurate where the two nearly cancel (x near a, a large).
double log_minus_digamma(double x, double a) {
  if (a < 50) return std::log(x) - digamma(a);
  const double r = 1 / (a * a);
  const double tail = (0.5 + (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r / 240))) / a) / a;
  const double ratio = x < a / 2 || x > 2 * a ? std::log(x / a) : std::log1p((x - a) / a);
  return ratio + tail;
}

/// d P(a, x) / d a from the power series, for x up to about a, where no two terms cancel, and a <= 100.
double igamma_grad_series(double a, double x) {
  double term = 1, sum = 1, harmonic = 0, weighted = 0;
  for (int n = 1; n < 2000 && term > 1e-17 * sum; ++n) {
    term *= x / (a + n);
    harmonic += 1 / (a + n);
    sum += term;
    weighted += term * harmonic;
  }
  const Wide factor = std::pow(Wide{x}, Wide{a}) * std::exp(-Wide{x}) / std::tgamma(Wide{a} + 1);
  return static_cast<double>(factor * (sum * (std::log(x) - digamma(a + 1)) - weighted));
}

/// What Stirling's formula leaves out of log Gamma(a), for a >= 100: below 1e-17 off.
Wide stirling_rest(Wide a) {
  const Wide r = 1 / (a * a);
  return (Wide{1} / 12 - r * (Wide{1} / 360 - r / 1260)) / a;
}

/// x^a e^-x / Gamma(a).
double gamma_front(double a, double x) {
  if (a < 100) return static_cast<double>(bm::gamma_p_derivative(Wide{a}, Wide{x}, policy) * x);
  // Boost gives infinities here when a is huge.
  const Wide exponent = a * bm::log1pmx((Wide{x} - a) / a, policy) - stirling_rest(a);
  return static_cast<double>(std::sqrt(Wide{a} / (2 * wide_pi)) * std::exp(exponent));
}

/// The integral of weight(u) exp(phi(u)) over u from 0 to infinity, for smooth phi that falls from phi(0) = 0
/// (or nearly so) and is concave. `scale` is a length on which phi has not fallen much.
template <class Phi, class Weight>
double decaying_integral(const Phi& phi, const Weight& weight, double scale) {
  double high = scale, low = 0;
  while (phi(high) > -45) low = high, high *= 2;
  for (int i = 0; i < 6; ++i) {
    const double middle = (low + high) / 2;
    (phi(middle) > -45 ? low : high) = middle;
  }
  const auto integrand = [&](double u) { return weight(u) * std::exp(phi(u)); };
  using Rule = bm::quadrature::gauss<double, 30>;
  constexpr int panels = 4;
  double sum = 0;
  for (int i = 0; i < panels; ++i) {
    sum += Rule::integrate(integrand, high * i / panels, high * (i + 1) / panels);
  }
  return sum;
}

/// x^a e^-x / Gamma(a) times the integral of (constant + slope v) exp(phi(v)) over v from -inf to 0 (below)
/// or from 0 to inf, where phi(v) = (a - x) v - x (e^v - 1 - v). With t = x e^v this is the incomplete gamma
/// integral over t < x or t > x, weighted with constant + slope log(t / x). Made for the side where phi falls
/// from the start.
double gamma_quadrature(double a, double x, bool below, double constant, double slope) {
  const double front = gamma_front(a, x);
  if (!(front > 0)) return 0;
  const double sign = below ? -1 : 1;
  const auto phi = [&](double u) { return (a - x) * sign * u - x * exp_minus_one_minus(sign * u); };
  const auto weight = [&](double u) { return constant + slope * sign * u; };
  return front * decaying_integral(phi, weight, 1 / (1 + std::max(a, x)));
}

/// I_x(a, b) for large a and b, x + y = 1, x at most the mean a / (a + b): with t / (1 - t) = x / y e^v the
/// integrand becomes x^a y^b / B(a, b) exp(phi(v)), phi(v) = a v - (a + b) log(1 + x (e^v - 1)), over v from
/// -inf to 0.
double beta_quadrature(double a, double b, Wide x, Wide y) {
  const double sum = a + b, p = static_cast<double>(x);
  const Wide excess = a * y - b * x;
  // x^a y^b / B(a, b) by Stirling's formula.
  const Wide exponent = a * bm::log1pmx(-excess / a, policy) + b * bm::log1pmx(excess / b, policy) +
                        stirling_rest(Wide{a} + b) - stirling_rest(a) - stirling_rest(b);
  const Wide scale = std::sqrt(Wide{a} / (2 * wide_pi) * (b / (Wide{a} + b)));
  const double front = static_cast<double>(scale * std::exp(exponent)), slope = static_cast<double>(excess);
  if (!(front > 0)) return 0;
  const auto phi = [&](double u) {
    return -slope * u - sum * (bm::log1pmx(p * std::expm1(-u), policy) + p * exp_minus_one_minus(-u));
  };
  return front * decaying_integral(
                     phi, [](double) { return 1; }, 1 / sum);
}

/// d P(a, x) / d a = -d Q / d a by quadrature: the integrand of P or Q times log t - digamma(a). Of the two
/// sides the caller takes the one where that factor keeps its sign, so that nothing cancels.
double igamma_grad_quadrature(double a, double x, bool below) {
  return -std::fabs(gamma_quadrature(a, x, below, log_minus_digamma(x, a), 1));
}

/// Whether P(a, x) is far from both tails at large arguments. Boost 1.74 sums a series there that needs some
/// 10 sqrt(a) terms and that gives up, with a wrong result, beyond 10^6 of them.
bool in_transition(double a, double x) {
  return x > 1000 && a > x / 2 && a < 2 * x;
}

/// igamma, evaluated in T where its own methods work.
template <class T> double lower_gamma(double a, double x) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == infinity && x == infinity)) return nan;
  if (x == 0 || a == infinity) return 0;
  if (a == 0 || x == infinity) return 1;
  if (in_transition(a, x)) {
    return x < a ? gamma_quadrature(a, x, true, 1, 0) : 1 - gamma_quadrature(a, x, false, 1, 0);
  }
  return static_cast<double>(bm::gamma_p(static_cast<T>(a), static_cast<T>(x), policy));
}

/// igammac, evaluated in T where its own methods work.
template <class T> double upper_gamma(double a, double x) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == infinity && x == infinity)) return nan;
  if (x == 0 || a == infinity) return 1;
  if (a == 0 || x == infinity) return 0;
  if (in_transition(a, x)) {
    return x < a ? 1 - gamma_quadrature(a, x, true, 1, 0) : gamma_quadrature(a, x, false, 1, 0);
  }
  return static_cast<double>(bm::gamma_q(static_cast<T>(a), static_cast<T>(x), policy));
}

/// betainc, evaluated in T where Boost's methods work: its continued fraction takes up to some sqrt(a) steps.
template <class T> double lower_beta(double a, double b, double x) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || (a == infinity && b == infinity)) return nan;
  if (x == 0 || x == 1) return x;
  if (a == infinity) return 0;
  if (b == infinity) return 1;
  if (std::min(a, b) > 1e4) {
    // The result is 0, 1/2 or 1 there, for the halves too.
    if (std::isinf(a + b)) return lower_beta<T>(a / 2, b / 2, x);
    const Wide below = x, above = 1 - below;
    return a * above > b * below ? beta_quadrature(a, b, below, above)
                                 : 1 - beta_quadrature(b, a, above, below);
  }
  return static_cast<double>(bm::ibeta(static_cast<T>(a), static_cast<T>(b), static_cast<T>(x), policy));
}

/// The sum of (q + k)^-s over k >= 0, or that sum times q^s (scaled), by Euler-Maclaurin summation, for q >
/// 0, s > 1.
double hurwitz_sum(double s, double q, bool scaled) {
  // B_2j / (2j)!; with ten terms summed first the series converges for every s that still matters.
  constexpr double coefficients[] = {
      8.33333333333333333e-2,  -1.38888888888888889e-3,  3.30687830687830688e-5,  -8.26719576719576720e-7,
      2.08767569878680990e-8,  -5.28419013868749318e-10, 1.33825365306846788e-11, -3.38968029632258287e-13,
      8.58606205627784456e-15, -2.17486869855806187e-16, 5.50900282836022952e-18, -1.39544646858125233e-19};
  const auto power = [&](int k, double exponent) {
    return scaled ? std::exp(exponent * std::log1p(k / q)) : std::pow(q + k, exponent);
  };
  constexpr int head = 10;
  double terms[head];
  for (int k = 0; k < head; ++k) {
    terms[k] = power(k, -s);
    if (std::isinf(terms[k])) return terms[k];
    // Bounds everything from this term on.
    if (k > 0 && terms[k] * (1 + (q + k) / (s - 1)) < 1e-18 * terms[0]) {
      double sum = 0;
      while (k > 0) sum += terms[--k];
      return sum;
    }
  }
  const double w = q + head, last = power(head, -s);
  double sum = 0, factor = last * (s / w);
  for (int j = 0; j < 12 && factor != 0; ++j) {
    const double term = coefficients[j] * factor;
    sum += term;
    if (std::fabs(term) < 1e-18 * last) break;
    factor *= (s + 2 * j + 1) / w * ((s + 2 * j + 2) / w);
  }
  // The integral of the terms behind the head; its power is taken apart as it may outlive the terms
  // themselves.
  sum += last / 2 + power(head, 1 - s) * ((scaled ? q : 1) / (s - 1));
  for (int k = head; k > 0;) sum += terms[--k];
  return sum;
}

/// zeta(s, q) for an integer s > 1 and q < 0 that is none. Far from 0 the terms below it form the difference
/// of two zeta functions with positive arguments, so that a large |q| costs no time.
double zeta_negative(double s, double q) {
  if (q > -32) {
    double sum = 0;
    for (; q < 0; ++q) sum += std::pow(q, -s);
    return sum + hurwitz_sum(s, q, false);
  }
  const double fraction = q - std::floor(q);
  const double mirrored = hurwitz_sum(s, 1 - fraction, false) - hurwitz_sum(s, 1 - q, false);
  return hurwitz_sum(s, fraction, false) + (std::fmod(s, 2) == 0 ? mirrored : -mirrored);
}

/// exp(-x) I_order(x) for large x, by the asymptotic series; at x >= 40 its smallest term is below 1e-30.
double bessel_asymptotic(double x, int order) {
  constexpr double inverse_sqrt_two_pi = 0.39894228040143267794;
  double term = 1, tail = 0;  // apart from the leading 1, so that its rounding does not pile up
  const double mu = 4.0 * order * order;
  for (int k = 1; k < 40 && std::fabs(term) > 1e-18; ++k) {
    term *= -(mu - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k * x);
    tail += term;
  }
  return (1 + tail) * (inverse_sqrt_two_pi / std::sqrt(x));
}

}  // namespace

double lgamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double digamma(double x) {
  if (x == 0) return -infinity;
  if (x > 0) return x < 1e300 ? bm::digamma(x, policy) : std::log(x);
  if (!std::isfinite(x) || std::floor(x) == x) return nan;
  if (x > -0.5) return digamma(1 + x) - 1 / x;
  // The reflection formula, with the argument of the tangent reduced exactly.
  const double fraction = x - std::round(x);
  const double cotangent = std::fabs(fraction) > 0.25
                               ? std::tan(pi * (std::copysign(0.5, fraction) - fraction))
                               : 1 / std::tan(pi * fraction);
  return digamma(1 - x) - pi * cotangent;
}

double erf_inv(double x) {
  constexpr double half_sqrt_pi = 0.88622692545275801365;
  if (!(std::fabs(x) <= 1)) return nan;
  if (std::fabs(x) == 1) return x * infinity;
  if (std::fabs(x) < 1e-8) return x * half_sqrt_pi;
  return bm::erf_inv(x, policy);
}

double erfc(double x) {
  return std::erfc(x);
}

double igamma(double a, double x) {
  return lower_gamma<Wide>(a, x);
}

double igammac(double a, double x) {
  return upper_gamma<Wide>(a, x);
}

double igamma_grad_a(double a, double x) {
  if (!(a > 0 && x >= 0)) return nan;
  if (x == 0 || x == infinity || a == infinity) return 0;
  const bool below = x < a + 0.4 || std::log(x) <= digamma(a + 1);
  if (!below) return igamma_grad_quadrature(a, x, false);
  if (a <= 100) return igamma_grad_series(a, x);
  return igamma_grad_quadrature(a, x, log_minus_digamma(x, a) < 0);
}

double betainc(double a, double b, double x) {
  return lower_beta<Wide>(a, b, x);
}

double zeta(double s, double q) {
  if (!(s >= 1) || std::isnan(q)) return nan;
  if (s == 1) return infinity;
  if (q == infinity) return 0;
  if (q <= 0) {
    if (std::floor(q) == q) return infinity;
    return is_integer(s) ? zeta_negative(s, q) : nan;
  }
  if (s == infinity) return q > 1 ? 0 : q == 1 ? 1 : infinity;
  return hurwitz_sum(s, q, false);
}

double polygamma(double n, double x) {
  if (!(n >= 0) || !is_integer(n) || std::isnan(x)) return nan;
  if (n == 0) return digamma(x);
  const double sign = std::fmod(n, 2) == 0 ? -1 : 1, s = n + 1;
  if (x == infinity) return nan;
  const double factorial = std::tgamma(s), sum = zeta(s, x);
  if (!(x > 0)) return sum == 0 ? sign * 0.0 : sign * factorial * sum;
  if (factorial < 1e300 && sum > 1e-290 && sum < 1e290) return sign * factorial * sum;
  // One of the factors over- or underflows though the product may not: scale by x^s and use the range of
  // Wide, or else logarithms. For a huge s only the sign of the exponent matters, and its parts overflow.
  const double scaled = hurwitz_sum(s, x, true);
  const Wide product = std::tgamma(Wide{s}) * std::pow(Wide{x}, -Wide{s}) * scaled;
  if (std::isnormal(product)) return sign * static_cast<double>(product);
  const double power = s < 1e15 ? lgamma(s) - s * std::log(x) : s * (std::log(s) - 1 - std::log(x));
  return sign * std::exp(power + std::log(scaled));
}

double bessel_i0e(double x) {
  const double r = std::fabs(x);
  return r < 40 ? bm::cyl_bessel_i(0, r, policy) * std::exp(-r) : bessel_asymptotic(r, 0);
}

double bessel_i1e(double x) {
  const double r = std::fabs(x);
  if (r < 1e-8) return x / 2 * (1 - r);
  return std::copysign(r < 40 ? bm::cyl_bessel_i(1, r, policy) * std::exp(-r) : bessel_asymptotic(r, 1), x);
}

float lgamma(float x) {
  return static_cast<float>(lgamma(static_cast<double>(x)));
}
float digamma(float x) {
  return static_cast<float>(digamma(static_cast<double>(x)));
}
float erf_inv(float x) {
  return static_cast<float>(erf_inv(static_cast<double>(x)));
}
float erfc(float x) {
  return static_cast<float>(erfc(static_cast<double>(x)));
}
float igamma(float a, float x) {
  return static_cast<float>(lower_gamma<double>(a, x));
}
float igammac(float a, float x) {
  return static_cast<float>(upper_gamma<double>(a, x));
}
float igamma_grad_a(float a, float x) {
  return static_cast<float>(igamma_grad_a(double{a}, double{x}));
}
float betainc(float a, float b, float x) {
  return static_cast<float>(lower_beta<double>(a, b, x));
}
float zeta(float s, float q) {
  return static_cast<float>(zeta(double{s}, double{q}));
}
float polygamma(float n, float x) {
  return static_cast<float>(polygamma(double{n}, double{x}));
}
float bessel_i0e(float x) {
  return static_cast<float>(bessel_i0e(static_cast<double>(x)));
}
float bessel_i1e(float x) {
  return static_cast<float>(bessel_i1e(static_cast<double>(x)));
}

}  // namespace anadrome::math
