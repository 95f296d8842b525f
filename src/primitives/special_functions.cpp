// erf, erfc, erf_inv, lgamma, digamma, polygamma, zeta, igamma, igammac, igamma_grad_a, betainc, bessel_i0e,
// bessel_i1e, xlogy. Values come from math/special.h and math/xla.h, which state the errors.
#include <cmath>

#include "core/builder.h"
#include "math/elementary.h"
#include "math/special.h"
#include "math/xla.h"
#include "primitives/elementwise.h"

namespace anadrome {
namespace {

constexpr double root_pi = 1.77245385090551602730;

[[noreturn]] void no_derivative(const JvpIn& in, const char* operand) {
  throw RuleError(std::string(in.eqn.prim->name) + ": there is no derivative with respect to " + operand +
                  ". Wrap it in stop_gradient." + at_current_source());
}

/// e^(-x^2) 2 / sqrt(pi).
Array bell(const Array& x) {
  return op::mul(op::number_like(2 / root_pi, x), op::exp(op::neg(op::mul(x, x))));
}

/// The density of the gamma distribution: d igamma(a, x) / d x.
Array gamma_density(const Array& a, const Array& x) {
  const Array power = op::mul(op::sub(a, op::number_like(1, a)), op::log(x));
  return op::exp(op::sub(op::sub(power, x), op::lgamma(a)));
}

Arrays jvp_polygamma(const JvpIn& in) {
  if (in.has(0)) no_derivative(in, "the order");
  const Array next = op::add(in.x[0], op::number_like(1, in.x[0]));
  return {op::mul(in.t[1], op::polygamma(next, in.x[1]))};
}

Arrays jvp_zeta(const JvpIn& in) {
  if (in.has(0)) no_derivative(in, "the exponent");
  const Array next = op::add(in.x[0], op::number_like(1, in.x[0]));
  return {op::mul(in.t[1], op::mul(op::neg(in.x[0]), op::zeta(next, in.x[1])))};
}

Arrays jvp_betainc(const JvpIn& in) {
  if (in.has(0) || in.has(1)) no_derivative(in, "the parameters a and b");
  const Array &a = in.x[0], &b = in.x[1], &x = in.x[2];
  const auto less_one = [](const Array& v) { return op::sub(v, op::number_like(1, v)); };
  const Array log_beta = op::sub(op::add(op::lgamma(a), op::lgamma(b)), op::lgamma(op::add(a, b)));
  const Array power_of_x = op::sub(op::mul(less_one(a), op::log(x)), log_beta);
  return {op::mul(in.t[2], op::exp(op::add(op::mul(less_one(b), op::log1p(op::neg(x))), power_of_x)))};
}

void eval_betainc(const EvalIn& in) {
  dispatch_float(in.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto at = [&](std::size_t k, std::int64_t i) {
      return static_cast<Compute<T>>(static_cast<const T*>(in.x[k])[in.in[k].rank() ? i : 0]);
    };
    T* y = static_cast<T*>(in.y[0]);
    const std::int64_t n = in.out[0].elements();
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = static_cast<T>(math::xla::betainc(at(0, i), at(1, i), at(2, i)));
  });
}

/// i0e - y (sign(x) + 1 / x); at 0 the limit comes from a small x, which stands for it.
Arrays jvp_bessel_i1e(const JvpIn& in) {
  const double small = in.x[0].dtype() == f64 ? 0x1p-52 : 0x1p-23;
  const Array limit = op::number_like(small, in.x[0]);
  const Array far = op::gt(op::abs(in.x[0]), limit);
  const Array x = op::select(far, in.x[0], limit);
  const Array inner = op::add(op::sign(x), op::div(op::number_like(1, x), x));
  const Array slope = op::sub(op::bessel_i0e(x), op::mul(op::bessel_i1e(x), inner));
  return {op::mul(in.t[0], slope)};
}

}  // namespace

