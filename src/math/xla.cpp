// Float64 functions by the formulas that XLA uses.
#include "xla.h"

#include <algorithm>
#include <limits>
#include <numbers>
#include <span>

namespace anadrome::math::xla {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double pi = std::numbers::pi, log_two = std::numbers::ln2;
/// Up to here series and continued fractions of the incomplete functions converge in some hundred steps.
constexpr double moderate = 1000;

/// The polynomial with these coefficients, that of the highest power first.
double polynomial(std::span<const double> coefficients, double x) {
  double value = coefficients[0];
  for (double c : coefficients.subspan(1)) value = c + value * x;
  return value;
}

// ---- Lanczos' approximation of the gamma function with g = 7 and nine terms

constexpr double lanczos_constant = 0.99999999999980993227684700473478;
constexpr double lanczos_terms[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                                    771.3234287776530788486528258894,   -176.61502916214059906584551354,
                                    12.507343278686904814458936853,     -0.13857109526572011689554707,
                                    9.984369578019570859563e-6,         1.50563273514931155834e-7};
constexpr double lanczos_shift = 7.5;

/// The sum for Gamma(z + 1), its derivative, and t = z + 7.5 with its logarithm.
struct Lanczos {
  double sum = lanczos_constant, slope = 0, t, log_t;

  explicit Lanczos(double z)
      : t(lanczos_shift + z), log_t(std::log(lanczos_shift) + std::log1p(z / lanczos_shift)) {
    double place = 0;
    for (double term : lanczos_terms) {
      const double pole = z + ++place;
      sum += term / pole;
      slope -= term / (pole * pole);
    }
  }
};

// ---- incomplete gamma functions

/// A sum or a continued fraction and its derivative in a.
struct Differentiated {
  double value, slope;
};

/// The sum of x^n / ((a + 1) ... (a + n)), until neither it nor, if asked for, its derivative changes.
Differentiated gamma_series(double a, double x, bool with_slope) {
  double r = a, term = 1, term_slope = 0;
  Differentiated sum{1, 0};
  do {
    r += 1;
    term_slope = term_slope * (x / r) - term * x / (r * r);
    term *= x / r;
    sum.slope += term_slope;
    sum.value += term;
  } while ((with_slope ? std::fabs(term_slope / sum.slope) : term / sum.value) > epsilon);
  return sum;
}

/// One convergent p / q of the continued fraction of Q(a, x), with the derivatives in a.
struct Convergent {
  double p, q, p_slope, q_slope;

  /// The next one, from this and the one before. Products are fused as in XLA's compiled code: where x is
  /// little more than a, convergence is slow and the roundings show.
  Convergent next(const Convergent& before, double y, double z, double c) const {
    const auto step = [&](double v, double last) { return std::fma(v, z, -(last * (y * c))); };
    const auto slope_step = [&](double slope, double v, double last_slope, double last) {
      return std::fma(last, c, std::fma(-last_slope, y * c, std::fma(slope, z, -v)));
    };
    return {step(p, before.p), step(q, before.q), slope_step(p_slope, p, before.p_slope, before.p),
            slope_step(q_slope, q, before.q_slope, before.q)};
  }
  double value() const { return p / q; }
  /// The derivative of value() in a.
  double slope() const { return std::fma(-value(), q_slope, p_slope) / q; }
  void shrink() { p *= epsilon, q *= epsilon, p_slope *= epsilon, q_slope *= epsilon; }
};

/// The continued fraction of Q(a, x) without its factor x^a e^-x / Gamma(a).
Differentiated gamma_fraction(double a, double x, bool with_slope) {
  double y = 1 - a, z = x + y + 1;
  Convergent before{1, x, 0, 0}, last{x + 1, z * x, 0, -x};
  Differentiated fraction{last.value(), last.slope()};
  double change = 1;
  for (double c = 1; c < 2000 && change > epsilon; ++c) {
    y += 1, z += 2;
    const Convergent now = last.next(before, y, z, c);
    if (now.q != 0) {
      const Differentiated next{now.value(), now.slope()};
      change = with_slope ? std::fabs(next.slope - fraction.slope)
                          : std::fabs((fraction.value - next.value) / next.value);
      fraction = next;
    } else {
      change = 1;
    }
    before = last, last = now;
    if (std::fabs(now.p) > 1 / epsilon) before.shrink(), last.shrink();
  }
  return fraction;
}

/// x^a e^-x / Gamma(a).
double gamma_factor(double a, double x) {
  return std::exp(std::fma(a, std::log(x), -x) - xla::lgamma(a));
}

bool is_moderate(double a, double x) {
  return a > 0 && a <= moderate && x > 0 && x <= moderate;
}

// ---- incomplete beta function

/// Numerator k of the continued fraction of the incomplete beta function.
double beta_numerator(int k, double a, double b, double x) {
  if (k == 1) return 1;
  const double m = (k - 1) / 2;
  if (k % 2 == 0) return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
  return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
}

/// The continued fraction after Lentz, with all denominators 1.
double beta_fraction(double a, double b, double x) {
  constexpr double small = epsilon / 2;
  const auto nonzero = [](double v) { return std::fabs(v) < small ? small : v; };
  double h = small, c = h, d = 0, change = 0;
  for (int k = 1; k < 600 && std::fabs(change - 1) >= small; ++k) {
    const double numerator = beta_numerator(k, a, b, x);
    c = nonzero(1 + numerator / c);
    d = 1 / nonzero(1 + numerator * d);
    change = c * d;
    h *= change;
  }
  return h;
}

// ---- Giles' polynomials for the inverse error function, in w = -log(1 - x^2)

constexpr double erf_inv_central[] = {
    -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,
    1.115787767802518096e-17,   -1.333171662854620906e-16,  2.0972767875968561637e-17,
    6.6376381343583238325e-15,  -4.0545662729752068639e-14, -8.1519341976054721522e-14,
    2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
    1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08,
    4.2347877827932403518e-07,  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
    0.0001867342080340571352,   -0.00074070253416626697512, -0.0060336708714301490533,
    0.24015818242558961693,     1.6536545626831027356};
constexpr double erf_inv_middle[] = {
    2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
    1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
    2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
    6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
    0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
    -0.0037512085075692412107, 0.005370914553590063617,   1.0052589676941592334,
    3.0838856104922207635};
constexpr double erf_inv_outer[] = {
    -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
    -3.7894654401267369937e-09, 7.6157012080783393804e-09,  -1.4960026627149240478e-08,
    2.9147953450901080826e-08,  -6.7711997758452339498e-08, 2.2900482228026654717e-07,
    -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
    7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026,
    1.0103004648645343977,      4.8499064014085844221};

}  // namespace

