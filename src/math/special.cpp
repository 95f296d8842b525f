#include "special.h"

#include <math.h>  // lgamma_r, which is not in <cmath>

#include <algorithm>
#include <cmath>
#include <limits>

#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>

namespace anadrome::math {
namespace {

namespace bm = boost::math;

// Nothing throws. Promotion stays off: long double goes through the slow x87 unit for little gain.
using Policy = bm::policies::policy<
    bm::policies::domain_error<bm::policies::ignore_error>, bm::policies::pole_error<bm::policies::ignore_error>,
    bm::policies::overflow_error<bm::policies::ignore_error>,
    bm::policies::underflow_error<bm::policies::ignore_error>,
    bm::policies::denorm_error<bm::policies::ignore_error>,
    bm::policies::rounding_error<bm::policies::ignore_error>,
    bm::policies::evaluation_error<bm::policies::ignore_error>,
    bm::policies::indeterminate_result_error<bm::policies::ignore_error>,
    bm::policies::promote_float<false>, bm::policies::promote_double<false>>;
constexpr Policy policy{};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = 3.14159265358979323846;

/// Whether x is an integer (true beyond 2^52, false for infinities and NaN).
bool is_integer(double x) { return std::isfinite(x) && std::floor(x) == x; }

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
    const double factor = std::pow(x, a) * std::exp(-x) / std::tgamma(a + 1);
    return factor * (sum * (std::log(x) - digamma(a + 1)) - weighted);
}

/// d P(a, x) / d a by quadrature of (log t - digamma(a)) t^(a-1) e^-t / Gamma(a) over t from 0 to x (below) or from
/// x to infinity: the side where the first factor keeps its sign. With t = x e^v the integrand is
/// x^a e^-x / Gamma(a) (log x - digamma(a) + v) exp(phi(v)), phi(v) = (a - x) v - x (e^v - 1 - v).
double igamma_grad_quadrature(double a, double x, bool below) {
    const double front = bm::gamma_p_derivative(a, x, policy) * x;
    // Past this |digamma(a)| cannot make up for it, and x * v would overflow.
    if (!(front > 0)) return 0;
    const double sign = below ? -1 : 1, delta = log_minus_digamma(x, a);
    const auto phi = [&](double v) { return (a - x) * v - x * exp_minus_one_minus(v); };
    double high = 1 / (1 + std::max(a, x)), low = 0;
    while (phi(sign * high) > -45) low = high, high *= 2;
    for (int i = 0; i < 6; ++i) {
        const double middle = (low + high) / 2;
        (phi(sign * middle) > -45 ? low : high) = middle;
    }
    const auto integrand = [&](double u) { return (delta + sign * u) * std::exp(phi(sign * u)); };
    using Rule = bm::quadrature::gauss<double, 30>;
    constexpr int panels = 4;
    double sum = 0;
    for (int i = 0; i < panels; ++i) {
        sum += Rule::integrate(integrand, high * i / panels, high * (i + 1) / panels);
    }
    return -std::fabs(front * sum);
}

/// The sum of ((q + k) / base)^-s over k >= 0 by Euler-Maclaurin summation, for q > 0 and s > 1.
double hurwitz_sum(double s, double q, double base) {
    // B_2j / (2j)!; with ten terms summed first the series converges for every s that still matters.
    constexpr double coefficients[] = {
        8.33333333333333333e-2,  -1.38888888888888889e-3,  3.30687830687830688e-5,  -8.26719576719576720e-7,
        2.08767569878680990e-8,  -5.28419013868749318e-10, 1.33825365306846788e-11, -3.38968029632258287e-13,
        8.58606205627784456e-15, -2.17486869855806187e-16, 5.50900282836022952e-18, -1.39544646858125233e-19};
    constexpr int head = 10;
    double terms[head], w = q;
    int count = 0;
    for (; count < head; ++count, w = q + count) {
        terms[count] = std::pow(w / base, -s);
        if (terms[count] < 1e-18 * terms[0] / (1 + w) || std::isinf(terms[0])) break;
    }
    double sum = 0;
    if (count == head) {
        const double last = std::pow(w / base, -s);
        double factor = last * s / w;
        for (int j = 0; j < 12; ++j) {
            const double term = coefficients[j] * factor;
            sum += term;
            if (std::fabs(term) < 1e-18 * last) break;
            factor *= (s + 2 * j + 1) / w * ((s + 2 * j + 2) / w);
        }
        sum += last / 2;
        sum += last * (w / (s - 1));
    } else {
        sum = terms[count];  // Everything behind it is negligible.
    }
    while (count > 0) sum += terms[--count];
    return sum;
}

/// zeta(s, q) for an integer s > 1 and q < 0 that is none: the terms below zero form the difference of two zeta
/// functions with positive arguments, so that a large |q| costs no time.
double zeta_negative(double s, double q) {
    const double fraction = q - std::floor(q);
    const double mirrored = hurwitz_sum(s, 1 - fraction, 1) - hurwitz_sum(s, 1 - q, 1);
    return hurwitz_sum(s, fraction, 1) + (std::fmod(s, 2) == 0 ? mirrored : -mirrored);
}

/// exp(-x) I_order(x) for large x, by the asymptotic series; at x >= 40 its smallest term is below 1e-30.
double bessel_asymptotic(double x, int order) {
    double term = 1, sum = 1;
    const double mu = 4.0 * order * order;
    for (int k = 1; k < 40 && std::fabs(term) > 1e-18; ++k) {
        term *= -(mu - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k * x);
        sum += term;
    }
    return sum / (std::sqrt(2 * pi) * std::sqrt(x));
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
    const double cotangent =
        std::fabs(fraction) > 0.25 ? std::tan(pi * (std::copysign(0.5, fraction) - fraction)) : 1 / std::tan(pi * fraction);
    return digamma(1 - x) - pi * cotangent;
}

double erf_inv(double x) {
    constexpr double half_sqrt_pi = 0.88622692545275801365;
    if (!(std::fabs(x) <= 1)) return nan;
    if (std::fabs(x) == 1) return x * infinity;
    if (std::fabs(x) < 1e-8) return x * half_sqrt_pi;
    return bm::erf_inv(x, policy);
}

double erfc(double x) { return std::erfc(x); }

double igamma(double a, double x) {
    if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == infinity && x == infinity)) return nan;
    if (x == 0 || a == infinity) return 0;
    if (a == 0 || x == infinity) return 1;
    return bm::gamma_p(a, x, policy);
}