// erf: the error function.
constinit const Prim prim::erf = {
    .name = "erf",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::erf(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays { return {op::mul(in.t[0], bell(in.x[0]))}; },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// erfc: 1 - erf(x), accurate in the tail.
constinit const Prim prim::erfc = {
    .name = "erfc",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return math::erfc(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays { return {op::mul(in.t[0], op::neg(bell(in.x[0])))}; },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// erf_inv: the inverse of erf.
constinit const Prim prim::erf_inv = {
    .name = "erf_inv",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return math::xla::erf_inv(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      const Array growth = op::exp(op::mul(in.y[0], in.y[0]));
      return {op::mul(in.t[0], op::mul(op::number_like(root_pi / 2, in.y[0]), growth))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// lgamma: log |Gamma(x)|.
constinit const Prim prim::lgamma = {
    .name = "lgamma",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return math::xla::lgamma(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays { return {op::mul(in.t[0], op::digamma(in.x[0]))}; },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// digamma: the derivative of lgamma.
constinit const Prim prim::digamma = {
    .name = "digamma",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return math::xla::digamma(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::mul(in.t[0], op::polygamma(op::number_like(1, in.x[0]), in.x[0]))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// polygamma: the n-th derivative of digamma, operands (n, x).
constinit const Prim prim::polygamma = {
    .name = "polygamma",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto a, auto b) { return math::polygamma(a, b); }); },
    .jvp = jvp_polygamma,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// zeta: the Hurwitz zeta function, operands (s, q).
constinit const Prim prim::zeta = {
    .name = "zeta",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto a, auto b) { return math::zeta(a, b); }); },
    .jvp = jvp_zeta,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// igamma: the regularized lower incomplete gamma function, operands (a, x).
constinit const Prim prim::igamma = {
    .name = "igamma",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto a, auto b) { return math::xla::igamma(a, b); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {add_tangents(scaled(in.t[0], [&] { return op::igamma_grad_a(in.x[0], in.x[1]); }),
                           scaled(in.t[1], [&] { return gamma_density(in.x[0], in.x[1]); }))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// igammac: the regularized upper incomplete gamma function, operands (a, x).
constinit const Prim prim::igammac = {
    .name = "igammac",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto a, auto b) { return math::xla::igammac(a, b); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {add_tangents(scaled(in.t[0], [&] { return op::neg(op::igamma_grad_a(in.x[0], in.x[1])); }),
                           scaled(in.t[1], [&] { return op::neg(gamma_density(in.x[0], in.x[1])); }))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// igamma_grad_a: the derivative of igamma(a, x) with respect to a.
constinit const Prim prim::igamma_grad_a = {
    .name = "igamma_grad_a",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval =
        [](const EvalIn& in) {
          eval_float(in, [](auto a, auto b) { return math::xla::igamma_grad_a(a, b); });
        },
    .jvp = no_rule("the second derivative of igamma in a has no closed form here"),
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// betainc: the regularized incomplete beta function I_x(a, b), operands (a, b, x).
constinit const Prim prim::betainc = {
    .name = "betainc",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = eval_betainc,
    .jvp = jvp_betainc,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// bessel_i0e: e^-|x| I0(x).
constinit const Prim prim::bessel_i0e = {
    .name = "bessel_i0e",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return math::bessel_i0e(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      const Array slope = op::sub(op::bessel_i1e(in.x[0]), op::mul(op::sign(in.x[0]), in.y[0]));
      return {op::mul(in.t[0], slope)};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// bessel_i1e: e^-|x| I1(x).
constinit const Prim prim::bessel_i1e = {
    .name = "bessel_i1e",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return math::bessel_i1e(x); }); },
    .jvp = jvp_bessel_i1e,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// xlogy: a log(b), and 0 where a is 0. The derivatives are log(b) and a / b everywhere.
constinit const Prim prim::xlogy = {
    .name = "xlogy",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto a, auto b) { return math::xlogy(a, b); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {add_tangents(scaled(in.t[0], [&] { return op::log(in.x[1]); }),
                           scaled(in.t[1], [&] { return op::div(in.x[0], in.x[1]); }))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

Array op::erf(const Array& x) {
  return bind1(prim::erf, {x});
}
Array op::erfc(const Array& x) {
  return bind1(prim::erfc, {x});
}
Array op::erf_inv(const Array& x) {
  return bind1(prim::erf_inv, {x});
}
Array op::lgamma(const Array& x) {
  return bind1(prim::lgamma, {x});
}
Array op::digamma(const Array& x) {
  return bind1(prim::digamma, {x});
}
Array op::polygamma(const Array& a, const Array& b) {
  return bind1(prim::polygamma, {a, b});
}
Array op::zeta(const Array& a, const Array& b) {
  return bind1(prim::zeta, {a, b});
}
Array op::igamma(const Array& a, const Array& b) {
  return bind1(prim::igamma, {a, b});
}
Array op::igammac(const Array& a, const Array& b) {
  return bind1(prim::igammac, {a, b});
}
Array op::igamma_grad_a(const Array& a, const Array& b) {
  return bind1(prim::igamma_grad_a, {a, b});
}
Array op::betainc(const Array& a, const Array& b, const Array& x) {
  return bind1(prim::betainc, {a, b, x});
}
Array op::bessel_i0e(const Array& x) {
  return bind1(prim::bessel_i0e, {x});
}
Array op::bessel_i1e(const Array& x) {
  return bind1(prim::bessel_i1e, {x});
}
Array op::xlogy(const Array& a, const Array& b) {
  return bind1(prim::xlogy, {a, b});
}

}  // namespace anadrome
