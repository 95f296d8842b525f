// Rows of powers, exponentials, trigonometric, hyperbolic and special functions. The expected values of
// special functions come from series that share nothing with the library.
#include <cmath>
#include <numbers>

#include "rules/elementwise.h"

namespace anadrome::testing {
namespace {

constexpr Range two{-2, 2}, positive{0.5, 2}, inside{-0.8, 0.8};
constexpr Range off{-3, 3, 2, Fill::off_integers};

Row function_row(const Prim& prim, Array (*f)(const Array&), Range range, double (*value)(double)) {
  return unary_row(prim, f, range, one_transcendental, value);
}
Row function_row(const Prim& prim, Array (*f)(const Array&, const Array&), Range a, Range b,
                 double (*value)(double, double)) {
  return binary_row(prim, f, a, b, one_transcendental, value);
}

Row pow_row() {
  Row row = function_row(prim::pow, op::pow, positive, two, std::pow);
  const auto f = [](const Arrays& x) { return op::pow(x[0], x[1]); };
  const Value value = [](const double* x) { return std::pow(x[0], x[1]); };
  const Range exponent{-2, 3, 0, Fill::whole, i32};
  for (const Range& base : {off, positive})
    for (Case& c : elementwise_cases({"pow with i32", f, {base, exponent}, one_transcendental, value}))
      row.cases.push_back(std::move(c));
  const std::vector<Range> ints{{-3, 3, 0, Fill::whole, i32}, {0, 4, 0, Fill::whole, i32}};
  for (Case& c : elementwise_cases({"pow i32", f, ints, one_transcendental, value, i32}))
    row.cases.push_back(std::move(c));
  return row;
}

Row integer_pow_row() {
  Row row{&prim::integer_pow, {}};
  for (int n : {-3, -1, 0, 1, 2, 3, 5}) {
    const std::string name = "integer_pow " + std::to_string(n);
    const auto f = [n](const Arrays& x) { return op::integer_pow(x[0], n); };
    const Value value = [n](const double* x) { return std::pow(x[0], n); };
    for (Case& c : elementwise_cases({name, f, {{-2, 2, 2, Fill::off_integers}}, one_flop, value})) {
      c.tolerance = 1e-6;
      row.cases.push_back(std::move(c));
    }
    if (n < 0) continue;
    for (Case& c :
         elementwise_cases({name + " i32", f, {{-4, 4, 0, Fill::whole, i32}}, one_flop, value, i32}))
      row.cases.push_back(std::move(c));
  }
  return row;
}

double log_of_sum(double a, double b) {
  return std::log(std::exp(a) + std::exp(b));
}
double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}
double inverse_root(double x) {
  return 1 / std::sqrt(x);
}

std::vector<Row> elementary_rows() {
  return {pow_row(),
          integer_pow_row(),
          function_row(prim::sqrt, op::sqrt, positive, std::sqrt),
          function_row(prim::rsqrt, op::rsqrt, positive, inverse_root),
          function_row(prim::cbrt, op::cbrt, positive, std::cbrt),
          function_row(prim::hypot, op::hypot, positive, positive, std::hypot),
          function_row(prim::exp, op::exp, two, std::exp),
          function_row(prim::exp2, op::exp2, two, std::exp2),
          function_row(prim::expm1, op::expm1, two, std::expm1),
          function_row(prim::log, op::log, positive, std::log),
          function_row(prim::log2, op::log2, positive, std::log2),
          function_row(prim::log10, op::log10, positive, std::log10),
          function_row(prim::log1p, op::log1p, {-0.5, 2}, std::log1p),
          function_row(prim::logaddexp, op::logaddexp, two, two, log_of_sum),
          function_row(prim::logistic, op::logistic, two, logistic),
          function_row(prim::sin, op::sin, two, std::sin),
          function_row(prim::cos, op::cos, two, std::cos),
          function_row(prim::tan, op::tan, {-1, 1}, std::tan),
          function_row(prim::asin, op::asin, inside, std::asin),
          function_row(prim::acos, op::acos, inside, std::acos),
          function_row(prim::atan, op::atan, two, std::atan),
          function_row(prim::atan2, op::atan2, two, positive, std::atan2),
          function_row(prim::sinh, op::sinh, two, std::sinh),
          function_row(prim::cosh, op::cosh, two, std::cosh),
          function_row(prim::tanh, op::tanh, two, std::tanh),
          function_row(prim::asinh, op::asinh, two, std::asinh),
          function_row(prim::acosh, op::acosh, {1.5, 3}, std::acosh),
          function_row(prim::atanh, op::atanh, inside, std::atanh)};
}

// ---- expected values of special functions

double inverse_erf(double y) {
  double x = 0;
  for (int i = 0; i < 60; ++i) x -= (std::erf(x) - y) * std::sqrt(std::numbers::pi) / 2 * std::exp(x * x);
  return x;
}

/// Recurrence to x >= 12, then the asymptotic series.
double psi(double x) {
  double sum = 0;
  for (; x < 12; ++x) sum -= 1 / x;
  const double r = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r / 132))));
}