double igammac(double a, double x) {
    if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == infinity && x == infinity)) return nan;
    if (x == 0 || a == infinity) return 1;
    if (a == 0 || x == infinity) return 0;
    return bm::gamma_q(a, x, policy);
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
    if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || (a == infinity && b == infinity)) return nan;
    if (x == 0 || x == 1) return x;
    if (a == infinity) return 0;
    if (b == infinity) return 1;
    return bm::ibeta(a, b, x, policy);
}

double zeta(double s, double q) {
    if (!(s >= 1) || std::isnan(q)) return nan;
    if (s == 1) return infinity;
    if (q == infinity) return 0;
    if (q <= 0) {
        if (is_integer(q)) return infinity;
        return is_integer(s) && q != -infinity ? zeta_negative(s, q) : nan;
    }
    return hurwitz_sum(s, q, 1);
}

double polygamma(double n, double x) {
    if (!(n >= 0) || !is_integer(n) || std::isnan(x)) return nan;
    if (n == 0) return digamma(x);
    const double sign = std::fmod(n, 2) == 0 ? -1 : 1, s = n + 1;
    const double sum = zeta(s, x);
    if (!(x > 0) || x == infinity) return sign * std::tgamma(s) * sum;
    const double factorial = std::tgamma(s);
    if (factorial < 1e300 && sum > 1e-290 && sum < 1e290) return sign * factorial * sum;
    // One of the factors over- or underflows though the product may not: scale by x^s and combine the logarithms.
    const double scaled = hurwitz_sum(s, x, x);
    return sign * std::exp(lgamma(s) - s * std::log(x) + std::log(scaled));
}

double bessel_i0e(double x) {
    const double r = std::fabs(x);
    return r < 40 ? bm::cyl_bessel_i(0, r, policy) * std::exp(-r) : bessel_asymptotic(r, 0);
}

double bessel_i1e(double x) {
    const double r = std::fabs(x);
    if (r < 1e-8) return x / 2;
    return std::copysign(r < 40 ? bm::cyl_bessel_i(1, r, policy) * std::exp(-r) : bessel_asymptotic(r, 1), x);
}

float lgamma(float x) { return static_cast<float>(lgamma(static_cast<double>(x))); }
float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }
float erf_inv(float x) { return static_cast<float>(erf_inv(static_cast<double>(x))); }
float erfc(float x) { return static_cast<float>(erfc(static_cast<double>(x))); }
float igamma(float a, float x) { return static_cast<float>(igamma(double{a}, double{x})); }
float igammac(float a, float x) { return static_cast<float>(igammac(double{a}, double{x})); }
float igamma_grad_a(float a, float x) { return static_cast<float>(igamma_grad_a(double{a}, double{x})); }
float betainc(float a, float b, float x) { return static_cast<float>(betainc(double{a}, double{b}, double{x})); }
float zeta(float s, float q) { return static_cast<float>(zeta(double{s}, double{q})); }
float polygamma(float n, float x) { return static_cast<float>(polygamma(double{n}, double{x})); }
float bessel_i0e(float x) { return static_cast<float>(bessel_i0e(static_cast<double>(x))); }
float bessel_i1e(float x) { return static_cast<float>(bessel_i1e(static_cast<double>(x))); }

}  // namespace anadrome::math