double exp2(double x) {
  return std::exp(x * log_two);
}

double sinh(double x) {
  if (std::fabs(x) < 1) {
    const double growth = std::expm1(x);
    return (growth + growth / (growth + 1)) / 2;
  }
  return std::exp(x - log_two) - std::exp(-log_two - x);
}

double cosh(double x) {
  return std::exp(x - log_two) + std::exp(-log_two - x);
}

double lgamma(double x) {
  if (std::isinf(x)) return infinity;
  const bool reflect = x < 0.5;
  const double z = reflect ? -x : x - 1;
  const Lanczos lanczos(z);
  // (z + 1/2) log t - t, taken together so that it does not overflow before the result does.
  const double power = z + 0.5 - lanczos.t / lanczos.log_t;
  const double log_root_two_pi = (log_two + std::log(pi)) / 2;
  const double value = std::fma(power, lanczos.log_t, log_root_two_pi) + std::log(lanczos.sum);
  if (!reflect) return value;
  const double magnitude = std::fabs(x), fraction = magnitude - std::floor(magnitude);
  const double log_sine = std::log(std::sin(pi * (fraction > 0.5 ? 1 - fraction : fraction)));
  return std::isfinite(log_sine) ? std::log(pi) - log_sine - value : -log_sine;
}

double digamma(double x) {
  if (x == 0) return -infinity;
  if (std::isinf(x)) return x > 0 ? x : nan;
  if (x < 0 && std::floor(x) == x) return nan;
  const bool reflect = x < 0.5;
  const Lanczos lanczos(reflect ? -x : x - 1);
  const double value = lanczos.log_t + lanczos.slope / lanczos.sum - 7 / lanczos.t;
  if (!reflect) return value;
  const double angle = pi * (x + std::fabs(std::floor(x + 0.5)));
  return value - pi * std::cos(angle) / std::sin(angle);
}

double erf_inv(double x) {
  if (std::fabs(x) == 1) return x * infinity;
  const double w = -std::log1p(-x * x);
  if (w < 6.25) return polynomial(erf_inv_central, w - 3.125) * x;
  if (w < 16) return polynomial(erf_inv_middle, std::sqrt(w) - 3.25) * x;
  return polynomial(erf_inv_outer, std::sqrt(w) - 5) * x;
}

double igamma(double a, double x) {
  if (!is_moderate(a, x)) return math::igamma(a, x);
  if (x > 1 && x > a) return 1 - gamma_fraction(a, x, false).value * gamma_factor(a, x);
  return gamma_series(a, x, false).value * gamma_factor(a, x) / a;
}

double igammac(double a, double x) {
  if (!is_moderate(a, x)) return math::igammac(a, x);
  if (x < 1 || x < a) return 1 - gamma_series(a, x, false).value * gamma_factor(a, x) / a;
  return gamma_fraction(a, x, false).value * gamma_factor(a, x);
}

double igamma_grad_a(double a, double x) {
  if (!is_moderate(a, x)) return math::igamma_grad_a(a, x);
  // The factor's logarithm is differentiated with the sum or fraction.
  if (x > 1 && x > a) {
    const Differentiated fraction = gamma_fraction(a, x, true);
    const double log_slope = std::log(x) - xla::digamma(a);
    return -std::fma(fraction.value, log_slope, fraction.slope) * gamma_factor(a, x);
  }
  const Differentiated sum = gamma_series(a, x, true);
  return (sum.slope + sum.value * (std::log(x) - xla::digamma(a + 1))) * gamma_factor(a, x) / a;
}

double betainc(double a, double b, double x) {
  if (!(a > 0 && b > 0 && x > 0 && x < 1) || std::max(a, b) > moderate) return math::betainc(a, b, x);
  // The fraction converges fast on one side of the mean; the other one is its mirror image.
  const bool mirrored = !(x < (a + 1) / (a + b + 2));
  if (mirrored) std::swap(a, b), x = 1 - x;
  const double log_beta = xla::lgamma(a) + xla::lgamma(b) - xla::lgamma(a + b);
  const double factor = std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta) / a;
  const double value = beta_fraction(a, b, x) * factor;
  return mirrored ? 1 - value : value;
}

}  // namespace anadrome::math::xla