/// Sum over k of (q + k)^-s by Euler and Maclaurin.
double hurwitz(double s, double q) {
  double sum = 0;
  for (int k = 0; k < 20; ++k) sum += std::pow(q + k, -s);
  const double x = q + 20;
  double term = s * std::pow(x, -s - 1), out = sum + std::pow(x, 1 - s) / (s - 1) + 0.5 * std::pow(x, -s);
  const double coefficients[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600};
  for (int k = 0; k < 4; ++k) {
    out += coefficients[k] * term;
    term *= (s + 2 * k + 1) * (s + 2 * k + 2) / (x * x);
  }
  return out;
}
double polygamma(double n, double x) {
  return (static_cast<int>(n) % 2 ? 1 : -1) * std::tgamma(n + 1) * hurwitz(n + 1, x);
}

/// igamma and its derivative in a, from the series of the lower function.
struct GammaSeries {
  double value, slope;
};
GammaSeries lower_gamma(double a, double x) {
  double term = 1 / a, inverse = 1 / a, sum = term, slope = -term * inverse;
  for (int k = 1; k < 200; ++k) {
    term *= x / (a + k);
    inverse += 1 / (a + k);
    sum += term;
    slope -= term * inverse;
  }
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  return {front * sum, front * sum * (std::log(x) - psi(a)) + front * slope};
}

double incomplete_beta(double a, double b, double x) {
  double term = 1, sum = 1;
  for (int k = 0; k < 400; ++k) sum += term *= (a + b + k) / (a + 1 + k) * x;
  const double log_beta = std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
  return std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta) / a * sum;
}

/// e^-|x| times the power series of I_n.
double scaled_bessel(int n, double x) {
  double term = n == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; k < 60; ++k) sum += term *= x * x / 4 / (k * (k + n));
  return std::exp(-std::fabs(x)) * sum;
}

std::vector<Row> gamma_rows() {
  const Range a{1, 3, 1}, x{1, 3};
  const auto grad = [](double s, double t) { return lower_gamma(s, t).slope; };
  std::vector<Row> rows = {function_row(prim::igamma, op::igamma, a, x,
                                        [](double s, double t) { return lower_gamma(s, t).value; }),
                           function_row(prim::igammac, op::igammac, a, x,
                                        [](double s, double t) { return 1 - lower_gamma(s, t).value; }),
                           function_row(prim::igamma_grad_a, op::igamma_grad_a, {1, 3, 0}, {1, 3, 0}, grad),
                           function_row(prim::lgamma, op::lgamma, {0.6, 4}, std::lgamma),
                           function_row(prim::digamma, op::digamma, {0.6, 4}, psi),
                           function_row(prim::polygamma, op::polygamma, {1, 3, 0, Fill::whole}, x, polygamma),
                           function_row(prim::zeta, op::zeta, {2, 4, 0}, x, hurwitz)};
  for (Row& r : rows)
    for (Case& c : r.cases) c.tolerance = 1e-6;
  return rows;
}

Row betainc_row() {
  const auto f = [](const Arrays& x) { return op::betainc(x[0], x[1], x[2]); };
  const Value value = [](const double* x) { return incomplete_beta(x[0], x[1], x[2]); };
  return {&prim::betainc,
          elementwise_cases({"betainc", f, {{1, 3, 0}, {1, 3, 0}, {0.2, 0.8}}, one_transcendental, value})};
}

}  // namespace

std::vector<Row> function_rows() {
  std::vector<Row> rows = elementary_rows();
  for (Row& r : gamma_rows()) rows.push_back(std::move(r));
  rows.push_back(betainc_row());
  rows.push_back(function_row(prim::erf, op::erf, two, std::erf));
  rows.push_back(function_row(prim::erfc, op::erfc, two, std::erfc));
  rows.push_back(function_row(prim::erf_inv, op::erf_inv, inside, inverse_erf));
  rows.push_back(
      function_row(prim::bessel_i0e, op::bessel_i0e, off, [](double x) { return scaled_bessel(0, x); }));
  rows.push_back(
      function_row(prim::bessel_i1e, op::bessel_i1e, off, [](double x) { return scaled_bessel(1, x); }));
  rows.push_back(function_row(prim::xlogy, op::xlogy, positive, positive,
                              [](double a, double b) { return a * std::log(b); }));
  return rows;
}

}  // namespace anadrome::testing
